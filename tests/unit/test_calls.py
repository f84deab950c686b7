"""Calls: who calls, and which definition that leads to. Targets were worked out by hand."""

from __future__ import annotations

import pytest

from hybridrank import Call, CodeGraph

Sources = dict[str, str]


def led(call: Call) -> str:
    targets = " | ".join(f"{target.path}::{target.qualified_name}" for target in call.targets)
    return targets if call.state == "resolved" else f"{call.state}: {targets}".rstrip(": ")


def calls(sources: Sources, caller: str) -> dict[str, str]:
    """What each expression in a definition leads to."""
    with CodeGraph.of(sources) as graph:
        found = graph.callees(caller)
        assert len({one.expression for one in found}) == len(found), "give each call an expression of its own"
        return {one.expression: led(one) for one in found}


def callers(sources: Sources, name: str) -> list[str]:
    with CodeGraph.of(sources) as graph:
        return [f"{one.path}:{one.line} {one.caller}".rstrip() for one in graph.callers(name)]


PYTHON = {
    "app/__init__.py": "from .core import Client as Client, helper as aid\nfrom .deep import *\n",
    "app/core.py": (
        "from __future__ import annotations\n"
        "import json\n"
        "from . import util\n"
        "from .util import tool as t\n"
        "\n"
        "class Base:\n"
        "    def send(self): ...\n"
        "    def close(self): ...\n"
        "    @property\n"
        "    def inner(self) -> Inner: ...\n"
        "    @classmethod\n"
        "    def make(cls):\n"
        "        return cls()\n"
        "    @staticmethod\n"
        "    def count() -> int: ...\n"
        "\n"
        "class Inner:\n"
        "    def go(self) -> Client: ...\n"
        "    def __call__(self): ...\n"
        "    def __enter__(self) -> Inner: ...\n"
        "\n"
        "class Client(Base):\n"
        "    other: Inner\n"
        "    def __init__(self, session: Session, maybe: 'Inner | None' = None):\n"
        "        self.session = session\n"
        "        self.made = Inner()\n"
        "        self.maybe = maybe\n"
        "    def close(self):\n"
        "        super().close()\n"
        "        self.send()\n"
        "        self.made.go()\n"
        "        self.maybe.go().send()\n"
        "        self.inner.go().close()\n"
        "        self.other()\n"
        "        self.session.get()\n"
        "        self.nowhere()\n"
        "        Client.make().close()\n"
        "        self.__class__(1)\n"
        "\n"
        "def helper(a, inner: Inner):\n"
        "    def nested():\n"
        "        inner.go()\n"
        "    nested()\n"
        "    helper(1)\n"
        "    json.dumps(1)\n"
        "    util.tool()\n"
        "    t()\n"
        "    a.send()\n"
        "    len('x')\n"
        "    ', '.join(a)\n"
        "    with Inner() as entered:\n"
        "        entered.go()\n"
        "    again = alias = t\n"
        "    again(2)\n"
        "    missing()\n"
    ),
    "app/util.py": "import random\ndef tool(): ...\n",
    "app/deep.py": "from app.core import Base as B\nclass Deep(B): ...\ndef _hidden(): ...\n",
    "main.py": (
        "import app\n"
        "import app.core as c\n"
        "import app.util\n"
        "def main():\n"
        "    app.Client()\n"
        "    app.aid(1)\n"
        "    app.Deep().send()\n"
        "    c.Client.count()\n"
        "    app.util.tool()\n"
        "    app.nothing()\n"
        "main()\n"
    ),
}


def test_methods_of_python() -> None:
    core = "app/core.py::"
    assert calls(PYTHON, "Client.close") == {
        "super": "external",
        "super().close": f"{core}Base.close",
        "self.send": f"{core}Base.send",
        "self.made.go": f"{core}Inner.go",
        "self.maybe.go": f"{core}Inner.go",
        "self.maybe.go().send": f"{core}Base.send",
        "self.inner.go": f"{core}Inner.go",
        "self.inner.go().close": f"{core}Client.close",
        "self.other": f"{core}Inner.__call__",
        "self.session.get": "unresolved",
        "self.nowhere": "unresolved",
        "Client.make": f"{core}Base.make",
        "Client.make().close": "unresolved",  # what make returns is not declared
        "self.__class__": f"{core}Client",
    }


