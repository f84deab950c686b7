"""Pipelines to disk and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..config import build
from ..errors import (
    ConfigError,
    HybridRankError,
    IndexFormatError,
    MismatchError,
    ModelError,
    NotIndexedError,
)
from ..protocols import Fingerprinted, Indexable, Storable
from ..types import Document
from .describe import describe_pipeline
from .documents import StoredDocuments
from .layout import DATA, Stored, read
from .lock import Lock
from .symbols import SYMBOLS, SymbolTable
from .writing import Writer, make_directory, reported

if TYPE_CHECKING:
    from ..code.corpus import Corpus
    from ..pipeline import Pipeline

    PipelineT = TypeVar("PipelineT", bound=Pipeline)

_KEY = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_DOCUMENTS = "documents."


def save_pipeline(pipeline: Pipeline, directory: Path) -> None:
    """What `Pipeline.save` does."""
    make_directory(directory)
    with reported(directory), Lock(directory):
        write(pipeline, Writer(directory))


def load_pipeline(kind: type[PipelineT], directory: Path) -> PipelineT:
    """What `Pipeline.load` does."""
    return revived(kind, read(directory))


def write(
    pipeline: Pipeline,
    writer: Writer,
    *,
    values: Mapping[str, Any] | None = None,
    arrays: Mapping[str, NDArray[Any]] | None = None,
) -> dict[str, Any]:
    """Write a pipeline as the next generation; the manifest. What is written so far goes if that fails.

    Args:
        values, arrays: what else to keep.
    """
    try:
        manifest = {**_values(pipeline, writer), **(values or {})}
        for name, array in (arrays or {}).items():
            writer.add(name, array)
        return writer.commit(manifest)
    except BaseException:
        writer.abandon()
        raise


def revived(kind: type[PipelineT], stored: Stored, wanted: PipelineT | None = None) -> PipelineT:
    """The pipeline of an opened index; parts that keep no state are indexed again.

    Args:
        wanted: the pipeline to fill, if not that of the index; parts with other options are indexed again.

    Raises:
        MismatchError: a part of the index's own pipeline has other options now.
    """
    manifest = stored.manifest
    with sound(stored.directory):
        documents, corpus = documents_of(stored), corpus_of(stored)
        config, ablation = dict(manifest["config"]), manifest["ablation"]
    made = kind.from_config(config, ablation=ablation) if wanted is None else wanted.with_()

    def make(name: str, part: Any) -> Any:
        restored = restored_part(stored, name, part, documents)
        if restored is not None:
            return restored
        if name in manifest["parts"] and wanted is None:
            raise MismatchError(
                f"{name!r} is {identity(part)!r} now, but the index in {stored.directory} was made with "
                f"{manifest['parts'][name]['identity']!r}; index again"
            )
        return part.index(documents) if isinstance(part, Indexable) else part

    return made._filled(documents, corpus, make)


def documents_of(stored: Stored) -> StoredDocuments:
    names = [name for name in stored.arrays if name.startswith(_DOCUMENTS)]
    return StoredDocuments.from_arrays({n.removeprefix(_DOCUMENTS): stored.arrays[n] for n in names})


def restored_part(stored: Stored, name: str, part: Any, documents: Sequence[Document]) -> Any:
    """The part with its state; None where there is none, or one of a part with other options."""
    entry = stored.manifest["parts"].get(name)
    if entry is None or not isinstance(part, Storable) or entry["identity"] != identity(part):
        return None
    with sound(stored.directory):
        prefix = f"part{entry['number']}."
        state = dict(entry["values"])
        for array in stored.arrays:
            if array.startswith(prefix):
                state[array.removeprefix(prefix)] = stored.arrays[array]
        return part.restore(state, documents)


def identity(part: object) -> str:
    """What tells parts apart that make different states of the same documents."""
    if isinstance(part, Fingerprinted):
        return part.fingerprint()
    return f"{type(part).__module__}.{type(part).__qualname__}"


def packed_json(value: Any) -> NDArray[np.uint8]:
    """JSON as an array: what is too long for the manifest."""
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode("ascii"), np.uint8)


def unpacked_json(array: NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes().decode("ascii"))


def packed_corpus(corpus: Corpus) -> NDArray[np.uint8]:
    return packed_json(
        {
            "root": corpus.root,
            "files": corpus.files,
            "skipped": [list(skipped) for skipped in corpus.skipped],
            "notes": corpus.notes,
        }
    )


def corpus_of(stored: Stored) -> Corpus | None:
    """What was indexed and what was not, without the documents themselves."""
    from ..code.corpus import Corpus
    from ..code.walk import Skipped

    if "corpus" not in stored.arrays:
        return None
    data = unpacked_json(stored.arrays["corpus"])
    skipped = tuple(Skipped(path, reason) for path, reason in data["skipped"])
    documents, files, notes = documents_of(stored), tuple(data["files"]), tuple(data["notes"])
    return Corpus(data["root"], documents, files, skipped, notes, symbols_of(stored))


def symbols_of(stored: Stored) -> SymbolTable | None:
    """The symbols of an index of code, read where they are asked for."""
    if SYMBOLS not in stored.arrays:
        return None
    file = stored.directory / DATA / stored.manifest["arrays"][SYMBOLS]["file"]
    return SymbolTable.stored(stored.arrays[SYMBOLS], file)


@contextmanager
def sound(directory: Path, *passing: type[Exception]) -> Iterator[None]:
    """Turn whatever goes wrong while an index is made sense of into an IndexFormatError."""
    try:
        yield
    except (MismatchError, ModelError, *passing):  # type: ignore[misc]
        raise
    except HybridRankError as error:
        raise _damaged(directory, str(error)) from error
    except Exception as error:
        raise _damaged(directory, f"{type(error).__name__}: {error}") from error


def _damaged(directory: Path, what: str) -> IndexFormatError:
    message = f"the index in {directory} is damaged: {what}; index again, or delete that directory first"
    return IndexFormatError(message, replaceable=True)


def _values(pipeline: Pipeline, writer: Writer) -> dict[str, Any]:
    if pipeline.documents is None:
        raise NotIndexedError("the pipeline has no documents yet; save what index(documents) returns")
    config, ablation = describe_pipeline(pipeline)
    documents = pipeline.documents
    if not isinstance(documents, StoredDocuments):
        documents = StoredDocuments.of(documents)
    for name, array in documents.arrays().items():
        writer.add(_DOCUMENTS + name, array)
    if pipeline.corpus is not None:
        writer.add("corpus", packed_corpus(pipeline.corpus))
        if pipeline.corpus.symbols is not None:
            writer.add(SYMBOLS, pipeline.symbols.data)
    plain = type(pipeline)(**build(config, ablation=ablation)).parts()
    parts = {}
    for number, (name, part) in enumerate(pipeline.parts().items()):
        state = part.state() if isinstance(part, Storable) else None
        if state is not None:
            values = _add_state(name, number, state, writer)
            parts[name] = {
                "number": number,
                "identity": identity(plain[name]),
                "fingerprint": identity(part),
                "lag": getattr(part, "lag", None),
                "tokenizer": getattr(getattr(part, "tokenizer", None), "id", None),
                "values": values,
            }
            _refuse_other(name, part, plain[name].restore(state, documents))  # type: ignore[attr-defined]
    return {
        "hybridrank": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": config,
        "ablation": ablation,
        "source": None,
        "seconds": None,
        "build_seconds": None,
        "documents": len(documents),
        "fingerprint": pipeline.fingerprint(),
        "parts": parts,
    }


def _add_state(name: str, number: int, state: Mapping[str, Any], writer: Writer) -> dict[str, Any]:
    """Write the arrays of a state; the rest of it."""
    values = {}
    for key, value in state.items():
        if not _KEY.fullmatch(key):
            raise ConfigError(
                f"its state has the key {key!r}; use letters, digits, '_', '-', '.'", where=name
            )
        if isinstance(value, np.ndarray):
            writer.add(f"part{number}.{key}", value)
            continue
        try:
            values[key] = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ConfigError(f"its state holds {value!r:.80} as {key!r}: {error}", where=name) from None
    return values


def _refuse_other(name: str, part: object, restored: object) -> None:
    if isinstance(part, Fingerprinted) and identity(restored) != identity(part):
        raise ConfigError(
            f"{part!r} cannot be saved: what its options and state make is {restored!r}, which differs",
            where=name,
        )
