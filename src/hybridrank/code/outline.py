"""From a syntax tree to an outline: which lines define what, in the order of the file.

The walk over the tree has its own stack, so that no nesting is too deep for it. It looks into blocks and
classes, never into functions and expressions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .grammar import Define, Grammar, Import
from .spans import Span, is_blank

if TYPE_CHECKING:
    from tree_sitter import Node

_IMPORT = "import"
_SEVERAL = "*"
_NO_WORD = re.compile(r"\W+")
_CLOSING = re.compile(r"(?:[\s)\]},;]|\bend\b)*")


class Item:
    """A run of lines on one level: a definition, imports, or (kind `""`) anything else."""

    __slots__ = (
        "end",
        "has_members",
        "header",
        "kind",
        "last",
        "name",
        "names",
        "parent",
        "qualified",
        "start",
    )

    def __init__(self, start: int, end: int, parent: Item | None) -> None:
        self.start, self.end, self.parent = start, end, parent
        self.kind = self.name = self.qualified = ""
        self.names: list[str] = []  # what imports bind
        self.header = 0  # the line that a definition proper starts on, below its comments and decorators
        self.last: Item | None = None  # the latest item inside
        self.has_members = False


class Outliner:
    """Reads trees of a file, or of its parts in order, into items.

    Attributes:
        source: the bytes of the file that were parsed.
        starts: the offset in bytes of each line, then the length of the source.
        items: definitions and imports, by their first line; a class comes before its members.
    """

    def __init__(self, source: bytes, starts: Sequence[int], grammar: Grammar) -> None:
        self.source = source
        self.starts = starts
        self.grammar = grammar
        self.defining = grammar.wrappers.union(grammar.definitions)
        self.base = 0  # where in the source the tree begins
        self.top = Item(1, len(starts) - 1, None)
        self.items: list[Item] = []
        self.comments = (0, 0)  # first and last line of the latest run of comments

    def read(self, nodes: Sequence[Node], parent: Item, base: int = 0) -> None:
        """Read sibling nodes that stand in `parent`; their tree begins at offset `base` of the source."""
        self.base = base
        grammar = self.grammar
        top = parent is self.top
        todo: list[tuple[Node | None, Item, bool]] = [(node, parent, top) for node in reversed(nodes)]
        while todo:
            node, parent, at_top = todo.pop()
            if node is None:  # the end of a block, whose comments are not about what follows it
                self.comments = (0, 0)
                continue
            kind = node.type
            if kind in grammar.comments:
                self.comment(node)
            elif kind in self.defining:
                defined = self.unwrapped(node)
                item = self.add(node, parent, defined)
                if item and defined and grammar.definitions[defined.type].members:
                    todo.append((None, item, False))
                    todo.extend((n, item, False) for n in reversed(defined.children))
            elif kind in grammar.blocks or kind == "ERROR":
                todo.append((None, parent, False))
                inner = at_top and kind == "ERROR"
                todo.extend((n, parent, inner) for n in reversed(node.children))
            elif at_top and kind in grammar.imports:
                self.add_import(node, grammar.imports[kind])
            else:
                self.add(node, parent, None)

    def is_container(self, nodes: Sequence[Node]) -> bool:
        """Whether the last of these nodes may have members."""
        defined = self.unwrapped(nodes[-1]) if nodes else None
        return defined is not None and self.grammar.definitions[defined.type].members

    def unwrapped(self, node: Node) -> Node | None:
        """The definition that a node is or stands around, None when there is none."""
        candidates = [node]
        while True:
            found = next((n for n in candidates if n.type in self.defining), None)
            if found is None or found.type in self.grammar.definitions:
                return found
            candidates = found.children

    def comment(self, node: Node) -> None:
        start, end = self.lines_of(node)
        if not self.source[self.starts[start - 1] : self.base + node.start_byte].strip():
            first, last = self.comments
            self.comments = (first, end) if first and start <= last + 1 else (start, end)

    def add(self, node: Node, parent: Item, defined: Node | None) -> Item | None:
        """Note a node; the item when it is a definition that may have members."""
        if node.start_byte == node.end_byte:
            return None
        start, end = self.lines_of(node)
        item = parent.last
        if item and start <= item.end:
            item.end = max(item.end, end)
            if not defined or item.kind not in ("", _IMPORT) or item.start <= parent.header:
                return None
        else:
            if defined:
                start = self.with_comments(start, parent)
            item = parent.last = Item(start, end, parent)
            if not defined:
                return None
        if item.kind != _IMPORT:
            self.items.append(item)
        rule = self.grammar.definitions[defined.type]
        item.kind = "method" if rule.kind == "function" and parent.kind == "class" else rule.kind
        item.name = self.name_of(defined, rule)
        item.qualified = self.grammar.separator.join(filter(None, (parent.qualified, item.name)))
        item.header = self.lines_of(defined)[0]
        parent.has_members = True
        return item

    def add_import(self, node: Node, rule: Import) -> None:
        start, end = self.lines_of(node)
        item = self.top.last
        if item and (item.kind == _IMPORT or start <= item.end):
            item.end = max(item.end, end)
        else:
            item = self.top.last = Item(self.with_comments(start, self.top), end, self.top)
            item.kind = _IMPORT
            self.items.append(item)
        if item.kind == _IMPORT:
            item.names += self.bound_names(node, rule)
            only = item.names[0] if len(item.names) == 1 else _SEVERAL
            item.name = item.qualified = "" if only == _SEVERAL else only

    def with_comments(self, start: int, parent: Item) -> int:
        """The line from which a definition counts: comments directly above belong to it."""
        first, last = self.comments
        floor = parent.last.end if parent.last else parent.header
        return first if last >= start - 1 and floor < first < start else start

    def name_of(self, node: Node, rule: Define) -> str:
        found = node
        while True:
            inside = (found.child_by_field_name(field) for field in rule.name)
            further = next(filter(None, inside), None)
            if further is None:
                return "" if found == node else self.text(found)
            found = further

    def bound_names(self, node: Node, rule: Import) -> list[str]:
        names = []
        for name in (n for field in rule.names for n in node.children_by_field_name(field)):
            alias = name.child_by_field_name(rule.alias)
            text = self.text(alias) if alias else _NO_WORD.split(self.text(name))[rule.part]
            names.append(text)
        return names or [_SEVERAL] * bool(rule.names)

    def lines_of(self, node: Node) -> tuple[int, int]:
        """First and last line, counted by offset: tree-sitter's own rows know no lone carriage return."""
        start, end = self.base + node.start_byte, self.base + node.end_byte
        return bisect_right(self.starts, start), bisect_right(self.starts, max(end - 1, start))

    def text(self, node: Node) -> str:
        found = self.source[self.base + node.start_byte : self.base + node.end_byte]
        return found.decode("utf-8", "surrogatepass")