def test_functions_of_python() -> None:
    core = "app/core.py::"
    assert calls(PYTHON, "helper") == {
        "inner.go": f"{core}Inner.go",
        "nested": f"{core}helper.nested",
        "helper": f"{core}helper",
        "json.dumps": "external",
        "util.tool": "app/util.py::tool",
        "t": "app/util.py::tool",
        "a.send": "unresolved",
        "len": "external",
        "(…).join": "external",
        "Inner": f"{core}Inner",
        "entered.go": f"{core}Inner.go",
        "again": "app/util.py::tool",
        "missing": "unresolved",
    }


def test_calls_across_files_of_python() -> None:
    assert calls(PYTHON, "main.py::main") == {
        "app.Client": "app/core.py::Client",
        "app.aid": "app/core.py::helper",
        "app.Deep": "app/deep.py::Deep",
        "app.Deep().send": "app/core.py::Base.send",
        "c.Client.count": "app/core.py::Base.count",
        "app.util.tool": "app/util.py::tool",
        "app.nothing": "unresolved",
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "tool",
            ["app/core.py:46 helper", "app/core.py:47 helper", "app/core.py:54 helper", "main.py:9 main"],
        ),
        ("helper", ["app/core.py:44 helper", "main.py:6 main"]),
        ("Base", ["app/core.py:13 Base.make"]),
        ("Base.send", ["app/core.py:30 Client.close", "app/core.py:32 Client.close", "main.py:7 main"]),
        ("main", ["main.py:11"]),
        ("app/core.py::helper.nested", ["app/core.py:43 helper"]),
        (
            "Inner.g*",
            [
                f"app/core.py:{n} {c}"
                for n, c in [
                    (31, "Client.close"),
                    (32, "Client.close"),
                    (33, "Client.close"),
                    (42, "helper.nested"),
                    (52, "helper"),
                ]
            ],
        ),
        ("json.dumps", ["app/core.py:45 helper"]),
        ("_hidden", []),
    ],
)
def test_callers(name: str, expected: list[str]) -> None:
    assert callers(PYTHON, name) == expected


def test_calls_of_a_name_of_which_no_more_is_known() -> None:
    with CodeGraph.of(PYTHON) as graph:
        found = graph.callers("Base.send", unresolved=True)
        assert [one.line for one in found if one.state == "unresolved"] == [48]


