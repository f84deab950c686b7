"""Import statements: what they bind, and which file they lead to."""

from __future__ import annotations

import pytest

from hybridrank import CodeGraph, Import, InvalidValueError

Sources = dict[str, str]


def imports(sources: Sources, path: str) -> list[tuple[str, list[tuple[str, str]], str, tuple[str, ...]]]:
    """Module with its dots, names, state and targets of each import of a file."""
    with CodeGraph.of(sources) as graph:
        return [
            ("." * one.level + one.module, [tuple(name) for name in one.names], one.state, one.targets)  # type: ignore[misc]
            for one in graph.imports(path)
        ]


def leads(sources: Sources, path: str) -> list[object]:
    """The target of each import of a file, its state where it has none."""
    return [
        targets[0] if len(targets) == 1 else targets or state
        for _, _, state, targets in imports(sources, path)
    ]


def test_what_statements_of_python_bind() -> None:
    text = (
        "import os.path, sys as system\n"
        "from a.b import (c as d,\n"
        "                 e)\n"
        "from . import f\n"
        "from ..g import *\n"
        "from __future__ import annotations\n"
        "def h():\n"
        "    try:\n"
        "        import json\n"
        "    except ImportError:\n"
        "        from i import json\n"
    )
    found = [(module, names) for module, names, _, _ in imports({"p/q/r.py": text}, "p/q/r.py")]
    assert found == [
        ("os.path", [("", "os")]),
        ("sys", [("", "system")]),
        ("a.b", [("c", "d"), ("e", "e")]),
        (".", [("f", "f")]),
        ("..g", [("*", "")]),
        ("__future__", [("annotations", "annotations")]),
        ("json", [("", "json")]),
        ("i", [("json", "json")]),
    ]
    with CodeGraph.of({"p/q/r.py": text}) as graph:
        assert [(one.line, one.end_line) for one in graph.imports("p/q/r.py")][:4] == [
            (1, 1),
            (1, 1),
            (2, 3),
            (4, 4),
        ]


PACKAGE = {
    "src/pkg/__init__.py": "from .core import run as run\nfrom pkg.sub import x\n",
    "src/pkg/core.py": (
        "import pkg.sub.deep\nfrom . import core, missing\nimport pkg.gone\nimport queue, numpy\n"
    ),
    "src/pkg/queue.py": "",
    "src/pkg/sub/__init__.py": "from ..core import run\nfrom ... import above\nfrom .... import out\n",
    "src/pkg/sub/deep.py": "from . import *\nfrom .deep import y\nfrom .nowhere import z\n",
    "tests/test_core.py": "import pkg.core\nfrom pkg import sub, run\nimport helper\nfrom ns.part import q\n",
    "tests/helper.py": "",
    "ns/part.py": "import ns.other, ns.none\nfrom ns import other\n",
    "ns/other.py": "",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/pkg/__init__.py", ["src/pkg/core.py", "src/pkg/sub/__init__.py"]),
        # `queue` beside it is no top-level module for a file of the package.
        (
            "src/pkg/core.py",
            [
                "src/pkg/sub/deep.py",
                ("src/pkg/__init__.py", "src/pkg/core.py"),
                "unresolved",
                "external",
                "external",
            ],
        ),
        ("src/pkg/sub/__init__.py", ["src/pkg/core.py", "unresolved", "unresolved"]),
        ("src/pkg/sub/deep.py", ["src/pkg/sub/__init__.py", "src/pkg/sub/deep.py", "unresolved"]),
        (
            "tests/test_core.py",
            [
                "src/pkg/core.py",
                ("src/pkg/__init__.py", "src/pkg/sub/__init__.py"),
                "tests/helper.py",
                "ns/part.py",
            ],
        ),
        ("ns/part.py", ["ns/other.py", "unresolved", "ns/other.py"]),
    ],
)
def test_modules_of_python(path: str, expected: list[object]) -> None:
    assert leads(PACKAGE, path) == expected


def test_a_stub_stands_for_a_module_that_is_not_there() -> None:
    sources = {"a.py": "import b, c\n", "b.pyi": "", "c.py": "", "c.pyi": ""}
    assert leads(sources, "a.py") == ["b.pyi", "c.py"]


def test_reexports_of_python() -> None:
    sources = {
        "p/__init__.py": "from .a import x\ndef f():\n    from .a import y\n",
        "p/a.py": "from .b import q as q, r\nfrom .b import r\nimport json as json\n",
        "p/b.py": "",
    }
    with CodeGraph.of(sources) as graph:
        assert [one.reexport for one in graph.imports("p/__init__.py")] == [True, False]
        assert [one.reexport for one in graph.imports("p/a.py")] == [True, False, True]


