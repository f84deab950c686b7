"""What an index is made of and kept in step with: a folder of source code, or a file of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..code.corpus import Corpus, How, Progress, checked_chunker, folder_of, notes_on
from ..code.symbols import Symbol
from ..code.walk import MAX_BYTES, Found, Skipped
from ..errors import ConfigError, IndexFormatError, InvalidValueError
from ..protocols import Chunker
from ..records import MAPPING, BadLine, read_records
from ..types import Document, tie_key
from . import files
from .describe import describe
from .documents import Places, StoredDocuments
from .files import Changes, Entry, Look
from .layout import Stored
from .saving import packed_json, unpacked_json


class Reading(NamedTuple):
    """What a source holds, beside what an index of it holds.

    Attributes:
        kept: rising places of the documents of before that stay.
        new: documents that are not there yet.
        corpus: files and skipped files, without documents.
        changes: which files came, changed and went.
        table: what to remember of the files.
        owner: file of each new document by id, as its place in the table; of no use for records.
        moved: for each file of before its place in the table now, -1 for those that are gone or new in
            content; None for records.
        symbols: of the files that came or changed; None for records, in which nobody looks for any.
    """

    kept: Places
    new: Sequence[Document]
    corpus: Corpus
    changes: Changes
    table: Mapping[str, Entry]
    owner: Mapping[str, int] = {}
    moved: Places | None = None
    symbols: Sequence[Symbol] | None = None


class Source(Protocol):
    """Something that documents are read from, again and again."""

    def settings(self, chunker: Chunker | None) -> dict[str, Any]:
        """What the manifest keeps; `documents` in it changes when equal files would make other documents."""

    def unchanged(self, stored: Stored) -> bool:
        """Whether the index surely holds what is there, without opening a file."""

    def changes(self, stored: Stored) -> Changes:
        """Which files differ from those that were indexed."""

    def read(
        self,
        stored: Stored | None,
        documents: StoredDocuments | None,
        chunker: Chunker | None,
        progress: Progress | None,
    ) -> Reading: ...


@dataclass(frozen=True)
class CodeSource:
    """The source files below a folder, or one file."""

    root: Path
    max_bytes: int = MAX_BYTES

    def settings(self, chunker: Chunker | None) -> dict[str, Any]:
        return {
            "kind": "code",
            "root": str(self.root),
            "max_bytes": self.max_bytes,
            "documents": _chunking(checked_chunker(chunker)),
        }

    def unchanged(self, stored: Stored) -> bool:
        look = self.look(stored)
        corpus = unpacked_json(stored.arrays["corpus"])
        same_files = look.is_surely_as_before(self.max_bytes)
        return same_files and self._skipped(look) == corpus["skipped"]

    def changes(self, stored: Stored) -> Changes:
        return self.look(stored).changes(self.max_bytes)

    def look(self, stored: Stored | None, progress: Progress | None = None) -> Look:
        table = {} if stored is None else table_of(stored)
        return files.look(self.root, table, max_bytes=self.max_bytes, progress=progress)

    def read(
        self,
        stored: Stored | None,
        documents: StoredDocuments | None,
        chunker: Chunker | None,
        progress: Progress | None,
    ) -> Reading:
        look = self.look(stored, progress)
        table = dict.fromkeys(item.path for item in look.found)
        entries: dict[str, Entry] = {path: look.table[path] for path in table if path in look.table}
        fresh: set[str] = set()
        added: list[str] = []
        changed: list[str] = []
        new: list[tuple[str, tuple[Document, ...]]] = []
        symbols: list[Symbol] = []
        known: set[str] = set()
        for read in look.read(checked_chunker(chunker), self.max_bytes, progress):
            path, result, entry = read.item.path, read.result, read.entry
            if not read.same:
                (changed if path in entries else added).append(path)
                fresh.add(path)
                if not known.isdisjoint(document.id for document in result.documents):
                    entry = entry._replace(
                        digest="", skipped="its chunker gave an id that another file has", how=How()
                    )
                else:
                    known.update(document.id for document in result.documents)
                    new.append((path, result.documents))
                    symbols += result.symbols
            entries[path] = entry
        ordered = {path: entries[path] for path in table}
        numbers = {path: number for number, path in enumerate(ordered)}
        moved = np.array([-1 if p in fresh else numbers.get(p, -1) for p in look.table], np.int64)
        kept = np.zeros(0, np.int64)
        if documents is not None and stored is not None:
            owners = stored.arrays["owners"]
            if len(owners) != len(documents) or (owners < 0).any():
                raise IndexFormatError("the files of the documents are not known")
            kept = np.flatnonzero(moved[owners] >= 0)
        return Reading(
            kept,
            [document for _, some in new for document in some],
            self._corpus(look, ordered),
            Changes(tuple(added), tuple(changed), look.gone),
            ordered,
            {document.id: numbers[path] for path, some in new for document in some},
            moved,
            symbols,
        )

    def _corpus(self, look: Look, table: Mapping[str, Entry]) -> Corpus:
        read = [(path, entry.how) for path, entry in table.items() if not entry.skipped]
        skipped = [Skipped(path, entry.skipped) for path, entry in table.items() if entry.skipped]
        return Corpus(
            folder_of(self.root),
            (),
            tuple(path for path, _ in read),
            tuple(sorted([*look.told, *skipped])),
            notes_on(read, look.skipped),
        )

    def _skipped(self, look: Look) -> list[list[str]]:
        skipped = [Skipped(path, entry.skipped) for path, entry in look.table.items() if entry.skipped]
        return [list(item) for item in sorted([*look.told, *skipped])]


@dataclass(frozen=True)
class RecordSource:
    """A file of JSON lines."""

    root: Path
    id_field: str
    text_field: str

    def settings(self, chunker: Chunker | None) -> dict[str, Any]:
        return {
            "kind": "records",
            "root": str(self.root),
            "id_field": self.id_field,
            "text_field": self.text_field,
            "documents": f"{__version__} {MAPPING} {self.id_field!r} {self.text_field!r}",
        }

    def unchanged(self, stored: Stored) -> bool:
        return not self._look(stored).unsure

    def changes(self, stored: Stored) -> Changes:
        return self._look(stored).changes(None)

    def read(
        self,
        stored: Stored | None,
        documents: StoredDocuments | None,
        chunker: Chunker | None,
        progress: Progress | None,
    ) -> Reading:
        look = self._look(stored)
        name = self.root.name
        new: list[Document] = []
        skipped: list[Skipped] = []
        kept: list[int] = []
        for done, item in enumerate(
            read_records(self.root, id_field=self.id_field, text_field=self.text_field), 1
        ):
            if isinstance(item, BadLine):
                skipped.append(Skipped(f"{name}:{item.line}", item.reason))
                continue
            place = -1 if documents is None else documents.find(item.id)
            if documents is not None and place >= 0 and documents[place] == item:
                kept.append(place)
            else:
                new.append(item)
            if progress is not None and done % 1000 == 0:
                progress("read", done, None)
        digest = files.digest_of(str(self.root), None) or ""
        if self._look(None).found[0].stat != look.found[0].stat:
            digest = ""  # it changed while it was read
        entry = files.entry_of(look.found[0].stat, digest, look.started_ns)
        same = documents is not None and not new and len(kept) == len(documents)
        changed = () if same else (name,)
        return Reading(
            np.sort(np.array(kept, np.int64)),
            new,
            Corpus(folder_of(self.root), (), (name,), tuple(skipped)),
            Changes((), changed) if stored is not None else Changes(changed),
            {name: entry},
        )

    def _look(self, stored: Stored | None) -> Look:
        started = files.clock()
        try:
            found = Found(self.root.name, str(self.root), self.root.stat())
        except OSError as error:
            raise InvalidValueError(f"cannot read {str(self.root)!r}: {error.strerror or error}") from error
        return Look((found,), (), {} if stored is None else table_of(stored), started)


def source_of(settings: Mapping[str, Any]) -> Source | None:
    """The source that an index was made from; None for a pipeline that was saved."""
    root = Path(settings["root"])
    if settings["kind"] == "code":
        return CodeSource(root, int(settings["max_bytes"]))
    if settings["kind"] == "records":
        return RecordSource(root, str(settings["id_field"]), str(settings["text_field"]))
    return None


def table_of(stored: Stored) -> dict[str, Entry]:
    return files.unpacked_table(unpacked_json(stored.arrays["table"]))


def arrays_of(
    reading: Reading, documents: Sequence[Document], places: Places | None, stored: Stored | None
) -> dict[str, NDArray[Any]]:
    """What to keep beside documents and parts: the table of files, and the file of each document.

    Args:
        places: where each document stood in the stored ones, negative for new ones; None when all are new.
    """
    owners = np.full(len(documents), -1, np.int64)
    if places is None:
        if reading.owner:
            owners[:] = [reading.owner[document.id] for document in documents]
    elif stored is not None and reading.moved is not None:
        kept = places >= 0
        owners[kept] = reading.moved[stored.arrays["owners"][places[kept]]]
        if reading.owner:
            owners[~kept] = [reading.owner[one.id] for one in sorted(reading.new, key=tie_key)]
    return {"table": packed_json(files.packed_table(reading.table)), "owners": owners}


def _chunking(chunker: Chunker) -> str:
    """Tells whether the same files would be cut the same way."""
    from ..code.grammars import GRAMMARS

    try:
        told = str(describe("chunker", chunker, "chunker"))
    except ConfigError:
        told = f"{type(chunker).__module__}.{type(chunker).__qualname__} {chunker!r}"
    modules = sorted({grammar.module for grammar in GRAMMARS.values()})
    installed = [module for module in modules if find_spec(module) is not None]
    return sha256("\n".join([__version__, told, *installed]).encode("utf-8", "replace")).hexdigest()[:16]