@pytest.mark.parametrize(
    ("text", "caller", "expected"),
    [
        # conditional imports: either
        (
            "try:\n    from a import f\nexcept ImportError:\n    from b import f\ndef g():\n    f()\n",
            "g",
            {"f": "ambiguous: a.py::f | b.py::f"},
        ),
        # a parameter hides the function
        ("from a import f\ndef g(f):\n    f()\n", "g", {"f": "unresolved"}),
        # and so does a variable of a loop, but not one of a comprehension
        ("from a import f\ndef g():\n    for f in []:\n        f()\n", "g", {"f": "unresolved"}),
        ("from a import f\ndef g():\n    [f for f in []]\n    f()\n", "g", {"f": "a.py::f"}),
        # names of a class are not seen by its methods
        ("class C:\n    def f(self): ...\n    def g(self):\n        f()\n", "C.g", {"f": "unresolved"}),
        ("def f(): ...\nclass C:\n    def f(self): ...\n    x = f()\n", "C", {"f": "m.py::C.f"}),
        # a redefinition counts, overloads do not
        (
            "from typing import overload\n@overload\ndef f(x: int) -> int: ...\n"
            "def f(x): ...\ndef g():\n    f(1)\n",
            "g",
            {"f": "m.py::f"},
        ),
        # only one of several values is known
        ("from a import f\ndef g(x):\n    h = x or f\n    h()\n", "g", {"h": "ambiguous: a.py::f"}),
        ("from a import f\ndef g():\n    h = None\n    h = f\n    h()\n", "g", {"h": "a.py::f"}),
        # global names
        (
            "from a import f\nh = None\ndef s():\n    global h\n    h = f\ndef g():\n    h()\n",
            "g",
            {"h": "a.py::f"},
        ),
        # recursion
        ("def g(n):\n    return g(n - 1)\n", "g", {"g": "m.py::g"}),
        # a union of two classes
        (
            "class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\ndef g(x: A | B):\n    x.f()\n",
            "g",
            {"x.f": "ambiguous: m.py::A.f | m.py::B.f"},
        ),
        # a string has no such method: then it is the class
        ("class A:\n    def f(self): ...\ndef g(x: str | A):\n    x.f()\n", "g", {"x.f": "m.py::A.f"}),
        # inherited from outside
        (
            "import threading\nclass T(threading.Thread):\n    def g(self):\n        self.start()\n",
            "T.g",
            {"self.start": "external"},
        ),
        # the order of bases
        (
            "class A:\n    def f(self): ...\nclass B(A): ...\nclass C(A):\n    def f(self): ...\n"
            "class D(B, C):\n    def g(self):\n        self.f()\n",
            "D.g",
            {"self.f": "m.py::C.f"},
        ),
        ("def d(x): ...\n@d(1)\ndef g(): ...\n", "d", {}),
        ("from a import *\ndef g():\n    f()\n", "g", {"f": "a.py::f"}),
        (
            "def g():\n    try:\n        pass\n    except ValueError as e:\n        e.with_traceback(None)\n",
            "g",
            {"e.with_traceback": "external"},
        ),
        ("from a import f\ndef g():\n    (lambda f: f())(1)\n", "g", {"f": "unresolved"}),
        (
            "def g():\n    if (h := make()):\n        h.f()\n"
            "def make() -> 'A': ...\nclass A:\n    def f(self): ...\n",
            "g",
            {"make": "m.py::make", "h.f": "m.py::A.f"},
        ),
        (
            "import dataclasses\n@dataclasses.dataclass\nclass A:\n    b: 'B'\n"
            "    def g(self):\n        self.b.f()\nclass B:\n    def f(self): ...\n",
            "A.g",
            {"self.b.f": "m.py::B.f"},
        ),
        (
            "class A:\n    def f(self): ...\n"
            "    def g(self):\n        def h():\n            self.f()\n        h()\n",
            "A.g",
            {"self.f": "m.py::A.f", "h": "m.py::A.g.h"},
        ),
    ],
)
def test_names_of_python(text: str, caller: str, expected: dict[str, str]) -> None:
    assert calls({"m.py": text, "a.py": "def f(): ...\n", "b.py": "def f(): ...\n"}, caller) == expected


SCRIPT = {
    "src/api.ts": (
        'import { Client, helper as h } from "./client";\n'
        'import def from "./def";\n'
        'import * as util from "./util";\n'
        'import React from "react";\n'
        'export { Client as C } from "./client";\n'
        'export * from "./util";\n'
        "export default class Api extends Base<string> {\n"
        "  private client: Client = new Client();\n"
        "  constructor(private readonly log: Logger) { super(); this.aid = new Aid(); this.begin(); }\n"
        "  run(): Api { this.client.send(); h(); def(); util.fmt(); this.log.info(); this.aid.go(); "
        "React.useState(); return this.self().begin(); }\n"
        "  self(): this { return this; }\n"
        "  static make(): Promise<Api> { const a = new Api(); a.run(); return this.make(); }\n"
        "  onClick = () => { this.run(); };\n"
        "}\n"
        "interface Logger { info(): void }\n"
        "class Aid { go() { lib.run(); } }\n"
        "const lib = { run() { this.stop(); }, stop: () => { fn(); } };\n"
        "export const fn = async () => { for (const h of []) { h(); } h(); };\n"
        "abstract class Base<T> { begin(): Api { throw 1; } }\n"
    ),
    "src/client.ts": "export class Client { send() { helper(); } }\nexport function helper() {}\n",
    "src/def.ts": "export default function () { return 1 }\n",
    "src/util/index.ts": "export function fmt() {}\n",
    "src/use.tsx": (
        'import Api, { C, fmt } from "./api";\n'
        "const view = () => { const c = new C(); c.send(); fmt(); new Api().run(); };\n"
    ),
    "old/a.js": (
        'const b = require("./b"); const { one, two: zwei } = require("./b"); const fn = require("./fn");\n'
        "function all() { b.one(); one(); zwei(); fn(); }\n"
        "module.exports = { run() { b.two() }, x: function () {}, one };\n"
        "exports.y = () => one();\n"
    ),
    "old/b.js": "function one() {}\nfunction two() { one() }\nmodule.exports = { one, two };\n",
    "old/fn.js": "module.exports = function named() { this.q(); };\n",
    "old/c.js": (
        'import a from "./a"; import { x, y } from "./a";\nfunction use() { a.run(); x(); y(); a.one(); }\n'
    ),
}


