"""Which source files changed since they were indexed, without opening those that did not."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ..code.corpus import FileResult, How, Progress, chunk_bytes, scan
from ..code.walk import IGNORED, Found, Skipped, too_large, unreadable
from ..code.workers import each
from ..protocols import Chunker

RACY_NS = 2_000_000_000
"""A file that changed this shortly before it was looked at may change again within one tick of its times."""


_DIGITS = 32
_CHUNK = 1 << 20


class Entry(NamedTuple):
    """What is remembered of a file.

    Attributes:
        digest: of its content, hexadecimal; empty where it could not be read, so that it is read again.
        racy: whether its times were too fresh to be trusted.
        skipped: why it has no documents, if it was left out.
        how: how it was read.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    digest: str
    racy: bool
    skipped: str
    how: How


Table = Mapping[str, Entry]


class Changes(NamedTuple):
    """Paths of files that came, changed and went."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    def __str__(self) -> str:
        counts = (("new", self.added), ("changed", self.changed), ("removed", self.removed))
        return ", ".join(f"{len(paths):,} {what}" for what, paths in counts if paths) or "no changes"


class FileRead(NamedTuple):
    """A file that had to be opened: whether its content is new, and then what became of it."""

    item: Found
    entry: Entry
    same: bool
    result: FileResult


@dataclass(frozen=True)
class Look:
    """A folder as it is, beside what is remembered of it.

    Attributes:
        found: files to read, in the order of the walk.
        skipped: what the walk left out, ignored files among it.
        table: what is remembered, by path.
        started_ns: when the walk began.
    """

    found: tuple[Found, ...]
    skipped: tuple[Skipped, ...]
    table: Table
    started_ns: int

    @cached_property
    def unsure(self) -> tuple[Found, ...]:
        """Files that are new, or whose size, times or inode differ, or whose times cannot be trusted."""
        return tuple(item for item in self.found if not _is_as_before(item.stat, self.table.get(item.path)))

    @cached_property
    def gone(self) -> tuple[str, ...]:
        here = {item.path for item in self.found}
        return tuple(path for path in self.table if path not in here)

    def is_surely_as_before(self, max_bytes: int) -> bool:
        """Whether every file is as it was; one that could not be read is tried again, no other opened."""
        if self.gone:
            return False
        for item in self.unsure:
            before = self.table.get(item.path)
            unreadable_before = before is not None and before.digest == "" and before.skipped != ""
            if not unreadable_before or digest_of(item.file, max_bytes) is not None:
                return False
        return True

    @property
    def told(self) -> tuple[Skipped, ...]:
        """What the walk left out, without what ignore files name."""
        return tuple(item for item in self.skipped if item.reason != IGNORED)

    def changes(self, max_bytes: int | None) -> Changes:
        """What differs; files that are not sure to be as before are read."""
        added, changed = [], []
        for item in self.unsure:
            before = self.table.get(item.path)
            if before is None:
                added.append(item.path)
            elif (digest_of(item.file, max_bytes) or "") != before.digest:
                changed.append(item.path)
        return Changes(tuple(added), tuple(changed), self.gone)

    def read(self, chunker: Chunker, max_bytes: int, progress: Progress | None) -> Iterator[FileRead]:
        """Read the files that are not sure to be as before, and cut those whose content is new."""
        items = [(item, self.table.get(item.path)) for item in self.unsure]
        sizes = [item.stat.st_size for item in self.unsure]
        for done, read in enumerate(each(_read, items, sizes, chunker, max_bytes, self.started_ns), 1):
            yield read
            if progress is not None:
                progress("chunk", done, len(self.unsure))


def look(root: str | Path, table: Table, *, max_bytes: int, progress: Progress | None = None) -> Look:
    """Walk a folder; no file but ignore files is opened."""
    started = clock()
    found, skipped = scan(root, max_bytes=max_bytes, progress=progress)
    return Look(tuple(found), tuple(skipped), table, started)


def clock() -> int:
    """Now, in the time of file systems, nanoseconds."""
    return time.time_ns()


def digest_of(file: str, max_bytes: int | None) -> str | None:
    """Digest of a file's content, or of as much of it as is read; None where it cannot be read."""
    digest, left = sha256(), math.inf if max_bytes is None else max_bytes + 1
    try:
        with Path(file).open("rb") as opened:
            while piece := opened.read(int(min(left, _CHUNK))):
                digest.update(piece)
                left -= len(piece)
    except OSError:
        return None
    return digest.hexdigest()[:_DIGITS]


def packed_table(table: Table) -> dict[str, Any]:
    """The table as JSON can hold it: columns, and each distinct way of reading once."""
    ways = {entry.how: None for entry in table.values()}
    numbers = {how: number for number, how in enumerate(ways)}
    rows = [[*entry[:-1], numbers[entry.how]] for entry in table.values()]
    return {"ways": [list(how) for how in ways], "paths": list(table), "rows": rows}


def unpacked_table(data: Mapping[str, Any]) -> dict[str, Entry]:
    ways = [How(*way) for way in data["ways"]]
    return {
        path: Entry._make([*row[:-1], ways[row[-1]]])
        for path, row in zip(data["paths"], data["rows"], strict=True)
    }


def _read(known: tuple[Found, Entry | None], chunker: Chunker, max_bytes: int, started_ns: int) -> FileRead:
    item, before = known
    digest, result = "", FileResult()
    try:
        with Path(item.file).open("rb") as opened:
            data = opened.read(max_bytes + 1)
    except OSError as error:
        result = FileResult(skipped=unreadable(error))
    else:
        if len(data) > max_bytes:
            result = FileResult(skipped=too_large(max_bytes))
        else:
            digest = _digest(data)
            if before is not None and before.digest == digest:
                entry = entry_of(item.stat, digest, started_ns, before.skipped, before.how)
                return FileRead(item, entry, True, result)
            result = chunk_bytes(item.path, data, chunker)
    entry = entry_of(item.stat, digest, started_ns, result.skipped, result.how)
    again = before is not None and before.digest == digest == "" and before.skipped == result.skipped
    return FileRead(item, entry, again, result)


def entry_of(
    stat: os.stat_result,
    digest: str,
    started_ns: int,
    skipped: str = "",
    how: How = How(),  # noqa: B008 - immutable
) -> Entry:
    """What to remember of a file that a walk of that time found."""
    racy = max(stat.st_mtime_ns, stat.st_ctime_ns) >= started_ns - RACY_NS
    size, mtime_ns, ctime_ns, inode = _identity(stat)
    return Entry(size, mtime_ns, ctime_ns, inode, digest, racy, skipped, how)


def _is_as_before(stat: os.stat_result, before: Entry | None) -> bool:
    return (
        before is not None
        and not before.racy
        and before.digest != ""
        and _identity(stat) == (before.size, before.mtime_ns, before.ctime_ns, before.inode)
    )


def _identity(stat: os.stat_result) -> tuple[int, int, int, int]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGITS]
