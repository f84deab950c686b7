"""The tree-sitter chunker on Python: which lines become which document."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hybridrank.code import chunk, grammar
from hybridrank.code.chunk import TreeSitterChunker
from hybridrank.code.grammar import Define
from hybridrank.code.grammars import GRAMMARS
from hybridrank.code.grammars.python import PYTHON
from hybridrank.errors import InvalidValueError
from hybridrank.types import Document, SourceFile


def chunks(text: str, path: str = "a.py", **options: Any) -> tuple[Document, ...]:
    return TreeSitterChunker(**options).chunk(SourceFile(path, text, "python"))


def rows(text: str, **options: Any) -> list[tuple[str, str, str]]:
    """(lines, kind, qualified name) of each document."""
    return [
        (f"{d.start_line}-{d.end_line}", d.kind, d.qualified_name or d.name) for d in chunks(text, **options)
    ]


MODULE = '''\
"""A module."""

# why these
import os
import sys as system

from a import b, c

LIMIT = 3
T = LIMIT + 1


# what it is for
@cache
# between
@trace(level=2)
def slow(n):
    def inner():
        return n

    return inner


class Box(Base):
    """A box."""

    size = 1

    # its lid
    @property
    def lid(self):
        return 1

    colour = "red"

    async def open(self): pass

    class Inner:
        def deep(self):
            pass

        after = 1

    rest = 2


class Empty(Exception):
    """Nothing inside."""

    code = 7


if __name__ == "__main__":
    slow(1)
'''


def test_every_kind_of_document() -> None:
    assert rows(MODULE) == [
        ("1-1", "module", ""),
        ("3-7", "import", ""),
        ("9-10", "module", ""),
        ("13-21", "function", "slow"),
        ("24-27", "class", "Box"),
        ("29-32", "method", "Box.lid"),
        ("34-34", "class_body", "Box"),
        ("36-36", "method", "Box.open"),
        ("38-38", "class", "Box.Inner"),
        ("39-40", "method", "Box.Inner.deep"),
        ("42-42", "class_body", "Box.Inner"),
        ("44-44", "class_body", "Box"),
        ("47-50", "class", "Empty"),
        ("53-54", "module", ""),
    ]


def test_what_a_document_holds() -> None:
    lid = next(d for d in chunks(MODULE, "src/box.py") if d.name == "lid")
    assert lid == Document(
        id="src/box.py:29-32",
        text="    # its lid\n    @property\n    def lid(self):\n        return 1",
        path="src/box.py",
        start_line=29,
        end_line=32,
        kind="method",
        name="lid",
        qualified_name="Box.lid",
        language="python",
        metadata={"parser": "tree-sitter"},
    )


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import os", "os"),
        ("import os.path", "os"),
        ("import os.path as p", "p"),
        ("from a.b import c", "c"),
        ("from a import (b as c)", "c"),
        ("from . import models", "models"),
        ("from __future__ import annotations\nimport os", "os"),
        ("from __future__ import annotations", ""),
        ("from a import *", ""),
        ("import a\nfrom b import *", ""),
        ("import a, b", ""),
        ("import a\n\n# more\nimport b", ""),
        ("from build import build_index", "build_index"),
    ],
)
def test_an_import_run_is_named_by_the_one_name_that_it_binds(statement: str, name: str) -> None:
    (document,) = chunks(statement + "\n")
    assert (document.kind, document.name, document.text) == ("import", name, statement)


def test_imports_elsewhere_are_no_import_runs() -> None:
    text = "try:\n    import json\nexcept ImportError:\n    json = None\n\nimport os\nx = 1\nimport sys\n"
    assert rows(text) == [
        ("1-4", "module", ""),
        ("6-6", "import", "os"),
        ("7-7", "module", ""),
        ("8-8", "import", "sys"),
    ]


def test_definitions_in_conditional_blocks_are_found() -> None:
    text = (
        "if TYPE_CHECKING:\n    class Row: pass\nelse:\n    class Row:\n        def get(self): pass\n"
        "try:\n    def f(): pass\nexcept ImportError:\n    def f(): pass\nfinally:\n    def g(): pass\n"
        "with lock:\n    for x in y:\n        while z:\n            def h(): pass\n"
        "match v:\n    case 1:\n        def m(): pass\n"
        "class C:\n    if V:\n        def n(self): pass\n    else:\n        n = None\n"
    )
    found = [row for row in rows(text) if row[1] in ("function", "method", "class")]
    assert found == [
        ("2-2", "class", "Row"),
        ("4-4", "class", "Row"),
        ("5-5", "method", "Row.get"),
        ("7-7", "function", "f"),
        ("9-9", "function", "f"),
        ("11-11", "function", "g"),
        ("15-15", "function", "h"),
        ("18-18", "function", "m"),
        ("19-20", "class", "C"),
        ("21-21", "method", "C.n"),
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("# about f\ndef f(): pass\n", 1),
        ("# not about f\n\ndef f(): pass\n", 3),
        ("x = 1  # about x\ndef f(): pass\n", 2),
        ("if x:\n    y = 1\n    # about y\ndef f(): pass\n", 4),
        ("class A:\n    def g(self): pass\n    # about A\ndef f(): pass\n", 4),
        ("def g():\n    pass\n# about f\ndef f(): pass\n", 3),
        ("# one\n# two\n@d\n\n# three\n@e\n\ndef f(): pass\n", 1),
        ("# one\n\n# two\ndef f(): pass\n", 3),
    ],
)
def test_only_comments_directly_above_belong_to_a_definition(text: str, first: int) -> None:
    (found,) = (d for d in chunks(text) if d.name == "f")
    assert found.start_line == first


def test_statements_that_share_a_line_share_a_document() -> None:
    text = "import os; x = [\n1]\ndef f(): pass; y = 1\nclass A: pass; z = 2\nw = 1; import sys\n"
    assert rows(text) == [
        ("1-2", "import", "os"),
        ("3-3", "function", "f"),
        ("4-4", "class", "A"),
        ("5-5", "module", ""),
    ]


def test_a_language_is_told_by_the_path_when_it_is_not_given() -> None:
    (document,) = TreeSitterChunker().chunk(SourceFile("tool", "#!/usr/bin/env python3\n"))
    assert (document.language, document.metadata["parser"]) == ("python", "tree-sitter")


def test_blank_files_have_no_documents() -> None:
    assert chunks("") == chunks(" \n\t\r\n\x0c\n") == ()


# CH-02: the same symbols at both ends of the allowed range of tree-sitter, of which one is installed here.
def test_symbols_of_a_file() -> None:
    version = tuple(map(int, importlib.metadata.version("tree-sitter").split(".")[:2]))
    assert (0, 26) <= version < (0, 27)
    assert [d.qualified_name for d in chunks(MODULE) if d.kind in ("function", "method", "class")] == [
        "slow",
        "Box",
        "Box.lid",
        "Box.open",
        "Box.Inner",
        "Box.Inner.deep",
        "Empty",
    ]


# CH-03: from installed wheels, without a network.
# CH-04: and without the abandoned packages of many grammars.
def test_no_network_and_no_grammar_pack_is_needed() -> None:
    program = """
