"""Go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import CLASS, FUNCTION, METHOD, NO_NAMES, child, each

if TYPE_CHECKING:
    from tree_sitter import Node


def _method_name(node: Node, text: Text) -> tuple[str, ...]:
    """`Server.Start` of `func (s *Server) Start()`."""
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    declared = child(receiver, "parameter_declaration") if receiver else None
    kind = declared.child_by_field_name("type") if declared else None
    while kind and kind.type in ("pointer_type", "generic_type", "parenthesized_type"):
        kind = kind.child_by_field_name("type") or next(iter(kind.named_children), None)
    return (text(kind) if kind else "", text(name) if name else "")


GO = Grammar(
    module="tree_sitter_go",
    definitions={
        "function_declaration": FUNCTION,
        "method_declaration": Define("method", _method_name),
        **each(CLASS, "type_spec", "type_alias"),
        "method_elem": METHOD,
    },
    wrappers=frozenset({"type_declaration"}),
    blocks=frozenset({"type_declaration", "interface_type"}),
    imports={"import_declaration": NO_NAMES},
)
