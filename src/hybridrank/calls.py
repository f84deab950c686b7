"""Calls that a search waits for, and the two ways to wait.

A search is a generator that does no waiting of its own: it yields the calls it needs (those in one list may
run at the same time) and is sent their outcomes. `run` and `arun` drive it, so that the synchronous and the
asynchronous search are one and the same code.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from .errors import HybridRankError

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Call:
    """Work for the driver: `run` always, `arun` where the part can be awaited.

    Attributes:
        immediate: it waits for nobody and is done in less time than a thread takes to start.
    """

    stage: str
    run: Callable[[], Any]
    arun: Callable[[], Awaitable[Any]] | None = None
    immediate: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    value: Any
    seconds: float
    error: Exception | None = None


Steps: TypeAlias = Generator[Sequence[Call], Sequence[Outcome], R]


def _timed(call: Call) -> Outcome:
    started = perf_counter()
    try:
        value = call.run()
    except Exception as error:
        return Outcome(None, perf_counter() - started, error)
    return Outcome(value, perf_counter() - started)


def run(plan: Steps[R]) -> R:
    """Drive a search without an event loop. Calls that are yielded together run in threads."""
    outcomes: Sequence[Outcome] | None = None
    while True:
        try:
            calls = plan.send(outcomes)  # type: ignore[arg-type]
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        outcomes = run_calls(calls)


def run_calls(calls: Sequence[Call]) -> list[Outcome]:
    """Outcomes in order. Immediate calls, or else the last, run in this thread, others beside it."""
    outcomes: list[Outcome | None] = [None] * len(calls)

    def work(place: int, call: Call) -> None:
        outcomes[place] = _timed(call)

    here = [place for place, call in enumerate(calls) if call.immediate] or [len(calls) - 1] * bool(calls)
    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work, place, call), name=call.stage)
        for place, call in enumerate(calls)
        if place not in here
    ]
    for thread in threads:
        thread.start()
    try:
        for place in here:
            work(place, calls[place])
    finally:
        for thread in threads:
            thread.join()
    missing = [call.stage for call, outcome in zip(calls, outcomes, strict=True) if outcome is None]
    if missing:
        raise HybridRankError(f"stages {missing} ended without an outcome (SystemExit in a thread?)")
    return [outcome for outcome in outcomes if outcome is not None]


async def arun(plan: Steps[R]) -> R:
    """Drive a search inside an event loop: what can be awaited is awaited, the rest runs in threads."""
    import asyncio

    async def outcome_of(call: Call) -> Outcome:
        if call.arun is None:
            return await asyncio.to_thread(_timed, call)
        started = perf_counter()
        try:
            value = await call.arun()
        except Exception as error:
            return Outcome(None, perf_counter() - started, error)
        return Outcome(value, perf_counter() - started)

    outcomes: Sequence[Outcome] | None = None
    while True:
        try:
            calls = plan.send(outcomes)  # type: ignore[arg-type]
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        outcomes = await asyncio.gather(*(outcome_of(call) for call in calls))
