"""Reads JavaScript, TypeScript and TSX: scopes, imports, exports, what names are bound to, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draft import Draft, Todo, inside
from .facts import CLASS, EXPORTS, SELF, UNKNOWN, ImportedName, Paths
from .javascript_names import (
    FUNCTIONS,
    bind_all,
    bind_required,
    block,
    catch,
    for_in,
    has_functions,
    import_statement,
    is_specifier,
    namespace,
    required,
    returns_of,
    specified,
    string,
    type_name,
    type_of,
    unpack,
    wrapped_in,
)

if TYPE_CHECKING:
    from tree_sitter import Node


# Imports and exports


def _export(draft: Draft, node: Node, scope: int) -> Todo:
    source = node.child_by_field_name("source")
    clause = next((one for one in node.named_children if one.type == "export_clause"), None)
    names = [specified(draft, one) for one in clause.named_children if is_specifier(one)] if clause else []
    if source is not None:
        whole = next((one for one in node.named_children if one.type == "namespace_export"), None)
        if whole is not None:
            names = [ImportedName("", draft.text(whole.named_children[-1]))]
        elif clause is None:
            names = [ImportedName("*", "")]
        draft.import_(node, EXPORTS, string(draft, source), names, reexport=True)
        return []
    if clause is not None:
        for name, exported in names:
            draft.bind(EXPORTS, exported, ((name,),), scope)
        return []
    value = node.child_by_field_name("value")
    declared = node.child_by_field_name("declaration")
    is_default = any(child.type == "default" for child in node.children)
    if declared is not None:
        before = len(draft.bindings)
        handler = _HANDLERS.get(declared.type)
        further = handler(draft, declared, scope) if handler else [(declared, scope)]
        for binding in draft.bindings[before:]:
            if binding.scope == scope and scope == 0:
                name = "default" if is_default else binding.name
                draft.bind(EXPORTS, name, ((binding.name,),), scope)
        return further
    if value is not None:
        return _exported(draft, value, "default", scope)
    rest = [child for child in node.named_children if child.type not in ("comment", "decorator")]
    if any(child.type == "=" for child in node.children) and rest:  # export = x
        return _exported(draft, rest[-1], "=", scope)
    return [(child, scope) for child in rest]


def _exported(draft: Draft, value: Node, name: str, scope: int) -> Todo:
    """What a module exports as one name, which may be a function or a class without one of its own."""
    further = _value(draft, value, "", scope, EXPORTS, name)
    if further is not None:
        return further
    draft.bind(EXPORTS, name, draft.paths(value), scope)
    return [(value, scope)]


# Definitions


def _function(
    draft: Draft,
    node: Node,
    name: str,
    scope: int,
    *,
    kind: str = "function",
    bound: bool = True,
    role: str = "",
) -> int:
    return draft.define(
        node,
        scope,
        name,
        kind,
        body=node.child_by_field_name("body"),
        returns=returns_of(draft, node),
        role=role,
        bound=bound,
    )


def _into(draft: Draft, node: Node, inner: int, this: Paths | None) -> Todo:
    """Bind parameters and `this`, and go on with the body of a function."""
    if this is not None:
        draft.bind(inner, "this", this)
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    further: Todo = []
    if parameters is not None and parameters.type == "identifier":
        draft.bind(inner, draft.text(parameters), (UNKNOWN,))
    for parameter in parameters.named_children if parameters is not None else ():
        pattern = (
            parameter.child_by_field_name("pattern") or parameter.child_by_field_name("left") or parameter
        )
        typed = parameter.child_by_field_name("type")
        paths = type_of(draft, typed) if typed is not None else (UNKNOWN,)
        if pattern.type == "identifier":
            draft.bind(inner, draft.text(pattern), paths)
            members = draft.scopes[draft.scopes[inner].parent].members
            if members and any(c.type in ("accessibility_modifier", "readonly") for c in parameter.children):
                draft.bind(draft.scopes[inner].parent, draft.text(pattern), paths, inner)
        else:
            bind_all(draft, pattern, inner)
        for field in ("value", "right"):
            value = parameter.child_by_field_name(field)
            further += [(value, inner)] if value is not None else []
    body = node.child_by_field_name("body")
    if body is None:
        return further
    # The body's own block is the scope of the function.
    return further + (inside(body, inner) if body.type == "statement_block" else [(body, inner)])


def _declared_function(draft: Draft, node: Node, scope: int) -> Todo:
    number = _function(draft, node, draft.text(node.child_by_field_name("name")), scope, role=_overload(node))
    return _into(draft, node, draft.definitions[number].body, (UNKNOWN,))


def _overload(node: Node) -> str:
    return "overload" if node.child_by_field_name("body") is None else ""


def _loose_function(draft: Draft, node: Node, scope: int) -> Todo:
    """A function that has no name of its own, or one that only it knows."""
    inner = draft.scope(scope)
    name = node.child_by_field_name("name")
    if name is not None:
        draft.bind(inner, draft.text(name), (UNKNOWN,))
    return _into(draft, node, inner, None if node.type == "arrow_function" else (UNKNOWN,))


def _method(draft: Draft, node: Node, scope: int) -> Todo:
    is_member = draft.scopes[scope].members
    name = string(draft, node.child_by_field_name("name"))
    words = {child.type for child in node.children}
    role = "property" if words & {"get", "set"} else "static" if "static" in words else _overload(node)
    kind = "method" if is_member else "function"
    number = _function(draft, node, name, scope, kind=kind, bound=is_member, role=role)
    this: Paths = (CLASS if "static" in words else SELF,) if is_member else (UNKNOWN,)
    if is_member and draft.definitions[draft.scopes[scope].definition].role == "object":
        this = (CLASS,)
    return _into(draft, node, draft.definitions[number].body, this)


def _class(draft: Draft, node: Node, scope: int) -> Todo:
    return _defined_class(draft, node, draft.text(node.child_by_field_name("name")), scope)


def _defined_class(draft: Draft, node: Node, name: str, scope: int, *, bound: bool = True) -> Todo:
    body = node.child_by_field_name("body")
    heritage = [one for one in node.named_children if one.type in ("class_heritage", "extends_type_clause")]
    bases: list[Node] = []
    for one in heritage:
        clauses = [c for c in one.named_children if c.type == "extends_clause"]
        for clause in clauses:
            bases += clause.children_by_field_name("value")
        if one.type == "extends_type_clause":
            bases += one.children_by_field_name("type")
        elif not clauses and not any(c.type == "implements_clause" for c in one.named_children):
            bases += one.named_children
    number = draft.define(
        node, scope, name, "class", body=body, bases=tuple(draft.path_of(base) for base in bases), bound=bound
    )
    inner = draft.definitions[number].body
    further: Todo = [(one, scope) for one in heritage]
    return further + (inside(body, inner) if body is not None else [])


def _object(draft: Draft, node: Node, name: str, scope: int, whole: Node, *, bound: bool = True) -> Todo:
    """An object with functions: its members are known by the name that it is given."""
    number = draft.define(whole, scope, name, "class", body=node, role="object", bound=bound)
    inner = draft.definitions[number].body
    return inside(node, inner)


def _value(draft: Draft, value: Node, name: str, scope: int, into: int, exported: str = "") -> Todo | None:
    """Define what a name is given, if it is a function, a class or an object with functions.

    Args:
        into: the scope that binds it; `exported` is the name there, if it is not that of the definition.
    """
    while value.type in ("parenthesized_expression", "as_expression", "satisfies_expression"):
        value = value.named_children[0]
    wrapped = wrapped_in(draft, value) if name else None
    if wrapped is not None:
        draft.call(value.child_by_field_name("function"), scope)
        value = wrapped
    own = draft.text(value.child_by_field_name("name"))
    called = name or own or ("" if exported == "=" else exported)
    number = len(draft.definitions)
    if value.type in FUNCTIONS:
        made = _function(draft, value, called, scope, bound=False)
        this: Paths | None = None if value.type == "arrow_function" else (UNKNOWN,)
        if draft.scopes[scope].members and into == scope:
            draft.definitions[made] = draft.definitions[made]._replace(kind="method")
        further = _into(draft, value, draft.definitions[made].body, this)
    elif value.type in ("class", "class_declaration"):
        further = _defined_class(draft, value, called, scope, bound=False)
    elif has_functions(value):
        further = _object(draft, value, called, scope, value, bound=False)
    else:
        return None
    draft.give(into, exported or name, number)
    return further


def _declaration(draft: Draft, node: Node, scope: int) -> Todo:
    further: Todo = []
    at = draft.function_scope(scope) if node.type == "variable_declaration" else scope
    for declarator in node.named_children:
        if declarator.type != "variable_declarator":
            continue
        name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        typed = declarator.child_by_field_name("type")
        if name is None:
            continue
        module, is_module = required(draft, value)
        if is_module:
            bind_required(draft, node, name, module, at)
            continue
        plain = name.type == "identifier"
        defined = _value(draft, value, draft.text(name), scope, at) if plain and value is not None else None
        if defined is not None:
            further += defined
            continue
        if plain:
            paths = type_of(draft, typed) if typed is not None else draft.paths(value) if value else ()
            draft.bind(at, draft.text(name), paths, scope)
        else:
            unpack(draft, name, value, at, scope)
        further += [(part, scope) for part in (name if not plain else None, value) if part is not None]
    return further


def _field(draft: Draft, node: Node, scope: int) -> Todo:
    """`name = value` and `name: Type` in a class, `name: value` in an object."""
    key = (
        node.child_by_field_name("property")
        or node.child_by_field_name("name")
        or node.child_by_field_name("key")
    )
    value, typed = node.child_by_field_name("value"), node.child_by_field_name("type")
    name = string(draft, key)
    if draft.scopes[scope].members and key is not None and key.type != "computed_property_name":
        if value is not None:
            defined = _value(draft, value, name, scope, scope)
            if defined is not None:
                inner = draft.definitions[-1].body
                if value.type in FUNCTIONS:
                    draft.bind(inner, "this", (SELF if node.type != "pair" else CLASS,))
                return defined
        paths = (
            type_of(draft, typed) if typed is not None else draft.paths(value) if value is not None else ()
        )
        if value is not None or typed is not None:
            draft.bind(scope, name, paths)
    elif value is not None and value.type in FUNCTIONS:
        number = _function(draft, value, name, scope, bound=False)
        return _into(draft, value, draft.definitions[number].body, None)
    return [(value, scope)] if value is not None else []


def _shorthand(draft: Draft, node: Node, scope: int) -> Todo:
    if draft.scopes[scope].members:
        draft.bind(scope, draft.text(node), ((draft.text(node),),), draft.scopes[scope].parent)
    return []


def _assignment(draft: Draft, node: Node, scope: int) -> Todo:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return inside(node, scope)
    parts = draft.path_of(left)
    if left.type == "identifier":
        at = draft.scope_binding(parts[0], scope)
        further = _value(draft, right, parts[0], scope, at)
        if further is not None:
            return further
        draft.bind(at, parts[0], draft.paths(right), scope)
    elif left.type == "member_expression":
        exported = (
            parts[1:] if parts[:1] == ("exports",) else parts[2:] if parts[:2] == _MODULE_EXPORTS else None
        )
        if exported == ():
            return _module_exports(draft, right, scope)
        if exported is not None and len(exported) == 1:
            further = _value(draft, right, "", scope, EXPORTS, exported[0])
            if further is not None:
                return further
            draft.bind(EXPORTS, exported[0], draft.paths(right), scope)
        elif len(parts) == 2 and parts[0] == "this":
            members = draft.members_around(scope)
            if members >= 0:
                draft.bind(members, parts[1], draft.paths(right), scope)
        elif right.type in FUNCTIONS and parts[0][:1] not in "<(":
            # Shape.prototype.area = function () { ... }
            names = [part for part in parts if part != "prototype"]
            number = draft.define(
                right,
                scope,
                names[-1],
                "method" if "prototype" in parts else "function",
                body=right.child_by_field_name("body"),
                container=".".join(names[:-1]),
                bound=False,
            )
            return _into(draft, right, draft.definitions[number].body, (UNKNOWN,))
    return [(left, scope), (right, scope)]


_MODULE_EXPORTS = ("module", "exports")


def _module_exports(draft: Draft, value: Node, scope: int) -> Todo:
    """`module.exports = value`; the members of an object are exports by their names."""
    if value.type != "object":
        return _exported(draft, value, "=", scope)
    further: Todo = []
    for part in value.named_children:
        key, of = part.child_by_field_name("key"), part.child_by_field_name("value")
        if part.type == "shorthand_property_identifier":
            draft.bind(EXPORTS, draft.text(part), ((draft.text(part),),), scope)
        elif part.type == "method_definition":
            number = len(draft.definitions)
            further += _method(draft, part, scope)
            draft.give(EXPORTS, draft.definitions[number].name, number)
        elif key is not None and of is not None:
            defined = _value(draft, of, "", scope, EXPORTS, string(draft, key))
            if defined is None:
                draft.bind(EXPORTS, string(draft, key), draft.paths(of), scope)
                defined = [(of, scope)]
            further += defined
        else:
            further.append((part, scope))
    return further


# Scopes and calls


def _call(draft: Draft, node: Node, scope: int) -> Todo:
    function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    module, is_module = required(draft, node)
    if is_module:
        draft.import_(node, scope, module, ())
        return []
    draft.call(function, scope)
    return inside(node, scope)


_HANDLERS = {
    "import_statement": import_statement,
    "export_statement": _export,
    **dict.fromkeys(
        ("function_declaration", "generator_function_declaration", "function_signature"), _declared_function
    ),
    **dict.fromkeys(FUNCTIONS, _loose_function),
    **dict.fromkeys(("method_definition", "method_signature", "abstract_method_signature"), _method),
    **dict.fromkeys(
        ("class_declaration", "class", "abstract_class_declaration", "interface_declaration"), _class
    ),
    **dict.fromkeys(("lexical_declaration", "variable_declaration"), _declaration),
    **dict.fromkeys(("field_definition", "public_field_definition", "pair", "property_signature"), _field),
    "shorthand_property_identifier": _shorthand,
    "assignment_expression": _assignment,
    **dict.fromkeys(("internal_module", "module"), namespace),
    **dict.fromkeys(("enum_declaration", "type_alias_declaration"), type_name),
    **dict.fromkeys(("statement_block", "for_statement", "switch_body"), block),
    "for_in_statement": for_in,
    "catch_clause": catch,
    **dict.fromkeys(("call_expression", "new_expression"), _call),
}


def read(draft: Draft, root: Node) -> None:
    draft.walk(root, _HANDLERS)
