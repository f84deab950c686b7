"""Symbols of source files, of documents, and the names that they are asked for by."""

from __future__ import annotations

import ast
import importlib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from hybridrank import Document, Symbol, TreeSitterChunker, load_code
from hybridrank.code.languages import language_of
from hybridrank.code.symbols import MAX_SIGNATURE, SymbolName, signature_of, symbols_of
from hybridrank.errors import InvalidValueError
from hybridrank.types import SourceFile

SAMPLES = sorted(path for path in (Path(__file__).parent.parent / "samples").iterdir() if path.is_file())


def outlined(text: str, path: str = "a.py", max_chars: int = 2000) -> tuple[Symbol, ...]:
    return tuple(TreeSitterChunker(max_chars=max_chars).outline(SourceFile(path, text))[1])


def places(symbols: tuple[Symbol, ...]) -> list[tuple[str, str, int, int]]:
    return [(one.qualified_name, one.kind, one.start_line, one.end_line) for one in symbols]


# CH-17
def test_decorated_definitions_begin_on_their_own_line() -> None:
    text = (
        "@cache\n@trace(level=2)\ndef slow(n):\n    return n\n\n"
        "class Box:\n    @property\n    def lid(self):\n        return 1\n"
    )
    slow, box, lid = outlined(text)
    assert places((slow, box, lid)) == [
        ("slow", "function", 3, 4),
        ("Box", "class", 6, 9),
        ("Box.lid", "method", 8, 9),
    ]
    assert (slow.name, slow.parent, slow.signature, slow.language) == ("slow", "", "def slow(n):", "python")
    assert (lid.name, lid.parent, lid.signature, lid.path) == ("lid", "Box", "def lid(self):", "a.py")


# CH-15: lines are counted alike for every line end, and a byte order mark is no line.
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_those_of_the_file(end: str, mark: str) -> None:
    text = mark + end.join(["a = 1", "def f():", "    return a", ""])
    assert places(outlined(text)) == [("f", "function", 2, 3)]


# CH-16: equal names in one file are all kept, each with its own lines.
def test_equal_definitions_are_all_kept() -> None:
    assert places(outlined("# 注\n" + "def g():\n    return 1\n\n" * 3)) == [
        ("g", "function", 2, 3),
        ("g", "function", 5, 6),
        ("g", "function", 8, 9),
    ]


# CH-19
def test_tsx_is_read_as_tsx() -> None:
    text = (
        'export const Badge = (p: {n: number}) => <b className="x">{p.n}</b>;\n'
        "export function Row(props: {id: string}) {\n  return <div>{props.id}</div>;\n}\n"
    )
    assert places(outlined(text, "a.tsx")) == [("Badge", "function", 1, 1), ("Row", "function", 2, 4)]


# CH-20
def test_intact_definitions_of_a_damaged_file_are_symbols() -> None:
    damaged = "def broken(:\n    pass\n\n"
    text = f"def ok():\n    return 1\n\n{damaged}def also():\n    def inner(): ...\n    return 2\n"
    found = {(one.qualified_name, one.start_line, one.end_line) for one in outlined(text)}
    assert {("ok", 1, 2), ("also", 7, 9), ("also.inner", 8, 8)} <= found


# CH-21
def test_a_file_without_a_grammar_has_no_symbols() -> None:
    assert outlined("def f(): pass\n" * 50, "notes.zig2") == ()


# CH-24
def test_a_large_file_gives_all_its_symbols() -> None:
    text = "".join(f"def f{number}():\n    return {number}\n\n" for number in range(5000))
    found = outlined(text)
    assert places(found)[::1000] == [
        (f"f{n}", "function", 3 * n + 1, 3 * n + 2) for n in range(0, 5000, 1000)
    ]
    assert len(found) == 5000


# DF-06: what is cut into pieces is one symbol, a big class with its members too.
def test_what_is_cut_into_pieces_is_one_symbol() -> None:
    body = "".join(f"        value_{number} = {number}\n" for number in range(300))
    text = f"class Big:\n    def long(self):\n{body}\n    limit = 3\n"
    assert len(TreeSitterChunker(max_chars=1000).chunk(SourceFile("a.py", text))) > 5
    expected = [("Big", "class", 1, 304), ("Big.long", "method", 2, 302)]
    assert places(outlined(text, max_chars=1000)) == expected


