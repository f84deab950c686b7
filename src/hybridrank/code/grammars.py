"""What each grammar calls the things that we look for: one row a language."""

from __future__ import annotations

from collections.abc import Mapping

from .grammar import Define, Grammar, Import

PYTHON = Grammar(
    module="tree_sitter_python",
    definitions={
        "function_definition": Define("function"),
        "class_definition": Define("class", members=True),
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
    imports={
        "import_statement": Import(),
        "import_from_statement": Import(),
        "future_import_statement": Import(names=()),
    },
)

GRAMMARS: Mapping[str, Grammar] = {"python": PYTHON}
"""By the name of the language."""
