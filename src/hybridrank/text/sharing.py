"""What one part has counted and the next one need not count again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_counted: ContextVar[list[tuple[object, Sequence[str], Any]] | None] = ContextVar("counted", default=None)


@contextmanager
def shared_counts() -> Iterator[None]:
    """While it is open, equal texts are tokenised once by equal tokenizers, by whichever part comes first."""
    token = _counted.set([])
    try:
        yield
    finally:
        _counted.reset(token)


def recall_counts(tokenizer: object, texts: Sequence[str]) -> Any:
    """What was kept for these; None where nothing was."""
    for known, of, counts in _counted.get() or ():
        if known == tokenizer and of == texts:
            return counts
    return None


def keep_counts(tokenizer: object, texts: Sequence[str], counts: Any) -> None:
    """Keep counts of texts, if a place is open for them. Nobody may change them."""
    place = _counted.get()
    if place is not None:
        place.append((tokenizer, texts, counts))
