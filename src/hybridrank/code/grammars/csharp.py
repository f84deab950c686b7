"""C#."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import CLASS, FUNCTION, METHOD, NO_NAMES, child, each, named, namespace, operator_name

if TYPE_CHECKING:
    from tree_sitter import Node


def _operator_name(node: Node, text: Text) -> tuple[str, ...]:
    found = node.child_by_field_name("operator") or node.child_by_field_name("type")
    return (operator_name(text(found) if found else ""),)


def _destructor_name(node: Node, text: Text) -> tuple[str, ...]:
    name = node.child_by_field_name("name")
    return (f"~{text(name)}",) if name else ()


def _property(node: Node, _: Text) -> Define | None:
    """A property that runs code."""
    accessors = node.child_by_field_name("accessors")
    if accessors is None:
        return Define("method") if child(node, "arrow_expression_clause") else None
    has_code = any(child(a, "block", "arrow_expression_clause") for a in accessors.named_children)
    return Define("method") if has_code else None


CSHARP = Grammar(
    module="tree_sitter_c_sharp",
    definitions={
        **each(namespace, "namespace_declaration", "file_scoped_namespace_declaration"),
        **each(CLASS, "class_declaration", "struct_declaration", "interface_declaration"),
        **each(CLASS, "record_declaration", "record_struct_declaration", "enum_declaration"),
        "delegate_declaration": Define("class"),
        **each(METHOD, "method_declaration", "constructor_declaration"),
        "destructor_declaration": Define("method", _destructor_name),
        "operator_declaration": Define("method", _operator_name),
        "conversion_operator_declaration": Define("method", _operator_name),
        "indexer_declaration": Define("method", named("this[]")),
        "property_declaration": _property,
        "local_function_statement": FUNCTION,
    },
    wrappers=frozenset({"global_statement"}),
    blocks=frozenset({"declaration_list"}),
    through=frozenset({"preproc_if", "preproc_else", "preproc_elif", "preproc_region"}),
    imports={"using_directive": NO_NAMES},
)
