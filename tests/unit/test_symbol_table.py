"""The table of symbols: looked up by name, replaced file by file, damaged, deleted, shared."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridrank import BM25, Document, Filter, Pipeline, Symbol, SymbolTable
from hybridrank.errors import IndexFormatError, InvalidValueError, NotIndexedError
from hybridrank.store import layout
from hybridrank.store.symbols import SYMBOLS, VERSION


def symbol(path: str, line: int, qualified: str, kind: str = "method", language: str = "python") -> Symbol:
    parent, _, name = qualified.rpartition(".")
    return Symbol(path, line, line + 1, qualified, name, kind, language, parent, f"def {name}():")


CLIENT = symbol("net/client.py", 1, "Client", "class")
SEND = symbol("net/client.py", 5, "Client.send")
ASYNC_SEND = symbol("net/client.py", 50, "net.AsyncClient.send")
FUNCTION = symbol("a.py", 3, "send", "function")
AGAIN = symbol("a.py", 30, "send", "function")
SENDER = symbol("b.go", 1, "Sender", "class", "go")
ODD = symbol("sub/\udce4.py", 1, "größe", "function")
ALL = (SEND, FUNCTION, ODD, CLIENT, SENDER, AGAIN, ASYNC_SEND)
CONFIG = {"retrievers": {"bm25": {"use": "bm25"}}}


@pytest.fixture(scope="module")
def table() -> SymbolTable:
    return SymbolTable.of(ALL)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("send", (FUNCTION, AGAIN, SEND, ASYNC_SEND)),
        ("SEND", (FUNCTION, AGAIN, SEND, ASYNC_SEND)),
        ("Send", (FUNCTION, AGAIN, SEND, ASYNC_SEND)),
        ("Sender", (SENDER,)),
        ("Client.send", (SEND,)),
        ("client::send()", (SEND,)),
        ("AsyncClient#send", (ASYNC_SEND,)),
        ("net.AsyncClient.send", (ASYNC_SEND,)),
        ("et.AsyncClient.send", ()),
        ("other.send", ()),
        ("send*", (FUNCTION, AGAIN, SEND, ASYNC_SEND)),
        ("SEND*", (FUNCTION, AGAIN, SENDER, SEND, ASYNC_SEND)),
        ("Client.*", (SEND,)),
        ("net.*", ()),
        ("AsyncClient.s*", (ASYNC_SEND,)),
        ("grö*", (ODD,)),
        ("GRÖSSE", (ODD,)),
        ("se_d", ()),
        ("s%", ()),
        ("*", tuple(sorted(ALL))),
    ],
)
def test_names_are_found(table: SymbolTable, name: str, found: tuple[Symbol, ...]) -> None:
    assert table.find(name) == found


@pytest.mark.parametrize(
    ("name", "where", "found"),
    [
        ("send", Filter(kind="function"), (FUNCTION, AGAIN)),
        ("send", Filter(path="net/"), (SEND, ASYNC_SEND)),
        # What is written so does not pass, so case is ignored for what does.
        ("send*", Filter(language="go"), (SENDER,)),
        ("send", Filter(kind="class"), ()),
        ("*", Filter(kind="class", language="python"), (CLIENT,)),
    ],
)
def test_filters_apply_first(table: SymbolTable, name: str, where: Filter, found: tuple[Symbol, ...]) -> None:
    assert table.find(name, where=where) == found


def test_what_cannot_be_asked_for_is_an_error(table: SymbolTable) -> None:
    with pytest.raises(InvalidValueError, match="give one, or its beginning"):
        table.find(" ")
    with pytest.raises(InvalidValueError, match="no metadata"):
        table.find("send", where=Filter(metadata={"year": 1}))


def test_a_table_as_a_collection(table: SymbolTable) -> None:
    assert list(table) == sorted(ALL)
    assert len(table) == 7
    assert SEND in table
    assert symbol("net/client.py", 6, "Client.send") not in table
    assert "send" not in table  # type: ignore[comparison-overlap]
    assert table.in_file("a.py") == (FUNCTION, AGAIN)
    assert table.in_file(ODD.path) == (ODD,)
    assert table.in_file("none.py") == ()
    assert table.paths() == ("a.py", "b.go", "net/client.py", ODD.path)
    assert table.counts() == {"class": 2, "function": 3, "method": 2}
    assert SymbolTable.of([]).counts() == {}


def test_equal_symbols_are_kept_each() -> None:
    assert len(SymbolTable.of([SEND, SEND])) == 2


def rows(data: Any) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(":memory:")
    database.deserialize(data.tobytes())
    found = database.execute("SELECT rowid, * FROM symbols ORDER BY rowid").fetchall()
    database.close()
    return found


def test_a_change_writes_the_rows_of_its_files_only(table: SymbolTable) -> None:
    new = symbol("a.py", 9, "receive", "function")
    changed = table.changed(["a.py", "gone.py"], [new])
    assert list(changed) == sorted({*ALL, new} - {FUNCTION, AGAIN})
    assert list(table) == sorted(ALL)
    before, after = rows(table.data), rows(changed.data)
    assert [row for row in after if row[1] != "a.py"] == [row for row in before if row[1] != "a.py"]
    assert [row[1:] for row in after if row[1] == "a.py"] == [
        row[1:] for row in rows(SymbolTable.of([new]).data)
    ]


def test_any_thread_may_ask(table: SymbolTable) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: table.find("send"), range(64)))
    assert set(answers) == {(FUNCTION, AGAIN, SEND, ASYNC_SEND)}


def test_a_closed_table_opens_again(table: SymbolTable) -> None:
    table.close()
    table.close()
    assert len(table) == 7


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("def send(): ...\n")
    (root / "b.py").write_text("class Client:\n    def send(self):\n        def inner(): ...\n")
    return root


def indexed(tree: Path) -> Pipeline:
    return Pipeline.for_code(tree, config=CONFIG, index=tree.parent / "index")


def test_readers_keep_the_generation_that_they_opened(tree: Path) -> None:
    indexed(tree)
    index = tree.parent / "index"
    asked, unasked = Pipeline.load(index), Pipeline.load(index)
    assert len(asked.symbols) == 4
    (tree / "a.py").write_text("def receive(): ...\n")
    after = indexed(tree)
    assert [path.name for path in index.glob("data/*.sqlite")] == ["000002-symbols.sqlite"]
    assert [bool(one.symbols.find("receive")) for one in (asked, unasked, after)] == [False, False, True]
    for pipeline in (asked, unasked, after):
        pipeline.close()


def test_what_did_not_change_is_not_written_again(tree: Path) -> None:
    indexed(tree)
    (tree / "notes.txt").write_text("no code")
    assert len(indexed(tree).symbols) == 4
    assert [path.name for path in (tree.parent / "index").glob("data/*.sqlite")] == ["000001-symbols.sqlite"]


def test_the_file_is_a_plain_database_that_reading_leaves_alone(tree: Path) -> None:
    indexed(tree)
    (file,) = (tree.parent / "index").glob("data/*.sqlite")
    before = file.read_bytes(), file.stat().st_mtime_ns
    with Pipeline.load(tree.parent / "index") as pipeline:
        assert [one.qualified_name for one in pipeline.symbols.find("*")] == [
            "send", "Client", "Client.send", "Client.send.inner",
        ]  # fmt: skip
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    assert database.execute("SELECT COUNT(*) FROM symbols").fetchone() == (4,)
    database.close()
    assert sorted(path.name for path in file.parent.glob("*sqlite*")) == [file.name]


def version(data: bytes, number: int) -> bytes:
    return data[:60] + number.to_bytes(4, "big") + data[64:]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: b"\0" * len(data), "damaged"),
        (lambda data: data[:9000], "damaged"),
        (lambda data: b"", "no database of symbols"),
        (lambda data: data[:68] + b"\0\0\0\1" + data[72:], "no database of symbols"),
        (lambda data: version(data, VERSION + 1), f"format {VERSION + 1}.*index again, or upgrade"),
    ],
)
def test_a_spoilt_table_says_so(spoil: Callable[[bytes], bytes], message: str, tmp_path: Path) -> None:
    data = spoil(SymbolTable.of(ALL).data.tobytes())
    file = tmp_path / "symbols.sqlite"
    file.write_bytes(data)
    array = np.frombuffer(data, np.uint8)
    for spoilt in (SymbolTable(array), SymbolTable.stored(array, file)):
        with pytest.raises(IndexFormatError, match=message):
            spoilt.find("send")
        with pytest.raises(IndexFormatError, match=message):
            spoilt.changed([], [SEND])


def test_a_damaged_table_is_told_and_made_anew(tree: Path) -> None:
    indexed(tree)
    index = tree.parent / "index"
    (file,) = index.glob("data/*.sqlite")
    content = bytearray(file.read_bytes())
    content[5000] ^= 255
    file.write_bytes(content)
    with pytest.raises(IndexFormatError, match=rf"000001-symbols\.sqlite \({SYMBOLS}\) is not as it was"):
        layout.read(index).verify()
    (tree / "a.py").write_text("def receive(): ...\n")
    with indexed(tree) as again:
        assert [one.name for one in again.symbols] == ["receive", "Client", "send", "inner"]
    layout.read(index).verify()


def test_symbols_of_pipelines_without_an_index(tree: Path, tmp_path: Path) -> None:
    from_code = Pipeline.for_code(tree, config=CONFIG)
    assert from_code.symbols is from_code.symbols
    with indexed(tree) as kept:
        assert list(from_code.symbols) == list(kept.symbols)
    assert [one.name for one in from_code.with_(recall=9).symbols] == [one.name for one in from_code.symbols]
    from_code.save(tmp_path / "saved")
    with Pipeline.load(tmp_path / "saved") as saved:
        assert list(saved.symbols) == list(from_code.symbols)
    documents = [Document("1", "def f(): ...", "a.py", 1, 1, "function", "f", "f", "python")]
    plain = Pipeline([BM25()]).index(documents)
    assert list(plain.symbols) == [Symbol("a.py", 1, 1, "f", "f", "function", "python", "", "def f(): ...")]
    plain.save(tmp_path / "plain")
    with Pipeline.load(tmp_path / "plain") as loaded:
        assert list(loaded.symbols) == list(plain.symbols)
    with pytest.raises(NotIndexedError, match="ask what index"):
        _ = Pipeline([BM25()]).symbols
    from_code.close()
    plain.close()
