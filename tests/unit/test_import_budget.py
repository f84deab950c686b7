"""Importing the library is cheap: nothing heavy, few modules, no socket."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "asyncio",
    "click",
    "hypothesis",
    "importlib.metadata",
    "numpy",
    "ollama",
    "pathspec",
    "rich",
    "scipy",
    "socket",
    "Stemmer",
    "tree_sitter",
}


def loaded_by(statement: str) -> set[str]:
    """The modules that a statement loads into a bare interpreter."""
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "print(*sorted(set(sys.modules) - before), sep='\\n')\n"
    )
    # Without -I the measuring tools of a test run could load modules of their own.
    run = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    ("statement", "most"),
    [
        ("import hybridrank", 60),
        ("from hybridrank import Document, Query, Ranking", 60),
        ("from hybridrank.errors import InvalidValueError", 60),
        ("from hybridrank.protocols import Retriever", 60),
        ("import hybridrank.registry, hybridrank.config, hybridrank.options", 100),
        ("import hybridrank.text.tokenizer", 100),
        ("import hybridrank.testing", 100),
    ],
)
def test_an_import_loads_nothing_heavy(statement: str, most: int) -> None:
    loaded = loaded_by(statement)
    assert "hybridrank" in loaded
    assert not loaded & HEAVY
    assert len(loaded) <= most, sorted(loaded)


def test_the_budget_would_see_a_heavy_import() -> None:
    assert {"numpy", "hybridrank"} <= loaded_by("import hybridrank, numpy")


def test_values_work_without_numpy() -> None:
    loaded = loaded_by(
        "from hybridrank import Document, Query, Ranking\n"
        "ranking = Ranking.from_scores(Query('q'), [(Document('a', 't'), 1.0)])\n"
        "assert repr(ranking) and hash(ranking.hits) and ranking.cut(1)"
    )
    assert not loaded & HEAVY


def test_conformance_checks_need_no_hypothesis_and_strategies_say_so() -> None:
    loaded_by(
        "sys.modules['hypothesis'] = None\n"
        "from hybridrank.testing import check_fuser\n"
        "from hybridrank import MissingExtraError\n"
        "try:\n"
        "    from hybridrank.testing import strategies\n"
        "except MissingExtraError as error:\n"
        "    assert error.extra == 'testing'\n"
        "else:\n"
        "    raise AssertionError('imported without hypothesis')"
    )


def test_a_command_does_not_import_the_others() -> None:
    ask = "from hybridrank.cli.app import app; import click; app.get_command(click.Context(app), 'search')"
    loaded = loaded_by(ask)
    assert "hybridrank.cli.search" in loaded
    assert not loaded & {"hybridrank.cli.ablate", "hybridrank.cli.doctor", "hybridrank.report.trace_page"}
