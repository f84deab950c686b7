"""From spans of lines to documents: what a line is, what an id is, how an over-long span is cut.

A line ends at `\\n`, `\\r\\n` or `\\r` and nowhere else, as editors and parsers count; `str.splitlines` would
end it at form feeds and Unicode separators too. A line of white space alone is blank; documents begin and
end with lines that are not blank, and the end of a document's last line is no part of its text.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from ..errors import InvalidValueError
from ..types import Document, FrozenDict, SourceFile

MAX_CHARS = 2000
"""About 500 tokens, what a 512-token encoder reads; 19 of 20 Python functions are shorter."""

DEFINITIONS = frozenset({"function", "method", "class"})

_CONTINUES = re.compile(r"\s*(?:[)\]}]|(?:else|elif|except|catch|finally)\b)")


class Span(NamedTuple):
    """Lines `start` to `end` (1-based, inclusive) and what they are.

    `header` is the line that a definition proper begins on, below comments and decorators.
    """

    start: int
    end: int
    kind: str
    name: str = ""
    qualified_name: str = ""
    header: int = 0


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends; joined they are the text."""
    return list(io.StringIO(text, newline=""))


def is_blank(line: str) -> bool:
    return not line or line.isspace()


def continues(line: str) -> bool:
    """Whether a line goes on with what stands above it: a closing bracket, an `else`."""
    return _CONTINUES.match(line) is not None


def without_end(line: str) -> str:
    """A line without its `\\n`, `\\r\\n` or `\\r`."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith(("\n", "\r")) else line


def chunk_id(path: str, start: int, end: int, piece: int = 1) -> str:
    """`path:start-end`; from the second piece of a cut line on with `.piece` after it.

    White space, `%`, control and other unprintable characters of the path stand as `%` and hexadecimal bytes,
    so that an id is one printable word and two paths never share one.
    """
    return f"{quoted(path)}:{start}-{end}" + (f".{piece}" if piece > 1 else "")


def quoted(path: str) -> str:
    if path.isprintable() and " " not in path and "%" not in path:
        return path
    return "".join(
        c if c.isprintable() and not c.isspace() and c != "%" else "".join(f"%{b:02X}" for b in _bytes(c))
        for c in path
    )


def _bytes(character: str) -> bytes:
    undecodable = "\udc80" <= character <= "\udcff"
    return character.encode("utf-8", "surrogateescape" if undecodable else "surrogatepass")


def check_limit(name: str, value: object) -> int:
    """A limit that a user gave: an int of 1 or more.

    Raises:
        InvalidValueError: it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidValueError(f"{name} is {value!r}; give an int of 1 or more")
    return value


def documents(
    source: SourceFile,
    lines: Sequence[str],
    spans: Iterable[Span],
    *,
    max_chars: int,
    max_lines: int | None = None,
    metadata: FrozenDict[str, object],
) -> tuple[Document, ...]:
    """One document a span, or several where it is over a limit.

    The piece of a definition that has its header keeps its kind, the others are `part`: behind a long
    comment the header is not in the first. All keep the name. A single line that is over `max_chars` becomes
    documents of its own, which share that line.
    """
    cutter = _Cutter(lines, max_chars, max_lines)
    made: list[Document] = []
    for span in spans:
        header = max(span.header, span.start)
        for start, end, piece, text in cutter.pieces(span.start, span.end):
            is_part = span.kind in DEFINITIONS and not (start <= header <= end and piece == 1)
            made.append(
                Document(
                    chunk_id(source.path, start, end, piece),
                    text,
                    source.path,
                    start,
                    end,
                    "part" if is_part else span.kind,
                    span.name,
                    span.qualified_name,
                    source.language,
                    metadata,
                )
            )
    return tuple(made)


class _Cutter:
    """Cuts runs of lines at the best place that keeps each piece within the limits."""

    def __init__(self, lines: Sequence[str], max_chars: int, max_lines: int | None) -> None:
        self.lines = lines
        self.max_chars = max_chars
        self.max_lines = max_lines or len(lines) + 1
        self.offsets = [0, *accumulate(map(len, lines))]

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int, int, str]]:
        """(first line, last line, number of the piece of a cut line, text)."""
        lines = self.lines
        while end >= start and is_blank(lines[end - 1]):
            end -= 1
        while start <= end:
            if is_blank(lines[start - 1]):
                start += 1
                continue
            if self.size(start, start) > self.max_chars:
                cut = enumerate(cut_line(without_end(lines[start - 1]), self.max_chars), 1)
                yield from ((start, start, piece, text) for piece, text in cut)
                start += 1
                continue
            stop = self.furthest(start, end)
            if stop < end:
                stop = self.best_end(start, stop, end)
            last = stop
            while is_blank(lines[last - 1]):
                last -= 1
            text = without_end("".join(lines[start - 1 : last]))
            yield start, last, 1, text
            start = stop + 1

    def size(self, start: int, end: int) -> int:
        """Characters of lines start to end, without the end of the last."""
        line = self.lines[end - 1]
        return self.offsets[end] - self.offsets[start - 1] - len(line) + len(without_end(line))

    def furthest(self, start: int, end: int) -> int:
        """The last line that a piece from `start` can hold."""
        longest = bisect_right(self.offsets, self.offsets[start - 1] + self.max_chars + 2) - 1
        stop = max(start, min(end, longest, start + self.max_lines - 1))
        while self.size(start, stop) > self.max_chars:
            stop -= 1
        return stop

    def best_end(self, start: int, furthest: int, end: int) -> int:
        """Where to end a piece when not all fits: before a shallow line, after a blank one, in even parts."""
        lines = self.lines
        rest = self.size(start, end) + 1  # with a line end, like the sizes below
        parts = max(-(-rest // (self.max_chars + 1)), -(-(end - start + 1) // self.max_lines), 2)
        target = rest / parts
        latest = furthest + 1
        while is_blank(lines[latest - 1]):
            latest += 1
        offset = self.offsets[start - 1]
        first = bisect_left(self.offsets, offset + ceil(target / 2)) + 1  # those before hold less than half
        best, best_cost = furthest, (1 << 30, False, 0.0)
        for after in range(max(start + 1, first), latest + 1):
            line = lines[after - 1]
            text = line.lstrip()
            if not text:
                continue
            depth = len(line) - len(text)
            if depth > best_cost[0]:
                continue
            if continues(text):
                depth += 1 << 20
            size = self.offsets[after - 1] - offset
            cost = (depth, not is_blank(lines[after - 2]), abs(size - target))
            if cost < best_cost:
                best, best_cost = after - 1, cost
        return best


def cut_line(line: str, max_chars: int) -> Iterator[str]:
    """Pieces of one line, cut after white space or a comma where there is some; blank pieces are left out."""
    start = 0
    while start < len(line):
        stop = start + max_chars
        if stop < len(line):
            early = start + max_chars * 3 // 4
            stop = max(line.rfind(c, early, stop) for c in " \t,;") + 1 or stop
        piece = line[start:stop]
        if not is_blank(piece):
            yield piece
        start = stop
