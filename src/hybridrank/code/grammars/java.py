"""Java."""

from __future__ import annotations

from ..grammar import Grammar
from .common import CLASS, METHOD, NO_NAMES, each

JAVA = Grammar(
    module="tree_sitter_java",
    definitions={
        **each(CLASS, "class_declaration", "interface_declaration", "enum_declaration"),
        **each(CLASS, "record_declaration", "annotation_type_declaration"),
        **each(METHOD, "method_declaration", "constructor_declaration", "compact_constructor_declaration"),
        "annotation_type_element_declaration": METHOD,
    },
    local=(b"class ", b"interface ", b"record ", b"enum "),
    blocks=frozenset(
        {"class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body"}
    ),
    imports={"import_declaration": NO_NAMES},
    comments=frozenset({"line_comment", "block_comment"}),
)
