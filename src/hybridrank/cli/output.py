"""What the command line writes: data to stdout, everything else to stderr, no traceback unless asked for."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

from ..errors import ConfigError, DuplicateIdError, HybridRankError, InvalidValueError
from ..report.escape import printable

DEBUG = "HYBRIDRANK_DEBUG"
ARGUMENTS = "hybridrank.arguments"
"""Where a context's `meta` holds the arguments of the command line."""
FAILED, WRONG, DEGRADED, INTERRUPTED, CLOSED_PIPE = 1, 2, 3, 130, 141
"""Exit codes; 0 is an answer."""


class Failure(Exception):  # noqa: N818 - it ends a run as click's Exit does
    """Ends the run with one line on stderr and an exit code; its cause is the error behind it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@contextlib.contextmanager
def reported() -> Iterator[None]:
    """Turn whatever the library raises into a `Failure`: 2 for what the user gave, 1 for the rest.

    What parts print meanwhile goes to stderr: stdout holds data only.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except Failure:
        raise
    except HybridRankError as error:
        given = isinstance(error, (InvalidValueError, ConfigError)) and not isinstance(
            error, DuplicateIdError
        )
        raise Failure(_with_notes(str(error), error), WRONG if given else FAILED) from error
    except Exception as error:
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise Failure(f"{_with_notes(told, error)}; {DEBUG}=1 shows where", FAILED) from error


def _with_notes(message: str, error: Exception) -> str:
    return ", ".join([message, *getattr(error, "__notes__", ())])


class Notes:
    """Lines for people, on stderr. Each is one line, and shown once.

    Attributes:
        quiet: only errors are written.
        verbose: events of level info are written too.
    """

    def __init__(self) -> None:
        self.quiet = False
        self.verbose = False
        self._said: set[str] = set()

    def note(self, message: str) -> None:
        if not self.quiet and message not in self._said:
            self._said.add(message)
            _to_stderr(one_line(message))

    def warning(self, message: str) -> None:
        self.note(f"warning: {message}")

    def error(self, message: str, cause: BaseException | None = None) -> None:
        if cause is not None and os.environ.get(DEBUG, "") not in ("", "0"):
            _to_stderr("".join(traceback.format_exception(cause)).rstrip())
        _to_stderr(f"error: {one_line(message)}")

    def error_hint(self, message: str) -> None:
        _to_stderr(one_line(message))

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Show log records and Python warnings of the library and of plug-ins as warnings."""
        logger = logging.getLogger("hybridrank")
        handler = _Handler(self)
        logger.addHandler(handler)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_, **__: self.warning(str(message))
                yield
        finally:
            logger.removeHandler(handler)


class _Handler(logging.Handler):
    def __init__(self, notes: Notes) -> None:
        super().__init__(logging.WARNING)
        self._notes = notes

    def emit(self, record: logging.LogRecord) -> None:
        self._notes.warning(record.getMessage())


def use_utf8() -> None:
    """UTF-8 on both streams whatever the locale; what it cannot encode becomes a backslash escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def write(text: str) -> None:
    """A line, or lines, of data on stdout."""
    _stdout().write(f"{text}\n")


def flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def abandon_stdout() -> None:
    """Let the interpreter's last flush go nowhere: what could not be written has been reported."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stdout() -> Any:
    if sys.stdout is None:
        raise OSError("it is closed")
    return sys.stdout


def one_line(message: str) -> str:
    """The message without line breaks and control characters."""
    return printable(" ".join(message.split()))


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:
        # With nowhere to complain to, the exit code has to tell.
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)  # noqa: T201
