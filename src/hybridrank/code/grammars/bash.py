"""Bash, and other shells."""

from __future__ import annotations

from ..grammar import Grammar
from .common import FUNCTION, import_call

BASH = Grammar(
    module="tree_sitter_bash",
    definitions={"function_definition": FUNCTION},
    local=(b"()", b"function "),
    blocks=frozenset(
        {
            *("if_statement", "elif_clause", "else_clause", "compound_statement", "do_group"),
            *("case_statement", "case_item", "for_statement", "while_statement", "list", "subshell"),
        }
    ),
    imports={"command": import_call("source", ".", field="name")},
)
