"""Files cut in several processes where there are many: the same results, in the same order."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from typing import IO, Any, TypeVar

from ..cores import MOST, cores
from ..garbage import rarely_collecting
from ..protocols import Chunker
from .chunk import TreeSitterChunker
from .lines import LineChunker

Item = TypeVar("Item")
Result = TypeVar("Result")

logger = logging.getLogger("hybridrank")

WORKERS = "HYBRIDRANK_WORKERS"
"""Environment variable: how many processes cut files, 1 for none but this one; as many as there are cores."""

# A process takes a fifth of a second to start, in which a megabyte is cut.
_LEAST_BYTES = 3_000_000
_BATCH_BYTES, _BATCH_ITEMS = 200_000, 40
# A process of its own, which never imports the program that asks: that may have no guard against it.
_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from hybridrank.code.workers import serve; serve()"
)


def each(
    function: Callable[..., Result],
    items: Sequence[Item],
    sizes: Sequence[int],
    chunker: Chunker,
    *more: Any,
) -> Iterator[Result]:
    """`function(item, chunker, *more)` for each item, in order.

    Args:
        function: of a module of hybridrank; what it takes and gives can be pickled.
        sizes: bytes of each item.
        chunker: one of another kind than our own is only used in this process.
    """
    count = _workers()
    ours = type(chunker) in (TreeSitterChunker, LineChunker)
    if count < 2 or not ours or sum(sizes) < _LEAST_BYTES or not sys.executable:
        for item in items:
            yield function(item, chunker, *more)
        return
    batches = list(_batches(items, sizes))
    with ExitStack() as stack:
        idle: SimpleQueue[_Process] = SimpleQueue()
        for _ in range(min(count, len(batches))):
            idle.put(stack.enter_context(_Process()))
        threads = stack.enter_context(ThreadPoolExecutor(count, "hybridrank-files"))
        stack.callback(threads.shutdown, cancel_futures=True)

        def ask(batch: Sequence[Item]) -> list[Result]:
            process = idle.get()
            try:
                return process.ask(function, batch, (chunker, *more))
            except (EOFError, OSError, pickle.PickleError) as error:
                logger.warning("a process that cuts files ended (%r); its files are cut in this one", error)
                return [function(item, chunker, *more) for item in batch]
            finally:
                idle.put(process)

        for results in threads.map(ask, batches):
            yield from results


def serve() -> None:
    """Answer what comes from standard input until it ends: what a process does that `each` starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides; standard input ends then
    given = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not come between the answers
    with answers, rarely_collecting():
        while True:
            try:
                function, batch, more = pickle.load(given)  # noqa: S301 - from the process that started this one
            except EOFError:
                return
            _send(answers, [function(item, *more) for item in batch])


class _Process:
    """One that waits for batches."""

    def __enter__(self) -> _Process:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to: Any = self._process.stdin
        self._from: Any = self._process.stdout
        with suppress(OSError):
            _send(self._to, sys.path)
        return self

    def ask(self, function: Callable[..., Result], batch: Sequence[Any], more: Sequence[Any]) -> list[Result]:
        _send(self._to, (function, batch, more))
        answer: list[Result] = pickle.load(self._from)  # noqa: S301 - from a process of our own
        return answer

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._to.close()
        self._process.wait()
        self._from.close()


def _send(where: IO[bytes], value: Any) -> None:
    pickle.dump(value, where, pickle.HIGHEST_PROTOCOL)
    where.flush()


def _workers() -> int:
    given = os.environ.get(WORKERS, "")
    if given.isdecimal():
        return min(int(given), MOST)
    return cores()


def _batches(items: Sequence[Item], sizes: Sequence[int]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    total = 0
    for item, size in zip(items, sizes, strict=True):
        batch.append(item)
        total += size
        if total >= _BATCH_BYTES or len(batch) >= _BATCH_ITEMS:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
