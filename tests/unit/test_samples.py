"""Each language has a sample file; `tests/samples/expected.txt` says what its documents are."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from chunk_laws import check_laws
from hybridrank.code import grammar
from hybridrank.code.chunk import TreeSitterChunker
from hybridrank.code.corpus import load_code
from hybridrank.code.grammars import GRAMMARS
from hybridrank.code.languages import language_of
from hybridrank.types import Document, SourceFile

SAMPLES = Path(__file__).parents[1] / "samples"
EXPECTED = (SAMPLES / "expected.txt").read_text("utf-8")
FILES = {p.stem: p for p in sorted(SAMPLES.iterdir()) if p.name != "expected.txt"}


def chunks(text: str, path: str, max_chars: int = 2000) -> tuple[Document, ...]:
    return TreeSitterChunker(max_chars=max_chars).chunk(SourceFile(path, text))


def rows(documents: tuple[Document, ...]) -> list[str]:
    return [f"{d.start_line}-{d.end_line} {d.kind} {d.qualified_name}".rstrip() for d in documents]


def sample(language: str) -> str:
    return FILES[language].read_text("utf-8")


def test_each_language_has_a_sample() -> None:
    assert set(FILES) == set(GRAMMARS)
    assert {language: language_of(path.name) for language, path in FILES.items()} == {g: g for g in GRAMMARS}


def test_each_language_is_documented() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "languages.md").read_text("utf-8")
    named = re.findall(r"^\| ([a-z, ]+) \| `", guide, re.MULTILINE)
    assert {language for row in named for language in row.split(", ")} == set(GRAMMARS)


def test_each_grammar_is_pinned_in_its_extra() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    for row in GRAMMARS.values():
        package = row.module.replace("_", "-")
        assert [p for p in extras[row.extra] if re.fullmatch(rf"{package}==[0-9.]+", p)], row.module


@pytest.mark.parametrize("language", FILES)
def test_the_documents_of_a_sample(language: str) -> None:
    name = FILES[language].name
    (expected,) = re.findall(rf"^{re.escape(name)}\n((?:    .*\n)+)", EXPECTED, re.MULTILINE)
    documents = chunks(sample(language), name)
    assert rows(documents) == [line.strip() for line in expected.splitlines()]
    assert all(dict(d.metadata) == {"parser": "tree-sitter"} for d in documents)
    assert all(
        d.name and d.qualified_name.endswith(d.name) for d in documents if d.kind in ("method", "class")
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("language", FILES)
def test_laws_hold_for_any_limit_and_line_end(language: str, end: str) -> None:
    path = FILES[language].name
    text = sample(language)
    whole = rows(chunks(text, path, 10**9))
    text = text.replace("\n", end)
    assert rows(chunks(text, path, 10**9)) == whole
    for max_chars in (10, 60, 300):
        check_laws(text, chunks(text, path, max_chars), max_chars)


@pytest.mark.parametrize("language", FILES)
def test_damage_loses_no_line(language: str) -> None:
    path = FILES[language].name
    lines = sample(language).splitlines(keepends=True)
    step = max(1, len(lines) // 6)
    for at in range(0, len(lines), step):
        for wrong in ("(", '"', "}", "@"):
            text = "".join([*lines[:at], wrong, *lines[at:]])
            check_laws(text, chunks(text, path, 500), 500)


# CH-20: for every language, what stands in another place than the damage is found.
@pytest.mark.parametrize("language", sorted(set(FILES) - {"markdown"}))
def test_damage_at_the_end_loses_no_definition(language: str) -> None:
    path = FILES[language].name
    intact = {
        d.qualified_name for d in chunks(sample(language), path) if d.kind in ("function", "method", "class")
    }
    damaged = chunks(sample(language) + "\n\n(\n", path)
    assert intact <= {d.qualified_name for d in damaged}


# CH-03: what is missing is told with what installs it, and costs only its language.
@pytest.mark.parametrize("language", FILES)
def test_a_missing_grammar_loses_only_its_language(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, GRAMMARS[language].module, None)
    grammar._load.cache_clear()
    try:
        documents = chunks(sample(language), FILES[language].name)
        other = "python" if language != "python" else "go"
        others = chunks(sample(other), FILES[other].name)
    finally:
        grammar._load.cache_clear()
    assert {d.kind for d in documents} == {"lines"}
    extra = GRAMMARS[language].extra
    reason = f"the extra {extra} is not installed; run: pip install 'hybridrank[{extra}]'"
    if language == "python":
        reason = "tree_sitter_python is not installed; run: pip install tree-sitter-python"
    assert {d.metadata["fallback"] for d in documents} == {reason}
    assert others[0].metadata["parser"] == "tree-sitter"


def test_missing_grammars_are_one_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tree_sitter_go", "tree_sitter_rust"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "a.go").write_text("package a\n")
    (tmp_path / "b.rs").write_text("fn b() {}\n")
    (tmp_path / "c.rs").write_text("fn c() {}\n")
    grammar._load.cache_clear()
    try:
        notes = load_code(tmp_path).notes
    finally:
        grammar._load.cache_clear()
    assert [n for n in notes if "grammar" in n] == [
        "cut by lines, though go, rust have grammars (the extra languages is not installed; "
        "run: pip install 'hybridrank[languages]'): a.go, b.rs, c.rs"
    ]


def test_grammars_are_imported_when_their_language_is_met() -> None:
    program = """
