"""Reads Go: the package, imports, types with their methods, what names are bound to, calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .draft import Draft, Shapes, Todo, inside
from .facts import INSTANCE, TOP, UNKNOWN, ImportedName, Path, Paths

if TYPE_CHECKING:
    from tree_sitter import Node

SHAPES = Shapes(
    names=frozenset({"identifier", "type_identifier", "package_identifier", "field_identifier"}),
    members={
        "selector_expression": ("operand", "field"),
        "qualified_type": ("package", "name"),
    },
    calls={"call_expression": "function"},
    through={
        "parenthesized_expression": "",
        "parenthesized_type": "",
        "unary_expression": "operand",
        "pointer_type": "",
        "generic_type": "type",
        "type_instantiation_expression": "type",
    },
    parts={"index_expression": "operand", "slice_expression": "operand"},
    made={
        "composite_literal": "type",
        "type_assertion_expression": "type",
        "type_conversion_expression": "type",
    },
    maker="new",
    literals={
        **dict.fromkeys(("interpreted_string_literal", "raw_string_literal", "rune_literal"), "string"),
        **dict.fromkeys(("int_literal", "float_literal", "imaginary_literal"), "number"),
        **dict.fromkeys(("true", "false"), "bool"),
        "func_literal": "func",
    },
    nothing=frozenset({"nil"}),
)
_VERSION = re.compile(r"v\d+")
_TYPES = frozenset(
    {"type_identifier", "qualified_type", "pointer_type", "generic_type", "parenthesized_type"}
)
_PLAIN_TYPES = frozenset({"map_type", "slice_type", "array_type", "channel_type", "function_type"})


def _package(draft: Draft, node: Node, scope: int) -> Todo:
    draft.package = draft.text(node.named_children[0]) if node.named_children else ""
    return []


def _import_spec(draft: Draft, node: Node, scope: int) -> Todo:
    module = draft.text(node.child_by_field_name("path")).strip('"`')
    given = node.child_by_field_name("name")
    name = draft.text(given)
    if name == ".":
        names = [ImportedName("*", "")]
    elif name == "_":
        names = [ImportedName("", "")]
    else:
        names = [ImportedName("", name or default_name(module))]
    draft.import_(node, scope, module, names)
    return []


def default_name(module: str) -> str:
    """What a package is called, as a rule: the last part of its path, without a version."""
    parts = [part for part in module.split("/") if part]
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    last = parts[-1] if parts else ""
    last = re.sub(r"\.v\d+$", "", last)
    return last.removeprefix("go-").replace("-", "_")


def _type(draft: Draft, node: Node | None) -> Paths:
    """What a value of a type is."""
    if node is None:
        return (UNKNOWN,)
    if node.type in _TYPES:
        return tuple((*path, INSTANCE) for path in draft.paths(node))
    return (("<plain>",),) if node.type in _PLAIN_TYPES else (UNKNOWN,)


def _results(draft: Draft, node: Node) -> Paths:
    """What a call gives: the first of several results."""
    result = node.child_by_field_name("result")
    if result is None:
        return ()
    if result.type == "parameter_list":
        first = next((one for one in result.named_children if one.type == "parameter_declaration"), None)
        return _type(draft, first.child_by_field_name("type")) if first is not None else ()
    return _type(draft, result)


def _parameters(draft: Draft, node: Node | None, scope: int) -> None:
    for declared in node.named_children if node is not None else ():
        typed = declared.child_by_field_name("type")
        several = declared.type == "variadic_parameter_declaration"
        for name in declared.children_by_field_name("name"):
            draft.bind(scope, draft.text(name), (("<plain>",),) if several else _type(draft, typed))


def _function(draft: Draft, node: Node, scope: int) -> Todo:
    receiver = node.child_by_field_name("receiver")
    body = node.child_by_field_name("body")
    container = None
    if receiver is not None:
        declared = next(iter(receiver.named_children), None)
        path = (
            draft.path_of(declared.child_by_field_name("type") or declared)
            if declared is not None
            else UNKNOWN
        )
        container = path[-1] if path[0][:1] != "<" else ""
    number = draft.define(
        node,
        scope,
        draft.text(node.child_by_field_name("name")),
        "function" if receiver is None else "method",
        body=body,
        returns=_results(draft, node),
        container=container,
        bound=receiver is None,
    )
    inner = draft.definitions[number].body
    _parameters(draft, receiver, inner)
    _parameters(draft, node.child_by_field_name("parameters"), inner)
    result = node.child_by_field_name("result")
    _parameters(draft, result if result is not None and result.type == "parameter_list" else None, inner)
    return inside(body, inner) if body is not None else []


def _literal(draft: Draft, node: Node, scope: int) -> Todo:
    inner = draft.scope(scope)
    _parameters(draft, node.child_by_field_name("parameters"), inner)
    body = node.child_by_field_name("body")
    return inside(body, inner) if body is not None else []


def _type_spec(draft: Draft, node: Node, scope: int) -> Todo:
    name, typed = draft.text(node.child_by_field_name("name")), node.child_by_field_name("type")
    bases: list[Path] = []
    if typed is not None and typed.type == "struct_type":
        for group in typed.named_children:
            bases += [
                draft.path_of(one.child_by_field_name("type") or one)
                for one in group.named_children
                if one.type == "field_declaration" and one.child_by_field_name("name") is None
            ]
    elif typed is not None and typed.type == "interface_type":
        bases += [
            draft.path_of(one.named_children[0])
            for one in typed.named_children
            if one.type == "type_elem" and len(one.named_children) == 1
        ]
    elif typed is not None and node.type == "type_alias":
        bases.append(draft.path_of(typed))
    number = draft.define(node, scope, name, "class", body=typed, bases=tuple(bases))
    return [(typed, draft.definitions[number].body)] if typed is not None else []


def _field(draft: Draft, node: Node, scope: int) -> Todo:
    typed = node.child_by_field_name("type")
    if draft.scopes[scope].members:
        names = [draft.text(one) for one in node.children_by_field_name("name")]
        if not names and typed is not None:
            names = [draft.path_of(typed)[-1]]  # an embedded type is a field of its name
        for name in names:
            draft.bind(scope, name, _type(draft, typed), draft.scopes[scope].parent)
    return [(typed, scope)] if typed is not None and typed.type not in _TYPES else []


def _struct(draft: Draft, node: Node, scope: int) -> Todo:
    """The fields of a struct that is not that of a type are nobody's."""
    own = draft.scopes[scope].members and scope not in draft.entered
    draft.entered.add(scope)
    return inside(node, scope if own else draft.scope(scope))


