"""Python."""

from __future__ import annotations

from ..grammar import Grammar, Import
from .common import CLASS, FUNCTION, NO_NAMES

PYTHON = Grammar(
    module="tree_sitter_python",
    extra="",
    definitions={
        "function_definition": FUNCTION,
        "class_definition": CLASS,
    },
    wrappers=frozenset({"decorated_definition"}),
    blocks=frozenset(
        {
            "block",
            *("if_statement", "elif_clause", "else_clause"),
            *("try_statement", "except_clause", "finally_clause"),
            *("for_statement", "while_statement", "with_statement"),
            *("match_statement", "case_clause"),
        }
    ),
    local=(b"def ", b"class "),
    imports={
        "import_statement": Import(),
        "import_from_statement": Import(),
        "future_import_statement": NO_NAMES,
    },
)
