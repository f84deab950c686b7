"""What files say of imports, definitions and calls, in a SQLite database: replaced file by file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..code.calls import Call, CallState, written_path
from ..code.corpus import How
from ..code.imports import Import
from ..code.references.facts import CallFact, Facts, ImportedName, packed_path, unpacked_path
from ..code.symbols import Symbol
from ..errors import HybridRankError, IndexFormatError, StoreError
from .files import Entry
from .graph_schema import APPLICATION_ID, CALL, ENTRY, IMPORTS, LED, SCHEMA, SYMBOL, TABLES, VERSION

GRAPH = "graph.sqlite"
"""Name of the database in the directory of an index."""

_TIMEOUT = 60.0

Lead = tuple[CallState, Collection[tuple[str, int]]]


class GraphStore:
    """The rows of a graph. Everything between `writing` is one transaction: all of it, or nothing.

    Args:
        file: where it is, made if there is none; None for one in memory.

    Raises:
        IndexFormatError: it is damaged, something else, or of a newer format.
        StoreError: it cannot be opened or made.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        try:
            # Without a transaction of its own: sqlite3 would commit before it changes the schema.
            self._database = sqlite3.connect(
                ":memory:" if file is None else file,
                timeout=_TIMEOUT,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise StoreError(f"cannot open {file}: {error}") from error
        try:
            with self._sound():
                self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        application = self._one("PRAGMA application_id")
        version = self._one("PRAGMA user_version")
        if application == 0 and version == 0 and not self._one("SELECT COUNT(*) FROM sqlite_master"):
            self._make()
        elif application != APPLICATION_ID:
            raise IndexFormatError(f"{self.file} is no graph of hybridrank; it is left alone")
        elif version > VERSION:
            raise IndexFormatError(
                f"the graph in {self.file} has format {version}, this version reads formats up to {VERSION}: "
                "upgrade hybridrank, or delete that file"
            )
        elif version < VERSION:
            with self.writing():
                for (name,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'"):
                    self._run(f'DROP TABLE "{name}"')
                self._make()

    def _make(self) -> None:
        inside = self._database.in_transaction
        self._run("SAVEPOINT making" if inside else "BEGIN IMMEDIATE")
        if not self._one("SELECT COUNT(*) FROM sqlite_master"):  # another process may have made it meanwhile
            for statement in SCHEMA.split(";"):
                self._run(statement)
        self._run("RELEASE making" if inside else "COMMIT")

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction; nobody else writes meanwhile."""
        self._run("BEGIN IMMEDIATE")
        try:
            yield
            self._run("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._run("ROLLBACK")
            raise

    # Files

    def about(self) -> dict[str, str]:
        """What the graph is of."""
        return dict(self._rows("SELECT name, value FROM about"))

    def set_about(self, values: Mapping[str, str]) -> None:
        for item in values.items():
            self._run("INSERT OR REPLACE INTO about VALUES (?, ?)", item)

    def clear(self) -> None:
        """Forget all files."""
        for table in ("files", *TABLES):
            self._run(f"DELETE FROM {table}")

    def entries(self) -> dict[str, Entry]:
        """What is remembered of each file."""
        rows = self._rows(f"SELECT {ENTRY} FROM files ORDER BY path")
        return {path: _entry(row) for path, *row in rows}

    def entry(self, path: str) -> Entry | None:
        rows = self._rows(f"SELECT {ENTRY} FROM files WHERE path = ?", (path,))
        return _entry(rows[0][1:]) if rows else None

    def touch(self, path: str, entry: Entry) -> None:
        """Remember other times of a file whose content is the same."""
        self._run(
            "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, racy = ? WHERE path = ?",
            (entry.size, entry.mtime_ns, entry.ctime_ns, str(entry.inode), entry.racy, path),
        )

    def remove(self, path: str) -> None:
        file = self._file(path)
        if file is not None:
            for table in TABLES:
                self._run(f"DELETE FROM {table} WHERE file = ?", (file,))
            self._run("DELETE FROM files WHERE id = ?", (file,))

    def put(
        self, path: str, entry: Entry, facts: Facts, symbols: Sequence[Symbol], config: str | None
    ) -> bool:
        """Keep a file instead of what there was of it; its imports and calls lead nowhere yet.

        Returns:
            Whether others may see it otherwise than before.
        """
        before = self._rows("SELECT interface FROM files WHERE path = ?", (path,))
        self.remove(path)
        interface = facts.interface()
        self._run(
            "INSERT INTO files VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(path, facts.language, entry.size, entry.mtime_ns, entry.ctime_ns, str(entry.inode)),
                *(entry.digest, entry.racy, facts.packed(), interface, config),
            ),
        )
        file = self._file(path)
        around = [facts.scopes[one.bound].definition for one in facts.definitions]
        self._many(
            "definitions",
            (
                (
                    *(file, number, s.name, s.name.casefold(), s.qualified_name),
                    *(s.parent.rpartition(".")[2], around[number], s.kind),
                    *(s.start_line, s.end_line, s.signature),
                )
                for number, s in enumerate(symbols)
            ),
        )
        state = "by-name" if facts.by_name else "unresolved"
        self._many(
            "calls",
            (
                (
                    *(file, number, c.name, c.line, c.column, packed_path(c.path), c.scope),
                    *(facts.scopes[c.scope].definition, state),
                )
                for number, c in enumerate(facts.calls)
            ),
        )
        return [(interface,)] != before

    def put_leads(self, path: str, leads: Sequence[Lead], places: Iterable[str]) -> None:
        """Keep where the calls of a file lead to, and what that was found in; rows that are right stay."""
        file = self._file(path)
        states = dict(self._rows("SELECT number, state FROM calls WHERE file = ?", (file,)))
        changed = [
            (state, file, number) for number, (state, _) in enumerate(leads) if states[number] != state
        ]
        with self._sound():
            self._database.executemany("UPDATE calls SET state = ? WHERE file = ? AND number = ?", changed)
        wanted = {(file, number, *target) for number, (_, targets) in enumerate(leads) for target in targets}
        self._exchange("leads", file, wanted)
        self._exchange("depends", file, {(file, place) for place in places})

    def _exchange(self, table: str, file: int, wanted: set[tuple[Any, ...]]) -> None:
        there = {tuple(row) for row in self._rows(f"SELECT * FROM {table} WHERE file = ?", (file,))}
        if there != wanted:
            self._run(f"DELETE FROM {table} WHERE file = ?", (file,))
            self._many(table, sorted(wanted))

    def dependants(self, places: Iterable[str]) -> set[str]:
        """The files whose calls were found in any of these files and folders."""
        query = "SELECT f.path FROM depends d JOIN files f ON f.id = d.file WHERE d.place = ?"
        return {path for place in sorted(set(places)) for (path,) in self._rows(query, (place,))}

    def put_imports(self, path: str, imports: Sequence[Import]) -> bool:
        """Keep where the imports of a file lead to; returns whether that is new."""
        if imports == self.imports(path):
            return False
        file = self._file(path)
        self._run("DELETE FROM imports WHERE file = ?", (file,))
        self._run("DELETE FROM targets WHERE file = ?", (file,))
        self._many(
            "imports",
            (
                (
                    file,
                    number,
                    i.line,
                    i.end_line,
                    i.module,
                    i.level,
                    json.dumps(i.names),
                    i.reexport,
                    i.state,
                )
                for number, i in enumerate(imports)
            ),
        )
        self._many(
            "targets",
            (
                (file, number, place, target)
                for number, one in enumerate(imports)
                for place, target in enumerate(one.targets)
            ),
        )
        return True

    # Asking

    def languages(self) -> dict[str, str]:
        """The language of each file, `""` where it is not known, by path."""
        return dict(self._rows("SELECT path, language FROM files ORDER BY path"))

    def configs(self) -> dict[str, str]:
        return dict(self._rows("SELECT path, config FROM files WHERE config IS NOT NULL ORDER BY path"))

    def facts(self, path: str) -> Facts:
        """All that a file says but its calls."""
        rows = self._rows("SELECT facts FROM files WHERE path = ?", (path,))
        with self._sound():
            return Facts.unpacked(rows[0][0]) if rows else Facts()

    def imports(self, path: str) -> tuple[Import, ...]:
        rows = self._rows(f"{IMPORTS} WHERE f.path = ? ORDER BY i.number", (path,))
        return tuple(self._imports(rows))

    def imports_of(self, target: str) -> tuple[Import, ...]:
        """The imports that lead to a file, or to a folder of Go."""
        rows = self._rows(
            f"{IMPORTS} JOIN targets t USING (file, number) WHERE t.target = ? ORDER BY f.path, i.number",
            (target,),
        )
        return tuple(self._imports(rows))

    def imports_named(self, module: str) -> tuple[Import, ...]:
        """The imports of a module of that name from outside, or of one in it."""
        rows = self._rows(
            f"{IMPORTS} WHERE i.state <> 'file' AND i.level = 0 AND (i.module = ? "
            "OR (i.module > ? AND i.module < ?) OR (i.module > ? AND i.module < ?)) "
            "ORDER BY f.path, i.number",
            (module, f"{module}.", f"{module}/", f"{module}/", f"{module}0"),
        )
        return tuple(self._imports(rows))

    def symbols(self, condition: str = "1", values: Sequence[Any] = ()) -> list[tuple[Symbol, int]]:
        """Definitions, each with its number in its file; a condition calls their table `d`, files `f`."""
        rows = self._rows(
            f"SELECT {SYMBOL} FROM definitions d JOIN files f ON f.id = d.file WHERE {condition} "
            "ORDER BY f.path, d.number",
            values,
        )
        return [
            (
                Symbol(
                    *(path, line, end, qualified, name, kind, language),
                    qualified[: -len(name) - 1] if qualified != name else "",
                    signature,
                ),
                number,
            )
            for path, line, end, qualified, name, kind, language, signature, number in rows
        ]

    def facts_of_calls(self, path: str) -> list[CallFact]:
        """The calls of a file as it says them, in their order."""
        rows = self._rows(
            "SELECT c.line, c.column, c.name, c.path, c.scope FROM calls c JOIN files f ON f.id = c.file "
            "WHERE f.path = ? ORDER BY c.number",
            (path,),
        )
        with self._sound():
            return [CallFact._make([*row[:3], unpacked_path(row[3]), row[4]]) for row in rows]

    def calls(self, condition: str, values: Sequence[Any]) -> list[tuple[Call, int]]:
        """Calls, each with the number of the definition that it stands in; a condition calls them `c`."""
        rows = self._rows(
            f"SELECT {CALL} FROM calls c JOIN files f ON f.id = c.file "
            f"LEFT JOIN definitions o ON o.file = c.file AND o.number = c.caller WHERE {condition}",
            values,
        )
        made: list[tuple[Call, int]] = []
        for file, number, path, language, line, column, name, packed, state, around, caller, begins in rows:
            if state == "by-name":
                found = self.symbols("d.name = ? AND f.language = ?", (name, language))
            elif state in ("resolved", "ambiguous"):
                found = self.symbols(LED, (file, number))
            else:
                found = []
            with self._sound():
                written = written_path(unpacked_path(packed))
            targets = tuple(sorted(symbol for symbol, _ in found))
            one = Call(path, line, column, caller or "", begins or 0, name, written, state, targets)
            made.append((one, around))
        return sorted(made)

    def calls_to(self, path: str, number: int) -> list[Call]:
        """The calls that lead to a definition."""
        condition = "(c.file, c.number) IN (SELECT file, number FROM leads WHERE path = ? AND definition = ?)"
        return [call for call, _ in self.calls(condition, (path, number))]

    def around(self, path: str) -> dict[int, int]:
        """For each definition of a file the number of that around it, -1 at the top level."""
        file = self._file(path)
        return dict(self._rows("SELECT number, around FROM definitions WHERE file = ?", (file,)))

    def counts(self) -> dict[str, int]:
        return {table: self._one(f"SELECT COUNT(*) FROM {table}") for table in ("files", *TABLES)}

    def _imports(self, rows: Sequence[Any]) -> Iterator[Import]:
        for file, number, path, language, line, end, module, level, names, reexport, state in rows:
            targets = self._rows(
                "SELECT target FROM targets WHERE file = ? AND number = ? ORDER BY place", (file, number)
            )
            with self._sound():
                bound = tuple(ImportedName(*name) for name in json.loads(names))
            yield Import(
                *(path, line, end, module, level, bound, bool(reexport), state),
                tuple(target for (target,) in targets),
                language,
            )

    def _file(self, path: str) -> Any:
        rows = self._rows("SELECT id FROM files WHERE path = ?", (path,))
        return rows[0][0] if rows else None

    def _many(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        listed = list(rows)
        if listed:
            marks = ", ".join("?" * len(listed[0]))
            with self._sound():
                self._database.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)

    def _one(self, query: str) -> Any:
        return self._rows(query)[0][0]

    def _run(self, query: str, values: Sequence[Any] = ()) -> None:
        with self._sound():
            self._database.execute(query, values)

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._sound():
            return self._database.execute(query, values).fetchall()

    @contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except HybridRankError:
            raise
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT):
                raise self._damaged(error) from error
            raise StoreError(f"cannot use the graph in {self.file}: {error}") from error
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> IndexFormatError:
        return IndexFormatError(
            f"the graph in {self.file} is damaged ({error}); make it anew: hybridrank index --graph",
            replaceable=True,
        )


def _entry(row: Sequence[Any]) -> Entry:
    size, mtime_ns, ctime_ns, inode, digest, racy = row
    return Entry(size, mtime_ns, ctime_ns, int(inode), digest, bool(racy), "", How())