@pytest.mark.parametrize(
    ("caller", "expected"),
    [
        (
            "Api.constructor",
            {"super": "src/api.ts::Base", "Aid": "src/api.ts::Aid", "this.begin": "src/api.ts::Base.begin"},
        ),
        (
            "Api.run",
            {
                "this.client.send": "src/client.ts::Client.send",
                "h": "src/client.ts::helper",
                "def": "src/def.ts::default",
                "util.fmt": "src/util/index.ts::fmt",
                "this.log.info": "src/api.ts::Logger.info",
                "this.aid.go": "src/api.ts::Aid.go",
                "React.useState": "external",
                "this.self": "src/api.ts::Api.self",
                "this.self().begin": "src/api.ts::Base.begin",
            },
        ),
        (
            "Api.make",
            {"Api": "src/api.ts::Api", "a.run": "src/api.ts::Api.run", "this.make": "src/api.ts::Api.make"},
        ),
        ("Api.onClick", {"this.run": "src/api.ts::Api.run"}),
        ("lib", {"this.stop": "src/api.ts::lib.stop", "fn": "src/api.ts::fn"}),
        ("Aid.go", {"lib.run": "src/api.ts::lib.run"}),
        (
            "view",
            {
                "C": "src/client.ts::Client",
                "c.send": "src/client.ts::Client.send",
                "fmt": "src/util/index.ts::fmt",
                "Api": "src/api.ts::Api",
                "(…).run": "src/api.ts::Api.run",
            },
        ),
        (
            "all",
            {
                "b.one": "old/b.js::one",
                "one": "old/b.js::one",
                "zwei": "old/b.js::two",
                "fn": "old/fn.js::named",
            },
        ),
        ("named", {"this.q": "unresolved"}),
        ("use", {"a.run": "old/a.js::run", "x": "old/a.js::x", "y": "old/a.js::y", "a.one": "old/b.js::one"}),
    ],
)
def test_calls_of_scripts(caller: str, expected: dict[str, str]) -> None:
    assert calls(SCRIPT, caller) == {
        key.replace("(…).run", "Api().run"): value for key, value in expected.items()
    }


def test_a_block_hides_a_name_only_inside() -> None:
    with CodeGraph.of(SCRIPT) as graph:
        assert [(one.expression, led(one)) for one in graph.callees("fn")] == [
            ("h", "unresolved"),
            ("h", "src/client.ts::helper"),
        ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("named", ["old/a.js:2 all"]),
        ("src/def.ts::default", ["src/api.ts:10 Api.run"]),
        ("Client", ["src/api.ts:8 Api", "src/use.tsx:2 view"]),
        ("Base", ["src/api.ts:9 Api.constructor"]),
        (
            "old/b.js::one",
            ["old/a.js:2 all", "old/a.js:2 all", "old/a.js:4 y", "old/b.js:2 two", "old/c.js:2 use"],
        ),
    ],
)
def test_callers_in_scripts(name: str, expected: list[str]) -> None:
    assert callers(SCRIPT, name) == expected


