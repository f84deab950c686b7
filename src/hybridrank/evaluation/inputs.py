"""What an experiment reads: corpus, cases, configuration, each with its SHA-256."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidValueError
from ..records import ID_FIELD, TEXT_FIELD
from ..types import Document
from .cases import Case, load_cases
from .records import load_records

if TYPE_CHECKING:
    from ..pipeline import Pipeline

Progress = Callable[[str, int, int | None], None]

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file or folder that was read.

    Attributes:
        path: as it is written in the contract or on the command line.
        bytes: its size; for a folder the sum over the files that count.
    """

    name: str
    path: str
    bytes: int
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "path": self.path, "bytes": self.bytes, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class CorpusRead:
    """Documents, with what they were made of where that may hold more than they do.

    Attributes:
        records: by place, `file:line`, the record that each document was read from, or, for code, its
            metadata.
        notes: what a reader should know, such as files that were skipped.
    """

    documents: Sequence[Document]
    records: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a run works on.

    Attributes:
        pipeline: with the documents indexed.
        files: what was read, by name: `corpus`, `cases`, `config` and others.
        notes: lines for people.
    """

    pipeline: Pipeline
    cases: tuple[Case, ...]
    files: Mapping[str, InputFile]
    notes: tuple[str, ...] = ()


def load_inputs(
    *,
    config: str | Path,
    cases: str | Path,
    corpus: str | Path,
    id_field: str = ID_FIELD,
    text_field: str = TEXT_FIELD,
    others: Mapping[str, str | Path] | None = None,
    progress: Progress | None = None,
) -> Inputs:
    """Read corpus, cases and configuration, and index.

    Args:
        config: a .toml or .json file.
        corpus: a .jsonl or .json file of records, or a folder of source code.
        id_field, text_field: where records hold id and text.
        others: further files whose hashes are recorded, by name.

    Raises:
        HybridRankError: one of them cannot be read, or is not sound.
    """
    from ..pipeline import Pipeline

    given = {"corpus": corpus, "cases": cases, "config": config, **(others or {})}
    files = {name: hashed(name, path, Path(path)) for name, path in given.items()}
    made = Pipeline.from_config(config)
    read = load_corpus(Path(corpus), made, id_field=id_field, text_field=text_field, progress=progress)
    pipeline = made.index(read.documents, progress=progress)
    return Inputs(pipeline, load_cases(cases), files, read.notes)


def load_corpus(
    path: Path, pipeline: Pipeline | None, *, id_field: str, text_field: str, progress: Progress | None = None
) -> CorpusRead:
    """The documents of a folder of source code, cut by the pipeline's chunker, or of a file of records.

    Raises:
        HybridRankError: it cannot be read.
    """
    if not path.is_dir():
        records = load_records(path, id_field=id_field, text_field=text_field)
        return CorpusRead(records.documents, dict(zip(records.places, records.records, strict=True)))
    from ..code.corpus import load_code

    corpus = load_code(path, chunker=None if pipeline is None else pipeline.chunker, progress=progress)
    skipped = [f"{len(corpus.skipped)} files were skipped"] if corpus.skipped else []
    metadata = {document.id: document.metadata for document in corpus.documents}
    return CorpusRead(corpus.documents, metadata, (*skipped, *corpus.notes))


def hashed(name: str, written: str | Path, path: Path) -> InputFile:
    """Size and SHA-256 of a file; of a folder, of the paths and hashes of the files that are searched.

    Raises:
        InvalidValueError: it cannot be read.
    """
    try:
        size, digest = _folder(path) if path.is_dir() else _file(path)
    except FileNotFoundError:
        raise InvalidValueError(f"there is no file {str(written)!r} ({name})") from None
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"cannot read {str(written)[:200]!r} ({name}): {error}") from error
    return InputFile(name, str(written), size, digest)


def _file(path: Path) -> tuple[int, str]:
    digest, size = sha256(), 0
    with path.open("rb") as opened:
        while block := opened.read(_CHUNK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def _folder(root: Path) -> tuple[int, str]:
    from ..code.corpus import scan
    from ..code.walk import MAX_BYTES

    found, _ = scan(root, max_bytes=MAX_BYTES)
    digest, total = sha256(), 0
    for item in sorted(found, key=lambda item: item.path):
        size, of_file = _file(Path(item.file))
        total += size
        digest.update(f"{item.path}\0{of_file}\n".encode("utf-8", "surrogatepass"))
    return total, digest.hexdigest()
