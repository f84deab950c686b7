"""What the rows of several languages share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..grammar import Define, DefineOf, Import, ImportOf, NameOf, Text

if TYPE_CHECKING:
    from tree_sitter import Node

NO_NAMES = Import(names=())
"""Imports whose names are not told."""

_PARTS = re.compile(r"::|[.\\:]")


def always(_: Node) -> bool:
    return True


def split_name(node: Node, text: Text) -> tuple[str, ...]:
    """The parts of the name of a node, written with dots, colons or backslashes."""
    name = node.child_by_field_name("name")
    return tuple(_PARTS.split(text(name))) if name else ()


def named(name: str) -> NameOf:
    """The same name for all nodes of a kind, as for constructors."""
    return lambda _node, _text: (name,)


def with_field(field: str, rule: Define, otherwise: Define | None = None) -> DefineOf:
    """A rule for nodes that have a field, as bodies tell definitions from declarations."""
    return lambda node, _: rule if node.child_by_field_name(field) else otherwise


def with_child(kinds: set[str], rule: Define, otherwise: Define | None = None) -> DefineOf:
    """A rule for nodes that have a child of one of these kinds."""
    return lambda node, _: rule if child(node, *kinds) else otherwise


def child(node: Node, *kinds: str) -> Node | None:
    return next((c for c in node.children if c.type in kinds), None)


def calls(*names: str, field: str = "function") -> Callable[[Node, Text], bool]:
    """Whether a node is a call of one of these functions."""

    def test(node: Node, text: Text) -> bool:
        function = node.child_by_field_name(field)
        return (
            function is not None and function.end_byte - function.start_byte < 40 and text(function) in names
        )

    return test


def import_call(*names: str, field: str) -> ImportOf:
    """Calls that import."""
    test = calls(*names, field=field)
    return lambda node, text: NO_NAMES if test(node, text) else None


def operator_name(symbol: str) -> str:
    """`operator==`, `operator new`."""
    symbol = " ".join(symbol.split())
    return f"operator {symbol}" if symbol[:1].isalpha() else "operator" + symbol.replace(" ", "")


def namespace(node: Node, _: Text) -> Define | None:
    """A namespace, of a whole file where it has no body."""
    return _NAMESPACE if node.child_by_field_name("body") else _FILE_NAMESPACE


_NAMESPACE = Define("module", split_name, members=True)
_FILE_NAMESPACE = Define("module", split_name, rank=1)


def each(define: Define | DefineOf, *kinds: str) -> dict[str, Define | DefineOf]:
    """The same rule for several kinds of node."""
    return dict.fromkeys(kinds, define)


CLASS = Define("class", members=True)
FUNCTION = Define("function")
METHOD = Define("method")
ALIAS = Define("class", inside=False)
