"""The main job on real source code: the installed httpx package, with the default pipeline."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from hybridrank import Pipeline, Result

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline.for_code(Path(httpx.__file__).parent)


def symbols(result: Result) -> list[str]:
    return [hit.document.qualified_name for hit in result]


def test_an_identifier_puts_its_definition_first(pipeline: Pipeline) -> None:
    first = pipeline.search("raise_for_status")[0].document
    assert (first.path, first.qualified_name, first.kind) == (
        "_models.py",
        "Response.raise_for_status",
        "method",
    )


def test_an_intent_finds_what_does_it(pipeline: Pipeline) -> None:
    """Not one of the thin wrappers that only pass `follow_redirects` on."""
    first = symbols(pipeline.search("where are redirects followed"))[0]
    assert first.endswith("_send_handling_redirects")


def test_a_mixed_query_finds_the_definition_or_a_caller(pipeline: Pipeline) -> None:
    result = pipeline.search("raise_for_status 在哪被调用")
    assert "Response.raise_for_status" in symbols(result) or any(
        "raise_for_status(" in hit.document.text for hit in result
    )


def test_a_paraphrase_finds_what_is_meant(pipeline: Pipeline) -> None:
    """No word of it stands in the symbol's name; the comment of the class says it in other words."""
    found = symbols(pipeline.search("waited too long for a free connection"))
    assert "PoolTimeout" in found


def test_the_demo_script_shows_the_four_kinds() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")], capture_output=True, text=True, check=True
    )
    assert [line.split(":")[0] for line in run.stdout.splitlines() if line.startswith("a")] == [
        "an identifier",
        "an intent",
        "a paraphrase",
    ]
    assert "Response.raise_for_status (method)" in run.stdout
