"""Symbols in a SQLite database: looked up by name, replaced file by file."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ..code.corpus import Corpus
from ..code.symbols import Symbol, SymbolName, symbols_of
from ..errors import IndexFormatError, InvalidValueError, NotIndexedError
from ..types import Document, Filter

SYMBOLS = "symbols.sqlite"
"""Name of the symbols among the arrays of an index."""

# Raise it when a table or column changes; an index with other symbols is built anew.
VERSION = 1
APPLICATION_ID = 0x48725379

_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE symbols (
    path TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    qualified_name TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    language TEXT NOT NULL,
    parent TEXT NOT NULL,
    signature TEXT NOT NULL,
    folded TEXT NOT NULL,
    within TEXT NOT NULL
);
CREATE INDEX symbols_by_path ON symbols (path);
CREATE INDEX symbols_by_name ON symbols (name, within);
CREATE INDEX symbols_by_folded ON symbols (folded, within);
CREATE INDEX symbols_by_parent ON symbols (within);
"""
_COLUMNS = "path, start_line, end_line, qualified_name, name, kind, language, parent, signature"
_LAST = "\U0010ffff"
Bytes = NDArray[np.uint8]


class SymbolTable(Collection[Symbol]):
    """All symbols of an index. It is never changed; `changed` makes a new one.

    Made by `of`, `changed` and `stored`; it can be used from any thread. It lets go of its database when it
    is closed, or when nobody holds it any more.
    """

    def __init__(self, data: Bytes, file: Path | None = None) -> None:
        self._data = data
        self._file = file
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        self._closing: weakref.finalize[Any, Any] | None = None

    # Making tables

    @classmethod
    def of(cls, symbols: Iterable[Symbol]) -> Self:
        """A table in memory."""
        database = _connect(":memory:")
        try:
            database.executescript(_SCHEMA)
            _insert(database, symbols)
            return cls(_serialized(database))
        finally:
            database.close()

    @classmethod
    def stored(cls, data: Bytes, file: Path) -> Self:
        """A table that is on disk; it is read only where it is asked.

        Args:
            data: the bytes of the file, memory-mapped. They outlive the file, which the next writer of the
                index deletes.
            file: where it is.
        """
        return cls(data, file)

    def changed(self, gone: Iterable[str], new: Iterable[Symbol]) -> Self:
        """A table without the symbols of these paths, and with new ones; rows of other paths are not touched.

        Raises:
            IndexFormatError: this table is damaged.
        """
        database = _connect(":memory:")
        try:
            with _sound():
                _load(database, self._data)
                database.executemany("DELETE FROM symbols WHERE path = ?", ((_packed(p),) for p in gone))
                _insert(database, new)
                database.commit()
                return type(self)(_serialized(database))
        finally:
            database.close()

    @property
    def data(self) -> Bytes:
        """The database as bytes, uint8: what is written to disk."""
        return self._data

    # Asking

    def find(self, name: str, *, where: Filter | None = None) -> tuple[Symbol, ...]:
        """The symbols of a name, sorted by path and line.

        `send` is a name; `Client.send` (or `Client::send`, `Client#send`) a name in something whose qualified
        name is `Client` or ends in `.Client`; `sen*` and `Client.*` are all names that begin so, `*` is all.
        Case counts, and is ignored where nothing is written as it was asked for.

        Raises:
            InvalidValueError: the name is blank, or `where` has conditions on metadata.
            IndexFormatError: the table is damaged.
        """
        wanted = SymbolName.of(name)
        if where is not None and where.metadata:
            raise InvalidValueError("symbols have no metadata; filter them by path, language and kind")
        for fold in (False, True):
            found = [one for one in self._select(*_condition(wanted, fold)) if wanted.fits(one, fold)]
            if where:
                heads = (
                    Document(one.path, "", one.path, kind=one.kind, language=one.language) for one in found
                )
                found = [one for one, passes in zip(found, where.select(heads), strict=True) if passes]
            if found:
                return tuple(sorted(found))
        return ()

    def in_file(self, path: str) -> tuple[Symbol, ...]:
        """The symbols of a file, sorted by line."""
        return tuple(sorted(self._select("path = ?", (_packed(path),))))

    def paths(self) -> tuple[str, ...]:
        """The files that define something, sorted."""
        return tuple(sorted(_value(path) for (path,) in self._rows("SELECT DISTINCT path FROM symbols")))

    def counts(self) -> dict[str, int]:
        """How many symbols there are of each kind, sorted by kind."""
        return dict(self._rows("SELECT kind, COUNT(*) FROM symbols GROUP BY kind ORDER BY kind"))

    def __len__(self) -> int:
        return int(self._rows("SELECT COUNT(*) FROM symbols")[0][0])

    def __iter__(self) -> Iterator[Symbol]:
        return iter(sorted(self._select("1", ())))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, Symbol) and value in self._select("name = ?", (_packed(value.name),))

    def __repr__(self) -> str:
        return f"SymbolTable({str(self._file) if self._file else f'{len(self._data):,} bytes'})"

    def close(self) -> None:
        """Let go of the database; it is opened again when it is asked again."""
        with self._lock:
            if self._closing is not None:
                self._closing()
            self._open = self._closing = None

    def _select(self, condition: str, values: Sequence[Any]) -> list[Symbol]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM symbols WHERE {condition}", values)
        return [Symbol(*map(_value, row)) for row in rows]

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock, _sound():
            return self._database().execute(query, values).fetchall()

    def _database(self) -> sqlite3.Connection:
        if self._open is None:
            database = self._connected()
            self._closing = weakref.finalize(self, database.close)
            self._open = database
        return self._open

    def _connected(self) -> sqlite3.Connection:
        if self._file is not None:
            with suppress(sqlite3.OperationalError):  # a writer has deleted it meanwhile
                database = _connect(f"file:{quote(os.fsencode(self._file))}?mode=ro&immutable=1")
                try:
                    _check(database)
                    return database
                except BaseException:
                    database.close()
                    raise
        database = _connect(":memory:")
        try:
            _load(database, self._data)
            return database
        except BaseException:
            database.close()
            raise


