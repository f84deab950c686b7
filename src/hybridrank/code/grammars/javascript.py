"""JavaScript, TypeScript and TSX."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..grammar import Define, DefineOf, Grammar, Import, ImportOf, NameOf, Text
from .common import ALIAS, CLASS, NO_NAMES, always, calls, child, each, named

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_STEPS = 20
_CASTS = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression"})
_COMPONENTS = calls("memo", "forwardRef", "React.memo", "React.forwardRef")
_REQUIRE = calls("require", "import")


def _value_kind(value: Node | None, text: Text) -> str:
    """Whether a value is a function, a class or (as good as one) an object with functions; else `""`."""
    for _ in range(_STEPS):
        if value is None:
            break
        kind = value.type
        if kind in _FUNCTIONS or (kind == "call_expression" and _COMPONENTS(value, text)):
            return "function"
        if kind == "class" or (kind == "object" and any(map(_holds_function, value.named_children))):
            return "class"
        if kind in _CASTS:
            value = next(iter(value.named_children), None)
        else:
            value = value.child_by_field_name("right") if kind == "assignment_expression" else None
    return ""


def _holds_function(member: Node) -> bool:
    if member.type == "method_definition":
        return True
    value = member.child_by_field_name("value") if member.type == "pair" else None
    return value is not None and value.type in _FUNCTIONS


def _binding(node: Node, text: Text) -> Define | None:
    """`const f = () => ...`, a class, or an object with functions."""
    declarator = child(node, "variable_declarator")
    kind = _value_kind(declarator.child_by_field_name("value"), text) if declarator else ""
    return Define(kind, _binding_name, members=kind == "class") if kind else None


def _binding_name(node: Node, text: Text) -> tuple[str, ...]:
    declarator = child(node, "variable_declarator")
    name = declarator.child_by_field_name("name") if declarator else None
    return (text(name),) if name else ()


def _assignment(node: Node, text: Text) -> Define | None:
    """`exports.f = function ...`; what `module.exports` itself is set to stands for its own."""
    right = node.child_by_field_name("right")
    kind = _value_kind(right, text)
    if not kind or (right and right.type == "object" and _assigned_name(node, text) == ("exports",)):
        return None
    left = node.child_by_field_name("left")
    if kind == "function" and left and ".prototype." in text(left):
        kind = "method"
    return Define(kind, _assigned_name, members=kind == "class")


def _assigned_name(node: Node, text: Text) -> tuple[str, ...]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or left.type not in ("identifier", "member_expression"):
        return ()
    parts = [part.strip() for part in text(left).split(".")]
    if parts == ["module", "exports"]:
        own = right.child_by_field_name("name") if right else None
        return (text(own),) if own else ("exports",)
    if parts[:2] == ["module", "exports"]:
        parts = parts[2:]
    elif parts[0] in ("exports", "this", "window", "globalThis", "global", "self") and len(parts) > 1:
        parts = parts[1:]
    return tuple(part for part in parts if part != "prototype") or ("prototype",)


def _default(node: Node, text: Text) -> Define | None:
    """`export default () => ...`."""
    kind = _value_kind(node.child_by_field_name("value"), text)
    return Define(kind, named("")) if kind == "function" else None


def _member(field: str) -> DefineOf:
    """`name: function ...` in an object, `name = () => ...` in a class."""

    def rule(node: Node, text: Text) -> Define | None:
        kind = _value_kind(node.child_by_field_name("value"), text)
        name = _key(field)
        return Define(kind, name, members=kind == "class") if kind else None

    return rule


def _key(field: str) -> NameOf:
    def name(node: Node, text: Text) -> tuple[str, ...]:
        key = node.child_by_field_name(field)
        return (text(key).strip("'\"`"),) if key else ()

    return name


_key_name = _key("name")


def _module_name(node: Node, text: Text) -> tuple[str, ...]:
    name = node.child_by_field_name("name")
    if name is None:
        return ()
    return (text(name).strip("'\""),) if name.type == "string" else tuple(text(name).split("."))


def _require(node: Node, text: Text) -> Import | None:
    """`const x = require("x")`."""
    declarator = child(node, "variable_declarator")
    value = declarator.child_by_field_name("value") if declarator else None
    return NO_NAMES if value and value.type == "call_expression" and _REQUIRE(value, text) else None


_OVERLOADED = Define("function", _key_name, one_with=always)

JAVASCRIPT = Grammar(
    module="tree_sitter_javascript",
    definitions={
        **each(_OVERLOADED, "function_declaration", "generator_function_declaration", "method_definition"),
        "class_declaration": CLASS,
        "class": Define("class", named(""), members=True),
        **each(_binding, "lexical_declaration", "variable_declaration"),
        "export_statement": _default,
        "assignment_expression": _assignment,
        "pair": _member("key"),
        "field_definition": _member("property"),
    },
    wrappers=frozenset({"export_statement", "expression_statement"}),
    local=(b"function", b"=>", b"class "),
    blocks=frozenset(
        {
            *(
                "class_body",
                "object",
                "pair",
                "statement_block",
                "variable_declarator",
                "assignment_expression",
            ),
            *("lexical_declaration", "variable_declaration", "export_statement", "expression_statement"),
            *("if_statement", "else_clause", "try_statement", "catch_clause", "finally_clause"),
            *("for_statement", "for_in_statement", "while_statement", "labeled_statement"),
            *("call_expression", "arguments", "parenthesized_expression", "unary_expression"),
            *("arrow_function", "function_expression", "await_expression", "sequence_expression"),
        }
    ),
    imports={
        "import_statement": NO_NAMES,
        **dict[str, Import | ImportOf].fromkeys(("lexical_declaration", "variable_declaration"), _require),
    },
    comments=frozenset({"comment", "decorator"}),
)

TYPESCRIPT = replace(
    JAVASCRIPT,
    module="tree_sitter_typescript",
    function="language_typescript",
    definitions={
        **JAVASCRIPT.definitions,
        **each(_OVERLOADED, "function_signature", "method_signature", "abstract_method_signature"),
        **each(CLASS, "abstract_class_declaration", "interface_declaration"),
        **each(ALIAS, "type_alias_declaration", "enum_declaration"),
        **each(Define("module", _module_name, members=True), "internal_module", "module"),
        "public_field_definition": _member("name"),
    },
    wrappers=JAVASCRIPT.wrappers | {"ambient_declaration"},
    blocks=JAVASCRIPT.blocks
    | {"interface_body", "ambient_declaration", "as_expression", "satisfies_expression"},
)

TSX = replace(TYPESCRIPT, function="language_tsx")