GO = {
    "go.mod": "module example.com/app\n",
    "main.go": (
        'package main\nimport (\n\t"fmt"\n\tst "example.com/app/store"\n\t"github.com/x/y"\n)\n'
        "type App struct {\n\t*st.Store\n\tlog *Logger\n\tnext struct{ log int }\n}\n"
        "func main() {\n\tapp := &App{}\n\tapp.Run()\n\ts, err := st.New()\n\tfmt.Println(err)\n\ts.Get(1)\n"
        "\tapp.Get(2)\n\tapp.log.Info()\n\ty.Z()\n\tvar g st.Getter = s\n\tg.Get(3)\n"
        "\tfunc() { helper() }()\n"
        "\tlen(err)\n\tst.Default.Get(4)\n\tst.Chain().Get(5)\n\tGeneric[int](6)\n"
        "\tfor _, h := range []func(){} { h() }\n\tswitch v := any(s).(type) { case *Logger: v.Info() }\n}\n"
    ),
    "app.go": (
        "package main\nfunc (a *App) Run() { a.step() }\nfunc (a *App) step() {}\ntype Logger struct{}\n"
        "func (Logger) Info() {}\nfunc helper() {}\nfunc Generic[T any](x T) {}\n"
    ),
    "store/store.go": (
        "package store\ntype Store struct{ m map[string]int }\n"
        "func New() (*Store, error) { return &Store{}, nil }\nfunc (s *Store) Get(k int) {}\n"
        "type Getter interface{ Get(k int) }\nvar Default = Store{}\nfunc Chain() *Store { return nil }\n"
    ),
    "store/store_test.go": "package store_test\nfunc New() {}\nfunc TestX() { New() }\n",
}


def test_calls_of_go() -> None:
    get = "store/store.go::Store.Get"
    assert calls(GO, "main") == {
        "app.Run": "app.go::App.Run",
        "st.New": "store/store.go::New",
        "fmt.Println": "external",
        "s.Get": get,
        "app.Get": get,
        "app.log.Info": "app.go::Logger.Info",
        "y.Z": "external",
        "g.Get": "store/store.go::Getter.Get",
        "helper": "app.go::helper",
        "len": "external",
        "st.Default.Get": get,
        "st.Chain": "store/store.go::Chain",
        "st.Chain().Get": get,
        "Generic": "app.go::Generic",
        "h": "unresolved",
        "any": "external",
        "v.Info": "app.go::Logger.Info",
    }
    assert calls(GO, "App.Run") == {"a.step": "app.go::App.step"}
    assert calls(GO, "TestX") == {"New": "store/store_test.go::New"}
    assert callers(GO, "store/store.go::New") == ["main.go:15 main"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.rs", "fn f() { S::g(1); }\nstruct S;\nimpl S { fn g(x: u8) {} }\n"),
        ("a.java", "class A {\n void f() { this.g(1); }\n void g(int x) {} }\n"),
        ("a.rb", "def f\n  x.g 1\nend\ndef g(x)\nend\n"),
        ("a.php", "<?php\nfunction f() { g(1); }\nfunction g($x) {}\n"),
        ("a.c", "void g(int x) {}\nvoid f() { g(1); }\n"),
        ("a.cpp", "namespace n { void g(int x) {} }\nvoid f() { n::g(1); }\n"),
        ("a.cs", "class A {\n void F() {}\n void f() { this.g(1); }\n void g(int x) {} }\n"),
        ("a.kt", "fun f() { g(1) }\nfun g(x: Int) {}\n"),
        ("a.swift", "func f() { g(1) }\nfunc g(x: Int) {}\n"),
        ("a.scala", "object A {\n def f() = g(1)\n def g(x: Int) = x }\n"),
        ("a.lua", "function f() g(1) end\nfunction g(x) end\n"),
        ("a.sh", "f() {\n  g 1\n}\ng() {\n  :\n}\n"),
        ("a.ex", "defmodule A do\n  def f(), do: g(1)\n  def g(x), do: x\nend\n"),
        ("a.hs", "module A where\nf x = g x\ng x = x\n"),
        ("a.zig", "fn f() void {\n    g(1);\n}\nfn g(x: u8) void {}\n"),
        ("a.gd", "func f():\n\tg(1)\nfunc g(x):\n\tpass\n"),
    ],
)
def test_calls_by_name(path: str, text: str) -> None:
    with CodeGraph.of({path: text}) as graph:
        found = [one for one in graph.callees("f") if one.name == "g"]
        assert [(one.caller.rpartition(".")[2], one.state) for one in found] == [("f", "by-name")]
        assert [target.name for target in found[0].targets] == ["g"]
        assert found[0] in graph.callers("g")


# Hostile and odd


