"""How JavaScript and TypeScript write names: expressions, types, imports, patterns that bind several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draft import Draft, Shapes, Todo, field_of, inside
from .facts import INSTANCE, SELF, UNKNOWN, ImportedName, Paths

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})

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
    casts=dict.fromkeys(
        ("as_expression", "satisfies_expression"),
        frozenset({"type_identifier", "nested_type_identifier", "generic_type"}),
    ),
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


def string(draft: Draft, node: Node | None) -> str:
    return draft.text(node).strip("'\"`")


def import_statement(draft: Draft, node: Node, scope: int) -> Todo:
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
                    names += [specified(draft, one) for one in part.named_children if is_specifier(one)]
    if source is not None:
        draft.import_(node, scope, string(draft, source), names)
    return []


def is_specifier(node: Node) -> bool:
    return node.type in ("import_specifier", "export_specifier")


def specified(draft: Draft, node: Node) -> ImportedName:
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    imported = string(draft, name)
    return ImportedName(imported, string(draft, alias) if alias is not None else imported)


def required(draft: Draft, node: Node | None) -> tuple[str, bool]:
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
        return string(draft, first), True
    return "", False


def returns_of(draft: Draft, node: Node) -> Paths:
    declared = node.child_by_field_name("return_type")
    return type_of(draft, declared) if declared is not None else ()


def type_of(draft: Draft, node: Node) -> Paths:
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


def bind_required(draft: Draft, node: Node, name: Node, module: str, scope: int) -> None:
    names: list[ImportedName] = []
    if name.type == "identifier":
        names = [ImportedName("", draft.text(name))]
    elif name.type == "object_pattern":
        for part in name.named_children:
            key = part.child_by_field_name("key")
            if part.type == "shorthand_property_identifier_pattern":
                names.append(ImportedName(draft.text(part), draft.text(part)))
            elif key is not None:
                names.append(ImportedName(string(draft, key), draft.text(part.child_by_field_name("value"))))
    draft.import_(node, scope, module, names)


def unpack(draft: Draft, pattern: Node, value: Node | None, scope: int, at: int) -> None:
    """`const { a, b: c } = value`."""
    of = draft.path_of(value) if value is not None else UNKNOWN
    if pattern.type != "object_pattern":
        bind_all(draft, pattern, scope)
        return
    for part in pattern.named_children:
        key, target = part.child_by_field_name("key"), part.child_by_field_name("value")
        if part.type == "shorthand_property_identifier_pattern":
            draft.bind(scope, draft.text(part), ((*of, draft.text(part)),), at)
        elif key is not None and target is not None and target.type == "identifier":
            draft.bind(scope, draft.text(target), ((*of, string(draft, key)),), at)
        else:
            bind_all(draft, part, scope)


def bind_all(draft: Draft, node: Node | None, scope: int) -> None:
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


def has_functions(node: Node) -> bool:
    return node.type == "object" and any(
        child.type == "method_definition" or (field_of(child, "value") or node).type in FUNCTIONS
        for child in node.named_children
    )


_COMPONENTS = frozenset({"memo", "forwardRef", "React.memo", "React.forwardRef"})


def wrapped_in(draft: Draft, value: Node) -> Node | None:
    """The component that `memo(() => ...)` is made of."""
    given = value.child_by_field_name("arguments") if value.type == "call_expression" else None
    if given is None or draft.text(value.child_by_field_name("function")) not in _COMPONENTS:
        return None
    first = next(iter(given.named_children), None)
    return first if first is not None and first.type in FUNCTIONS else None


def block(draft: Draft, node: Node, scope: int) -> Todo:
    return inside(node, draft.scope(scope))


def for_in(draft: Draft, node: Node, scope: int) -> Todo:
    inner = draft.scope(scope)
    bind_all(draft, node.child_by_field_name("left"), inner)
    return inside(node, inner)


def catch(draft: Draft, node: Node, scope: int) -> Todo:
    inner = draft.scope(scope)
    bind_all(draft, node.child_by_field_name("parameter"), inner)
    return inside(node, inner)


def namespace(draft: Draft, node: Node, scope: int) -> Todo:
    name = string(draft, node.child_by_field_name("name"))
    body = node.child_by_field_name("body")
    number = draft.define(node, scope, name, "module", body=body)
    return inside(body, draft.definitions[number].body) if body is not None else []


def type_name(draft: Draft, node: Node, scope: int) -> Todo:
    number = draft.define(node, scope, draft.text(node.child_by_field_name("name")), "class")
    return inside(node, draft.definitions[number].body)
