"""One writer at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import LockError

NAME = "lock"
MARK = b"hybridrank "
_STEP = 0.05

Waiting = Callable[[str], None]


class Lock:
    """Keeps other writers out of a directory while it is held. Readers need none.

    The operating system lets go of it when the process ends, however it ends.

    Args:
        directory: must exist.
        timeout: seconds to wait for another writer; 0 for not at all.
        waiting: called once, with a line for people, when there is another writer to wait for.

    Raises:
        LockError: another process still held it after that time.
        OSError: the lock file cannot be written.
    """

    def __init__(self, directory: Path, *, timeout: float = 60.0, waiting: Waiting | None = None) -> None:
        self._path = directory / NAME
        self._timeout = timeout
        self._waiting = waiting
        self._file: int | None = None

    def __enter__(self) -> Self:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._wait(self._file)
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, MARK + b"%d\n" % os.getpid(), 0)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _wait(self, file: int) -> None:
        until = time.monotonic() + self._timeout
        told = False
        while not _locked(file):
            pid = holder(self._path)
            who = "another process" if pid is None else f"process {pid}"
            if time.monotonic() >= until:
                message = (
                    f"{who} is writing the index in {self._path.parent}; wait until it is done, or end it"
                )
                raise LockError(message, pid=pid)
            if self._waiting is not None and not told:
                self._waiting(f"waiting for {who}, which is writing the index")
                told = True
            time.sleep(_STEP)


def holder(path: Path) -> int | None:
    """The process that took the lock last, as far as the lock file tells."""
    try:
        return int(path.read_bytes().removeprefix(MARK))
    except (OSError, ValueError):
        return None


def _locked(file: int) -> bool:
    try:
        import fcntl
    except ImportError:  # on Windows two writers are not kept apart
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
