"""Vectors on disk, so that no text is embedded twice by the same model."""

from __future__ import annotations

import json
import logging
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..store.places import CACHE

if TYPE_CHECKING:
    import sqlite3

F32: TypeAlias = NDArray[np.float32]
T = TypeVar("T")

logger = logging.getLogger("hybridrank")

# To be raised when what is kept means something else.
_VERSION = 1
_BUSY = 10.0
_AT_ONCE = 500
# A cache that cannot be used is told once a process.
_told: set[str] = set()


class Cached(NamedTuple):
    """A vector, and how many characters of its text it stands for; None where it is of the whole text."""

    vector: F32
    kept: int | None = None


class VectorCache:
    """The cached vectors of one model: a file of its own, opened for each access.

    A cache is no store: what cannot be read or written is told in the log, and costs time only. A damaged
    file is put aside, and a new one is begun.

    Args:
        model: what tells the model from any other: its digest.
        folder: in the user's cache if None.
    """

    def __init__(self, model: str, folder: Path | None = None) -> None:
        name = sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self.path = (vector_directory() if folder is None else folder) / f"{name}.sqlite"

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Cached]:
        """The vectors of those keys that are there."""
        if not self.path.exists():
            return {}
        return self._with(lambda database: _selected(database, keys)) or {}

    def put(self, vectors: Mapping[bytes, Cached]) -> None:
        """Keep these vectors; they are on disk when this returns."""
        rows = [(key, _packed(one.vector), one.kept) for key, one in vectors.items()]

        def insert(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

        self._with(insert)

    def put_aside(self, why: str) -> None:
        """Begin anew. The file of before stays beside the new one, in the place of one put aside earlier."""
        aside = self.path.with_suffix(".aside")
        logger.warning("vector cache %s: %s; it is put aside as %s", self.path, why, aside.name)
        with suppress(OSError):
            self.path.replace(aside)

    def _with(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        import sqlite3

        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_BUSY)) as database:
                _prepare(database)
                return action(database)
        except (sqlite3.OperationalError, OSError) as error:
            if str(self.path) not in _told:
                _told.add(str(self.path))
                logger.warning("vector cache %s cannot be used: %s; going on without it", self.path, error)
        except sqlite3.DatabaseError as error:
            self.put_aside(str(error))
        return None


def vector_directory() -> Path:
    """The folder of the caches: `vectors` where HYBRIDRANK_CACHE says, else in the user's cache."""
    given = os.environ.get(CACHE)
    if given:
        return Path(given).expanduser().resolve() / "vectors"
    from platformdirs import user_cache_path

    return user_cache_path("hybridrank", appauthor=False) / "vectors"


def key_of(text: str, *how: object) -> bytes:
    """The key of a text that is embedded in that way: role, instruction and the like, plain values."""
    content = json.dumps([*how, text], ensure_ascii=True, separators=(",", ":"))
    return sha256(content.encode("ascii")).digest()


def _prepare(database: sqlite3.Connection) -> None:
    import sqlite3

    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version not in (0, _VERSION):
        raise sqlite3.OperationalError(f"it has version {version}, this program reads {_VERSION}")
    database.execute("PRAGMA synchronous = NORMAL")
    if version == 0:
        with database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS vectors "
                "(key BLOB PRIMARY KEY, vector BLOB NOT NULL, kept INTEGER) WITHOUT ROWID"
            )
            database.execute(f"PRAGMA user_version = {_VERSION}")


def _selected(database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Cached]:
    found = {}
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        query = f"SELECT key, vector, kept FROM vectors WHERE key IN ({marks})"
        for key, content, kept in database.execute(query, some):
            vector = _unpacked(content)
            if vector is not None:
                found[key] = Cached(vector, kept)
    return found


def _packed(vector: F32) -> bytes:
    content = np.ascontiguousarray(vector, "<f4").tobytes()
    return content + zlib.crc32(content).to_bytes(4, "big")


def _unpacked(content: bytes) -> F32 | None:
    """The vector; None where a bit of it has changed since."""
    if len(content) < 8 or len(content) % 4:
        return None
    if zlib.crc32(content[:-4]).to_bytes(4, "big") != content[-4:]:
        return None
    return np.frombuffer(content[:-4], "<f4").astype(np.float32)
