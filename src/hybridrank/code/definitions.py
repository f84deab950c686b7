"""Definitions as they are met in a tree, those inside functions too, and the symbols that they make."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from .grammar import Define, Grammar, load
from .symbols import MAX_SIGNATURE, SYMBOL_KINDS, Symbol, signature_of

if TYPE_CHECKING:
    from tree_sitter import Node, Query

    from .outline import Item, Outliner

_BYTES = 4 * MAX_SIGNATURE


class Definition:
    """A definition that was met.

    Attributes:
        start, end: first line of the definition proper, and last line.
        text: the bytes of its signature: from where to where.
        parent: the qualified name of what it stands in.
        item: what it is in the outline, if anything; headings and namespaces of a whole file end with it.
    """

    __slots__ = ("end", "item", "kind", "name", "parent", "qualified", "start", "text")

    def __init__(
        self,
        kind: str,
        parts: Sequence[str],
        above: str,
        separator: str,
        lines: tuple[int, int],
        text: tuple[int, int],
    ) -> None:
        self.kind = kind
        self.name = parts[-1] if parts else ""
        self.parent = separator.join(filter(None, (above, *parts[:-1])))
        self.qualified = separator.join(filter(None, (self.parent, self.name)))
        self.start, self.end = lines
        self.text = text
        self.item: Item | None = None


def symbols_in(outliner: Outliner, path: str, language: str) -> tuple[Symbol, ...]:
    """The symbols of a file that has been read, sorted."""
    source = outliner.source

    def symbol(found: Definition) -> Symbol:
        start, stop = found.text
        signature = source[start : min(stop, start + _BYTES)].decode("utf-8", "replace")
        item = found.item
        return Symbol(
            path,
            found.start,
            item.end if item is not None and item.rank else found.end,
            found.qualified,
            found.name,
            found.kind,
            language,
            found.parent,
            signature_of(signature),
        )

    met = (*outliner.definitions, *_inner(outliner))
    return tuple(sorted(symbol(one) for one in met if one.name and one.kind in SYMBOL_KINDS))


def signature_bytes(
    node: Node, base: int, starts: Sequence[int], comments: frozenset[str]
) -> tuple[int, int]:
    """Where a definition's signature stands: up to its body, or to the end of its first line."""
    start = base + node.start_byte
    body = node.child_by_field_name("body")
    if body is not None and body.start_byte > node.start_byte:
        stop, before = body.start_byte, body.prev_sibling
        while before is not None and before.type in comments:
            stop, before = before.start_byte, before.prev_sibling
        return start, base + stop
    line_end = starts[min(bisect_right(starts, start), len(starts) - 1)]
    return start, min(line_end, base + node.end_byte)


def _inner(outliner: Outliner) -> Iterator[Definition]:
    """What is defined inside functions."""
    grammar, source = outliner.grammar, outliner.source
    hints: list[int] = []
    for word in grammar.local:
        at = source.find(word)
        while at >= 0:
            hints.append(at)
            at = source.find(word, at + 1)
    hints.sort()
    if not hints:
        return
    from tree_sitter import QueryCursor

    cursor = QueryCursor(_query(grammar.module, grammar.function, grammar.extra, tuple(grammar.definitions)))
    for node, base, outer in outliner.functions:
        # Its own word stands at its head, so one further on tells of another definition.
        first = bisect_right(hints, outer.text[1] - 1)
        if first == len(hints) or hints[first] >= base + node.end_byte:
            continue
        found = cursor.captures(node).get("d", [])
        found.sort(key=lambda one: (one.start_byte, -one.end_byte))
        outliner.base = base
        yield from _nested(outliner, [one for one in found if one.id != node.id], node, outer)


def _nested(
    outliner: Outliner, nodes: Sequence[Node], function: Node, outer: Definition
) -> Iterator[Definition]:
    levels: list[tuple[int, str, str]] = [(function.end_byte, outer.qualified, outer.kind)]
    for node in nodes:
        while len(levels) > 1 and node.start_byte >= levels[-1][0]:
            levels.pop()
        rule: object = outliner.grammar.definitions.get(node.type)
        if callable(rule):
            rule = rule(node, outliner.text)
        if not isinstance(rule, Define):
            continue
        _, above, kind = levels[-1]
        definition = outliner.definition(node, above, kind, rule)
        if not definition.name:
            continue
        yield definition
        levels.append((node.end_byte, definition.qualified, definition.kind))


@cache
def _query(module: str, function: str, extra: str, kinds: tuple[str, ...]) -> Query:
    from tree_sitter import Query

    language = load(Grammar(module, {}, function, extra))
    known = [kind for kind in kinds if language.id_for_node_kind(kind, True) is not None]
    return Query(language, " ".join(f"({kind}) @d" for kind in known))
