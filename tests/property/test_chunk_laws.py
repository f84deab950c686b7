"""Laws of chunking: nothing is lost, nothing stands twice, no limit is passed, lines are right."""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunk_laws import DEFINITIONS, check_laws, outline
from hybridrank.code.chunk import TreeSitterChunker
from hybridrank.code.decode import decode
from hybridrank.code.lines import LineChunker
from hybridrank.types import Document, SourceFile


def chunks(text: str, max_chars: int = 2000) -> tuple[Document, ...]:
    return TreeSitterChunker(max_chars=max_chars).chunk(SourceFile("a.py", text, "python"))


odd_text = st.text(
    st.sampled_from("\n\n\n\r\t  ab(){}[]:\"'#=@,.\\\x0b\x0c\x1c\x85\u2028\ufeffé文𝒳\ud800")
    | st.characters(),
    max_size=200,
)
fragments = st.lists(
    st.sampled_from(
        [
            *("\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "\x0c", "\u2028", "\0", "\ud800", "\ufeff"),
            *(
                "def f(x):",
                "async def g(): pass",
                "class A(B):",
                "if x:",
                "else:",
                "try:",
                "import a, b",
                "@d",
            ),
            *(
                "x = 1",
                "pass",
                "(",
                ")",
                "[",
                '"""',
                "'",
                "#",
                "# é文",
                "\\",
                ";",
                "return",
                "lambda: 0",
                ":",
            ),
        ]
    ),
    max_size=60,
).map("".join)


@given(odd_text | fragments, st.integers(1, 120))
def test_any_text_by_syntax(text: str, max_chars: int) -> None:
    check_laws(text, chunks(text, max_chars), max_chars)


@given(odd_text | fragments, st.integers(1, 120), st.integers(1, 9))
def test_any_text_by_lines(text: str, max_chars: int, max_lines: int) -> None:
    chunker = LineChunker(max_chars=max_chars, max_lines=max_lines)
    check_laws(text, chunker.chunk(SourceFile("a.txt", text)), max_chars, max_lines)


class Writer:
    """Draws Python source and notes which definitions it holds."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.indent = draw(st.sampled_from(["    ", "  ", "\t"]))
        self.lines: list[str] = []
        self.expected: list[tuple[int, str, str]] = []

    def choose(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def put(self, depth: int, line: str) -> None:
        self.lines.append(self.indent * depth + line)

    def block(self, depth: int, parent: str, in_class: bool, nested: int) -> None:
        for _ in range(self.draw(st.integers(1, 4))):
            self.statement(depth, parent, in_class, nested)
        self.put(depth, "pass")

    def statement(self, depth: int, parent: str, in_class: bool, nested: int) -> None:
        kinds = ["simple", "text", "function", "gap"] + ["class", "if", "try"] * (nested < 3)
        kind = self.choose(*kinds)
        if kind == "simple":
            self.put(
                depth, self.choose("x = 1", "import os", "y = {1: [2]}", "z = 'é文'; w = 3", "f(lambda a: a)")
            )
        elif kind == "text":
            self.lines += [self.indent * depth + '"""doc', "def no(): pass", "", self.indent * depth + '"""']
        elif kind == "gap":
            self.lines.append(self.choose("", "   ", "\x0c"))
        elif kind == "if":
            self.put(depth, "if x:")
            self.block(depth + 1, parent, in_class, nested + 1)
            self.put(depth, self.choose("else:", "elif y:"))
            self.block(depth + 1, parent, in_class, nested + 1)
        elif kind == "try":
            self.put(depth, "try:")
            self.put(depth + 1, "pass")
            self.put(depth, "except E:")
            self.block(depth + 1, parent, in_class, nested + 1)
        else:
            self.definition(kind, depth, parent, in_class, nested)

    def definition(self, kind: str, depth: int, parent: str, in_class: bool, nested: int) -> None:
        name = f"n{len(self.expected)}"
        self.lines.append("")
        if self.choose(True, False):
            self.put(depth, "# not about it")
            self.lines.append("")
        first = len(self.lines) + 1
        for _ in range(self.choose(0, 0, 2)):
            self.put(depth, "# about it é")
        for _ in range(self.choose(0, 0, 1, 2)):
            self.put(depth, "@decorated(1)")
        qualified = f"{parent}.{name}".lstrip(".")
        if kind == "class":
            self.expected.append((first, "class", qualified))
            self.put(depth, self.choose(f"class {name}:", f"class {name}(Base[int], m=1):"))
            self.block(depth + 1, qualified, True, nested + 1)
        else:
            self.expected.append((first, "method" if in_class else "function", qualified))
            self.put(depth, self.choose(f"def {name}(a, *b):", f"async def {name}() -> int:"))
            self.put(depth + 1, "def inner(): pass")
            if self.choose(True, False):
                self.lines.append("")
        self.put(depth + 1, "pass")
        self.put(depth + 1, "# at its end")


@st.composite
def python_sources(draw: Any) -> tuple[str, list[tuple[int, str, str]]]:
    writer = Writer(draw)
    writer.block(0, "", False, 0)
    return "\n".join(writer.lines) + "\n", writer.expected


@given(python_sources(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_definition_of_a_written_source(
    source: tuple[str, list[tuple[int, str, str]]], end: str
) -> None:
    text, expected = source
    ast.parse(text)
    documents = chunks(text.replace("\n", end))
    check_laws(text.replace("\n", end), documents, 2000)
    found = [(d.start_line, d.kind, d.qualified_name) for d in documents if d.kind in DEFINITIONS]
    assert found == expected
    assert not any("has_error" in d.metadata for d in documents)


def whole_definitions(documents: Sequence[Document]) -> list[tuple[int, str, str]]:
    """(first line, kind, qualified name) of each definition, counted from its first piece on."""
    found: list[tuple[int, str, str]] = []
    begun: dict[str, int] = {}
    for d in documents:
        if d.kind == "part":
            begun.setdefault(d.qualified_name, d.start_line)
        elif d.kind in DEFINITIONS:
            found.append((begun.get(d.qualified_name, d.start_line), d.kind, d.qualified_name))
            begun = {}
        else:
            begun = {}
    return found


@given(python_sources(), st.integers(20, 200))
def test_the_limit_cuts_and_loses_no_definition(
    source: tuple[str, list[tuple[int, str, str]]], max_chars: int
) -> None:
    text, expected = source
    documents = chunks(text, max_chars)
    check_laws(text, documents, max_chars)
    assert whole_definitions(documents) == expected
    names = {name for _, _, name in expected}
    assert {d.qualified_name for d in documents if d.kind == "part"} <= names


@given(python_sources(), st.data())
def test_damage_loses_no_line(source: tuple[str, list[tuple[int, str, str]]], data: st.DataObject) -> None:
    text, _ = source
    at = data.draw(st.integers(0, len(text)))
    wrong = data.draw(st.sampled_from(["(", "[", '"""', "'", ":", "}", "@", "def ", "\0"]))
    damaged = text[:at] + wrong + text[at + data.draw(st.integers(0, 3)) :]
    check_laws(damaged, chunks(damaged, 300), 300)


