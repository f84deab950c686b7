"""Which documents, and how much of them, a context shows: what is added fits, or nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from .context_blocks import ContextBlock, Piece, blocks_of, part_of_line, split, whole, window
from .types import Document, location


@dataclass(slots=True)
class Plan:
    """The pieces so far. What is added fits, or nothing changes."""

    fits: Callable[[Sequence[ContextBlock]], bool]
    pieces: list[Piece] = field(default_factory=list)
    included: set[str] = field(default_factory=set)

    def add(self, piece: Piece) -> bool:
        """Show a whole document, or see that it is shown already."""
        if not self.is_shown(piece.document):
            same = next((p for p in self.pieces if p.document.text == piece.document.text), None)
            if same is not None:
                told = f"(same text as {location(same.document)})"
                piece = replace(piece, shown=(told,), first=0)
            # A piece of the same file that cannot be joined line by line goes where it is wholly contained.
            kept = [p for p in self.pieces if not _swallows(piece, p)]
            if not self._keep([*kept, _apart(piece, kept)]):
                return False
        self.included.add(piece.document.id)
        return True

    def add_part(self, piece: Piece, match: tuple[int, int] | None) -> None:
        """Show as many lines of a document as fit; part of a line where nothing else is shown."""
        for other in self.pieces:
            same = other.document.text == piece.document.text
            if same or _swallows(piece, other) or piece is not _apart(piece, [other]):
                return
        if match is not None:
            match = min(match[0], len(piece.document.text)), min(match[1], len(piece.document.text))
        lines = None if match is None else _lines_of(piece, match)
        fewest = 1 + self._leading(piece) if lines is None else lines[1] - lines[0]
        before = self.pieces
        if self._most(fewest, len(piece.shown) - 1, lambda size: [*before, window(piece, size, lines)]):
            return
        if not before:
            # At least all of the match; where even that is too long, its head.
            length = 1 if match is None else max(1, match[1] - match[0])
            longest = len(piece.document.text) - 1
            if not self._most(length, longest, lambda size: [part_of_line(piece, size, match)]):
                self._most(1, min(length, longest), lambda size: [part_of_line(piece, size, match)])

    def is_shown(self, document: Document) -> bool:
        """Whether all of it stands in what is shown."""
        if not document.text.strip():
            return True
        if not document.path:
            return False
        start, end = document.start_line, document.end_line
        lines = set[int]()
        differs = False
        for piece in self.pieces:
            other = piece.document
            if other.path != document.path or piece.in_line:
                continue
            if piece.cut_before or piece.cut_after or piece.first:
                lines.update(range(piece.first, piece.last + 1) if piece.first else ())
            elif start and other.start_line <= start and end <= other.end_line:
                lines.update(range(start, end + 1))
            if not start and document.text in other.text and not (piece.cut_before or piece.cut_after):
                return True
            if (start, end) == (other.start_line, other.end_line):
                same = whole(document, 0).shown == whole(other, 0).shown
                if same and not (piece.cut_before or piece.cut_after):
                    return True
                # The pieces of one long line share its number.
                differs = differs or not same
        return start > 0 and not differs and lines.issuperset(range(start, end + 1))

    def state(self, document: Document) -> str:
        if document.id in self.included or self.is_shown(document):
            return "included"
        return "cut" if any(p.document.id == document.id for p in self.pieces) else "left_out"

    def _leading(self, piece: Piece) -> int:
        """How many of its first lines others show."""
        shown = {
            line
            for p in self.pieces
            if p.first and p.document.path == piece.document.path
            for line in range(p.first, p.last + 1)
        }
        lines = range(piece.first, piece.last + 1) if piece.first else ()
        return next((count for count, line in enumerate(lines) if line not in shown), len(lines))

    def _keep(self, pieces: list[Piece]) -> bool:
        if not self.fits(blocks_of(pieces)):
            return False
        self.pieces = pieces
        return True

    def _most(self, fewest: int, most: int, made: Callable[[int], list[Piece]]) -> bool:
        """Keep the largest that fits; False where the smallest does not."""
        if fewest > most or not self._keep(made(fewest)):
            return False
        low, high = fewest, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._keep(made(middle)):
                low = middle
            else:
                high = middle
        return True


def _swallows(piece: Piece, other: Piece) -> bool:
    """Whether a document contains another of its file, and their lines cannot be joined one by one."""
    outer, inner = piece.document, other.document
    if not outer.path or outer.path != inner.path or (piece.first and other.first):
        return False
    if not outer.start_line or not inner.start_line:
        return outer.start_line == inner.start_line and inner.text in outer.text
    inside = outer.start_line <= inner.start_line and inner.end_line <= outer.end_line
    return inside and (outer.start_line, outer.end_line) != (inner.start_line, inner.end_line)


def _apart(piece: Piece, others: Sequence[Piece]) -> Piece:
    """The piece, without line numbers where another of its file has another text on one of its lines."""
    for other in others:
        if not piece.first or not other.first or piece.document.path != other.document.path:
            continue
        for line in range(max(piece.first, other.first), min(piece.last, other.last) + 1):
            if piece.shown[line - piece.first] != other.shown[line - other.first]:
                return replace(piece, first=0)
    return piece


def _lines_of(piece: Piece, match: tuple[int, int]) -> tuple[int, int]:
    text = piece.document.text
    first = len(split(text[: match[0]] + "x")) - 1
    last = len(split(text[: match[1]].rstrip("\r\n") + "x")) - 1
    return min(first, len(piece.shown) - 1), max(first, min(last, len(piece.shown) - 1)) + 1
