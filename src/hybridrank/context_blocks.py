"""What a context is printed from: documents or windows of them, joined to blocks of consecutive lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .report.escape import printable
from .types import Document

BETWEEN, CUT = "…", "… (cut)"
"""The lines that stand between the blocks of a file, and where a text was cut."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """The lines of one document that are shown.

    Attributes:
        rank: the document's place, from 0.
        shown: lines without their ends.
        first: number of the first shown line; 0 where the document's lines have no known numbers.
        opening: a fence that is open before the first shown line.
        cut_before, cut_after: whether text of the document is left out there.
        in_line: whether a line is cut, not the text between lines.
    """

    document: Document
    rank: int
    shown: tuple[str, ...]
    first: int = 0
    opening: str = ""
    cut_before: bool = False
    cut_after: bool = False
    in_line: bool = False

    @property
    def last(self) -> int:
        return self.first + len(self.shown) - 1


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """Consecutive lines of one file in a context, under one header.

    Attributes:
        label: what an answer cites: `path:start-end`, or the id of a document without a path.
        path, start_line, end_line: where the shown lines stand; lines are 0 where there are none.
        kind, symbol: of the widest of its documents.
        ids: its documents, best first.
        text: as printed below the header, with marks.
        cut: whether text of its documents is left out.
    """

    label: str
    path: str
    start_line: int
    end_line: int
    kind: str
    symbol: str
    ids: tuple[str, ...]
    text: str
    cut: bool

    @property
    def header(self) -> str:
        what = " ".join(printable(part) for part in (self.kind, self.symbol) if part)
        return f"### {self.label} ({what})" if what else f"### {self.label}"


def split(text: str) -> list[str]:
    """The lines of a text, without their ends; a text that ends with a line end has an empty last line."""
    return _LINE_END.split(text)


def whole(document: Document, rank: int) -> Piece:
    """All of a document. Its lines are numbered if it has as many as its place in the file says."""
    lines = split(document.text)
    wanted = document.end_line - document.start_line + 1 if document.start_line else 0
    if len(lines) != wanted and len(lines) > 1 and not lines[-1]:
        lines.pop()
    return Piece(document, rank, tuple(lines), document.start_line if len(lines) == wanted else 0)


def window(piece: Piece, size: int, match: tuple[int, int] | None) -> Piece:
    """`size` of a whole piece's lines: those around a match, else the first ones.

    Args:
        match: the (first, behind the last) index of lines to be kept.
    """
    start, stop = _around(size, len(piece.shown), match)
    return Piece(
        piece.document,
        piece.rank,
        piece.shown[start:stop],
        piece.first + start if piece.first else 0,
        _open_fence(piece.shown[:start]),
        start > 0,
        stop < len(piece.shown),
    )


def part_of_line(piece: Piece, size: int, match: tuple[int, int] | None) -> Piece:
    """`size` characters of one line: those around a match in the document's text, else the first ones."""
    text = piece.document.text
    start, stop = _around(size, len(text), match)
    # The line at whose head, or around whose match, the characters stand.
    kept = text[start:stop]
    if match is None:
        kept = kept.lstrip("\r\n")
        start = stop - len(kept)
        kept = split(kept)[0]
    else:
        before, _, after = text[start : match[0]], text[match[0] : match[1]], text[match[1] : stop]
        cut_left = len(before) - len(split(before)[-1])
        cut_right = len(after) - len(split(after)[0])
        kept = text[start + cut_left : stop - cut_right]
        start += cut_left
    lines = tuple(split(kept))
    above = len(split(text[:start])) - 1
    return Piece(
        piece.document,
        piece.rank,
        lines,
        piece.first + above if piece.first else 0,
        _open_fence(piece.shown[:above]),
        start > 0,
        start + len(kept) < len(text),
        in_line=True,
    )


def blocks_of(pieces: Iterable[Piece]) -> list[ContextBlock]:
    """The blocks: files in the order of their best document, those of a file in line order."""
    files: dict[str, list[Piece]] = {}
    for piece in sorted(pieces, key=lambda piece: piece.rank):
        files.setdefault(piece.document.path or "\0" + piece.document.id, []).append(piece)
    return [block for file in files.values() for block in _blocks_of_file(file)]


def render(blocks: Sequence[ContextBlock]) -> str:
    """The context as text; `""` without blocks."""
    text = ""
    for before, block in zip([None, *blocks], blocks, strict=False):
        if before is not None:
            text += f"\n{BETWEEN}\n" if block.path and block.path == before.path else "\n\n"
        text += f"{block.header}\n{block.text}"
    return text


def _around(size: int, total: int, match: tuple[int, int] | None) -> tuple[int, int]:
    first, behind = match or (0, 0)
    start = first - (size - (behind - first)) // 2 if size > behind - first else first
    start = max(0, min(start, total - size)) if match else 0
    return start, min(total, start + size)


def _blocks_of_file(pieces: Sequence[Piece]) -> Iterator[ContextBlock]:
    groups: list[list[Piece]] = []
    behind = 0
    for piece in sorted(pieces, key=lambda p: (p.first or p.document.start_line, p.rank)):
        if piece.first and groups and groups[-1][0].first and piece.first < behind:
            groups[-1].append(piece)
        else:
            groups.append([piece])
            behind = 0
        behind = max(behind, piece.last + 1) if piece.first else 0
    for group in groups:
        yield _block(group)


def _block(group: Sequence[Piece]) -> ContextBlock:
    best = min(group, key=lambda p: (-len(p.shown), p.rank))
    first, document = group[0].first, best.document
    lines: list[str] = []
    for piece in group:
        lines += piece.shown[first + len(lines) - piece.first :] if piece.first else piece.shown
    if first:
        start, end = first, first + len(lines) - 1
        # Another document may show what a window left out.
        before = any(p.cut_before and (p.in_line or p.document.start_line < start) for p in group)
        after = any(p.cut_after and (p.in_line or p.document.end_line > end) for p in group)
    else:
        start, end = document.start_line, document.end_line
        before, after = group[0].cut_before, group[0].cut_after
    opening = group[0].opening if before else ""
    closing = _open_fence([opening, *lines])
    marked = [CUT] if before else []
    marked += [opening] if opening else []
    marked += lines
    marked += [closing] if closing else []
    marked += [CUT] if after else []
    path = document.path
    return ContextBlock(
        label=_label(document, start, end),
        path=path,
        start_line=start,
        end_line=end,
        kind=document.kind,
        symbol=document.qualified_name or document.name,
        ids=tuple(p.document.id for p in sorted(group, key=lambda p: p.rank)),
        text="\n".join(marked),
        cut=before or after,
    )


def _label(document: Document, start: int, end: int) -> str:
    if not document.path:
        return printable(document.id)
    return printable(f"{document.path}:{start}-{end}" if start else document.path)


def _open_fence(lines: Iterable[str]) -> str:
    """The fence that is open behind these lines, as it is closed; `""` where none is."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if not found:
            continue
        marker, rest = found[1], found[2]
        if fence:
            closes = marker[0] == fence[0] and len(marker) >= len(fence) and not rest.strip()
            fence = "" if closes else fence
        elif "`" not in rest or marker[0] == "~":
            fence = marker
    return fence
