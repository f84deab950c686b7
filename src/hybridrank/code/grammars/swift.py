"""Swift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import ALIAS, CLASS, FUNCTION, NO_NAMES, child, each, named, split_name, with_field

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASS = Define("class", members=True)
_EXTENSION = Define("class_body", split_name, members=True)


def _class(node: Node, _: Text) -> Define | None:
    return _EXTENSION if child(node, "extension") else _CLASS


SWIFT = Grammar(
    module="tree_sitter_swift",
    definitions={
        **each(FUNCTION, "function_declaration", "protocol_function_declaration"),
        "init_declaration": Define("method", named("init")),
        "deinit_declaration": Define("method", named("deinit")),
        "subscript_declaration": Define("method", named("subscript")),
        "property_declaration": with_field("computed_value", Define("function", ("name",))),
        "class_declaration": _class,
        "protocol_declaration": CLASS,
        "typealias_declaration": ALIAS,
    },
    local=(b"func ", b"class ", b"struct ", b"enum "),
    blocks=frozenset({"class_body", "enum_class_body", "protocol_body"}),
    imports={"import_declaration": NO_NAMES},
    comments=frozenset({"comment", "multiline_comment"}),
)
