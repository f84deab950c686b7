"""Writing an index: a new generation beside the old one, then one file put in place."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import IndexFormatError, IndexNotFoundError, StoreError
from .layout import (
    ARRAY,
    CHUNK,
    DATA,
    DATABASE,
    FORMAT,
    IGNORE,
    IGNORED,
    MANIFEST,
    VERSION,
    Array,
    Stored,
    manifest_digest,
    read_manifest,
)

_NEW = "manifest.json.new"


def make_directory(directory: Path) -> None:
    """Make the directory of an index, for its owner only.

    Raises:
        IndexFormatError: it holds something else.
        StoreError: it cannot be made.
    """
    _names_of(directory)
    with reported(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Before anything else, so that a walk that is on its way never sees the index.
        if not (directory / IGNORE).exists():
            (directory / IGNORE).write_text(IGNORED, "utf-8")


class Writer:
    """Writes the next generation of an index. The lock must be held.

    Args:
        before: the generation of now, whose arrays are kept where they are handed over again.

    Raises:
        StoreError: something cannot be written; the index of before is as it was.
    """

    def __init__(self, directory: Path, before: Stored | None = None) -> None:
        self._directory = directory
        self._before = before
        self._generation = 1 + (before.manifest["generation"] if before else _generation(directory))
        self._arrays: dict[str, dict[str, Any]] = {}
        self._known = {}
        if before is not None:
            self._known = {_place(array): name for name, array in before.arrays.items() if array.size}
        self._carried: set[str] = set()
        self._written: list[Path] = []
        with reported(directory):
            (directory / DATA).mkdir(exist_ok=True)
            self._clean(before.manifest if before else _names_of(directory))

    def add(self, name: str, array: Array) -> None:
        """Write an array, or keep the file in which it is already."""
        if array.dtype.hasobject:
            raise StoreError(f"array {name!r} holds Python objects; a state is made of numbers")
        known = self._known.get(_place(array)) if array.size else None
        if known is not None and self._before is not None:
            self._arrays[name] = dict(self._before.manifest["arrays"][known])
            self._carried.add(known)
            return
        plain = name.endswith(DATABASE)
        file = f"{self._generation:06d}-{name}{'' if plain else '.npy'}"
        with reported(self._directory):
            size, digest = _write(self._directory / DATA / file, array, b"" if plain else _header(array))
        self._written.append(self._directory / DATA / file)
        self._arrays[name] = {"file": file, "size": size, "sha256": digest}

    def commit(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Put the new generation in place of the old one; returns its manifest.

        Raises:
            IndexFormatError: what the new generation was made from is damaged.
        """
        if self._before is not None:
            self._before.verify(set(self._before.arrays) - self._carried)
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            **values,
            "generation": self._generation,
            "arrays": self._arrays,
        }
        manifest["digest"] = manifest_digest(manifest)
        content = json.dumps(manifest, indent=1).encode("ascii")
        with reported(self._directory):
            # All at the end: the first of them makes most others cheap.
            for path in self._written:
                _sync(path)
            _sync(self._directory / DATA)
            new = self._directory / _NEW
            with new.open("wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
            new.replace(self._directory / MANIFEST)
        # From here on the new index stands, whatever happens.
        with suppress(OSError):
            _sync(self._directory)
            self._clean(manifest)
        return manifest

    def abandon(self) -> None:
        """Delete what was written so far."""
        with suppress(OSError):
            self._clean(self._before.manifest if self._before else _names_of(self._directory))

    def _clean(self, manifest: Mapping[str, Any]) -> None:
        named = {entry["file"] for entry in manifest.get("arrays", {}).values()}
        for path in (self._directory / DATA).iterdir():
            if ARRAY.fullmatch(path.name) and path.name not in named:
                path.unlink(missing_ok=True)
        (self._directory / _NEW).unlink(missing_ok=True)


@contextmanager
def reported(directory: Path) -> Iterator[None]:
    """Turn an OSError of writing an index into a StoreError that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write the index in {directory}: {error.strerror or error}; an index of before is as it "
            "was; make room, or choose another place (--index, or HYBRIDRANK_CACHE)"
        ) from error


def _header(array: Array) -> bytes:
    header = io.BytesIO()
    data = np.asarray(array, order="C")
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(data))
    return header.getvalue()


def _write(path: Path, array: Array, header: bytes) -> tuple[int, str]:
    data = np.asarray(array, order="C")
    digest = sha256(header)
    with path.open("wb") as opened:
        opened.write(header)
        if data.size:
            content = memoryview(data.reshape(-1).view(np.uint8).data)
            for start in range(0, len(content), CHUNK):
                digest.update(content[start : start + CHUNK])
                opened.write(content[start : start + CHUNK])
        return opened.tell(), digest.hexdigest()


def _place(array: Array) -> tuple[int, tuple[int, ...], str, tuple[int, ...]]:
    return array.__array_interface__["data"][0], array.shape, array.dtype.str, array.strides


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _names_of(directory: Path) -> Mapping[str, Any]:
    """The manifest of now; empty where there is none, or a damaged one.

    Raises:
        IndexFormatError: it is not ours to replace.
    """
    try:
        return read_manifest(directory)
    except IndexNotFoundError:
        return {}
    except IndexFormatError as error:
        if not error.replaceable:
            raise
        return {}


def _generation(directory: Path) -> int:
    """The highest number in use, also by files that are left over."""
    used = [int(_names_of(directory).get("generation", 0))]
    with suppress(OSError):
        names = [path.name for path in (directory / DATA).iterdir()]
        used += [int(name.partition("-")[0]) for name in names if ARRAY.fullmatch(name)]
    return max(used)
