"""Ruby."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import FUNCTION, each, import_call, split_name

if TYPE_CHECKING:
    from tree_sitter import Node


def _assignment(node: Node, text: Text) -> Define | None:
    """`Point = Struct.new(:x) do ... end`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or left.type != "constant" or right is None or right.type != "call":
        return None
    receiver, method = right.child_by_field_name("receiver"), right.child_by_field_name("method")
    if receiver is None or method is None:
        return None
    made = (text(receiver).removeprefix("::"), text(method))
    return _CLASS if made in _MADE else None


_CLASS = Define("class", ("left",), members=True)
_MADE = {("Struct", "new"), ("Class", "new"), ("Module", "new"), ("Data", "define")}


def _call(node: Node, text: Text) -> Define | None:
    """`define_method(:name) { ... }`."""
    method = node.child_by_field_name("method")
    if method is None or text(method) not in ("define_method", "define_singleton_method"):
        return None
    return Define("function", _symbol) if _symbol(node, text) else None


def _symbol(node: Node, text: Text) -> tuple[str, ...]:
    arguments = node.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    return (text(first)[1:],) if first and first.type == "simple_symbol" else ()


RUBY = Grammar(
    module="tree_sitter_ruby",
    definitions={
        **each(FUNCTION, "method", "singleton_method"),
        **each(Define("class", split_name, members=True), "class", "module"),
        "assignment": _assignment,
        "call": _call,
    },
    blocks=frozenset(
        {
            *(
                "assignment",
                "body_statement",
                "singleton_class",
                "call",
                "argument_list",
                "do_block",
                "block",
            ),
            *("block_body", "if", "unless", "else", "elsif", "then", "begin", "if_modifier"),
            *("unless_modifier", "rescue", "ensure"),
        }
    ),
    imports={"call": import_call("require", "require_relative", "load", field="method")},
)
