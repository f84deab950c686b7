"""Scala."""

from __future__ import annotations

from ..grammar import Grammar
from .common import ALIAS, CLASS, FUNCTION, NO_NAMES, each

SCALA = Grammar(
    module="tree_sitter_scala",
    definitions={
        **each(FUNCTION, "function_definition", "function_declaration"),
        **each(CLASS, "class_definition", "trait_definition", "object_definition", "enum_definition"),
        **each(CLASS, "given_definition", "package_object"),
        "type_definition": ALIAS,
    },
    local=(b"def ", b"class ", b"object ", b"trait "),
    blocks=frozenset(
        {
            *("template_body", "enum_body", "with_template_body", "extension_definition"),
            *("package_clause", "indented_block", "block"),
        }
    ),
    imports={"import_declaration": NO_NAMES},
    comments=frozenset({"comment", "block_comment"}),
)
