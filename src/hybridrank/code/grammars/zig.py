"""Zig."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Import, Text
from .common import FUNCTION, NO_NAMES, child

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = ("struct_declaration", "enum_declaration", "union_declaration", "opaque_declaration")


def _variable(node: Node, _: Text) -> Define | None:
    """`const Circle = struct {...}`."""
    if child(node, *_TYPES):
        return Define("class", _name, members=True)
    return Define("class", _name) if child(node, "error_set_declaration") else None


def _name(node: Node, text: Text) -> tuple[str, ...]:
    name = child(node, "identifier", "string")
    return (text(name).strip('"'),) if name else ()


_TEST = Define("function", _name)


def _import(node: Node, text: Text) -> Import | None:
    return NO_NAMES if child(node, "builtin_function") and "@import" in text(node) else None


ZIG = Grammar(
    module="tree_sitter_zig",
    definitions={
        "function_declaration": FUNCTION,
        "variable_declaration": _variable,
        "test_declaration": _TEST,
    },
    local=(b"fn ", b"struct"),
    blocks=frozenset({"struct_declaration", "enum_declaration", "union_declaration", "opaque_declaration"}),
    imports={"variable_declaration": _import},
)
