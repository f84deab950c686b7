"""Imports, definitions and calls of three installed packages, against `ast` and what was read by hand.

`tests/truth/calls.json` holds calls that were drawn before there was a resolver, each with the
definition that a reader of the code says it leads to, `""` for one out of the packages. It is for one version
of each.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click
import httpx
import pytest
import rich

from hybridrank import CodeGraph

pytestmark = pytest.mark.slow
TRUTH = json.loads((Path(__file__).parents[1] / "truth/calls.json").read_text(encoding="utf-8"))
SCRIPTS_GO = json.loads(
    (Path(__file__).parents[1] / "truth/calls_scripts_go.json").read_text(encoding="utf-8")
)
CORPUS = Path(os.environ.get("HYBRIDRANK_CORPUS", "nowhere"))
FILES = {
    path.relative_to(package.parent).as_posix(): path.read_text(encoding="utf-8")
    for package in (Path(str(module.__file__)).parent for module in (httpx, click, rich))
    for path in sorted(package.rglob("*.py"))
}


@pytest.fixture(scope="module")
def graph() -> Iterator[CodeGraph]:
    with CodeGraph.of(FILES) as made:
        yield made


def test_imports_are_those_of_ast(graph: CodeGraph) -> None:
    seen = 0
    for path, text in FILES.items():
        expected = []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                expected += [
                    (node.lineno, node.end_lineno, 0, one.name, "", one.asname or one.name.partition(".")[0])
                    for one in node.names
                ]
            elif isinstance(node, ast.ImportFrom):
                expected += [
                    (
                        *(node.lineno, node.end_lineno, node.level, node.module or "", one.name),
                        "" if one.name == "*" else one.asname or one.name,
                    )
                    for one in node.names
                ]
        found = [
            (one.line, one.end_line, one.level, one.module, *name)
            for one in graph.imports(path)
            for name in one.names
        ]
        assert sorted(found) == sorted(expected), path
        seen += len(expected)
    assert seen > 1500


def test_relative_imports_lead_to_files(graph: CodeGraph) -> None:
    for path in FILES:
        for one in graph.imports(path):
            ours = one.level or one.module.partition(".")[0] in ("httpx", "click", "rich")
            assert (one.state == "file") == bool(ours), one


def test_definitions_are_those_of_ast(graph: CodeGraph) -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for path, text in FILES.items():
        expected = [
            (node.lineno, node.end_lineno, node.name)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, kinds)
        ]
        found = [(one.start_line, one.end_line, one.name) for one in graph.symbols(path=path)]
        assert sorted(found) == sorted(expected), path


@pytest.mark.skipif(
    any(version(name) != wanted for name, wanted in TRUTH["packages"].items()),
    reason="the calls were read in other versions of the packages",
)
def test_calls_lead_where_a_reader_says(graph: CodeGraph) -> None:
    by_place = {
        f"{one.path}:{one.line}:{one.column}": one
        for path in {place.partition(":")[0] for place, _, _ in TRUTH["calls"]}
        for one in graph.calls(path)
    }
    resolved = right = wanted = 0
    for place, _, expected in TRUTH["calls"]:
        call = by_place[place]
        wanted += bool(expected)
        if call.state == "resolved":
            resolved += 1
            right += [f"{one.path}::{one.qualified_name}" for one in call.targets] == [expected]
    assert wanted >= 100
    assert right / resolved >= 0.95
    assert right / wanted >= 0.93


@pytest.mark.parametrize(
    "repository", sorted({place.partition("/")[0] for place, _, _ in SCRIPTS_GO["calls"]})
)
def test_calls_of_scripts_and_go_lead_where_a_reader_says(repository: str) -> None:
    """`HYBRIDRANK_CORPUS` names a folder that holds the repositories in the versions that were read."""
    if not (CORPUS / repository).is_dir():
        pytest.skip(f"no {repository} in the corpus")
    rows = [row for row in SCRIPTS_GO["calls"] if row[0].startswith(f"{repository}/")]
    resolved = right = 0
    with CodeGraph.for_code(CORPUS / repository) as graph:
        for place, name, expected in rows:
            path, line, column = place.removeprefix(f"{repository}/").rsplit(":", 2)
            found = [one for one in graph.calls(path) if (one.line, one.column) == (int(line), int(column))]
            if [one.name for one in found] != [name]:
                pytest.skip(f"{repository} is in another version")
            if found[0].state == "resolved":
                (leads,) = found[0].targets
                resolved += 1
                right += f"{repository}/{leads.path}:{leads.start_line}::{leads.qualified_name}" == expected
    assert len(rows) == 15
    assert resolved >= 14
    assert right == resolved


def test_callers_are_all_calls_that_lead_there(graph: CodeGraph) -> None:
    """Looking a name up finds what going through all calls finds."""
    by_target: dict[tuple[str, int, str], set[tuple[str, int, int]]] = {}
    for path in FILES:
        if path.startswith("httpx/"):
            for call in graph.calls(path):
                for one in call.targets:
                    if one.name != "__call__":  # calls of instances have no name of their own
                        key = (one.path, one.start_line, one.qualified_name)
                        by_target.setdefault(key, set()).add((call.path, call.line, call.column))
    assert len(by_target) > 200
    for (path, line, name), places in sorted(by_target.items())[::3]:
        found = {
            (call.path, call.line, call.column)
            for call in graph.callers(f"{path}::{name}")
            if any(one.start_line == line and one.path == path for one in call.targets)
        }
        assert places <= found, name