def table_of(documents: Iterable[Document] | None, corpus: Corpus | None) -> SymbolTable:
    """The symbols of a corpus, or those that documents tell of where nobody looked for more.

    Raises:
        NotIndexedError: there are no documents yet.
    """
    if documents is None:
        raise NotIndexedError("the pipeline has no documents yet; ask what index(documents) returns")
    found = None if corpus is None else corpus.symbols
    if isinstance(found, SymbolTable):
        return found
    return SymbolTable.of(symbols_of(documents) if found is None else found)


def _condition(wanted: SymbolName, fold: bool) -> tuple[str, tuple[Any, ...]]:
    """SQL that selects at least the symbols that fit, and its values."""
    column = "folded" if fold else "name"
    name, raw = (wanted.name.casefold(), wanted.raw.casefold()) if fold else (wanted.name, wanted.raw)
    within = _packed(_within(wanted.container))
    named = f"{column} = ?"
    values: tuple[Any, ...] = (_packed(name),)
    if wanted.prefix:
        named = f"{column} >= ? AND {column} < ?" if name else "1"
        values = (_packed(name), _packed(name + _LAST)) if name else ()
    if not wanted.container:
        return f"{named} OR {column} = ?", (*values, _packed(raw))
    return f"({named} AND within = ?) OR {column} = ?", (*values, within, _packed(raw))


def _within(parent: str) -> str:
    """What narrows a search for members: the last part of what they stand in, in any case."""
    return parent.rpartition(".")[2].casefold()


def _connect(place: str) -> sqlite3.Connection:
    return sqlite3.connect(place, uri=place.startswith("file:"), check_same_thread=False)


def _load(database: sqlite3.Connection, data: Bytes) -> None:
    if data.size:
        database.deserialize(data.tobytes())
    _check(database)


def _check(database: sqlite3.Connection) -> None:
    """Refuse what is no database of symbols, or one of a newer version."""
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        raise IndexFormatError("it is no database of symbols", replaceable=True)
    if version != VERSION:
        raise IndexFormatError(
            f"the symbols have format {version}, this version reads {VERSION}: index again, "
            "or upgrade hybridrank"
        )


def _serialized(database: sqlite3.Connection) -> Bytes:
    return np.frombuffer(database.serialize(), np.uint8)


def _insert(database: sqlite3.Connection, symbols: Iterable[Symbol]) -> None:
    with database:
        database.executemany(
            "INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, sorted(symbols))
        )


def _row(symbol: Symbol) -> tuple[Any, ...]:
    return (
        _packed(symbol.path),
        symbol.start_line,
        symbol.end_line,
        _packed(symbol.qualified_name),
        _packed(symbol.name),
        symbol.kind,
        symbol.language,
        _packed(symbol.parent),
        _packed(symbol.signature),
        _packed(symbol.name.casefold()),
        _packed(_within(symbol.parent)),
    )


def _packed(text: str) -> str | bytes:
    """The text, or its bytes where it holds what SQLite's texts cannot: half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _value(stored: Any) -> Any:
    return stored.decode("utf-8", "surrogatepass") if isinstance(stored, bytes) else stored


@contextmanager
def _sound() -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise IndexFormatError(f"the symbols are damaged ({error}); index again", replaceable=True) from error
