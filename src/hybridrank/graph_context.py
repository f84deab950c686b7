"""What belongs to a piece of code: the head of the class around it, and the definitions that it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .code.calls import Call
from .code.spans import chunk_id
from .code.symbols import Symbol
from .types import Document


def around(symbols: Iterable[Symbol], start: int, end: int) -> list[Symbol]:
    """The classes that lines stand in, the outermost first."""
    return [
        one
        for one in symbols
        if one.kind == "class"
        and one.start_line <= start
        and end <= one.end_line
        and (one.start_line, one.end_line) != (start, end)
    ]


def called(calls: Iterable[Call], start: int, end: int) -> Iterator[Symbol]:
    """The definitions that calls in these lines lead to for sure, each once, but for those in the lines."""
    seen: set[Symbol] = set()
    for call in calls:
        if not start <= call.line <= end or call.state != "resolved":
            continue
        for target in call.targets:
            inside = target.path == call.path and start <= target.start_line and target.end_line <= end
            if not inside and target not in seen:
                seen.add(target)
                yield target


def document_of(symbol: Symbol, lines: Sequence[str], *, head: bool) -> Document | None:
    """The lines of a definition, or of its head; None where the file has no such lines."""
    end = symbol.start_line if head else symbol.end_line
    if not 1 <= symbol.start_line <= end <= len(lines):
        return None
    if head:
        wanted = symbol.signature.rstrip("…")
        while end < min(symbol.end_line, len(lines)):
            if " ".join("".join(lines[symbol.start_line - 1 : end]).split()).startswith(wanted):
                break
            end += 1
    text = "".join(lines[symbol.start_line - 1 : end]).rstrip("\r\n")
    return Document(
        chunk_id(symbol.path, symbol.start_line, end),
        text,
        symbol.path,
        symbol.start_line,
        end,
        symbol.kind,
        symbol.name,
        symbol.qualified_name,
        symbol.language,
    )