import socket, sys
def refuse(*args, **kwargs): raise OSError("no network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
sys.modules["tree_sitter_languages"] = sys.modules["tree_sitter_language_pack"] = None
from hybridrank import SourceFile, TreeSitterChunker
(document,) = TreeSitterChunker().chunk(SourceFile("a.py", "def f(): pass"))
assert document.metadata["parser"] == "tree-sitter", document
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# CH-03: a grammar that is missing is told, and loses only its language.
def test_a_missing_grammar_is_told_in_each_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_python", None)
    grammar._load.cache_clear()
    try:
        (document,) = chunks("def f(): pass\n")
    finally:
        grammar._load.cache_clear()
    assert document.kind == "lines"
    assert document.metadata["parser"] == "lines"
    assert "pip install tree-sitter-python" in document.metadata["fallback"]


def test_a_grammar_that_does_not_fit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import tree_sitter_python

    monkeypatch.setattr(tree_sitter_python, "language", lambda: "no pointer")
    grammar._load.cache_clear()
    try:
        (document,) = chunks("def f(): pass\n")
    finally:
        grammar._load.cache_clear()
    assert "tree-sitter-python cannot be loaded" in document.metadata["fallback"]


def test_a_file_that_breaks_the_parser_is_cut_by_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(chunk, "parse", fail)
    (document,) = chunks("def f(): pass\n")
    assert dict(document.metadata) == {"parser": "lines", "fallback": "RuntimeError: boom"}


def test_a_parse_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk, "PARSE_SECONDS", 0.05)
    slow = "\\\n" * 20_000  # quadratic in this grammar
    assert {d.kind for d in chunks(slow)} == {"lines"}
    assert rows("def f(): pass\n") == [("1-1", "function", "f")]