# CH-08
def test_bad_files_cost_only_their_own_symbols(tmp_path: Path) -> None:
    (tmp_path / "ok.py").write_text("def fine(): ...\n")
    (tmp_path / "latin1.py").write_bytes(b"def caf\xe9(): ...\n")
    (tmp_path / "binary.py").write_bytes(b"\0\1def hidden(): ...\n")
    (tmp_path / "x.py").mkdir()
    symbols = load_code(tmp_path).symbols
    assert symbols is not None
    assert [(one.path, one.name) for one in symbols] == [("latin1.py", "café"), ("ok.py", "fine")]


INNER = {
    "a.py": ("class Outer:\n def f(self):\n  class In:\n   def g(self): ...\n  async def h(): ...\n",
             ["Outer class", "Outer.f method", "Outer.f.In class", "Outer.f.In.g method",
              "Outer.f.h function"]),
    "a.js": ("function f() {\n  const g = () => 1;\n  class K { m() {} }\n}\n",
             ["f function", "f.g function", "f.K class", "f.K.m method"]),
    "a.ts": ("function f(): void {\n  function g(): void {}\n}\n", ["f function", "f.g function"]),
    "a.rs": ("fn f() {\n    fn g() {}\n    struct S;\n}\n", ["f function", "f.g function", "f.S class"]),
    "a.kt": ("fun f() {\n    fun g() = 1\n}\n", ["f function", "f.g function"]),
    "a.swift": ("func f() {\n    func g() {}\n}\n", ["f function", "f.g function"]),
    "a.scala": ("def f() = {\n  def g() = 1\n  g()\n}\n", ["f function", "f.g function"]),
    "a.lua": ("function f()\n  local function g() end\nend\n", ["f function", "f.g function"]),
    "a.java": ("class A {\n  void f() {\n    class B { void g() {} }\n  }\n}\n",
               ["A class", "A.f method", "A.f.B class", "A.f.B.g method"]),
    "a.zig": ("fn List() type {\n    return struct {\n        fn add() void {}\n    };\n}\n",
              ["List function", "List.add function"]),
    "a.sh": ("f() {\n  g() { :; }\n}\n", ["f function", "f.g function"]),
}  # fmt: skip


@pytest.mark.parametrize("path", INNER)
def test_definitions_inside_functions_are_symbols(path: str) -> None:
    text, expected = INNER[path]
    assert sorted(f"{one.qualified_name} {one.kind}" for one in outlined(text, path)) == sorted(expected)


def test_several_definitions_on_a_line_are_all_symbols() -> None:
    assert places(outlined("function a() {} function b() {}\nclass C { m() {} n() {} }\n", "a.js")) == [
        ("a", "function", 1, 1),
        ("b", "function", 1, 1),
        ("C", "class", 2, 2),
        ("C.m", "method", 2, 2),
        ("C.n", "method", 2, 2),
    ]


def test_overloads_are_one_symbol_as_they_are_one_document() -> None:
    heads = "".join(f"export function f(a: {kind}): void;\n" for kind in ("string", "number"))
    text = f"{heads}export function f(a: any) {{\n}}\n"
    assert places(outlined(text, "a.ts")) == [("f", "function", 1, 4)]


def test_comments_that_end_a_block_are_no_part_of_the_definition() -> None:
    text = "class A:\n    def f(self):\n        return 1\n        # later\n\n    # more\n\nx = 1\n"
    assert places(outlined(text)) == [("A", "class", 1, 3), ("A.f", "method", 2, 3)]
    string = 'def f():\n    return """\n    # no comment"""\n'
    assert places(outlined(string)) == [("f", "function", 1, 3)]


@pytest.mark.parametrize(
    ("path", "text", "signature"),
    [
        ("a.py", "def f(\n    a: int,\n    *,\n    b=1,\n) -> str:\n    return ''\n",
         "def f( a: int, *, b=1, ) -> str:"),
        ("a.py", "class A(B):\n    # a comment\n    x = 1\n", "class A(B):"),
        ("a.go", "func (s *Server) Start(port int) error {\n\treturn nil\n}\n",
         "func (s *Server) Start(port int) error"),
        ("a.c", "static int\nadd(int a, int b)\n{\n  return a + b;\n}\n", "static int add(int a, int b)"),
        ("a.js", "const f = (a) => {\n  return a;\n};\n", "const f = (a) =>"),
        ("a.py", f"def f({'a, ' * 200}): ...\n", "…"),
    ],
)  # fmt: skip
def test_signatures(path: str, text: str, signature: str) -> None:
    (symbol,) = outlined(text, path)
    assert symbol.signature == signature or symbol.signature.endswith("…" if signature == "…" else "\0")
    assert len(symbol.signature) <= MAX_SIGNATURE


