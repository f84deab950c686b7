"""Progress of what takes long, told from deep inside without handing a callback through every call.

with watched(lambda step, done, total: print(step, done, total)):
    embedder.embed(texts, role="document")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[str, int, int | None], None]

_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def watched(progress: Progress | None) -> Iterator[None]:
    """Have `tell` call this with (step, done, total or None); None leaves who watches already."""
    if progress is None:
        yield
        return
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def tell(step: str, done: int, total: int | None = None) -> None:
    """Say how far a step is, to whoever watches."""
    progress = _progress.get()
    if progress is not None:
        progress(step, done, total)