def test_a_nul_is_not_given_to_the_parser() -> None:
    (document,) = chunks("x = 1\0\ndef f(): pass\n")
    assert (document.kind, document.metadata["fallback"]) == ("lines", "it holds a NUL character")


# CH-06
def test_real_files_again_and_again_do_not_crash() -> None:
    program = """
import sys
from hybridrank import SourceFile, TreeSitterChunker
for path in sys.argv[1:] * 3:
    with open(path, encoding="utf-8") as file:
        assert len(TreeSitterChunker().chunk(SourceFile(path, file.read()))) > 10
"""
    stdlib = Path(sysconfig.get_path("stdlib"))
    names = ("argparse", "_pydecimal", "pydoc", "inspect", "typing")
    done = subprocess.run([sys.executable, "-c", program, *(str(stdlib / f"{name}.py") for name in names)])
    assert done.returncode == 0


# CH-11: there is no overlap, so the limit holds for all of a document.
def test_a_long_line_is_cut_within_the_limit() -> None:
    line = "x = '" + "a" * 4994 + "'"
    documents = chunks(line + "\ny = 1\n", max_chars=1600)
    assert [len(d.text) for d in documents] == [1600, 1600, 1600, 200, 5]
    assert "".join(d.text for d in documents[:4]) == line
    assert [d.id for d in documents] == [
        "a.py:1-1",
        "a.py:1-1.2",
        "a.py:1-1.3",
        "a.py:1-1.4",
        "a.py:2-2",
    ]


# CH-12
def test_the_limit_changes_the_documents() -> None:
    text = "def f():\n" + "".join(f"    x{i} = {i}\n" for i in range(200))
    assert len(chunks(text, max_chars=400)) > len(chunks(text, max_chars=1200)) > len(chunks(text))


# CH-13
@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "9", None])
def test_a_limit_that_is_no_positive_int_is_refused(limit: Any) -> None:
    with pytest.raises(InvalidValueError, match=f"max_chars is {limit!r}"):
        TreeSitterChunker(max_chars=limit)


def test_a_limit_of_one_character_works() -> None:
    assert [d.text for d in chunks("ab = c\n", max_chars=1)] == ["a", "b", "=", "c"]


# CH-15
def test_line_ends_are_counted_and_kept() -> None:
    windows = chunks("a = 1\r\ndef f():\r\n    return a\r\n")
    assert [(d.start_line, d.end_line, d.text) for d in windows] == [
        (1, 1, "a = 1"),
        (2, 3, "def f():\r\n    return a"),
    ]
    old_mac = chunks("a = 1\rdef f():\r    return a\r")
    assert [(d.start_line, d.end_line, d.text) for d in old_mac] == [
        (1, 1, "a = 1"),
        (2, 3, "def f():\r    return a"),
    ]
    marked = chunks("\ufeffdef f():\n    return 1\n")
    assert [(d.start_line, d.end_line, d.name) for d in marked] == [(1, 2, "f")]


def test_form_feeds_and_unicode_separators_end_no_line() -> None:
    text = "x = 'a\x0cb\u2028c\x85d\x1ce'\n\x0c\ndef f(): pass\n"
    assert rows(text) == [("1-1", "module", ""), ("3-3", "function", "f")]


# CH-16
def test_equal_functions_have_spans_of_their_own() -> None:
    text = "# \u6ce8\n" + "def g():\n    return 1\n\n" * 3
    documents = chunks(text)
    assert [(d.start_line, d.end_line) for d in documents] == [(1, 3), (5, 6), (8, 9)]
    assert len({d.id for d in documents}) == 3
    assert documents[1].text == documents[2].text == "def g():\n    return 1"


