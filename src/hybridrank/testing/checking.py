"""What the conformance checks are written with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from ..protocols import Indexable
from ..types import Document, Ranking

T = TypeVar("T")
R = TypeVar("R")
Make = Callable[[], Any]


class ConformanceError(AssertionError):
    """A part breaks a law of its protocol.

    Attributes:
        law: the name of the law.
    """

    def __init__(self, kind: str, law: str, detail: str) -> None:
        super().__init__(f"{kind} breaks the law {law!r}: {detail}")
        self.law = law


class Breach(Exception):  # noqa: N818 - never leaves this package
    """What is wrong and with which input; the runner adds the law."""


def expect(holds: bool, detail: str) -> None:
    if not holds:
        raise Breach(detail)


def answered(asked: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The value of a call that must not fail."""
    try:
        return call(*arguments, **options)
    except Exception as error:
        raise Breach(f"{asked} raised {type(error).__name__}: {error}") from error


def refused(
    asked: str, expected: type[Exception], call: Callable[..., Any], *arguments: Any, **options: Any
) -> None:
    """A call that must raise this error."""
    try:
        value = call(*arguments, **options)
    except expected:
        return
    except Exception as error:
        message = f"{asked} raised {type(error).__name__} ({error}); it must raise {expected.__name__}"
        raise Breach(message) from error
    raise Breach(f"{asked} gave {shortened(value)}; it must raise {expected.__name__}")


def ranking_of(value: object, asked: str) -> Ranking:
    """The value as a ranking whose own promises hold, even where a part went round them."""
    if not isinstance(value, Ranking):
        raise Breach(f"{asked} gave {shortened(value)}, no Ranking")
    scores = [hit.score for hit in value]
    expect(all(map(math.isfinite, scores)), f"{asked} gave scores that are not finite: {scores}")
    expect(all(a >= b for a, b in pairwise(scores)), f"{asked}: scores rise: {scores}")
    expect(len(set(value.ids)) == len(value), f"{asked} gave an id twice: {value.ids}")
    return value


def same(one: Ranking, other: Ranking, what: str) -> None:
    """Two rankings have the same hits with the same scores."""
    expect(
        [(hit.id, hit.score) for hit in one] == [(hit.id, hit.score) for hit in other],
        f"{what}: {outline(one)} and {outline(other)}",
    )


def outline(ranking: Ranking) -> str:
    return "[" + ", ".join(f"{hit.id} {hit.score:g}" for hit in ranking) + "]"


def shortened(value: object, limit: int = 200) -> str:
    text = outline(value) if isinstance(value, Ranking) else repr(value)
    return text if len(text) <= limit else text[:limit] + "…"


def ready(make: Make, documents: Sequence[Document]) -> Any:
    """A new part, given the documents if it takes any."""
    part = make()
    if isinstance(part, Indexable):
        return answered(f"index of {len(documents)} documents", part.index, documents)
    return part


def awaited(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The result of a coroutine function, whether or not an event loop runs in this thread."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    async def run() -> Any:
        return await call(*arguments, **options)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, run()).result()


def in_threads(call: Callable[[T], R], values: Sequence[T]) -> list[R]:
    """The results of calls that run at the same time, in the order of the values."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as threads:
        return list(threads.map(call, values))
