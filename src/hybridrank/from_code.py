"""A pipeline over a folder of source code: what `Pipeline.for_code` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .garbage import rarely_collecting

if TYPE_CHECKING:
    from .pipeline import Pipeline

    PipelineT = TypeVar("PipelineT", bound=Pipeline)


def from_code(
    kind: type[PipelineT],
    root: str | Path,
    config: str | Path | Mapping[str, Any] | None,
    ablation: str | None,
    max_bytes: int | None,
    index: str | Path | bool,
    progress: Callable[[str, int, int | None], None] | None,
) -> PipelineT:
    """From its index, which is brought up to date, or in memory where `index` is False."""
    with rarely_collecting():
        if index is not False:
            from .store.opening import open_code

            return open_code(
                root,
                index,
                config=config,
                ablation=ablation,
                max_bytes=max_bytes,
                progress=progress,
                kind=kind,
            )
        from .code.corpus import load_code
        from .code.walk import MAX_BYTES
        from .config import default_config

        pipeline = kind.from_config(default_config("code") if config is None else config, ablation=ablation)
        size = MAX_BYTES if max_bytes is None else max_bytes
        corpus = load_code(root, chunker=pipeline.chunker, max_bytes=size, progress=progress)
        pipeline = pipeline.index(corpus.documents, progress=progress)
        pipeline.corpus = corpus
        return pipeline
