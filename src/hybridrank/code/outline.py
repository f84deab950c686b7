"""From a syntax tree to an outline: which lines define what, in the order of the file.

The walk over the tree has its own stack, so that no nesting is too deep for it. It looks into blocks and
classes, never into functions and expressions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .definitions import Definition, signature_bytes
from .grammar import Define, Grammar, Import
from .spans import Span, is_blank

if TYPE_CHECKING:
    from tree_sitter import Node

_IMPORT = "import"
_SEVERAL = "*"
_NO_WORD = re.compile(r"\W+")
_CLASSES = frozenset({"class", "class_body"})
_LONG = 1000
"""Characters in a name over which it is no longer repeated in the names of its members."""

_CLOSING = re.compile(
    r"(?:[\s)\]},;]|\bend\b)*(?:(?<=[)\]};])\s*(?://|/\*).*\s*)?|\s*#\s*(?:else|endif|endregion)\b.*\s*"
)


class Item:
    """A run of lines on one level: a definition, imports, or (kind `""`) anything else."""

    __slots__ = (
        "above",
        "end",
        "has_members",
        "header",
        "host",
        "kind",
        "last",
        "name",
        "names",
        "one_with",
        "parent",
        "qualified",
        "rank",
        "start",
        "symbol",
    )

    def __init__(self, start: int, end: int, parent: Item | None) -> None:
        self.start, self.end, self.parent = start, end, parent
        self.kind = self.name = self.qualified = ""
        self.names: list[str] = []  # what imports bind
        self.header: int = 0  # the line that a definition proper starts on, below comments and decorators
        self.above: int = 0  # the last line that belongs to what stands before
        self.host: Item = self  # itself, or what it shares its first line with
        if parent:
            self.above = parent.last.end if parent.last else parent.header
        self.one_with: object = None
        self.rank = 0
        self.last: Item | None = None  # the latest item inside
        self.has_members = False
        self.symbol: Definition | None = None


class Outliner:
    """Reads trees of a file, or of its parts in order, into items.

    Attributes:
        source: the bytes of the file that were parsed.
        starts: the offset in bytes of each line, then the length of the source.
        items: definitions and imports, by their first line; a class comes before its members.
        definitions: all that were met, also those that are no item of their own.
        functions: those whose inside was not looked into: the node, where its tree begins, what it is.
    """

    def __init__(self, source: bytes, starts: Sequence[int], grammar: Grammar) -> None:
        self.source = source
        self.starts = starts
        self.grammar = grammar
        self.defining = grammar.wrappers.union(grammar.definitions)
        self.base = 0  # where in the source the tree begins
        self.top = Item(1, len(starts) - 1, None)
        self.top.kind = grammar.rest
        self.items: list[Item] = []
        self.definitions: list[Definition] = []
        self.functions: list[tuple[Node, int, Definition]] = []
        self.comments = (0, 0)  # first and last line of the latest run of comments
        self.open: list[Item] = []  # what all that follows at the top level is inside of

    def read(self, nodes: Sequence[Node], parent: Item, base: int = 0) -> None:
        """Read sibling nodes that stand in `parent`; their tree begins at offset `base` of the source."""
        self.base = base
        grammar = self.grammar
        top = parent is self.top
        todo: list[tuple[Node | None, Item, bool]] = [(node, parent, top) for node in reversed(nodes)]
        while todo:
            node, level, at_top = todo.pop()
            if node is None:  # the end of a block, whose comments are not about what follows it
                self.comments = (0, 0)
                continue
            parent = self.open[-1] if level is self.top and self.open else level
            kind = node.type
            if kind in grammar.comments:
                self.comment(node)
                continue
            found = self.defined(node) if kind in self.defining and node.is_named else None
            if found and (found[1].inside or parent.kind not in _CLASSES):
                defined, rule = found
                if rule.rank and at_top:
                    parent = self.closed(rule.rank)
                item = self.add(node, parent, defined, rule)
                if item and rule.rank and at_top:
                    item.rank, item.end = rule.rank, self.top.end
                    self.open.append(item)
                if item and (rule.members or item.rank):
                    todo.append((None, item, False))
                    todo.extend((n, item, False) for n in reversed(defined.children))
            elif at_top and kind in grammar.imports and (bound := self.imported(node)):
                self.add_import(node, parent, bound)
            elif kind in grammar.through:
                todo.extend((n, level, at_top) for n in reversed(node.children))
            elif kind in grammar.blocks or kind == "ERROR":
                todo.append((None, parent, False))
                inner = at_top and kind == "ERROR"
                todo.extend((n, parent, inner) for n in reversed(node.children))
            else:
                self.add_rest(node, parent)

    def is_container(self, nodes: Sequence[Node]) -> bool:
        """Whether the last of these nodes may have members."""
        found = self.defined(nodes[-1]) if nodes else None
        return found is not None and found[1].members

    def inside(self, node: Node) -> list[Node] | None:
        """What stands in a class or namespace; None where there is none, or it has an error of its own."""
        found = self.defined(node)
        if not (found[1].members if found else node.type in self.grammar.through):
            return None
        container = found[0] if found else node
        header = self.lines_of(container)[0]
        inside: list[Node] = []
        for child in container.children:
            is_body = child.type in self.grammar.blocks and child.type not in self.defining
            inside += child.children if is_body else [child]
        for child in inside:
            if child.type == "ERROR" or child.is_missing:
                return None
            if child.has_error and self.lines_of(child)[0] == header:
                return None
        return inside

    def enter(self, node: Node, parent: Item) -> Item:
        """The item that what stands in a node is a member of."""
        found = self.defined(node)
        return (self.add(node, parent, *found) if found else None) or parent

    def defined(self, node: Node) -> tuple[Node, Define] | None:
        """The definition that a node is or stands around; None when there is none, or several."""
        grammar = self.grammar
        while True:
            rule = grammar.definitions.get(node.type)
            if callable(rule):
                rule = rule(node, self.text)
            if rule:
                return node, rule
            if node.type not in grammar.wrappers:
                return None
            inside = [n for n in node.children if n.type in self.defining and n.is_named]
            if len(inside) != 1:
                return None
            node = inside[0]

    def imported(self, node: Node) -> Import | None:
        rule = self.grammar.imports[node.type]
        return rule(node, self.text) if callable(rule) else rule

    def closed(self, rank: int) -> Item:
        """What a heading of that rank stands in, all of that rank or a higher one being closed."""
        while self.open and self.open[-1].rank >= rank:
            closed = self.open.pop()
            closed.end = closed.last.end if closed.last else closed.header
        return self.open[-1] if self.open else self.top

    def comment(self, node: Node) -> None:
        start, end = self.lines_of(node)
        if not self.source[self.starts[start - 1] : self.base + node.start_byte].strip():
            first, last = self.comments
            self.comments = (first, end) if first and start <= last + 1 else (start, end)

    def add_rest(self, node: Node, parent: Item) -> None:
        """Note a node that defines nothing."""
        if node.start_byte == node.end_byte:
            return
        start, end = self.lines_of(node)
        host = parent.host
        if host.last and start <= host.last.end:
            host.last.end = max(host.last.end, end)
        else:
            host.last = Item(start, end, host)

    def add(self, node: Node, parent: Item, defined: Node, rule: Define) -> Item | None:
        """Note a definition; None when it is no item of its own."""
        if node.start_byte == node.end_byte:
            return None
        start, end = self.lines_of(node)
        symbol = self.definition(defined, parent.qualified, parent.kind, rule)
        kind, qualified = symbol.kind, symbol.qualified
        one_with = rule.one_with(defined) if rule.one_with else None
        host = parent.host
        item = host.last
        if not rule.members and not rule.rank and kind in ("function", "method"):
            self.functions.append((defined, self.base, symbol))
        if (
            item
            and start > item.end
            and symbol.name
            and one_with
            and (item.kind, item.qualified, item.one_with) == (kind, qualified, one_with)
        ):
            item.end = end
            if item.symbol:
                item.symbol.end = end
            return None
        self.definitions.append(symbol)
        if item and start <= item.end:
            if item.start <= host.header and rule.members:
                return self.inner(kind, qualified, host)
            item.end = max(item.end, end)
            if item.start <= host.header or item.kind not in ("", _IMPORT):
                return None
        else:
            item = Item(start, end, host)
            host.last = item
        if item.kind != _IMPORT:
            self.items.append(item)
        if item.start == start:
            item.start = self.with_comments(item)
        item.kind, item.name, item.qualified = kind, symbol.name, qualified
        item.symbol, symbol.item = symbol, item
        item.one_with = one_with
        item.header = symbol.start
        host.has_members = True
        return item

    def definition(self, node: Node, above: str, above_kind: str, rule: Define) -> Definition:
        """What a node defines that stands in something of that qualified name and kind."""
        return Definition(
            "method" if rule.kind == "function" and above_kind in _CLASSES else rule.kind,
            self.name_of(node, rule),
            above if len(above) <= _LONG else "",
            self.grammar.separator,
            self.code_lines_of(node),
            signature_bytes(node, self.base, self.starts, self.grammar.comments),
        )

    def inner(self, kind: str, qualified: str, host: Item) -> Item:
        """What begins on the first line of its parent: no item of its own, but its members have its name."""
        inner = Item(host.start, host.end, host)
        inner.kind, inner.qualified, inner.host = kind, qualified, host
        return inner

    def add_import(self, node: Node, parent: Item, rule: Import) -> None:
        start, end = self.lines_of(node)
        item = parent.last
        if item and (item.kind == _IMPORT or start <= item.end):
            item.end = max(item.end, end)
        else:
            item = parent.last = Item(start, end, parent)
            item.start = self.with_comments(item)
            item.kind = _IMPORT
            parent.has_members = True
            self.items.append(item)
        if item.kind == _IMPORT:
            item.names += self.bound_names(node, rule)
            only = item.names[0] if len(item.names) == 1 else _SEVERAL
            item.name = item.qualified = "" if only == _SEVERAL else only

    def with_comments(self, item: Item) -> int:
        """The line from which an item counts: comments directly above belong to it."""
        first, last = self.comments
        return first if last >= item.start - 1 and item.above < first < item.start else item.start

    def name_of(self, node: Node, rule: Define) -> tuple[str, ...]:
        if callable(rule.name):
            return tuple(filter(None, map(one_line, rule.name(node, self.text))))
        found = node
        while True:
            inside = (found.child_by_field_name(field) for field in rule.name)
            further = next(filter(None, inside), None)
            if further is None:
                return () if found == node else (one_line(self.text(found)),)
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
        starts, lines = self.starts, self.top.end  # a node may stand behind the last line
        return bisect_right(starts, start, 0, lines), bisect_right(starts, max(end - 1, start), 0, lines)

    def code_lines_of(self, node: Node) -> tuple[int, int]:
        """The lines of a node without comments at its end, which blocks of mere indentation have."""
        start, end = self.lines_of(node)
        stop = end
        while stop > start:
            line = self.source[self.starts[stop - 1] : self.starts[stop]]
            text = line.lstrip()
            if text.startswith(b"#"):
                at = self.starts[stop] - len(text) - self.base
                inside = node.descendant_for_byte_range(at, at + 1)
                if inside is None or inside.type not in self.grammar.comments:
                    break
            elif text or stop == end:
                break
            stop -= 1
        return start, stop

    def text(self, node: Node) -> str:
        found = self.source[self.base + node.start_byte : self.base + node.end_byte]
        return found.decode("utf-8", "surrogatepass")


def one_line(text: str) -> str:
    return " ".join(text[:_LONG].split())


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
        follows = bool(spans) and spans[-1].end == start - 1
        if follows and not is_head and all(map(_CLOSING.fullmatch, lines[start - 1 : stop])):
            spans[-1] = spans[-1]._replace(end=stop)  # a closing bracket alone is no document
            return
        kind = "class_body" if level.kind == "class" and not is_head else level.kind
        spans.append(Span(start, stop, kind, level.name, level.qualified, level.header))

    for item in items:
        while levels[-1] is not item.parent:
            level = levels.pop()
            rest(level, level.end)
        rest(levels[-1], item.start - 1)
        if item.has_members:
            levels.append(item)
        else:
            spans.append(Span(item.start, item.end, item.kind, item.name, item.qualified, item.header))
            at = item.end + 1
    for level in reversed(levels):
        rest(level, level.end)
    return spans