SCRIPTS = {
    "tsconfig.json": (
        '{ // aliases\n "compilerOptions": {"baseUrl": ".", '
        '"paths": {"@/*": ["src/*"], "lib": ["src/lib/main.ts"],}}}'
    ),
    "src/app.ts": (
        'import a, { b as c, type D } from "./a";\n'
        'import * as e from "./dir";\n'
        'import "./style.css";\n'
        'import f = require("./esm.js");\n'
        'export * from "@/a";\n'
        'export { g as default, h } from "lib";\n'
        'export * as i from "./gone";\n'
        'import React from "react";\n'
        'import type { J } from "../../out";\n'
        'const k = await import("@scope/x");\n'
    ),
    "src/a.tsx": "",
    "src/dir/index.js": 'const { l, m: n } = require("..");\nimport o from "../data.json";\n',
    "src/index.mjs": "",
    "src/data.json": "{}",
    "src/esm.ts": "",
    "src/style.css": "",
    "src/lib/main.ts": "",
}


def test_modules_of_typescript() -> None:
    assert imports(SCRIPTS, "src/app.ts") == [
        ("./a", [("default", "a"), ("b", "c"), ("D", "D")], "file", ("src/a.tsx",)),
        ("./dir", [("", "e")], "file", ("src/dir/index.js",)),
        ("./style.css", [], "file", ("src/style.css",)),
        ("./esm.js", [("", "f")], "file", ("src/esm.ts",)),
        ("@/a", [("*", "")], "file", ("src/a.tsx",)),
        ("lib", [("g", "default"), ("h", "h")], "file", ("src/lib/main.ts",)),
        ("./gone", [("", "i")], "unresolved", ()),
        ("react", [("default", "React")], "external", ()),
        ("../../out", [("J", "J")], "unresolved", ()),
        ("@scope/x", [("", "k")], "external", ()),
    ]
    with CodeGraph.of(SCRIPTS) as graph:
        assert [one.line for one in graph.imports("src/app.ts") if one.reexport] == [5, 6, 7]


def test_modules_of_javascript() -> None:
    assert imports(SCRIPTS, "src/dir/index.js") == [
        ("..", [("l", "l"), ("m", "n")], "file", ("src/index.mjs",)),
        ("../data.json", [("default", "o")], "file", ("src/data.json",)),
    ]


def test_a_configuration_that_extends_another() -> None:
    sources = {
        "base.json": '{"compilerOptions": {"paths": {"~/*": ["./code/*"]}}}',
        "tsconfig.json": '{"extends": "./base"}',
        "code/x.ts": 'import "~/x"; import "~/y"',
    }
    # Only files that are called tsconfig.json or jsconfig.json are read.
    assert leads(sources, "code/x.ts") == ["external", "external"]
    sources["tsconfig.json"] = '{"compilerOptions": {"paths": {"~/*": ["./code/*"]}}}'
    sources["code/sub/tsconfig.json"] = '{"extends": "../../tsconfig.json"}'
    sources["code/sub/z.ts"] = 'import "~/x"; import "~/y"'
    assert leads(sources, "code/sub/z.ts") == ["code/x.ts", "unresolved"]


