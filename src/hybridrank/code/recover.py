"""Finding what is intact in a damaged file.

One bracket or quote that is never closed can make a parser give up on all that follows. People set off
definitions by blank lines and indentation, so a damaged region is parsed again piece by piece: the damage
then stays in its own piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .outline import Item, Outliner
from .spans import continues, is_blank

if TYPE_CHECKING:
    from tree_sitter import Node

_NO_LINE_FEED = re.compile(rb"[^\n]")

_JOINED = 6
"""How many blocks are tried as one."""

_BYTES = 600_000
"""What may be parsed again: noise is damaged everywhere, and slow to parse."""

_HEADS = 4
"""How many blocks are tried as the head of a class."""

_DEPTH = 8

Parse = Callable[[bytes], "Node | None"]


def recover(root: Node, outliner: Outliner, lines: Sequence[str], parse: Parse) -> None:
    """Read a tree with errors: what is sound as it is, damaged regions piece by piece.

    Args:
        outliner: a fresh one for the whole file.
        lines: its lines with their ends.
        parse: the root of a tree for a part of the source, None when there is no time left.
    """
    reader = _Reader(outliner, lines, parse)
    reader.level([root] if root.type == "ERROR" else root.children, outliner.top)


class _Reader:
    def __init__(self, outliner: Outliner, lines: Sequence[str], parse: Parse) -> None:
        self.outliner = outliner
        self.lines = lines
        self.parse_bytes = parse
        size = len(outliner.source)
        self.budget = max(2 * size, min(12 * size, _BYTES))

    def level(self, nodes: Sequence[Node], parent: Item, depth: int = 0) -> None:
        """Read nodes of a whole tree, the sound ones and what stands in sound classes as they are."""
        outliner, lines = self.outliner, self.lines
        damaged: tuple[int, int] | None = None
        for node in nodes:
            outliner.base = 0
            first, last = outliner.lines_of(node)
            if damaged and indent(lines[first - 1]) > indent(lines[damaged[0] - 1]):
                damaged = (damaged[0], last)
                continue
            inside = outliner.inside(node) if node.has_error and depth < _DEPTH else None
            if node.has_error and not inside:
                damaged = (damaged[0] if damaged else first, last)
                continue
            if damaged:
                self.region(*damaged, parent)
                damaged = None
                outliner.base = 0
            if inside:
                self.level(inside, outliner.enter(node, parent), depth + 1)
                outliner.comments = (0, 0)
            else:
                outliner.read([node], parent)
        if damaged:
            self.region(*damaged, parent)

    def region(self, first: int, last: int, parent: Item, depth: int = 0) -> None:
        """Read lines first to last, whose definitions are members of `parent`."""
        blocks = self.blocks(first, last)
        at = 0
        while at < len(blocks):
            start, end = blocks[at]
            root, joined = self.clean(blocks, at)
            if root:
                self.read(root, start, parent)
                at = joined + 1
                continue
            if depth >= _DEPTH or not self.members(start, end, parent, depth):
                self.read(self.parse(start, end), start, parent)
            at += 1

    def clean(self, blocks: list[tuple[int, int]], at: int) -> tuple[Node | None, int]:
        """A tree without errors of a block, alone or with those that follow: a text may hold blank lines."""
        for joined in range(at, min(len(blocks), at + _JOINED)):
            root = self.parse(blocks[at][0], blocks[joined][1])
            if root and not root.has_error:
                return root, joined
        return None, at

    def members(self, first: int, last: int, parent: Item, depth: int) -> bool:
        """Read a damaged class as its head and what is inside; False when that is not what it is."""
        while is_blank(self.lines[last - 1]):
            last -= 1
        outer = indent(self.lines[first - 1])
        closing = last if last > first and continues(self.lines[last - 1]) else 0
        lines = enumerate(self.lines[first:last], first + 1)
        inside = (n for n, line in lines if not is_blank(line) and indent(line) > outer)
        starts = [start for start, _ in self.blocks(first + 1, last, deeper_than=outer)]
        braces = (n + 1 for n in range(first, last) if self.lines[n - 1].rstrip().endswith("{"))
        candidates = [next(braces, last + 1)] if closing else []
        candidates += [next(inside, last + 1), *starts[1:_HEADS]]
        for below in dict.fromkeys(candidates):
            root = self.parse(first, below - 1, closing if closing >= below else 0)
            if root is None or root.has_error or not self.outliner.is_container(root.children):
                continue
            before = len(self.outliner.items)
            self.read(root, first, parent)
            head = next((i for i in reversed(self.outliner.items[before:]) if i.parent is parent), None)
            if head is None:
                return False
            head.end, head.last = max(head.end, last), None
            if head.symbol:
                head.symbol.end = head.end
            self.region(below, last - 1 if closing else last, head, depth + 1)
            return True
        return False

    def blocks(self, first: int, last: int, deeper_than: int = -1) -> list[tuple[int, int]]:
        """The lines cut where a shallowest line follows a blank or a deeper one."""
        lines = self.lines
        numbers = [n for n in range(first, last + 1) if not is_blank(lines[n - 1])]
        heads = [n for n in numbers if indent(lines[n - 1]) > deeper_than and not continues(lines[n - 1])]
        if not heads:
            return [(first, last)] if numbers else []
        least = min(indent(lines[n - 1]) for n in heads)
        starts = [first]
        for n in heads:
            if n > first and indent(lines[n - 1]) == least:
                above = lines[n - 2]
                if is_blank(above) or indent(above) > least:
                    starts.append(n)
        return list(zip(starts, [n - 1 for n in starts[1:]] + [last], strict=True))

    def parse(self, first: int, last: int, closing: int = 0) -> Node | None:
        """The tree of lines first to last; of the closing line too, with all between blanked out."""
        starts, source = self.outliner.starts, self.outliner.source
        part = source[starts[first - 1] : starts[last]]
        if closing:
            part += _NO_LINE_FEED.sub(b" ", source[starts[last] : starts[closing - 1]])
            part += source[starts[closing - 1] : starts[closing]]
        self.budget -= len(part)
        return self.parse_bytes(part) if self.budget > 0 else None

    def read(self, root: Node | None, first: int, parent: Item) -> None:
        if root:
            self.outliner.read(root.children, parent, self.outliner.starts[first - 1])


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())
