"""The source that a command is given: a file, some of its lines, or standard input."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

import click

from .output import Failure

_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?")


class SourceText(NamedTuple):
    """A text with the place it is from; `path` is `""` for standard input, lines are 1-based."""

    text: str
    path: str
    first_line: int


def read_source(given: str) -> SourceText:
    """`FILE`, `FILE:LINE`, `FILE:FIRST-LAST` or `-`. A file whose whole name ends so is that file.

    Raises:
        click.BadParameter: there is no such file, it is no text, or it has no such lines.
        Failure: standard input is closed.
    """
    from ..code.decode import decode
    from ..code.spans import split_lines

    if given == "-":
        if sys.stdin is None:
            raise Failure("the source is to come from standard input, which is closed", 2)
        return SourceText(_text(sys.stdin.buffer.read(), given), "", 1)
    path, first, last = given, 1, None
    match = None if Path(given).exists() else _LINES.fullmatch(given)
    if match:
        path, first = match["path"], int(match["first"])
        last = int(match["last"] or first)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise _bad(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from error
    decoded = decode(data, cookie=path.endswith(".py"))
    if decoded is None:
        raise _bad(f"{path!r} is binary; give a text file")
    lines = split_lines(decoded.text)
    if last is not None and not 1 <= first <= last <= len(lines):
        raise _bad(f"{path!r} has {len(lines)} lines; {first}-{last} is not among them")
    return SourceText("".join(lines[first - 1 : last]).rstrip("\r\n"), path, first)


def piped_source() -> SourceText:
    """What is piped into a command that names no source.

    Raises:
        click.BadParameter: it is binary.
        click.UsageError: nothing is.
    """
    data = b""
    try:
        if sys.stdin is not None and not sys.stdin.isatty():
            data = sys.stdin.buffer.read()
    except OSError:
        pass
    if not data:
        raise click.UsageError("Missing option '--source'. Give a file, or pipe the source in.")
    return SourceText(_text(data, "-"), "", 1)


def _text(data: bytes, given: str) -> str:
    from ..code.decode import decode

    decoded = decode(data)
    if decoded is None:
        raise _bad("standard input is binary; give text")
    return decoded.text.rstrip("\r\n")


def _bad(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="--source")
