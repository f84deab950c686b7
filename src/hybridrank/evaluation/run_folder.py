"""A run's folder: written beside its final name, and put there as a whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..errors import StoreError
from ..report.data import dumps

MANIFEST = "manifest.json"
SUMMARY = "public-summary.json"
CONTRACT = "contract.json"
CASES = "private/cases.jsonl"
DOCUMENTS = "private/documents.jsonl"
RANKINGS = "private/rankings.jsonl"
MEASURES = "private/measures.jsonl"
DOCUMENT_VECTORS = "private/document-vectors.jsonl"
QUERY_VECTORS = "private/query-vectors.jsonl"


class RunFolder:
    """Files of one run. Leaving it without `commit` deletes them.

    Args:
        root: the folder of all runs; made where it is missing.
        name: of the run. While it is written, the folder is `.name.partial`.

    Raises:
        StoreError: a run of that name exists, or the folder cannot be written.
    """

    def __init__(self, root: str | Path, name: str) -> None:
        self.path = Path(root, name)
        self.files: list[dict[str, Any]] = []
        self._partial = Path(root, f".{name}.partial")
        if self.path.exists():
            raise StoreError(f"the run {str(self.path)!r} exists; runs are never overwritten")
        try:
            self._partial.mkdir(parents=True)
        except OSError as error:
            raise StoreError(f"cannot write runs in {str(root)!r}: {error.strerror or error}") from error

    def write(self, name: str, content: bytes) -> None:
        self.write_blocks(name, (content,))

    def write_json(self, name: str, value: Any) -> None:
        self.write(name, json_bytes(value))

    def write_lines(self, name: str, values: Iterable[Mapping[str, Any]]) -> None:
        """JSON Lines, one object each."""
        self.write_blocks(name, (json_line(value) for value in values))

    def write_blocks(self, name: str, blocks: Iterable[bytes]) -> None:
        """A file in pieces; its size and SHA-256 go into `files`, those of the manifest excepted."""
        digest, size = sha256(), 0
        path = self._partial / name
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with path.open("xb") as opened:
                for block in blocks:
                    digest.update(block)
                    size += len(block)
                    opened.write(block)
                opened.flush()
                os.fsync(opened.fileno())
        except OSError as error:
            raise StoreError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
        if name != MANIFEST:
            self.files.append({"path": name, "bytes": size, "sha256": digest.hexdigest()})

    def commit(self) -> Path:
        """Put the folder under its final name.

        Raises:
            StoreError: a run of that name exists by now.
        """
        try:
            if self.path.exists():
                raise FileExistsError(17, "it exists")
            self._partial.rename(self.path)
        except OSError as error:
            told = f"cannot put the run at {str(self.path)!r}: {error.strerror or error}"
            raise StoreError(f"{told}; runs are never overwritten") from error
        return self.path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._partial, ignore_errors=True)


def json_bytes(value: Any) -> bytes:
    """Indented JSON with a line end, as UTF-8."""
    return f"{dumps(value)}\n".encode()


def json_line(value: Mapping[str, Any]) -> bytes:
    """One line of JSON, as UTF-8; lone surrogates become escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one.

    Raises:
        StoreError: it cannot be written.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(content)
        new.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
