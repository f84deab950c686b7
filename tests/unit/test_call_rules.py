"""Calls by rules of a language that are easily got wrong. Targets were worked out by hand."""

from __future__ import annotations

import pytest

from hybridrank import CodeGraph


def led(sources: dict[str, str], path: str) -> dict[str, str]:
    """What each expression that is called in a file leads to."""
    with CodeGraph.of(sources) as graph:
        return {
            one.expression: "|".join(f"{target.path}::{target.qualified_name}" for target in one.targets)
            or one.state
            for one in graph.calls(path)
        }


STARS = {
    "m/__init__.py": "",
    "m/plain.py": "def pub(): ...\ndef _hidden(): ...\n",
    "m/listed.py": "__all__ = ('one',)\n__all__ += ['_two']\n__all__.extend(['three'])\n"
    "def one(): ...\ndef _two(): ...\ndef three(): ...\ndef four(): ...\n",
    "m/open.py": "import other\n__all__ = ['six'] + other.__all__\ndef five(): ...\n",
    "m/either.py": "if a:\n    __all__ = ['x1']\nelse:\n    __all__: list[str] = ['x2']\n"
    "def x1(): ...\ndef x2(): ...\ndef x3(): ...\n",
    "m/through.py": "from .plain import *\nfrom .listed import *\n",
}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("plain", {"pub": "m/plain.py::pub", "_hidden": "unresolved"}),
        (
            "listed",
            {
                "one": "m/listed.py::one",
                "_two": "m/listed.py::_two",
                "three": "m/listed.py::three",
                "four": "unresolved",
            },
        ),
        ("open", {"five": "m/open.py::five"}),
        ("either", {"x1": "m/either.py::x1", "x2": "m/either.py::x2", "x3": "unresolved"}),
        # what a star bound is bound by the next one, by the rule for names of that module
        ("through", {"pub": "m/plain.py::pub", "one": "m/listed.py::one", "four": "unresolved"}),
    ],
)
def test_stars_of_python_bind_what_the_module_hands_on(module: str, expected: dict[str, str]) -> None:
    text = f"from m.{module} import *\n" + "".join(f"{name}()\n" for name in expected)
    assert led({**STARS, "use.py": text}, "use.py") == expected


def test_a_name_by_itself_is_bound_whatever_all_says() -> None:
    text = "from m.listed import four\nfrom m import listed\nfour()\nlisted.four()\n"
    assert led({**STARS, "use.py": text}, "use.py") == {
        "four": "m/listed.py::four",
        "listed.four": "m/listed.py::four",
    }


def test_modules_that_a_package_imports_from_itself() -> None:
    sources = {
        "pkg/__init__.py": "from . import b\nfrom pkg import c\nfrom . import gone\n",
        "pkg/b.py": "from .c import f\n",
        "pkg/c.py": "def f(): ...\n",
        "use.py": "import pkg as p\np.b.f()\np.c.f()\np.gone.f()\n",
    }
    assert led(sources, "use.py") == {
        "p.b.f": "pkg/c.py::f",
        "p.c.f": "pkg/c.py::f",
        "p.gone.f": "unresolved",
    }


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("[A()].pop().f", "unresolved"),
        ("[A()][0].f", "unresolved"),
        ("{}.get('a').f", "unresolved"),
        ("next(iter([A()])).f", "unresolved"),
        ("getattr(x, 'y').f", "unresolved"),
        ("max(x).f", "unresolved"),
        ("[].append", "external"),
        ("'a'.split().append", "external"),
        ("open('a').read", "external"),
    ],
)
def test_elements_and_results_that_may_be_anything_are_not_external(call: str, expected: str) -> None:
    with CodeGraph.of({"a.py": f"class A:\n    def f(self): ...\n{call}()\n"}) as graph:
        last = max(graph.calls("a.py"), key=lambda one: one.column)
    assert (last.name, last.state) == (call.rpartition(".")[2], expected)


GO = {
    "go.mod": "module example.com/app\n",
    "main.go": (
        'package main\nimport (\n\t"example.com/app/lib"\n\talias "example.com/app/lib"\n)\n'
        "type S struct { hook func(); byName map[string]*S }\nfunc (s *S) Do() {}\n"
        "func main() { real.Go(); alias.Go(); lib.Go(); new(S).Do(); (new(real.T)).Go() }\n"
        "func run(s *S, f func(), m map[string]func()) {\n"
        '\ts.hook()\n\tf()\n\tm["a"]()\n\ts.byName["a"].Do()\n\tg := func() {}\n\tg()\n}\n'
    ),
    "lib/lib.go": "package real\nfunc Go() {}\ntype T struct{}\nfunc (T) Go() {}\n",
    "lib/lib_test.go": "package lib_test\nfunc Go() {}\n",
}


def test_a_package_of_go_is_called_as_it_says() -> None:
    found = led(GO, "main.go")
    assert found["real.Go"] == found["alias.Go"] == "lib/lib.go::Go"
    assert found["lib.Go"] in ("unresolved", "lib/lib.go::Go")  # does not compile
    assert found["S.Do"] == "main.go::S.Do"
    assert found["real.T.Go"] == "lib/lib.go::T.Go"


def test_values_that_are_functions_are_not_external() -> None:
    found = led(GO, "main.go")
    assert {name: found[name] for name in ("s.hook", "f", "m[…]", "s.byName[…].Do", "g")} == dict.fromkeys(
        ("s.hook", "f", "m[…]", "s.byName[…].Do", "g"), "unresolved"
    )


def test_scripts() -> None:
    sources = {
        "a.ts": "export default function f() {}\nexport function g() {}\n",
        "barrel.ts": "export * from './a';\n",
        "util.ts": "export namespace util { export const go = () => {}; export function run() { go(); } }\n",
        "use.ts": (
            "import d, { g } from './barrel';\nimport { util } from './util';\n"
            "class A { m() {} }\ninterface I { n(): void }\n"
            "d(); g(); util.go(); util.run(); util.none();\n"
            "(x as A).m(); (x as unknown as I).n(); (g as any)();\n"
            "const a = x as A; a.m();\n"
            "const many = new Map<string, A>(); many.get('a').m(); many.set('a', a);\n"
        ),
    }
    assert led(sources, "use.ts") == {
        "d": "unresolved",  # `export *` leaves `default` out
        "g": "a.ts::g",
        "util.go": "util.ts::util.go",
        "util.run": "util.ts::util.run",
        "util.none": "unresolved",
        "A.m": "use.ts::A.m",
        "I.n": "use.ts::I.n",
        "a.m": "use.ts::A.m",
        "Map": "external",
        "many.get": "external",
        "many.get().m": "unresolved",
        "many.set": "external",
    }
