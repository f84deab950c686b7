"""Which index a command means, and how a search uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .embedding import Patch
from .output import Notes

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from ..store.layout import Stored
    from ..store.opening import Opened
    from ..store.sources import Source
    from .progress import Progress


def place_of(path: Path | None, index: Path | None) -> Path:
    """The directory of the index that is meant: the given one, else that of the path in the user's cache.

    Raises:
        InvalidValueError: the given one lies in the path.
    """
    from ..store.places import index_directory

    if index is not None and path is None:
        return index.expanduser().resolve()
    return index_directory(path or Path(), True if index is None else index)


def source_in(stored: Stored, path: Path | None) -> Source | None:
    """What the index was made from; None for a pipeline that was saved.

    Raises:
        InvalidValueError: it is not the given path.
    """
    from ..errors import InvalidValueError
    from ..store.saving import sound
    from ..store.sources import source_of

    settings = stored.manifest["source"]
    with sound(stored.directory):
        source = None if settings is None else source_of(settings)
    if path is not None and (source is None or settings["root"] != str(path.resolve())):
        of = "a saved pipeline" if source is None else repr(settings["root"])
        raise InvalidValueError(f"the index in {stored.directory} is of {of}, not of {str(path)!r}")
    return source


def pipeline_to_search(
    notes: Notes,
    path: Path | None,
    index: Path | None,
    *,
    config: Path | None,
    ablation: str | None,
    max_bytes: int | None,
    update: bool,
    check: Callable[[Any, str | None], None],
    watch: Progress | None,
    judging: Mapping[str, Any] | None = None,
    embed: Patch | None = None,
) -> Pipeline | None:
    """The pipeline of the index of that path, brought up to date; None where there is no index.

    Args:
        check: called with configuration and ablation before anything is read; raises for flags that do not
            fit them.
        judging: what to search with where no configuration is given and the index's own has no validator; the
            index stays as it is.
        embed: puts another embedder into the configuration.

    Raises:
        IndexNotFoundError: there is none in the directory that was given.
        StoreError: it cannot be read.
    """
    from ..store import layout

    directory = place_of(path, index)
    if index is None and not layout.exists(directory):
        return None
    opened = _opened(
        notes, directory, path, index, config, ablation, max_bytes, update, check, watch, judging, embed
    )
    for note in opened.notes:
        notes.warning(note)
    if opened.outcome == "stale":
        notes.warning(f"the index is stale ({opened.changes}); this answer is from what is in it")
    elif opened.outcome != "unchanged":
        notes.note(f"index {opened.outcome}: {opened.changes}, {opened.seconds:.1f} s")
    return opened.pipeline


def _opened(
    notes: Notes,
    directory: Path,
    path: Path | None,
    index: Path | None,
    config: Path | None,
    ablation: str | None,
    max_bytes: int | None,
    update: bool,
    check: Callable[[Any, str | None], None],
    watch: Progress | None,
    judging: Mapping[str, Any] | None,
    embed: Patch | None,
) -> Opened[Pipeline]:
    from dataclasses import replace

    from ..config import default_config
    from ..errors import IndexFormatError
    from ..pipeline import Pipeline
    from ..store import layout
    from ..store.opening import as_is, open_index
    from ..store.sources import CodeSource

    try:
        stored = layout.read(directory)
    except IndexFormatError as error:
        if not (error.replaceable and update and index is None and judging is None and embed is None):
            raise
        return open_index(
            CodeSource((path or Path()).resolve()),
            directory,
            Pipeline,
            config=default_config("code") if config is None else config,
            ablation=ablation,
            strict=False,
            timeout=0,
            progress=watch,
        )
    source = source_in(stored, path)
    if isinstance(source, CodeSource) and max_bytes is not None:
        source = replace(source, max_bytes=max_bytes)
    own: dict[str, Any] = dict(stored.manifest["config"])
    chosen: Any = own if config is None else config
    lent = judging is not None and config is None and "validator" not in own
    if lent:
        chosen = judging
    if embed is not None:
        chosen = embed(chosen)
    given = config is not None or ablation is not None or lent
    variant = ablation if given else stored.manifest["ablation"]
    check(chosen, variant)
    wanted = Pipeline.from_config(chosen, ablation=variant) if given or embed is not None else None
    other = wanted is not None and wanted.origin != (own, stored.manifest["ablation"])
    if other or (max_bytes is not None and source is not None and _limit(stored) != max_bytes):
        if not lent:
            notes.note(
                "the index was made with other options; this answer is with yours, the index stays as it is"
            )
        other = True
    if source is None or not update:
        return as_is(source, stored, Pipeline, wanted)
    return open_index(
        source,
        directory,
        Pipeline,
        config=chosen,
        ablation=variant,
        strict=False,
        keep=not other,
        timeout=0,
        progress=watch,
    )


def _limit(stored: Stored) -> Any:
    return stored.manifest["source"].get("max_bytes")