# CH-17
def test_decorators_belong_to_what_they_decorate() -> None:
    text = (
        "@cache\n@trace(level=2)\ndef slow(n):\n    return n\n\n"
        "class Box:\n    @property\n    def lid(self):\n        return 1\n"
    )
    assert rows(text) == [
        ("1-4", "function", "slow"),
        ("6-6", "class", "Box"),
        ("7-9", "method", "Box.lid"),
    ]


# CH-20
@pytest.mark.parametrize(
    ("broken", "lines"),
    [
        ("def broken(:\n    pass\n", 2),
        ("x = (1,\n", 1),
        ("x = [\n", 1),
        ('x = """\n', 1),
        ("x = 'abc\n", 1),
        ("class Broken(\n    a = 1\n", 2),
        ("return return\n", 1),
        ("if x\n    y = 1\n", 2),
        ("}\n", 1),
        ("@\n", 1),
        ("$%&\n", 1),
    ],
)
def test_intact_functions_in_a_damaged_file_are_found(broken: str, lines: int) -> None:
    text = f"def ok():\n    return 1\n\n{broken}\ndef also():\n    return 2\n"
    documents = chunks(text)
    found = {d.name: (d.start_line, d.end_line) for d in documents if d.kind == "function"}
    assert found["ok"] == (1, 2)
    assert found["also"] == (lines + 5, lines + 6)
    assert all(d.metadata["has_error"] is True for d in documents)


def test_methods_around_a_damaged_one_are_found() -> None:
    text = (
        "class A(B):\n    '''Doc.'''\n\n    def f(self):\n        return 1\n\n"
        "    def broken(self):\n        x = (1,\n\n    @p\n    def g(self):\n        return 2\n\n"
        "class C:\n    def h(self): pass\n"
    )
    found = [row for row in rows(text) if row[2] in ("A", "A.f", "A.g", "C", "C.h")]
    assert found == [
        ("1-2", "class", "A"),
        ("4-5", "method", "A.f"),
        ("10-12", "method", "A.g"),
        ("14-14", "class", "C"),
        ("15-15", "method", "C.h"),
    ]


def test_methods_after_damage_stay_in_their_class() -> None:
    text = (
        "class A(B):\n    def f(self):\n        self.x = call(\n            1,:\n            2,\n"
        "        )\n\n"
        "    @property\n    def g(self):\n        return 2\n\n    def h(self): pass\n\ndef top(): pass\n"
    )
    found = {row[2] for row in rows(text) if row[1] in ("function", "method", "class")}
    assert found >= {"A", "A.f", "A.g", "A.h", "top"}


def test_a_doc_string_with_blank_lines_after_damage_stays_whole() -> None:
    text = 'x = (\n\ndef f():\n    """doc\n\nat the margin\n    """\n    return 1\n\ndef g(): pass\n'
    assert rows(text)[1:] == [("3-8", "function", "f"), ("10-10", "function", "g")]


def test_a_text_after_damage_is_not_taken_for_code() -> None:
    text = 'x = (\n\nT = """\nhello it is\n\ndef no():\n    pass\n\nmore of it\n"""\n\ndef g(): pass\n'
    assert [d.name for d in chunks(text) if d.kind == "function"] == ["g"]


