"""Reads JavaScript, TypeScript and TSX: scopes, imports, exports, what names are bound to, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draft import Draft, Shapes, Todo, field_of, inside
from .facts import CLASS, EXPORTS, INSTANCE, SELF, UNKNOWN, ImportedName, Paths

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})

SHAPES = Shapes(
    names=frozenset(
        {"identifier", "this", "super", "type_identifier", "property_identifier", "undefined"}
        | {"shorthand_property_identifier"}
    ),
    members={
        "member_expression": ("object", "property"),
        "nested_type_identifier": ("module", "name"),
        "nested_identifier": ("object", "property"),
    },
    calls={"call_expression": "function", "new_expression": "constructor"},
    through={
        "parenthesized_expression": "",
        "await_expression": "",
        "non_null_expression": "",
        "as_expression": "",
        "satisfies_expression": "",
        "instantiation_expression": "",
        "generic_type": "name",
        "assignment_expression": "right",
    },
    either={"ternary_expression": ("consequence", "alternative")},
    parts={"subscript_expression": "object"},
    literals={
        **dict.fromkeys(("string", "template_string"), "string"),
        **dict.fromkeys(("true", "false"), "boolean"),
        "number": "number",
        "array": "array",
        "object": "object",
        "regex": "regex",
    },
    nothing=frozenset({"null", "undefined"}),
)


def _string(draft: Draft, node: Node | None) -> str:
    return draft.text(node).strip("'\"`")


# Imports and exports


def _import(draft: Draft, node: Node, scope: int) -> Todo:
    names: list[ImportedName] = []
    source = node.child_by_field_name("source")
    for clause in node.named_children:
        if clause.type == "import_require_clause":  # import x = require("y")
            source = clause.child_by_field_name("source")
            names.append(ImportedName("", draft.text(clause.named_children[0])))
        elif clause.type == "import_clause":
            for part in clause.named_children:
                if part.type == "identifier":
                    names.append(ImportedName("default", draft.text(part)))
                elif part.type == "namespace_import":
                    names.append(ImportedName("", draft.text(part.named_children[-1])))
                else:
                    names += [_specified(draft, one) for one in part.named_children if _is_name(one)]
    if source is not None:
        draft.import_(node, scope, _string(draft, source), names)
    return []


def _is_name(node: Node) -> bool:
    return node.type in ("import_specifier", "export_specifier")


def _specified(draft: Draft, node: Node) -> ImportedName:
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    imported = _string(draft, name)
    return ImportedName(imported, _string(draft, alias) if alias is not None else imported)


def _export(draft: Draft, node: Node, scope: int) -> Todo:
    source = node.child_by_field_name("source")
    clause = next((one for one in node.named_children if one.type == "export_clause"), None)
    names = [_specified(draft, one) for one in clause.named_children if _is_name(one)] if clause else []
    if source is not None:
        whole = next((one for one in node.named_children if one.type == "namespace_export"), None)
        if whole is not None:
            names = [ImportedName("", draft.text(whole.named_children[-1]))]
        elif clause is None:
            names = [ImportedName("*", "")]
        draft.import_(node, EXPORTS, _string(draft, source), names, reexport=True)
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


def _required(draft: Draft, node: Node | None) -> tuple[str, bool]:
    """The module that `require("x")`, `await import("x")` names, and whether the value is that."""
    while node is not None and node.type in ("await_expression", "parenthesized_expression"):
        node = next(iter(node.named_children), None)
    if node is None or node.type != "call_expression":
        return "", False
    function = node.child_by_field_name("function")
    given = node.child_by_field_name("arguments")
    first = next(iter(given.named_children), None) if given is not None else None
    if first is None or first.type != "string" or function is None:
        return "", False
    if function.type == "import" or (function.type == "identifier" and draft.text(function) == "require"):
        return _string(draft, first), True
    return "", False


# Definitions


def _returns(draft: Draft, node: Node) -> Paths:
    declared = node.child_by_field_name("return_type")
    return _type(draft, declared) if declared is not None else ()


def _type(draft: Draft, node: Node) -> Paths:
    """What a type says that a value is."""
    found: Paths = ()
    todo = [node]
    while todo and len(found) < 8:
        one = todo.pop()
        kind = one.type
        if kind in ("type_annotation", "parenthesized_type", "union_type", "readonly_type"):
            todo += reversed(one.named_children)
        elif kind == "generic_type" and draft.text(one.child_by_field_name("name")) in (
            "Promise",
            "Readonly",
        ):
            given = one.child_by_field_name("type_arguments")
            todo += given.named_children[:1] if given is not None else []
        elif kind in ("literal_type", "predefined_type"):
            text = draft.text(one)
            if text not in ("null", "undefined", "void", "any", "unknown", "never"):
                found = (*found, ("<literal>",))
            elif text in ("any", "unknown"):
                found = (*found, UNKNOWN)
        elif kind == "this_type":
            found = (*found, SELF)
        elif kind in ("type_identifier", "nested_type_identifier", "generic_type"):
            found = (*found, *((*path, INSTANCE) for path in draft.paths(one)))
        else:
            found = (*found, UNKNOWN)
    return found


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
        returns=_returns(draft, node),
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
        paths = _type(draft, typed) if typed is not None else (UNKNOWN,)
        if pattern.type == "identifier":
            draft.bind(inner, draft.text(pattern), paths)
            members = draft.scopes[draft.scopes[inner].parent].members
            if members and any(c.type in ("accessibility_modifier", "readonly") for c in parameter.children):
                draft.bind(draft.scopes[inner].parent, draft.text(pattern), paths, inner)
        else:
            _bind_all(draft, pattern, inner)
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
    name = _string(draft, node.child_by_field_name("name"))
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


def _has_functions(node: Node) -> bool:
    return node.type == "object" and any(
        child.type == "method_definition" or (field_of(child, "value") or node).type in _FUNCTIONS
        for child in node.named_children
    )


def _value(draft: Draft, value: Node, name: str, scope: int, into: int, exported: str = "") -> Todo | None:
    """Define what a name is given, if it is a function, a class or an object with functions.

    Args:
        into: the scope that binds it; `exported` is the name there, if it is not that of the definition.
    """
    while value.type in ("parenthesized_expression", "as_expression", "satisfies_expression"):
        value = value.named_children[0]
    wrapped = _wrapped(draft, value) if name else None
    if wrapped is not None:
        draft.call(value.child_by_field_name("function"), scope)
        value = wrapped
    own = draft.text(value.child_by_field_name("name"))
    called = name or own or ("" if exported == "=" else exported)
    number = len(draft.definitions)
    if value.type in _FUNCTIONS:
        made = _function(draft, value, called, scope, bound=False)
        this: Paths | None = None if value.type == "arrow_function" else (UNKNOWN,)
        if draft.scopes[scope].members and into == scope:
            draft.definitions[made] = draft.definitions[made]._replace(kind="method")
        further = _into(draft, value, draft.definitions[made].body, this)
    elif value.type in ("class", "class_declaration"):
        further = _defined_class(draft, value, called, scope, bound=False)
    elif _has_functions(value):
        further = _object(draft, value, called, scope, value, bound=False)
    else:
        return None
    draft.give(into, exported or name, number)
    return further


_COMPONENTS = frozenset({"memo", "forwardRef", "React.memo", "React.forwardRef"})


def _wrapped(draft: Draft, value: Node) -> Node | None:
    """The component that `memo(() => ...)` is made of."""
    given = value.child_by_field_name("arguments") if value.type == "call_expression" else None
    if given is None or draft.text(value.child_by_field_name("function")) not in _COMPONENTS:
        return None
    first = next(iter(given.named_children), None)
    return first if first is not None and first.type in _FUNCTIONS else None


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
        module, is_module = _required(draft, value)
        if is_module:
            _bind_required(draft, node, name, module, at)
            continue
        plain = name.type == "identifier"
        defined = _value(draft, value, draft.text(name), scope, at) if plain and value is not None else None
        if defined is not None:
            further += defined
            continue
        if plain:
            paths = _type(draft, typed) if typed is not None else draft.paths(value) if value else ()
            draft.bind(at, draft.text(name), paths, scope)
        else:
            _unpack(draft, name, value, at, scope)
        further += [(part, scope) for part in (name if not plain else None, value) if part is not None]
    return further


def _bind_required(draft: Draft, node: Node, name: Node, module: str, scope: int) -> None:
    names: list[ImportedName] = []
    if name.type == "identifier":
        names = [ImportedName("", draft.text(name))]
    elif name.type == "object_pattern":
        for part in name.named_children:
            key = part.child_by_field_name("key")
            if part.type == "shorthand_property_identifier_pattern":
                names.append(ImportedName(draft.text(part), draft.text(part)))
            elif key is not None:
                names.append(ImportedName(_string(draft, key), draft.text(part.child_by_field_name("value"))))
    draft.import_(node, scope, module, names)


def _unpack(draft: Draft, pattern: Node, value: Node | None, scope: int, at: int) -> None:
    """`const { a, b: c } = value`."""
    of = draft.path_of(value) if value is not None else UNKNOWN
    if pattern.type != "object_pattern":
        _bind_all(draft, pattern, scope)
        return
    for part in pattern.named_children:
        key, target = part.child_by_field_name("key"), part.child_by_field_name("value")
        if part.type == "shorthand_property_identifier_pattern":
            draft.bind(scope, draft.text(part), ((*of, draft.text(part)),), at)
        elif key is not None and target is not None and target.type == "identifier":
            draft.bind(scope, draft.text(target), ((*of, _string(draft, key)),), at)
        else:
            _bind_all(draft, part, scope)


def _bind_all(draft: Draft, node: Node | None, scope: int) -> None:
    """Bind all names in a pattern to what is not known."""
    todo = [node] if node is not None else []
    while todo:
        one = todo.pop()
        if one.type in ("identifier", "shorthand_property_identifier_pattern"):
            draft.bind(scope, draft.text(one), (UNKNOWN,))
        elif one.type == "pair_pattern":
            todo += [part for part in (one.child_by_field_name("value"),) if part is not None]
        elif one.type.endswith("pattern"):
            left = one.child_by_field_name("left")
            todo += [left] if left is not None else one.named_children


def _field(draft: Draft, node: Node, scope: int) -> Todo:
    """`name = value` and `name: Type` in a class, `name: value` in an object."""
    key = (
        node.child_by_field_name("property")
        or node.child_by_field_name("name")
        or node.child_by_field_name("key")
    )
    value, typed = node.child_by_field_name("value"), node.child_by_field_name("type")
    name = _string(draft, key)
    if draft.scopes[scope].members and key is not None and key.type != "computed_property_name":
        if value is not None:
            defined = _value(draft, value, name, scope, scope)
            if defined is not None:
                inner = draft.definitions[-1].body
                if value.type in _FUNCTIONS:
                    draft.bind(inner, "this", (SELF if node.type != "pair" else CLASS,))
                return defined
        paths = _type(draft, typed) if typed is not None else draft.paths(value) if value is not None else ()
        if value is not None or typed is not None:
            draft.bind(scope, name, paths)
    elif value is not None and value.type in _FUNCTIONS:
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
        elif right.type in _FUNCTIONS and parts[0][:1] not in "<(":
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
            defined = _value(draft, of, "", scope, EXPORTS, _string(draft, key))
            if defined is None:
                draft.bind(EXPORTS, _string(draft, key), draft.paths(of), scope)
                defined = [(of, scope)]
            further += defined
        else:
            further.append((part, scope))
    return further


def _namespace(draft: Draft, node: Node, scope: int) -> Todo:
    name = _string(draft, node.child_by_field_name("name"))
    body = node.child_by_field_name("body")
    number = draft.define(node, scope, name, "module", body=body)
    return inside(body, draft.definitions[number].body) if body is not None else []


def _type_name(draft: Draft, node: Node, scope: int) -> Todo:
    number = draft.define(node, scope, draft.text(node.child_by_field_name("name")), "class")
    return inside(node, draft.definitions[number].body)


# Scopes and calls


def _block(draft: Draft, node: Node, scope: int) -> Todo:
    return inside(node, draft.scope(scope))


def _for_in(draft: Draft, node: Node, scope: int) -> Todo:
    inner = draft.scope(scope)
    _bind_all(draft, node.child_by_field_name("left"), inner)
    return inside(node, inner)


def _catch(draft: Draft, node: Node, scope: int) -> Todo:
    inner = draft.scope(scope)
    _bind_all(draft, node.child_by_field_name("parameter"), inner)
    return inside(node, inner)


def _call(draft: Draft, node: Node, scope: int) -> Todo:
    function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    module, is_module = _required(draft, node)
    if is_module:
        draft.import_(node, scope, module, ())
        return []
    draft.call(function, scope)
    return inside(node, scope)


_HANDLERS = {
    "import_statement": _import,
    "export_statement": _export,
    **dict.fromkeys(
        ("function_declaration", "generator_function_declaration", "function_signature"), _declared_function
    ),
    **dict.fromkeys(_FUNCTIONS, _loose_function),
    **dict.fromkeys(("method_definition", "method_signature", "abstract_method_signature"), _method),
    **dict.fromkeys(
        ("class_declaration", "class", "abstract_class_declaration", "interface_declaration"), _class
    ),
    **dict.fromkeys(("lexical_declaration", "variable_declaration"), _declaration),
    **dict.fromkeys(("field_definition", "public_field_definition", "pair", "property_signature"), _field),
    "shorthand_property_identifier": _shorthand,
    "assignment_expression": _assignment,
    **dict.fromkeys(("internal_module", "module"), _namespace),
    **dict.fromkeys(("enum_declaration", "type_alias_declaration"), _type_name),
    **dict.fromkeys(("statement_block", "for_statement", "switch_body"), _block),
    "for_in_statement": _for_in,
    "catch_clause": _catch,
    **dict.fromkeys(("call_expression", "new_expression"), _call),
}


def read(draft: Draft, root: Node) -> None:
    draft.walk(root, _HANDLERS)