def _method_elem(draft: Draft, node: Node, scope: int) -> Todo:
    if draft.scopes[scope].members:
        name = draft.text(node.child_by_field_name("name"))
        draft.define(node, scope, name, "method", returns=_results(draft, node))
    return []


def _assign(draft: Draft, node: Node, scope: int) -> Todo:
    """`a, b := x, y`; of one call with several results the first name has the first."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and right is not None:
        names, values = left.named_children, right.named_children
        for place, name in enumerate(names):
            if name.type != "identifier":
                continue
            paths: Paths = (UNKNOWN,)
            if len(values) == len(names) or place == 0:
                paths = draft.paths(values[place])
            text = draft.text(name)
            at = scope if node.type == "short_var_declaration" else draft.scope_binding(text, scope)
            if at > TOP or node.type == "short_var_declaration":
                draft.bind(at, text, paths, scope)
    return inside(node, scope)


def _variable(draft: Draft, node: Node, scope: int) -> Todo:
    typed, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    values = value.named_children if value is not None else []
    names = node.children_by_field_name("name")
    for place, name in enumerate(names):
        paths: Paths = (UNKNOWN,)
        if typed is not None:
            paths = _type(draft, typed)
        elif values and (len(values) == len(names) or place == 0):
            paths = draft.paths(values[place])
        draft.bind(scope, draft.text(name), paths)
    return [(part, scope) for part in (typed, value) if part is not None]


def _range(draft: Draft, node: Node, scope: int) -> Todo:
    left = node.child_by_field_name("left")
    for name in left.named_children if left is not None else ():
        if name.type == "identifier":
            draft.bind(scope, draft.text(name), (UNKNOWN,))
    return inside(node, scope)


def _switch(draft: Draft, node: Node, scope: int) -> Todo:
    inner = draft.scope(scope)
    alias = node.child_by_field_name("alias")
    names = [draft.text(one) for one in alias.named_children] if alias is not None else []
    further: Todo = []
    for child in node.named_children:
        if child.type != "type_case":
            further += [(child, inner)] if child != alias else []
            continue
        # In a case of one type the name has that type.
        case = draft.scope(inner)
        types = child.children_by_field_name("type")
        for name in names:
            draft.bind(case, name, _type(draft, types[0]) if len(types) == 1 else (UNKNOWN,))
        further += [(one, case) for one in child.named_children if one not in types]
    for name in names:
        draft.bind(inner, name, (UNKNOWN,))
    return further


def _block(draft: Draft, node: Node, scope: int) -> Todo:
    return inside(node, draft.scope(scope))


def _call(draft: Draft, node: Node, scope: int) -> Todo:
    draft.call(node.child_by_field_name("function"), scope)
    return inside(node, scope)


def _conversion(draft: Draft, node: Node, scope: int) -> Todo:
    """`Of[int](3)` may be a conversion or a call; the tree does not tell."""
    draft.call(node.child_by_field_name("type"), scope)
    return inside(node, scope)


_HANDLERS = {
    "type_conversion_expression": _conversion,
    "package_clause": _package,
    "import_spec": _import_spec,
    **dict.fromkeys(("function_declaration", "method_declaration"), _function),
    "func_literal": _literal,
    **dict.fromkeys(("type_spec", "type_alias"), _type_spec),
    **dict.fromkeys(("struct_type", "interface_type"), _struct),
    "field_declaration": _field,
    "method_elem": _method_elem,
    **dict.fromkeys(("short_var_declaration", "assignment_statement"), _assign),
    **dict.fromkeys(("var_spec", "const_spec"), _variable),
    "range_clause": _range,
    "type_switch_statement": _switch,
    **dict.fromkeys(
        (
            *("block", "if_statement", "for_statement", "expression_switch_statement", "select_statement"),
            *("expression_case", "default_case", "communication_case"),
        ),
        _block,
    ),
    "call_expression": _call,
}


def read(draft: Draft, root: Node) -> None:
    draft.walk(root, _HANDLERS)
