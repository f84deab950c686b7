"""Haskell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import CLASS, NO_NAMES, always, child, each

if TYPE_CHECKING:
    from tree_sitter import Node


def _name(node: Node, text: Text) -> tuple[str, ...]:
    """The name of an equation or signature; operators without parentheses or back quotes."""
    found: Node | None = node
    if node.type in ("pattern_synonym", "foreign_import"):
        found = child(node, "signature", "equation") or node
    name = found.child_by_field_name("name") or found.child_by_field_name("synonym") if found else None
    if name is None and found:
        several = found.child_by_field_name("names")
        infix = child(found, "infix")
        if several:
            name = several.child_by_field_name("name")
        elif infix:
            name = infix.child_by_field_name("operator")
    return (text(name).strip("()`"),) if name else ()


def _instance_name(node: Node, text: Text) -> tuple[str, ...]:
    """`HasArea Shape` of `instance HasArea Shape where`."""
    name, types = node.child_by_field_name("name"), node.child_by_field_name("patterns")
    return (" ".join(text(n) for n in (name, types) if n),)


HASKELL = Grammar(
    module="tree_sitter_haskell",
    definitions={
        **each(
            Define("function", _name, one_with=always),
            *("signature", "function", "bind", "pattern_synonym", "foreign_import"),
        ),
        **each(Define("class"), "data_type", "newtype", "type_synomym", "type_synonym", "type_family"),
        **each(Define("class"), "data_family"),
        "class": CLASS,
        "instance": Define("class_body", _instance_name),
    },
    blocks=frozenset({"class_declarations"}),
    through=frozenset({"imports", "declarations"}),
    imports={"import": NO_NAMES},
    comments=frozenset({"comment", "haddock", "pragma"}),
)
