"""Kotlin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import CLASS, FUNCTION, NO_NAMES, child, each, named, with_child

if TYPE_CHECKING:
    from tree_sitter import Node


def _property_name(node: Node, text: Text) -> tuple[str, ...]:
    declared = child(node, "variable_declaration")
    name = child(declared, "identifier") if declared else None
    return (text(name),) if name else ()


KOTLIN = Grammar(
    module="tree_sitter_kotlin",
    definitions={
        "function_declaration": FUNCTION,
        "secondary_constructor": Define("method", named("constructor")),
        "property_declaration": with_child({"getter", "setter"}, Define("function", _property_name)),
        **each(CLASS, "class_declaration", "object_declaration"),
        "type_alias": Define("class", ("type",)),
    },
    local=(b"fun ", b"class ", b"object "),
    blocks=frozenset({"class_body", "enum_class_body", "companion_object"}),
    imports={"import": NO_NAMES},
    comments=frozenset({"line_comment", "block_comment"}),
)