def test_the_row_of_a_language_says_what_defines(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(
        PYTHON,
        definitions={
            "class_definition": Define("class", members=True),
            "assignment": Define("function", name=("left",)),
        },
        wrappers=frozenset({"expression_statement"}),
        separator="::",
    )
    monkeypatch.setitem(GRAMMARS, "python", row)
    assert rows("class A: x = 1\nclass B:\n    y = 1\n    # z\n    z: int = 2\n    f()\nw = 3\n") == [
        ("1-1", "class", "A"),
        ("2-2", "class", "B"),
        ("3-3", "method", "B::y"),
        ("4-5", "method", "B::z"),
        ("6-6", "class_body", "B"),
        ("7-7", "function", "w"),
    ]


def test_a_sound_file_has_no_error() -> None:
    assert all("has_error" not in d.metadata for d in chunks(MODULE))


# CH-21
def test_an_unknown_suffix_is_cut_by_lines() -> None:
    text = "".join(f"line {i}\n" for i in range(50))
    documents = TreeSitterChunker().chunk(SourceFile("notes.zig2", text))
    assert {(d.kind, d.name, d.language, d.metadata["parser"]) for d in documents} == {
        ("lines", "", "", "lines")
    }
    assert "\n".join(d.text for d in documents) == text.removesuffix("\n")


# CH-24
def test_a_large_file_is_parsed_whole() -> None:
    text = "".join(f"def f{i}():\n    return {i}\n\n" for i in range(10_000))
    assert len(text) > 290_000
    assert [d.name for d in chunks(text) if d.kind == "function"] == [f"f{i}" for i in range(10_000)]


def test_behind_a_long_comment_the_piece_with_the_header_is_the_definition() -> None:
    comment = "".join(f"# why this class is as it is, reason {i}\n" for i in range(40))
    documents = chunks(f"{comment}@d\nclass Long:\n    limit = 3\n\n    def a(self): ...\n", max_chars=1000)
    *above, head, method = documents
    assert len(above) >= 1
    assert {(d.kind, d.name) for d in above} == {("part", "Long")}
    assert (head.kind, head.name) == ("class", "Long")
    assert "class Long" in head.text
    assert method.qualified_name == "Long.a"


# DF-06
def test_the_first_piece_of_a_long_definition_is_the_definition() -> None:
    text = "@d\ndef long():\n" + "".join(f"    x{i} = {i}\n\n" for i in range(150)) + "\ny = 1\n"
    documents = chunks(text, max_chars=1000)
    first, *others, last = documents
    assert (first.kind, first.name, first.start_line) == ("function", "long", 1)
    assert len(others) >= 2
    assert {(d.kind, d.name, d.qualified_name) for d in others} == {("part", "long", "long")}
    assert (last.kind, last.name) == ("module", "")
    assert all(len(d.text) <= 1000 for d in documents)


def test_a_long_definition_is_cut_at_shallow_lines_after_blank_ones() -> None:
    body = "    if a:\n        b = 1\n        c = 2\n\n        d = 3\n\n"
    documents = chunks("def f():\n" + body * 8, max_chars=250)
    assert len(documents) > 1
    assert all(d.text.startswith("    if a:") for d in documents[1:])


def test_no_piece_begins_with_what_goes_on() -> None:
    body = "    if a:\n        b = (\n            1\n        )\n    else:\n        c = 1\n"
    documents = chunks("def f():\n" + body * 8, max_chars=150)
    assert len(documents) > 3
    assert all(d.text.startswith("    if a:") for d in documents[1:])


def test_pieces_of_what_is_no_definition_keep_their_kind() -> None:
    text = "".join(f"import m{i}\n" for i in range(50)) + "".join(f"x{i} = 1\n" for i in range(50))
    assert {row[1:] for row in rows(text, max_chars=100)} == {("import", ""), ("module", "")}


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 10_000 + ")" * 10_000,
        "x = " + "(" * 10_000,
        "".join(" " * i + "if x:\n" for i in range(600)) + " " * 600 + "pass\n",
        "".join(" " * i + f"class A{i}:\n" for i in range(300)) + " " * 300 + "pass\n",
        "x = '" + "a" * 300_000 + "'\n",
        "x = 1" + "\n" * 100_000 + "y = 2",
        "\ud800 = '\udfff'\ndef f(): pass\n",
    ],
    ids=["parentheses", "unclosed", "blocks", "classes", "line", "blank", "surrogates"],
)
def test_odd_shapes_are_no_problem(text: str) -> None:
    documents = chunks(text)
    assert documents
    assert all(len(d.text) <= 2000 for d in documents)


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(TreeSitterChunker()) == "TreeSitterChunker()"
    assert repr(TreeSitterChunker(max_chars=900)) == "TreeSitterChunker(max_chars=900)"


def test_nothing_recurses() -> None:
    text = "".join(" " * i + f"class A{i}:\n" for i in range(300)) + " " * 300 + "pass\n"
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 60)
    try:
        documents = chunks(text)
    finally:
        sys.setrecursionlimit(limit)
    assert len(documents) == 300