import sys
from hybridrank import SourceFile, TreeSitterChunker
chunker = TreeSitterChunker()
assert not [name for name in sys.modules if name.startswith("tree_sitter")]
chunker.chunk(SourceFile("a.go", "package a"))
print(sorted(name for name in sys.modules if name.startswith("tree_sitter_") and "." not in name))
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['tree_sitter_go']"


# CH-19
def test_tsx_has_a_grammar_of_its_own() -> None:
    text = (
        'export const Badge = (p: {n: number}) => <b className="x">{p.n}</b>;\n'
        "export function Row(props: {id: string}) {\n  return <div>{props.id}</div>;\n}\n"
    )
    documents = chunks(text, "a.tsx")
    assert rows(documents) == ["1-1 function Badge", "2-4 function Row"]
    assert not any("has_error" in d.metadata for d in documents)
    plain = chunks("export const cast = <string>value;\nexport const g = <T>(x: T) => x;\n", "a.ts")
    assert rows(plain) == ["1-1 module", "2-2 function g"]
    assert not any("has_error" in d.metadata for d in plain)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.js", "export default () => 1\n", ["1-1 function"]),
        ("a.js", "export default class {\n  m() {}\n}\n", ["1-1 class", "2-3 method m"]),
        ("a.js", "const f = function named() {}\n", ["1-1 function f"]),
        ("a.js", "module.exports = function named() {}\n", ["1-1 function named"]),
        ("a.js", "a.b.c = () => 1\n", ["1-1 function a.b.c"]),
        ("a.js", "a = b = c = function () {}\n", ["1-1 function a"]),
        ("a.js", "if (x) {\n  function f() {}\n}\n", ["1-1 module", "2-3 function f"]),
        ("a.js", "const x = 1\nfoo()\n", ["1-2 module"]),
        ("a.cjs", "const a = require('a')\nvar b = require('b')\n", ["1-2 import"]),
        (
            "a.ts",
            "declare global {\n  interface Window {\n    x: 1\n  }\n}\n",
            ["1-1 module", "2-5 class Window"],
        ),
        ("a.ts", "export abstract class A {\n  abstract get x(): 1\n}\n", ["1-1 class A", "2-3 method A.x"]),
        ("a.go", "package a\n\nfunc (s *S[K, V]) M() {}\n", ["1-1 module", "3-3 method S.M"]),
        ("a.go", "package a\n\ntype (\n\tA int\n)\n", ["1-1 module", "3-5 class A"]),
        (
            "a.rs",
            "impl<'a> From<&'a str> for x::Y<'a> {\n    fn from(s: &str) {}\n}\n",
            ["1-1 class_body Y", "2-3 method Y.from"],
        ),
        ("a.rs", "impl dyn Shape {\n    fn f() {}\n}\n", ["1-1 class_body Shape", "2-3 method Shape.f"]),
        ("a.h", "class A {\n  void f() {}\n};\n", ["1-1 class A", "2-3 method A.f"]),
        ("a.h", "struct a;\nint f(void);\n", ["1-2 module"]),
        ("a.cpp", "namespace {\nint f() { return 1; }\n}\n", ["1-1 module", "2-3 function f"]),
        ("a.cpp", "void ns::A<T>::f() {}\n", ["1-1 method ns.A.f"]),
        ("a.cpp", "A::operator bool() { return 1; }\n", ["1-1 method A.operator bool"]),
        ("a.cpp", "void* operator new(size_t n) { return 0; }\n", ["1-1 function operator new"]),
        ("a.cpp", "class my_api A {\n  void f() {}\n};\n", ["1-1 class A", "2-3 method A.f"]),
        ("a.c", "typedef enum { A, B } E;\nstruct { int x; } y;\n", ["1-1 class E", "2-2 module"]),
        ("a.cs", "namespace A.B;\n\nclass C { }\n", ["1-1 module A.B", "3-3 class A.B.C"]),
        ("a.cs", "void F() { }\n\nvar x = 1;\n", ["1-1 function F", "3-3 module"]),
        ("a.rb", "class << self\n  def f; end\nend\n", ["1-1 module", "2-3 function f"]),
        ("a.rb", "A = Class.new(B) do\n  def f; end\nend\n", ["1-1 class A", "2-3 method A.f"]),
        (
            "a.php",
            "<b><?php\nnamespace A {\n  function f() {}\n}\n",
            ["1-1 module", "2-2 module A", "3-4 function A.f"],
        ),
        (
            "a.php",
            "<?php\nnamespace A;\nclass B {}\nnamespace C;\nclass D {}\n",
            ["1-1 module", "2-2 module A", "3-3 class A.B", "4-4 module C", "5-5 class C.D"],
        ),
        ("a.lua", "function a.b:c() end\n", ["1-1 method a.b.c"]),
        ("a.hs", "f 0 = 1\nf n = n\n\ng = 1\n", ["1-2 function f", "4-4 function g"]),
        ("a.hs", "f :: Int\n\nf = 1\n", ["1-3 function f"]),
        (
            "a.ex",
            "defmodule A do\n  def f, do: 1\n  def f(1), do: 1\n  def f(2), do: 2\nend\n",
            ["1-1 module A", "2-2 function A.f", "3-5 function A.f"],
        ),
        ("a.gd", "func f():\n\tpass\n", ["1-2 function f"]),
        ("a.zig", "test {\n    f();\n}\n", ["1-3 function"]),
        (
            "a.md",
            "# A\n\n### B\n\n## C\n\nD\n===\n\ntext\n",
            ["1-1 section A", "3-3 section A > B", "5-5 section A > C", "7-10 section D"],
        ),
        ("a.md", "no heading\n", ["1-1 section"]),
    ],
)
def test_what_a_name_is(path: str, text: str, expected: list[str]) -> None:
    assert rows(chunks(text, path)) == expected