def test_modules_of_go() -> None:
    sources = {
        "go.mod": "module example.com/app // ours\n",
        "main.go": (
            'package main\nimport (\n\t"fmt"\n\ts "example.com/app/store"\n\t. "example.com/app/gone"\n'
            '\t_ "example.com/app"\n\t"github.com/x/go-yaml"\n\t"example.com/application"\n)\n'
        ),
        "store/store.go": 'package store\nimport "example.com/app/tools/x"\n',
        "tools/go.mod": "module example.com/app/tools\n",
        "tools/x/x.go": "package x\n",
        "vendor/github.com/x/go-yaml/y.go": "package yaml\n",
    }
    assert imports(sources, "main.go") == [
        ("fmt", [("", "fmt")], "external", ()),
        ("example.com/app/store", [("", "s")], "file", ("store",)),
        ("example.com/app/gone", [("*", "")], "unresolved", ()),
        ("example.com/app", [("", "")], "file", (".",)),
        ("github.com/x/go-yaml", [("", "yaml")], "file", ("vendor/github.com/x/go-yaml",)),
        ("example.com/application", [("", "application")], "external", ()),
    ]
    assert leads(sources, "store/store.go") == ["tools/x"]
    with CodeGraph.of(sources) as graph:
        by_file = graph.importers("store/store.go")
        assert [(step, one.path, one.line) for step, one in by_file] == [(1, "main.go", 4)]
        assert graph.importers("store") == by_file


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.c", '#include "b.h"\n#include <stdio.h>\n', [("b.h", "b.h"), ("<stdio.h>", "external")]),
        ("A.java", "import static x.y.Z;\nimport q.*;\n", [("x.y.Z", "x/y/Z.java"), ("q", "unresolved")]),
        ("a.rb", "require_relative 'x/r'\nrequire 'set'\n", [("x/r", "x/r.rb"), ("set", "unresolved")]),
        ("a.rs", "use crate::x::{y, z};\nmod m;\nmod n { }\n", [("crate::x", "unresolved"), ("m", "m.rs")]),
        ("a.sh", "source ./x.sh\n. x.sh\n", [("./x.sh", "x.sh"), ("x.sh", "x.sh")]),
        ("a.php", "<?php\nuse A\\B;\nrequire 'x.php';\n", [("A\\B", "unresolved"), ("x.php", "x.php")]),
        ("a.kt", "import x.y.Z\n", [("x.y.Z", "x/y/Z.java")]),
        ("a.lua", 'local x = require("x.r")\n', [("x.r", "x/r.lua")]),
        ("a.zig", 'const x = @import("x.zig");\n', [("x.zig", "x.zig")]),
        ("a.cs", "using System.IO;\n", [("System.IO", "unresolved")]),
        ("a.swift", "import Foundation\n", [("Foundation", "unresolved")]),
        ("a.scala", "import x.y\n", [("x.y", "unresolved")]),
        ("a.hs", "module A where\nimport qualified Data.Map as M\n", [("Data.Map", "unresolved")]),
        ("a.ex", "defmodule A do\n  alias B.C\nend\n", [("B.C", "unresolved")]),
        ("a.gd", 'const X = preload("res://x.gd")\n', [("x.gd", "x.gd")]),
    ],
)
def test_modules_of_other_languages(path: str, text: str, expected: list[tuple[str, str]]) -> None:
    others = ("b.h", "x/y/Z.java", "x/r.rb", "m.rs", "x.sh", "x.php", "x/r.lua", "x.zig", "x.gd")
    with CodeGraph.of({path: text, **dict.fromkeys(others, "")}) as graph:
        found = [(one.module, one.targets[0] if one.targets else one.state) for one in graph.imports(path)]
    assert found == expected


# Importers

CHAIN = {
    "a.py": "import b\n",
    "b.py": "import c\nimport json\n",
    "c.py": "import a\nfrom json.decoder import JSONDecoder\n",
    "d.py": "import c, jsonschema\n",
}


@pytest.mark.parametrize(
    ("target", "depth", "expected"),
    [
        ("c.py", 1, [(1, "b.py"), (1, "d.py")]),
        ("c", 1, [(1, "b.py"), (1, "d.py")]),
        ("c.py", 2, [(1, "b.py"), (1, "d.py"), (2, "a.py")]),
        ("c.py", 0, [(1, "b.py"), (1, "d.py"), (2, "a.py"), (3, "c.py")]),
        ("d.py", 0, []),
        ("json", 1, [(1, "b.py"), (1, "c.py")]),
        ("json.decoder", 1, [(1, "c.py")]),
        ("./a.py", 1, [(1, "c.py")]),
    ],
)
def test_importers(target: str, depth: int, expected: list[tuple[int, str]]) -> None:
    with CodeGraph.of(CHAIN) as graph:
        assert [(step, one.path) for step, one in graph.importers(target, depth=depth)] == expected


@pytest.mark.parametrize("depth", [-1, True, 1.0])
def test_a_depth_that_is_none(depth: int) -> None:
    with CodeGraph.of(CHAIN) as graph, pytest.raises(InvalidValueError, match="depth is"):
        graph.importers("a.py", depth=depth)


def test_what_nobody_imports_and_is_no_file() -> None:
    with CodeGraph.of(CHAIN) as graph:
        with pytest.raises(InvalidValueError, match="nothing imports a module 'nope'"):
            graph.importers("nope")
        with pytest.raises(InvalidValueError, match=r"there is no file 'nope\.py'"):
            graph.imports("nope.py")


def test_imports_of_a_file_with_an_error() -> None:
    sources = {"a.py": "import b\ndef f(:\n    pass\nfrom c import d\n", "b.py": ""}
    assert leads(sources, "a.py") == ["b.py", "external"]


def test_imports_sort_and_are_equal_by_value() -> None:
    with CodeGraph.of(CHAIN) as graph, CodeGraph.of(CHAIN) as again:
        assert graph.imports("b.py") == again.imports("b.py")
        assert all(isinstance(one, Import) for one in graph.imports("b.py"))
