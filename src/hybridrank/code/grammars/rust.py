"""Rust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import ALIAS, CLASS, FUNCTION, NO_NAMES, each, with_field

if TYPE_CHECKING:
    from tree_sitter import Node


def _impl_name(node: Node, text: Text) -> tuple[str, ...]:
    """`Circle` of `impl<T> Display for Circle<T>`."""
    found = node.child_by_field_name("type")
    while found and (inside := found.child_by_field_name("type") or found.child_by_field_name("trait")):
        found = inside
    name = (found.child_by_field_name("name") or found) if found else None
    return (text(name),) if name else ()


RUST = Grammar(
    module="tree_sitter_rust",
    definitions={
        **each(FUNCTION, "function_item", "function_signature_item", "macro_definition"),
        **each(Define("class"), "struct_item", "enum_item", "union_item"),
        "type_item": ALIAS,
        "trait_item": CLASS,
        "impl_item": Define("class_body", _impl_name, members=True),
        "mod_item": with_field("body", Define("module", members=True)),
    },
    local=(b"fn ", b"struct ", b"enum ", b"trait "),
    blocks=frozenset({"declaration_list", "foreign_mod_item", "const_item", "block"}),
    imports={"use_declaration": NO_NAMES, "extern_crate_declaration": NO_NAMES},
    comments=frozenset({"line_comment", "block_comment", "attribute_item"}),
)
