"""GDScript."""

from __future__ import annotations

from ..grammar import Define, Grammar
from .common import CLASS, FUNCTION, named

GDSCRIPT = Grammar(
    module="tree_sitter_gdscript",
    extra="gdscript",
    definitions={
        "class_name_statement": Define("class", rank=1),
        "class_definition": CLASS,
        "function_definition": FUNCTION,
        "constructor_definition": Define("function", named("_init")),
        "enum_definition": Define("class"),
    },
    blocks=frozenset({"class_body"}),
    comments=frozenset({"comment", "annotation"}),
)
