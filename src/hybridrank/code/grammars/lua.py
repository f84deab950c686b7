"""Lua."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Import, Text
from .common import NO_NAMES, child

if TYPE_CHECKING:
    from tree_sitter import Node


def _function(node: Node, text: Text) -> Define | None:
    name = node.child_by_field_name("name")
    return _METHOD if name and name.type == "method_index_expression" else _DECLARED


def _declared_name(node: Node, text: Text) -> tuple[str, ...]:
    name = node.child_by_field_name("name")
    return _parts(name, text) if name else ()


_METHOD = Define("method", _declared_name)
_DECLARED = Define("function", _declared_name)


def _assignment(node: Node, text: Text) -> Define | None:
    """`M.f = function() ... end`, or a table of functions."""
    values = child(node, "expression_list")
    first = next(iter(values.named_children), None) if values else None
    if first is None:
        return None
    if first.type == "table_constructor" and any(map(_holds_function, first.named_children)):
        return _TABLE
    return _FUNCTION if first.type == "function_definition" else None


def _field(node: Node, _: Text) -> Define | None:
    """`f = function() ... end` in a table, or a table of functions."""
    value = node.child_by_field_name("value")
    if value and value.type == "table_constructor" and any(map(_holds_function, value.named_children)):
        return Define("class", _field_name, members=True)
    return Define("function", _field_name) if _holds_function(node) else None


def _field_name(node: Node, text: Text) -> tuple[str, ...]:
    name = node.child_by_field_name("name")
    return (text(name).strip("'\""),) if name else ()


def _holds_function(node: Node) -> bool:
    value = node.child_by_field_name("value")
    return value is not None and value.type == "function_definition"


def _assigned_name(node: Node, text: Text) -> tuple[str, ...]:
    targets = child(node, "variable_list")
    name = next(iter(targets.named_children), None) if targets else None
    return _parts(name, text) if name else ()


def _parts(node: Node, text: Text) -> tuple[str, ...]:
    """The parts of `M.x.f`, `M:f` or `M["f"]`."""
    parts: list[str] = []
    found: Node | None = node
    while found and (table := found.child_by_field_name("table")):
        last = found.child_by_field_name("field") or found.child_by_field_name("method")
        parts.append(text(last).strip("'\"") if last else "")
        found = table
    return (text(found) if found else "", *reversed(parts))


_FUNCTION = Define("function", _assigned_name)
_TABLE = Define("class", _assigned_name, members=True)


def _require(node: Node, text: Text) -> Import | None:
    """`local x = require("x")`."""
    return NO_NAMES if re.search(r"=\s*require\b", text(node)[:200]) else None


LUA = Grammar(
    module="tree_sitter_lua",
    definitions={
        "function_declaration": _function,
        "assignment_statement": _assignment,
        "field": _field,
    },
    wrappers=frozenset({"variable_declaration"}),
    local=(b"function",),
    blocks=frozenset(
        {
            *("assignment_statement", "variable_declaration", "expression_list", "table_constructor"),
            *("field", "function_call", "arguments", "function_definition", "return_statement"),
            *("block", "do_statement", "if_statement", "elseif_statement", "else_statement"),
        }
    ),
    imports={"variable_declaration": _require},
)