def test_a_signature_is_one_line_without_its_brace() -> None:
    assert signature_of("fn  f(\n\ta: u8,\n) {") == "fn f( a: u8, )"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_every_document_that_defines_something_has_its_symbol(sample: Path) -> None:
    path, text = sample.name, sample.read_text("utf-8")
    if not language_of(path, text):
        pytest.skip("no source code")
    documents, symbols = TreeSitterChunker().outline(SourceFile(path, text))
    defined = {(one.qualified_name, one.name, one.kind): one for one in symbols}
    for document in documents:
        if document.kind in ("function", "method", "class") and document.name:
            symbol = defined[document.qualified_name, document.name, document.kind]
            assert symbol.end_line <= len(text.splitlines()) + 1
    assert all(one.path == path and one.start_line <= one.end_line and one.signature for one in symbols)
    assert list(symbols) == sorted(symbols)
    assert all(one.qualified_name == ".".join(filter(None, (one.parent, one.name))) for one in symbols)


def defined_by_ast(tree: ast.Module) -> Iterator[tuple[str, str, int, int]]:
    levels: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while levels:
        node, above, in_class = levels.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{above}.{child.name}" if above else child.name
                is_class = isinstance(child, ast.ClassDef)
                kind = "class" if is_class else "method" if in_class else "function"
                yield name, kind, child.lineno, child.end_lineno or 0
                levels.append((child, name, is_class))
            else:
                levels.append((child, above, in_class))


@pytest.mark.parametrize(
    "package",
    ["httpx", pytest.param("click", marks=pytest.mark.slow), pytest.param("rich", marks=pytest.mark.slow)],
)
def test_definitions_agree_with_python_itself(package: str) -> None:
    root = Path(str(importlib.import_module(package).__file__)).parent
    seen = 0
    for file in sorted(root.rglob("*.py")):
        text = file.read_text("utf-8")
        with warnings.catch_warnings(action="ignore"):
            expected = sorted(defined_by_ast(ast.parse(text)))
        assert sorted(places(outlined(text))) == expected, file
        seen += len(expected)
    assert seen > 400


def test_symbols_of_documents() -> None:
    def document(start: int, end: int, kind: str, qualified: str, text: str = "text") -> Document:
        name = qualified.rpartition(".")[2]
        return Document(f"a:{start}-{end}", text, "a.py", start, end, kind, name, qualified, "python")

    documents = [
        document(1, 2, "import", "os"),
        document(4, 6, "class", "Ring", "# a ring\nclass Ring:\n    size = 1"),
        document(7, 20, "method", "Ring.turn", "    def turn(self):"),
        document(21, 30, "part", "Ring.turn"),
        document(31, 32, "class_body", "Ring"),
        document(40, 44, "function", "turn"),
    ]
    found = symbols_of(reversed(documents))
    assert places(found) == [
        ("Ring", "class", 4, 32),
        ("Ring.turn", "method", 7, 30),
        ("turn", "function", 40, 44),
    ]
    assert [(one.parent, one.signature) for one in found] == [
        ("", "class Ring:"),
        ("Ring", "def turn(self):"),
        ("", "text"),
    ]
    assert symbols_of([Document("1", "plain text")]) == ()


@pytest.mark.parametrize(
    ("asked", "name", "container", "prefix"),
    [
        ("send", "send", "", False),
        (" send() ", "send", "", False),
        ("Client.send", "send", "Client", False),
        ("net::Client::send", "send", "net.Client", False),
        ("Client#send", "send", "Client", False),
        ("client->send", "send", "client", False),
        ("::send", "send", "", False),
        ("sen*", "sen", "", True),
        ("Client.*", "", "Client", True),
        ("*", "", "", True),
        ("<*", "<*", "", False),
    ],
)
def test_names_as_they_are_asked_for(asked: str, name: str, container: str, prefix: bool) -> None:
    wanted = SymbolName.of(asked)
    assert (wanted.name, wanted.container, wanted.prefix) == (name, container, prefix)


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_blank_name_is_an_error(blank: str) -> None:
    with pytest.raises(InvalidValueError, match=r"give one, or its beginning: parse\*"):
        SymbolName.of(blank)
