"""PHP."""

from __future__ import annotations

from ..grammar import Grammar
from .common import CLASS, FUNCTION, METHOD, NO_NAMES, each, namespace

PHP = Grammar(
    module="tree_sitter_php",
    function="language_php",
    definitions={
        "namespace_definition": namespace,
        "function_definition": FUNCTION,
        "method_declaration": METHOD,
        **each(CLASS, "class_declaration", "interface_declaration", "trait_declaration"),
        "enum_declaration": CLASS,
    },
    blocks=frozenset(
        {
            *("declaration_list", "enum_declaration_list", "compound_statement", "colon_block"),
            *("if_statement", "else_clause", "else_if_clause", "return_statement", "anonymous_class"),
            *("object_creation_expression",),
        }
    ),
    imports={"namespace_use_declaration": NO_NAMES},
)