def test_cycles_of_imports_stars_and_classes() -> None:
    sources = {
        "a.py": "from b import *\nfrom b import x as x\nclass C(D): ...\n",
        "b.py": (
            "from a import *\nfrom a import x as x\nclass D(C): ...\n"
            "def f():\n    x()\n    D().go()\n    y()\n"
        ),
    }
    assert calls(sources, "f") == {
        "x": "unresolved",
        "D": "b.py::D",
        "D().go": "unresolved",
        "y": "unresolved",
    }


def test_a_chain_of_reexports() -> None:
    sources = {f"m{n}.py": f"from m{n + 1} import f\n" for n in range(40)}
    sources |= {"m40.py": "def f(): ...\n", "use.py": "from m0 import f\ndef g():\n    f()\n"}
    assert calls(sources, "g") == {"f": "m40.py::f"}
    assert callers(sources, "m40.py::f") == ["use.py:3 g"]


def test_a_chain_that_is_too_long_is_not_known() -> None:
    text = "def f0(): ...\n" + "".join(f"f{n} = f{n - 1}\n" for n in range(1, 300)) + "def g():\n    f299()\n"
    assert calls({"m.py": text}, "g") == {"f299": "unresolved"}


def test_a_long_line_of_classes() -> None:
    text = "class C0:\n    def f(self): ...\n" + "".join(
        f"class C{n}(C{n - 1}): ...\n" for n in range(1, 400)
    )
    assert calls({"m.py": text + "def g():\n    C399().f()\n"}, "g")["C399().f"] == "m.py::C0.f"


def test_a_name_with_very_many_values_is_not_known() -> None:
    text = "def g():\n" + "".join(f"    x = C{n}()\n    x.f()\n" for n in range(2000))
    with CodeGraph.of({"m.py": text}) as graph:
        assert {one.state for one in graph.callees("g")} == {"unresolved"}


def test_deep_nesting_is_walked() -> None:
    deep = 1200
    sources = {
        "a.py": "def g():\n    " + "f(" * deep + ")" * deep + "\n",
        "b.py": "def h():\n    x" + ".y()" * deep + "\n",
        "c.js": "function k() { " + "{" * deep + "f();" + "}" * deep + " }\n",
        "d.go": "package d\nfunc l() { " + "(" * deep + "f()" + ")" * deep + " }\n",
    }
    with CodeGraph.of(sources) as graph:
        assert len(graph.callees("h")) == deep
        assert all(one.name == "y" for one in graph.callees("h"))
        assert len(graph.callees("g")) == deep


def test_files_with_errors_give_what_is_intact() -> None:
    """Fault CH-20."""
    sources = {
        "a.py": "def ok():\n    f()\n\ndef broken(:\n    pass\n\ndef f():\n    return 2\n",
        "b.js": "function ok2() { f2(); }\nfunction f2( { }\n",
        "c.py": "\0\0",
        "d.py": "",
    }
    assert calls(sources, "ok") == {"f": "a.py::f"}
    with CodeGraph.of(sources) as graph:
        assert graph.callees("ok2")
        assert graph.symbols(path="c.py") == graph.symbols(path="d.py") == ()


def test_lines_are_those_of_the_file() -> None:
    """Fault CH-15."""
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["# é 注", "import a", "def f():", "    a.b()", ""])
        with CodeGraph.of({"m.py": text}) as graph:
            (call,) = graph.callees("f")
            assert (call.line, call.column, call.caller_line) == (4, 7, 3)
            assert graph.imports("m.py")[0].line == 2


def test_tsx_is_read_with_its_own_grammar() -> None:
    """Fault CH-19."""
    sources = {
        "badge.tsx": (
            'import { tag } from "./tag";\n'
            'export const Badge = (p: {n: number}) => <b className="x">{tag(p.n)}</b>;\n'
            "export function Row(props: {id: string}) {\n  return <div>{tag(props.id)}</div>;\n}\n"
        ),
        "tag.ts": "export function tag(x: unknown) {}\n",
    }
    assert callers(sources, "tag") == ["badge.tsx:2 Badge", "badge.tsx:4 Row"]


def test_languages_without_a_grammar_say_nothing() -> None:
    """Fault CH-21."""
    with CodeGraph.of({"notes.zig2": "x()\n" * 50, "a.css": "a { }"}) as graph:
        assert not graph.symbols()
        assert not graph.calls("notes.zig2")
        assert not graph.imports("a.css")
