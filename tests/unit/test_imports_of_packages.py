"""Imports of packages of JavaScript that are in the repository itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hybridrank import CodeGraph

CORE: dict[str, object] = {
    "name": "@me/core",
    "main": "./dist/index.js",
    "exports": {
        ".": {"types": "./dist/index.d.ts", "import": "./dist/index.mjs"},
        "./deep": {"import": {"default": "./lib/deep.js"}},
        "./features/*": "./src/features/*.ts",
        "./features/private/*": None,
        "./gone": "./dist/gone.js",
    },
}
SOURCES: dict[str, str] = {
    "package.json": json.dumps({"name": "root", "workspaces": ["packages/*"]}),
    "packages/core/package.json": json.dumps(CORE),
    "packages/core/src/index.ts": "export function start() {}\n",
    "packages/core/src/deep.ts": "export function deep() {}\n",
    "packages/core/src/features/a.ts": "export function a() {}\n",
    "packages/core/src/features/private/b.ts": "export function b() {}\n",
    "packages/core/src/inner/x.ts": "export function x() {}\n",
    "packages/plain/package.json": json.dumps({"name": "plain"}),
    "packages/plain/index.js": "module.exports = { run() {} };\n",
    "packages/app/package.json": json.dumps(
        {"name": "app", "imports": {"#lib/*": "./lib/*.js", "#db": {"default": "./db.ts"}}}
    ),
    "packages/app/lib/one.js": "export function one() {}\n",
    "packages/app/db.ts": "export function db() {}\n",
    "packages/events/package.json": json.dumps({"name": "events"}),
    "packages/events/index.js": "",
    "a/twin/package.json": json.dumps({"name": "twin"}),
    "a/twin/index.js": "",
    "b/twin/package.json": json.dumps({"name": "twin"}),
    "b/twin/index.js": "",
    "node_modules/left/package.json": json.dumps({"name": "left"}),
    "node_modules/left/index.js": "",
    "broken/package.json": "{",
    "list/package.json": "[]",
}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("@me/core", "packages/core/src/index.ts"),
        ("@me/core/deep", "packages/core/src/deep.ts"),
        ("@me/core/features/a", "packages/core/src/features/a.ts"),
        ("@me/core/inner/x", "packages/core/src/inner/x.ts"),
        ("@me/core/gone", "unresolved"),
        ("plain", "packages/plain/index.js"),
        ("plain/index.js", "packages/plain/index.js"),
        ("#lib/one", "packages/app/lib/one.js"),
        ("#db", "packages/app/db.ts"),
        ("#none", "unresolved"),
        ("@me/other", "external"),
        ("react", "external"),
        ("left", "external"),  # what is installed is none of the repository
        ("events", "external"),  # a module of Node has its name
        ("node:fs", "external"),
        ("twin", "external"),  # either of two
    ],
)
def test_where_a_package_leads(module: str, expected: str) -> None:
    use = {"packages/app/use.ts": f"import * as it from '{module}';\n"}
    with CodeGraph.of({**SOURCES, **use}) as graph:
        (found,) = graph.imports("packages/app/use.ts")
    assert ("|".join(found.targets) or found.state) == expected


def test_the_nearest_of_two_packages_and_calls() -> None:
    use = {
        "b/use.js": "import './x.js';\nimport 'twin';\n",
        "t.ts": "import { start } from '@me/core';\nstart();\n",
    }
    with CodeGraph.of({**SOURCES, **use}) as graph:
        assert [one.targets for one in graph.imports("b/use.js")] == [(), ("b/twin/index.js",)]
        assert [one.qualified_name for one in graph.calls("t.ts")[0].targets] == ["start"]
        assert [call.path for call in graph.callers("start")] == ["t.ts"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("^4.0.5", "external"), ("^5.0.0", "file"), ("workspace:*", "file"), ("*", "file"), (">=4", "file")],
)
def test_an_example_of_an_older_version_leads_out(asked: str, expected: str) -> None:
    sources = {
        "package.json": json.dumps({"name": "store", "version": "5.0.1"}),
        "src/index.ts": "export function make() {}\n",
        "examples/a/package.json": json.dumps({"name": "a", "dependencies": {"store": asked}}),
        "examples/a/src/use.ts": "import { make } from 'store';\nmake();\n",
    }
    with CodeGraph.of(sources) as graph:
        assert [one.state for one in graph.imports("examples/a/src/use.ts")] == [expected]


def test_a_changed_package_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "core").mkdir(parents=True)
    (root / "use.js").write_text("import { f } from 'core';\nf();\n", encoding="utf-8")
    (root / "core/index.js").write_text("export function f() {}\n", encoding="utf-8")

    def states(graph: CodeGraph) -> tuple[str, str]:
        return graph.imports("use.js")[0].state, graph.calls("use.js")[0].state

    with CodeGraph.for_code(root, index=tmp_path / "index") as graph:
        assert states(graph) == ("external", "external")
        (root / "core/package.json").write_text('{"name": "core"}', encoding="utf-8")
        graph.update()
        assert states(graph) == ("file", "resolved")
        (root / "core/package.json").write_text('{"name": "kern"}', encoding="utf-8")
        graph.update()
        assert states(graph) == ("external", "external")
