"""Elixir."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Import, Text
from .common import NO_NAMES, child

if TYPE_CHECKING:
    from tree_sitter import Node

_MODULES = frozenset({"defmodule", "defprotocol", "defimpl"})
_FUNCTIONS = frozenset(
    {"def", "defp", "defmacro", "defmacrop", "defdelegate", "defguard", "defguardp", "defn", "defnp"}
)
_IMPORTS = frozenset({"alias", "import", "require", "use"})


def _call(node: Node, text: Text) -> Define | None:
    target = node.child_by_field_name("target")
    if target is None or target.type != "identifier":
        return None
    word = text(target)
    if word in _MODULES:
        return _MODULE
    return _FUNCTION if word in _FUNCTIONS and _head(node) else None


def _module_name(node: Node, text: Text) -> tuple[str, ...]:
    """`Shape.Shapes.Circle` of `defimpl Shape, for: Shapes.Circle`."""
    arguments = child(node, "arguments")
    named = [n for n in arguments.named_children if n.type == "alias"] if arguments else []
    keywords = child(arguments, "keywords") if arguments else None
    if keywords and named:
        pairs = [p.child_by_field_name("value") for p in keywords.named_children]
        named += [p for p in pairs if p and p.type == "alias"]
    return tuple(part for n in named for part in text(n).split("."))


def _head(node: Node) -> Node | None:
    """`area(x)` of `def area(x) when is_number(x), do: x`."""
    arguments = child(node, "arguments")
    head = arguments.named_children[0] if arguments and arguments.named_children else None
    if head and head.type == "binary_operator" and child(head, "when"):
        head = head.child_by_field_name("left")
    return head


def _name(node: Node, text: Text) -> tuple[str, ...]:
    head = _head(node)
    if head is None:
        return ()
    name = head.child_by_field_name("target") or head.child_by_field_name("operator") or head
    return (text(name),)


def _arity(node: Node) -> int:
    head = _head(node)
    if head is None:
        return -1
    if head.type == "binary_operator":
        return 2
    arguments = child(head, "arguments")
    return 1 + (arguments.named_child_count if arguments else 0)


_MODULE = Define("module", _module_name, members=True)
_FUNCTION = Define("function", _name, one_with=_arity)


def _import(node: Node, text: Text) -> Import | None:
    target = node.child_by_field_name("target")
    return NO_NAMES if target and text(target) in _IMPORTS else None


ELIXIR = Grammar(
    module="tree_sitter_elixir",
    definitions={"call": _call},
    blocks=frozenset(
        {"do_block", "call", "else_block", "arguments", "anonymous_function", "stab_clause", "body"}
    ),
    imports={"call": _import},
    comments=frozenset({"comment", "unary_operator"}),
)
