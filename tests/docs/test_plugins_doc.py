"""docs/plugins.md, from top to bottom in an empty folder: the plug-in on it is made, tested and used."""

from __future__ import annotations

import importlib
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from doc_blocks import blocks, run_console, run_python, write
from hybridrank import protocols, testing
from hybridrank.registry import GROUPS

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"

# Where the page says `pip install -e`, its package goes into a folder of its own, without the network.
PIP = """#!/bin/sh
test "$1 $2 $3" = "install -e .[test]" || exit 2
exec {python} -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation \\
    --upgrade --target {site} .
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_parts"]:
        del sys.modules[name]


@pytest.mark.slow
def test_the_page_works_as_it_stands(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text(PIP.format(python=sys.executable, site=site), encoding="utf-8")
    pip.chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    env = {
        "PATH": f"{pip.parent}:{sysconfig.get_path('scripts')}:/usr/bin:/bin",
        "PYTHONPATH": str(site),
    }
    namespace: dict[str, object] = {}
    seen = []
    for block in blocks(PAGE):
        seen.append("file" if block.file else block.language)
        if block.file:
            write(block, project)
        elif block.language == "python":
            importlib.invalidate_caches()
            run_python(PAGE, [block], namespace)
        else:
            assert block.language == "console"
            run_console(block, project, env)
    assert seen == [*["file"] * 5, "console", "console", "file", "console", "python", "python"]


def test_every_block_is_run() -> None:
    assert "not run" not in PAGE.read_text(encoding="utf-8")


def _protocol(kind: str) -> object:
    found: object = getattr(protocols, {"chat": "ChatModel"}.get(kind, kind.capitalize()))
    return found


def test_the_table_of_kinds_is_complete() -> None:
    text = PAGE.read_text(encoding="utf-8").split("## The kinds")[1]
    rows = re.findall(r"^\| (\w+) \| `([\w.]+)` \| `(\w+)\(.*` \| `(\w+)` \|$", text, re.MULTILINE)
    for kind, group, method, check in rows:
        assert GROUPS[kind] == group
        assert check == f"check_{kind}"
        assert callable(getattr(testing, check))
        assert method == kind or hasattr(_protocol(kind), method)
    described = {kind for kind, *_ in rows} | {"measure"}
    assert described == set(GROUPS)
    assert {name.removeprefix("check_") for name in testing.__all__ if name.startswith("check_")} <= described
