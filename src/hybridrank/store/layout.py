"""The files of an index: a manifest, which is replaced as a whole, and arrays, which never change.

    manifest.json   what there is: format, configuration, values, and each array's file, size and digest
    data/*.npy      the arrays; those of one manifest, and for a moment those of the one before
    data/*.sqlite   databases, which are arrays of bytes to all that follows
    lock            held by the writer
    .gitignore      keeps the index out of repositories, and out of any walk

A writer adds files under names of its own, then puts the new manifest in place of the old one, then deletes
what that no longer names. One that dies on the way leaves the old index, and files for the next to delete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError, IndexNotFoundError, StoreError
from .lock import MARK
from .lock import NAME as LOCK

FORMAT = "hybridrank index"

# Raise it when a program of before would misread an index of now, or this program one of before: when an
# array, a value or the order of something changes its meaning, or a new one must not be overlooked. A value
# that older programs may overlook does not raise it. An index of an older format is built anew.
VERSION = 2

MANIFEST = "manifest.json"
DATA = "data"
IGNORE = ".gitignore"
IGNORED = "# The index of hybridrank; it can be deleted and made again.\n*\n"
ARRAY = re.compile(r"\d{6,}-[A-Za-z0-9_.-]+\.(?:npy|sqlite)")
DATABASE = ".sqlite"
"""How names end of arrays that are kept as they are, without a header of numpy."""
_MAX_MANIFEST = 1 << 28
CHUNK = 1 << 23

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Stored:
    """One generation of an index, opened.

    Attributes:
        directory: where it is.
        manifest: its values.
        arrays: memory-mapped and read-only, by name.
    """

    directory: Path
    manifest: Mapping[str, Any]
    arrays: Mapping[str, Array]

    def verify(self, names: set[str] | None = None) -> None:
        """Read arrays whole, all of them by default, and compare with their digests.

        Raises:
            IndexFormatError: one differs; it is named.
        """
        for name, entry in self.manifest["arrays"].items():
            if names is None or name in names:
                try:
                    found = _digest_of(self.directory / DATA / entry["file"])
                except OSError as error:
                    raise damaged(self.directory, f"{entry['file']} cannot be read: {error}") from error
                if found != entry["sha256"]:
                    raise damaged(self.directory, f"{entry['file']} ({name}) is not as it was written")

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        return sum(entry["size"] for entry in self.manifest["arrays"].values())


def exists(directory: Path) -> bool:
    """Whether there is something that calls itself a manifest."""
    return (directory / MANIFEST).is_file()


def read(directory: Path) -> Stored:
    """Open the index in a directory; never waits for a writer.

    Raises:
        IndexNotFoundError: there is none.
        IndexFormatError: it is damaged as far as sizes and shapes tell, not ours, or of another format.
    """
    manifest = read_manifest(directory)
    while True:
        try:
            return Stored(directory, manifest, _opened(directory, manifest))
        except FileNotFoundError as error:
            # A writer may have finished in between and deleted what the manifest of before named.
            again = read_manifest(directory)
            if again["generation"] == manifest["generation"]:
                raise damaged(directory, f"{Path(error.filename or '').name} is missing") from error
            manifest = again


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest alone, checked. Raises as `read`."""
    path = directory / MANIFEST
    try:
        with path.open("rb") as opened:
            content = opened.read(_MAX_MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        refuse_foreign(directory)
        raise IndexNotFoundError(f"there is no index in {directory}; make one: hybridrank index") from None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        manifest = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        if _lock_is_ours(directory):
            raise damaged(directory, f"{MANIFEST} is no JSON") from None
        raise _foreign(directory, f"{MANIFEST} is no JSON") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise _foreign(directory, f"{MANIFEST} is of something else")
    version = manifest.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise IndexFormatError(
            f"the index in {directory} has format {version!r}, written by hybridrank "
            f"{manifest.get('hybridrank')}; this version reads formats up to {VERSION}: upgrade hybridrank, "
            "or delete that directory and index again"
        )
    if version < VERSION:
        raise IndexFormatError(
            f"the index in {directory} has format {version}, this version reads {VERSION}: index again",
            replaceable=True,
        )
    if manifest.get("digest") != manifest_digest(manifest):
        raise damaged(directory, f"{MANIFEST} is not as it was written")
    if not _makes_sense(manifest):
        raise damaged(directory, f"{MANIFEST} lacks what it should hold")
    return manifest


def refuse_foreign(directory: Path) -> None:
    """Raise IndexFormatError where a directory holds something that no writer of ours left behind."""
    try:
        names = {path.name for path in directory.iterdir()}
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot use {directory} for an index: {error.strerror or error}") from error
    if not names or MANIFEST in names or _lock_is_ours(directory):
        return
    if names <= {LOCK, IGNORE} and _has_just_begun(directory):
        return
    raise _foreign(directory, f"it holds {min(names)}")


def _opened(directory: Path, manifest: Mapping[str, Any]) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for name, entry in manifest["arrays"].items():
        if not ARRAY.fullmatch(entry["file"]):
            raise damaged(directory, f"the manifest names the file {entry['file']!r}")
        path = directory / DATA / entry["file"]
        try:
            if path.stat().st_size != entry["size"]:
                raise damaged(directory, f"{path.name} has {path.stat().st_size} bytes, not {entry['size']}")
            if name.endswith(DATABASE):
                arrays[name] = np.asarray(np.memmap(path, np.uint8, mode="r"))
            else:
                arrays[name] = np.asarray(np.lib.format.open_memmap(path, mode="r"))
        except FileNotFoundError:
            raise
        except (OSError, ValueError, SyntaxError, TypeError) as error:
            raise damaged(directory, f"{path.name} cannot be read: {error}") from error
    return arrays


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in manifest.items() if key != "digest"}
    return sha256(json.dumps(rest, sort_keys=True).encode("ascii")).hexdigest()


def _digest_of(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as opened:
        while piece := opened.read(CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def _has_just_begun(directory: Path) -> bool:
    """Whether a lock and an ignore file are what a writer leaves that dies at once."""
    with suppress(OSError):
        lock, ignore = directory / LOCK, directory / IGNORE
        empty = not lock.exists() or lock.stat().st_size == 0
        return empty and (not ignore.exists() or IGNORED.encode().startswith(ignore.read_bytes()))
    return False


def _lock_is_ours(directory: Path) -> bool:
    with suppress(OSError):
        return (directory / LOCK).read_bytes().startswith(MARK)
    return False


def _makes_sense(manifest: Mapping[str, Any]) -> bool:
    """Whether what the program relies on is there, of the right types."""
    kinds = {"generation": int, "arrays": dict, "parts": dict, "config": dict, "source": dict | None}
    if not all(name in manifest and isinstance(manifest[name], kind) for name, kind in kinds.items()):
        return False
    entry = {"file": str, "size": int, "sha256": str}
    part = {"number": int, "identity": str, "values": dict}
    return all(
        isinstance(one, dict) and all(isinstance(one.get(name), kind) for name, kind in wanted.items())
        for wanted, table in ((entry, manifest["arrays"]), (part, manifest["parts"]))
        for one in table.values()
    )


def damaged(directory: Path, what: str) -> IndexFormatError:
    return IndexFormatError(
        f"the index in {directory} is damaged: {what}; index again, or delete that directory first",
        replaceable=True,
    )


def _foreign(directory: Path, what: str) -> IndexFormatError:
    return IndexFormatError(
        f"{directory} is no index of hybridrank: {what}; choose another directory, it is left alone"
    )