def cover(top: Item, items: Sequence[Item], lines: Sequence[str]) -> list[Span]:
    """Disjoint spans that hold every line that is not blank, in the order of the file.

    They are the items, members instead of what they are in, and between them what is left of each level.
    """
    spans: list[Span] = []
    headed: set[int] = set()
    levels = [top]
    at = 1

    def rest(level: Item, end: int) -> None:
        nonlocal at
        start, stop, at = at, end, end + 1
        while stop >= start and is_blank(lines[stop - 1]):
            stop -= 1
        while start <= stop and is_blank(lines[start - 1]):
            start += 1
        if start > stop:
            return
        is_head = level is not top and id(level) not in headed
        headed.add(id(level))
        above = spans[-1].end if spans else 0
        if not is_head and above == start - 1 and all(map(_CLOSING.fullmatch, lines[start - 1 : stop])):
            spans[-1] = spans[-1]._replace(end=stop)  # a closing bracket alone is no document
            return
        if level is top:
            kind = "module"
        else:
            kind = "class_body" if level.kind == "class" and not is_head else level.kind
        spans.append(Span(start, stop, kind, level.name, level.qualified))

    for item in items:
        while levels[-1] is not item.parent:
            level = levels.pop()
            rest(level, level.end)
        rest(levels[-1], item.start - 1)
        if item.has_members:
            levels.append(item)
        else:
            spans.append(Span(item.start, item.end, item.kind, item.name, item.qualified))
            at = item.end + 1
    for level in reversed(levels):
        rest(level, level.end)
    return spans