# CH-20: macros make a grammar stumble; what is intact is found all the same.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("API_BEGIN\nint f(void) { return 1; }\nAPI_END\nint g(void) { return 1; }\n", ["f", "g"]),
        (
            '#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void) { return 1; }\n'
            "#ifdef __cplusplus\n}\n#endif\n",
            ["f"],
        ),
        ("class API_EXPORT(1) A final : public B {\n  int f() { return 1; }\n};\n", ["A", "A.f"]),
        ("API_BEGIN_NAMESPACE\nnamespace n {\nint f() { return 1; }\n}\nAPI_END_NAMESPACE\n", ["n.f"]),
        (
            "void f(void)\n{\n  if (x) {\n#if A\n  } else {\n#else\n  }\n#endif\n  }\n}\n\n"
            "int g(void) { return 1; }\n",
            ["g"],
        ),
        ("int f(a, b) char a; { return 1; }\n\nint g(void) MACRO;\n\nint h(void) { return 1; }\n", ["h"]),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_macros_hide_no_definition(text: str, expected: list[str], end: str) -> None:
    text = text.replace("\n", end)
    documents = chunks(text, "a.cpp")
    found = [d.qualified_name for d in documents if d.kind in ("function", "method", "class")]
    assert set(expected) <= set(found)
    check_laws(text, documents, 2000)
    assert "".join(d.text for d in documents).count("API_") == text.count("API_")


@pytest.mark.parametrize(
    ("path", "opening", "closing"),
    [
        ("a.js", "const a = {", "}"),
        ("a.js", "(", ")"),
        ("a.js", "a = ", "1"),
        ("a.js", "if (a) {\n", "}\n"),
        ("a.ts", "namespace a {\n", "}\n"),
        ("a.cpp", "namespace a { ", "}"),
        ("a.c", "#if a\n", "#endif\n"),
        ("a.cs", "class a {\n", "}\n"),
        ("a.rs", "mod a {\n", "}\n"),
        ("a.rb", "a do\n", "end\n"),
        ("a.ex", "defmodule A do\n", "end\n"),
        ("a.lua", "do\n", "end\n"),
        ("a.md", "> ", "a"),
    ],
)
def test_no_nesting_is_too_deep(path: str, opening: str, closing: str) -> None:
    text = opening * 2000 + closing * 2000 + "\n"
    documents = chunks(text, path)
    check_laws(text, documents, 2000)
    assert "RecursionError" not in str([dict(d.metadata) for d in documents])


def test_names_of_a_deep_nest_stay_within_bounds() -> None:
    documents = chunks("namespace a {\n" * 20_000, "a.cpp")
    assert max(len(d.qualified_name) for d in documents) < 1100
    (long,) = chunks("def " + "f" * 5000 + "(): pass\n", "a.py", 10**6)
    assert len(long.name) == 1000


def test_a_long_chain_of_assignments_is_no_burden() -> None:
    text = "a = " * 20_000 + "1\n"
    (document,) = chunks(text, "a.js", 10**6)
    assert document.kind == "module"
