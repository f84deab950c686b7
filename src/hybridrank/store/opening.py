"""An index brought up to date with its files, and the pipeline that searches it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..config import default_config, load_config
from ..errors import (
    DuplicateIdError,
    IndexFormatError,
    IndexNotFoundError,
    InvalidValueError,
    LockError,
    MismatchError,
    StoreError,
)
from ..protocols import Indexable, Updatable
from ..types import tie_key
from ..watching import watched
from . import layout
from .describe import describe_pipeline
from .documents import Places, StoredDocuments
from .files import Changes
from .layout import Stored
from .lock import Lock, Waiting
from .places import index_directory
from .saving import documents_of, identity, restored_part, revived, sound, symbols_of, write
from .sources import CodeSource, Reading, Source, arrays_of
from .symbols import SymbolTable
from .writing import Writer, make_directory, reported

if TYPE_CHECKING:
    from ..code.corpus import Progress
    from ..pipeline import Pipeline

logger = logging.getLogger("hybridrank")
PipelineT = TypeVar("PipelineT", bound="Pipeline")
Outcome = Literal["built", "updated", "unchanged", "stale"]
Config = str | Path | Mapping[str, Any]
NO_CHANGES = Changes()

TIMEOUT = 600.0
"""Seconds to wait for another process that writes the index."""


@dataclass(frozen=True)
class Opened(Generic[PipelineT]):
    """An index that is open for searching.

    Attributes:
        outcome: whether it was built, updated or unchanged; `stale` if it was left as it was on request.
        changes: the files that differed.
        notes: what a user should know: why something was built anew, why it could not be written.
        seconds: that it took.
        manifest: of the index as it is on disk; None where it could not be written.
    """

    pipeline: PipelineT
    directory: Path
    outcome: Outcome
    changes: Changes = NO_CHANGES
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    manifest: Mapping[str, Any] | None = None


def open_code(
    root: str | Path,
    index: str | Path | bool,
    *,
    config: Config | None,
    ablation: str | None,
    max_bytes: int | None,
    progress: Progress | None,
    kind: type[PipelineT],
) -> PipelineT:
    """The pipeline of an up-to-date index of source code: what `Pipeline.for_code(index=...)` does."""
    place = Path(root).resolve()
    if not place.exists():
        raise InvalidValueError(f"cannot read {str(root)!r}: there is no such folder or file")
    source = CodeSource(place) if max_bytes is None else CodeSource(place, max_bytes)
    chosen = default_config("code") if config is None else config
    opened = open_index(
        source, index_directory(place, index), kind, config=chosen, ablation=ablation, progress=progress
    )
    for note in opened.notes:
        logger.info(note)
    return opened.pipeline


def open_index(
    source: Source,
    directory: Path,
    kind: type[PipelineT],
    *,
    config: Config,
    ablation: str | None = None,
    refit: bool = False,
    strict: bool = True,
    keep: bool = True,
    timeout: float | None = None,
    waiting: Waiting | None = None,
    progress: Progress | None = None,
) -> Opened[PipelineT]:
    """Bring an index up to date, or make it, and open it.

    Args:
        refit: fit what learns from the corpus anew where it lags behind, and embed anew what was embedded by
            a model that its server no longer has.
        strict: raise where the index cannot be written. Otherwise answer from what is there while another
            process writes it, and from memory where nothing can be written; a note says so.
        keep: write what was changed to disk.
        timeout: seconds to wait for another process that writes it; `TIMEOUT` if None.
        waiting: called with a line for people when there is one.

    Raises:
        IndexFormatError: the directory holds something else, or an index of a newer format.
        LockError: another process is writing it.
        StoreError: it cannot be written.
    """
    started = perf_counter()
    wanted = kind.from_config(load_config(config), ablation=ablation)
    stored, notes = current(directory)
    if stored is not None and not (refit and _lags(stored)):
        # A damaged one is told and built anew below, where the lock is held; on request so is one whose model
        # changed.
        with suppress(IndexFormatError, *((MismatchError,) if refit else ())):
            if _is_current(stored, wanted, source):
                pipeline = revived(kind, stored, wanted)
                seconds = perf_counter() - started
                return Opened(pipeline, directory, "unchanged", seconds=seconds, manifest=stored.manifest)
    if not keep:
        made = _made(kind, wanted, source, stored, refit, progress)
        return _opened(made, directory, notes, started, None)
    try:
        make_directory(directory)
        with (
            reported(directory),
            Lock(directory, timeout=TIMEOUT if timeout is None else timeout, waiting=waiting),
        ):
            return _written(kind, wanted, source, directory, refit, strict, started, progress)
    except LockError as error:
        if strict or stored is None:
            raise
        return replace(as_is(source, stored, kind), notes=(*notes, f"{error}; answered from what is there"))
    except IndexFormatError:
        raise
    except StoreError as error:
        if strict:
            raise
        made = _made(kind, wanted, source, stored, refit, progress)
        return _opened(made, directory, (*notes, str(error)), started, None)


def as_is(
    source: Source | None, stored: Stored, kind: type[PipelineT], wanted: PipelineT | None = None
) -> Opened[PipelineT]:
    """An index as it is on disk, be it stale or not; only files whose times differ are read to tell.

    Args:
        wanted: the pipeline to search with, if not that of the index.
    """
    started = perf_counter()
    changes = NO_CHANGES
    notes: tuple[str, ...] = ()
    if source is not None:
        try:
            with sound(stored.directory, InvalidValueError):
                changes = source.changes(stored)
        except InvalidValueError as error:
            notes = (f"whether the index is stale cannot be told: {error}",)
    pipeline = revived(kind, stored, wanted)
    outcome: Outcome = "stale" if changes else "unchanged"
    seconds = perf_counter() - started
    return Opened(pipeline, stored.directory, outcome, changes, notes, seconds, stored.manifest)


def current(directory: Path) -> tuple[Stored | None, tuple[str, ...]]:
    """The index in a directory, None where there is none; or where it is damaged, with a note that says so.

    Raises:
        IndexFormatError: it is not ours to replace.
    """
    try:
        return layout.read(directory), ()
    except IndexNotFoundError:
        return None, ()
    except IndexFormatError as error:
        if not error.replaceable:
            raise
        return None, (f"built anew: {error}",)


@dataclass(frozen=True)
class _Result(Generic[PipelineT]):
    pipeline: PipelineT
    changes: Changes
    notes: tuple[str, ...]
    arrays: Mapping[str, NDArray[Any]]
    settings: Mapping[str, Any]
    before: Stored | None
    fresh: bool


def _written(
    kind: type[PipelineT],
    wanted: PipelineT,
    source: Source,
    directory: Path,
    refit: bool,
    strict: bool,
    started: float,
    progress: Progress | None,
) -> Opened[PipelineT]:
    stored, notes = current(directory)
    while True:
        made = _made(kind, wanted, source, stored, refit, progress)
        seconds = perf_counter() - started
        values = {
            "source": made.settings,
            "seconds": round(seconds, 3),
            "build_seconds": round(seconds, 3)
            if made.before is None
            else made.before.manifest["build_seconds"],
        }
        try:
            manifest = write(made.pipeline, Writer(directory, made.before), values=values, arrays=made.arrays)
        except IndexFormatError as error:
            if stored is None or not error.replaceable:
                raise
            stored, notes = None, (*notes, f"built anew: {error}")
            continue
        except StoreError as error:
            if strict:
                raise
            return _opened(made, directory, (*notes, str(error)), started, None)
        return _opened(made, directory, notes, started, manifest)


def _opened(
    made: _Result[PipelineT],
    directory: Path,
    notes: Sequence[str],
    started: float,
    manifest: Mapping[str, Any] | None,
) -> Opened[PipelineT]:
    outcome: Outcome = "built" if made.fresh else "updated" if made.changes or made.notes else "unchanged"
    told = (*notes, *made.notes)
    return Opened(made.pipeline, directory, outcome, made.changes, told, perf_counter() - started, manifest)


def _made(
    kind: type[PipelineT],
    wanted: PipelineT,
    source: Source,
    stored: Stored | None,
    refit: bool,
    progress: Progress | None,
) -> _Result[PipelineT]:
    """The pipeline of what the source holds now, made from the stored one as far as that goes."""
    notes: list[str] = []
    if stored is not None:
        try:
            return _updated(kind, wanted, source, stored, refit, progress)
        except DuplicateIdError:
            # Which of two files with one id counts is decided by their order, as in a first build.
            notes.append("built anew: two files make documents of one id")
        except IndexFormatError as error:
            notes.append(f"built anew: {error}")
        except _OtherDocuments as error:
            notes.append(str(error))
    reading = source.read(None, None, wanted.chunker, progress)
    documents = tuple(sorted(reading.new, key=tie_key))
    fresh = wanted.with_()._indexed(documents, set(), progress, None)
    symbols = None if reading.symbols is None else SymbolTable.of(reading.symbols)
    fresh.corpus = replace(reading.corpus, documents=documents, symbols=symbols)
    arrays = arrays_of(reading, documents, None, None)
    settings = source.settings(wanted.chunker)
    return _Result(fresh, reading.changes, tuple(notes), arrays, settings, None, True)


class _OtherDocuments(Exception):  # noqa: N818 - no error: a reason to read everything
    """Why the documents of before are of no use."""


def _updated(
    kind: type[PipelineT],
    wanted: PipelineT,
    source: Source,
    stored: Stored,
    refit: bool,
    progress: Progress | None,
) -> _Result[PipelineT]:
    settings = source.settings(wanted.chunker)
    before = stored.manifest.get("source") or {}
    if before.get("documents") != settings["documents"] or before.get("kind") != settings["kind"]:
        raise _OtherDocuments(
            "built anew: the index was made with another chunker, other fields or another version"
            if before
            else "built anew: the index held a saved pipeline"
        )
    notes: list[str] = []
    if before["root"] != settings["root"]:
        notes.append(f"it was the index of {before['root']}")
    with sound(stored.directory, InvalidValueError):
        old = documents_of(stored)
        reading = source.read(stored, old, wanted.chunker, progress)
        documents, places = _merged(old, reading)
        arrays = arrays_of(reading, documents, places, stored)
        symbols = _moved(symbols_of(stored), reading)
    same = len(places) == len(old) and not len(reading.new)
    names = list(wanted.parts())

    def make(name: str, part: Any) -> Any:
        if progress is not None:
            progress(f"index {name}", names.index(name), len(names))
        try:
            restored = restored_part(stored, name, part, old)
        except MismatchError as error:
            if not refit:
                raise
            notes.append(f"{name} was indexed anew: {error}")
            return part.index(documents)
        if restored is None:
            if name in stored.manifest["parts"]:
                notes.append(f"{name} was indexed anew: its options changed")
            return part.index(documents) if isinstance(part, Indexable) else part
        if refit and getattr(restored, "lag", False):
            notes.append(f"{name} was fitted anew")
            return part.index(documents)
        if same:
            return restored
        with sound(stored.directory, InvalidValueError):
            if isinstance(restored, Updatable):
                return restored.update(documents, places)
        return part.index(documents)

    corpus = replace(reading.corpus, documents=documents, symbols=symbols)
    with watched(progress):
        made = wanted.with_()._filled(documents, corpus, make)
    if progress is not None:
        progress("index", len(names), len(names))
    return _Result(made, reading.changes, tuple(notes), arrays, settings, stored, False)


def _merged(old: StoredDocuments, reading: Reading) -> tuple[StoredDocuments, Places]:
    if len(reading.kept) == len(old) and not len(reading.new):
        return old, np.arange(len(old))
    return old.merged(reading.kept, reading.new)


def _moved(symbols: SymbolTable | None, reading: Reading) -> SymbolTable | None:
    """The symbols of now; only rows of files that came, changed or went are written."""
    if reading.symbols is None:
        return None
    if symbols is None:
        raise IndexFormatError("the symbols are missing")
    gone = (*reading.changes.changed, *reading.changes.removed)
    return symbols.changed(gone, reading.symbols) if gone or reading.symbols else symbols


def _is_current(stored: Stored, wanted: Pipeline, source: Source) -> bool:
    """Whether the index is what would be made now, as far as can be told without opening a file."""
    config, ablation = describe_pipeline(wanted)
    manifest = stored.manifest
    if manifest["source"] != source.settings(wanted.chunker):
        return False
    if manifest["config"] != config or manifest["ablation"] != ablation:
        return False
    for name, part in wanted.parts().items():
        entry = manifest["parts"].get(name)
        if entry is not None and entry["identity"] != identity(part):
            return False
    with sound(stored.directory, InvalidValueError):
        return source.unchanged(stored)


def _lags(stored: Stored) -> bool:
    return any(part["values"].get("changed") for part in stored.manifest["parts"].values())