@cache
def real_sources() -> list[tuple[str, str]]:
    stdlib = Path(sysconfig.get_path("stdlib"))
    files = [stdlib / f"{name}.py" for name in ("argparse", "typing", "inspect", "_pydecimal", "pydoc")]
    for package in ("click", "rich", "httpx"):
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        files += sorted(Path(spec.origin).parent.rglob("*.py"))
    texts = []
    for file in files:
        decoded = decode(file.read_bytes(), cookie=True)
        assert decoded is not None
        texts.append((str(file), decoded.text))
    return texts


def definitions(text: str) -> list[tuple[int, str, str]]:
    """(line of the first decorator, kind, qualified name), as Python's own parser sees them."""
    found = []
    todo: list[tuple[ast.AST, str, bool]] = [(ast.parse(text), "", False)]
    while todo:
        parent, prefix, in_class = todo.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                is_class = isinstance(node, ast.ClassDef)
                kind = "class" if is_class else "method" if in_class else "function"
                line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                found.append((line, kind, prefix + node.name))
                if is_class:
                    todo.append((node, prefix + node.name + ".", True))
            elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                todo.append((node, prefix, in_class))
    return sorted(found)


@pytest.mark.parametrize("max_chars", [300, 2000])
def test_real_sources_keep_the_laws(max_chars: int) -> None:
    for _, text in real_sources():
        check_laws(text, chunks(text, max_chars), max_chars)


def test_real_sources_have_the_definitions_that_python_sees() -> None:
    for path, text in real_sources():
        lines = text.split("\n")
        found = []
        for first, kind, name in whole_definitions(chunks(text)):
            while lines[first - 1].lstrip().startswith("#"):
                first += 1
            found.append((first, kind, name))
        assert sorted(found) == definitions(text), path


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_change_no_span(end: str) -> None:
    for _, text in real_sources()[:5]:
        other = text.replace("\n", end)
        limit = 10**9
        assert outline(chunks(other, limit)) == outline(chunks(text, limit))
