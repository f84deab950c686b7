"""Laws of symbols: what changes piece by piece is what is made at once; all is found by its name."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridrank import Document, Query, Symbol, SymbolRetriever, SymbolTable, TreeSitterChunker
from hybridrank.code.symbols import symbols_of
from hybridrank.store.documents import StoredDocuments
from hybridrank.types import SourceFile, tie_key

NAMES = ("send", "Send", "parse_header", "parseHeader", "größe", "a", "_", "\udce4", "operator==", "日本")
PATHS = ("a.py", "b.py", "sub/ä.go", "\udce4.rb")

names = st.one_of(st.sampled_from(NAMES), st.text(st.characters(), min_size=1, max_size=5))


def symbols() -> st.SearchStrategy[Symbol]:
    def made(path: str, line: int, name: str, parent: str, kind: str) -> Symbol:
        qualified = f"{parent}.{name}" if parent else name
        return Symbol(path, line, line + 2, qualified, name, kind, "python", parent, f"def {name}")

    return st.builds(
        made,
        st.sampled_from(PATHS),
        st.integers(1, 9),
        names,
        st.sampled_from(("", "Client", "net.Client")),
        st.sampled_from(("function", "method", "class")),
    )


@settings(max_examples=50)
@given(st.lists(symbols(), max_size=12), st.lists(symbols(), max_size=6))
def test_a_table_that_changes_is_one_made_at_once(before: list[Symbol], new: list[Symbol]) -> None:
    gone = {symbol.path for symbol in new} | {PATHS[0]}
    after = [symbol for symbol in before if symbol.path not in gone] + new
    changed = SymbolTable.of(before).changed(sorted(gone), new)
    fresh = SymbolTable.of(reversed(after))
    assert list(changed) == list(fresh) == sorted(after)
    assert len(changed) == len(after)
    assert changed.counts() == fresh.counts()
    assert all(changed.in_file(path) == fresh.in_file(path) for path in PATHS)


@given(st.lists(symbols(), max_size=8))
def test_every_symbol_is_found_by_its_names(given: list[Symbol]) -> None:
    table = SymbolTable.of(given)
    for symbol in given:
        assert symbol in table
        if symbol.name.strip() == symbol.name and not symbol.name.endswith("()"):
            assert symbol in table.find(symbol.name) or symbol.name.endswith("*")
    for symbol in given:
        if symbol.name in NAMES and symbol.parent:
            assert symbol in table.find(f"{symbol.parent}.{symbol.name}")
            assert symbol in table.find(f"{symbol.parent}.*")
            assert symbol in table.find(f"{symbol.parent.replace('.', '::')}::{symbol.name}")


def documents() -> st.SearchStrategy[list[Document]]:
    def made(id: str, path: str, line: int, name: str, parent: str, kind: str, text: str) -> Document:
        qualified = f"{parent}.{name}" if parent and name else name
        return Document(id, text, path, line, line + 1, kind, name, qualified, "python")

    one = st.builds(
        made,
        st.text("abcdef", min_size=1, max_size=3),
        st.sampled_from(PATHS),
        st.integers(1, 9),
        st.one_of(st.just(""), names),
        st.sampled_from(("", "Client")),
        st.sampled_from(("function", "method", "class", "part", "import", "module")),
        st.sampled_from(("", "send(1)", "parse_header (x); Send()", "send parseHeader")),
    )
    return st.lists(one, max_size=8, unique_by=lambda document: document.id)


QUERIES = (
    "send",
    "Client.send",
    "parse_header",
    "parse header",
    "who calls send",
    "the Send of größe_x",
    "日本",
)


def answers(leg: SymbolRetriever, k: int = 9) -> list[Any]:
    return [[(hit.document, hit.score) for hit in leg.retrieve(Query(query), k=k)] for query in QUERIES]


@settings(max_examples=50)
@given(documents(), st.data())
def test_a_leg_that_follows_its_documents_is_a_fresh_one(given: list[Document], data: st.DataObject) -> None:
    ordered = sorted(given, key=tie_key)
    fresh = SymbolRetriever().index(data.draw(st.permutations(given)))
    cut = data.draw(st.integers(0, len(ordered)))
    old_documents = StoredDocuments.of(
        [*ordered[:cut], Document("gone", "gone()", name="gone", kind="function")]
    )
    old = SymbolRetriever().index(old_documents)
    places = np.array([old_documents.find(document.id) for document in ordered], np.int64)
    updated = old.update(StoredDocuments.of(ordered), places)
    restored = SymbolRetriever().restore(fresh.state(), StoredDocuments.of(ordered))
    ours, theirs = updated.state(), fresh.state()
    assert {name: (value.dtype, value.tobytes()) for name, value in ours.items()} == {
        name: (value.dtype, value.tobytes()) for name, value in theirs.items()
    }
    assert updated.fingerprint() == fresh.fingerprint() == restored.fingerprint()
    assert answers(updated) == answers(fresh) == answers(restored)
    whole, top = answers(fresh), answers(fresh, 2)
    assert [ranking[:2] for ranking in whole] == top
    for query in QUERIES:
        for hit in fresh.retrieve(Query(query), k=9):
            assert sum(one.value for one in fresh.explain(Query(query), hit.document)) == hit.score


LINES = (
    "def f():",
    "    def g(self):",
    "class A:",
    "    x = 1",
    "        # note",
    "",
    "    pass",
    "@deco",
    "  '''",
    "if x:",
)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(LINES), max_size=14), st.sampled_from(("\n", "\r\n", "\r")))
def test_symbols_lie_in_their_file_and_documents_know_most_of_them(lines: list[str], end: str) -> None:
    source = SourceFile("a.py", end.join(lines))
    cut, outlined = TreeSitterChunker().outline(source)
    assert cut == TreeSitterChunker().chunk(source)
    for symbol in outlined:
        assert 1 <= symbol.start_line <= symbol.end_line <= len(lines)
        assert symbol.name in lines[symbol.start_line - 1]
    known = {(one.qualified_name, one.kind) for one in outlined}
    assert {(one.qualified_name, one.kind) for one in symbols_of(cut)} <= known
