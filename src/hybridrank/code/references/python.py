"""Reads Python: scopes, imports, what names are bound to, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .annotations import annotation, is_union
from .draft import Draft, Shapes, Todo, field_of, inside
from .facts import (
    CALLED,
    CLASS,
    INSTANCE,
    SELF,
    UNKNOWN,
    ImportedName,
    Path,
    Paths,
)
from .python_all import listed, listed_by_call

if TYPE_CHECKING:
    from tree_sitter import Node

SHAPES = Shapes(
    names=frozenset({"identifier"}),
    members={"attribute": ("object", "attribute")},
    calls={"call": "function"},
    through={"parenthesized_expression": "", "await": "", "named_expression": "value"},
    either={"conditional_expression": (0, 2), "boolean_operator": ("left", "right")},
    parts={"subscript": "value"},
    literals={
        **dict.fromkeys(("string", "concatenated_string"), "str"),
        **dict.fromkeys(("list", "list_comprehension"), "list"),
        **dict.fromkeys(("tuple", "expression_list"), "tuple"),
        **dict.fromkeys(("dictionary", "dictionary_comprehension"), "dict"),
        **dict.fromkeys(("set", "set_comprehension"), "set"),
        **dict.fromkeys(("true", "false"), "bool"),
        "integer": "int",
        "float": "float",
    },
    nothing=frozenset({"none"}),
)
_ROLES = {
    **dict.fromkeys(("property", "cached_property", "setter", "getter", "deleter"), "property"),
    "staticmethod": "static",
    "classmethod": "class",
    "overload": "overload",
}
_KEEPS_RESULT = frozenset(
    {"abstractmethod", "cache", "lru_cache", "override", "final", "wraps", "no_type_check"}
)
_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def _import(draft: Draft, node: Node, scope: int) -> Todo:
    for name in node.children_by_field_name("name"):
        alias = name.child_by_field_name("alias")
        module = _module(draft, name.child_by_field_name("name") if alias else name)
        bound = draft.text(alias) if alias else module.partition(".")[0]
        draft.import_(
            node, scope, module, (ImportedName("", bound),), reexport=bool(alias) and bound == module
        )
    return []


def _import_from(draft: Draft, node: Node, scope: int) -> Todo:
    module_node = node.child_by_field_name("module_name")
    level, module = 0, "__future__"
    if module_node is not None:
        module = _module(draft, module_node)
        level = len(module) - len(module.lstrip("."))
        module = module[level:]
    names = []
    for name in node.children_by_field_name("name"):
        alias = name.child_by_field_name("alias")
        imported = draft.text(name.child_by_field_name("name") if alias else name)
        names.append(ImportedName(imported, draft.text(alias) if alias else imported))
    if any(child.type == "wildcard_import" for child in node.named_children):
        names = [ImportedName("*", "")]
    in_package = draft.path.rpartition("/")[2] in ("__init__.py", "__init__.pyi")
    spelled_twice = any(
        name.child_by_field_name("alias") is not None and imported.name == imported.bound
        for name, imported in zip(node.children_by_field_name("name"), names, strict=False)
    )
    reexport = (in_package and scope == 0 and module != "__future__") or spelled_twice
    draft.import_(node, scope, module, names, level=level, reexport=reexport)
    return []


def _module(draft: Draft, node: Node | None) -> str:
    return "".join(draft.text(node).split())


def _decorated(draft: Draft, node: Node, scope: int) -> Todo:
    decorators = [child for child in node.named_children if child.type == "decorator"]
    names = []
    for decorator in decorators:
        said = next(iter(decorator.named_children), None)
        path = [part for part in draft.path_of(said) if part != CALLED] if said is not None else []
        names.append(path[-1] if path else "")
    definition = node.child_by_field_name("definition")
    further: Todo = [(decorator, scope) for decorator in decorators]
    if definition is not None and definition.type == "function_definition":
        return further + _function(draft, definition, scope, names)
    return further + ([(definition, scope)] if definition is not None else [])


def _function(draft: Draft, node: Node, scope: int, decorators: list[str] | None = None) -> Todo:
    decorators = decorators or []
    role = next((_ROLES[name] for name in decorators if name in _ROLES), "")
    in_class = draft.scopes[scope].members
    name = draft.text(node.child_by_field_name("name"))
    parameters = node.child_by_field_name("parameters")
    body = node.child_by_field_name("body")
    declared = node.child_by_field_name("return_type")
    returns = annotation(draft.text(declared)) if declared is not None else ()
    known = all(one in _KEEPS_RESULT or one in _ROLES for one in decorators)
    given = list(parameters.named_children) if parameters is not None else []
    bound_to: Path = SELF
    if in_class and role == "static":
        bound_to = ()
    elif role == "class" or name in _CLASS_METHODS:
        bound_to = CLASS
    if in_class and bound_to and given and given[0].type == "typed_parameter":
        # `def f(self: T) -> T` returns what it is called on.
        of_self = annotation(draft.text(given[0].child_by_field_name("type")))
        returns = tuple(SELF if path in of_self else path for path in returns)
    number = draft.define(
        node,
        scope,
        name,
        "method" if in_class else "function",
        body=body,
        returns=returns if known else (),
        role=role,
    )
    inner = draft.definitions[number].body
    further: Todo = [(declared, scope)] if declared is not None else []
    for place, parameter in enumerate(given):
        paths: Paths = (UNKNOWN,)
        named = parameter
        typed = parameter.child_by_field_name("type")
        if parameter.type == "typed_parameter":
            named = parameter.named_children[0]
        elif parameter.type in ("default_parameter", "typed_default_parameter"):
            named = parameter.child_by_field_name("name") or parameter
            value = parameter.child_by_field_name("value")
            further += [(value, scope)] if value is not None else []
        if typed is not None:
            paths = annotation(draft.text(typed))
            further.append((typed, scope))
        if named.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            paths = (("<tuple>" if named.type == "list_splat_pattern" else "<dict>",),)
            named = next(iter(named.named_children), named)
        elif place == 0 and in_class and bound_to:
            paths = (bound_to,)
            draft.receivers[inner, draft.text(named)] = scope
        if named.type == "identifier":
            draft.bind(inner, draft.text(named), paths)
    return further + ([(body, inner)] if body is not None else [])


def _class(draft: Draft, node: Node, scope: int) -> Todo:
    given = node.child_by_field_name("superclasses")
    bases = [child for child in given.named_children if child.type != "keyword_argument"] if given else []
    body = node.child_by_field_name("body")
    number = draft.define(
        node,
        scope,
        draft.text(node.child_by_field_name("name")),
        "class",
        body=body,
        bases=tuple(draft.path_of(base) for base in bases),
    )
    further: Todo = [(given, scope)] if given is not None else []
    return further + ([(body, draft.definitions[number].body)] if body is not None else [])


def _assignment(draft: Draft, node: Node, scope: int) -> Todo:
    left, typed = node.child_by_field_name("left"), node.child_by_field_name("type")
    right = node.child_by_field_name("right")
    value = right
    while value is not None and value.type == "assignment":
        value = value.child_by_field_name("right")
    listed(draft, left, value, scope)
    if left is not None:
        if typed is not None:
            paths = annotation(draft.text(typed))
            if draft.text(typed).rpartition(".")[2] in ("TypeAlias", "Final", "ClassVar"):
                paths = draft.paths(value)
            _bind_to(draft, left, scope, paths)
        elif value is not None and value.type == "subscript" and is_union(draft.text(value)):
            _bind_to(draft, left, scope, annotation(draft.text(value)))  # an alias of a type
        elif value is not None:
            _unpack(draft, left, value, scope)
    return [(part, scope) for part in (left, typed, right) if part is not None]


def _unpack(draft: Draft, left: Node, value: Node, scope: int) -> None:
    """Bind names, pairwise where both sides are written out."""
    todo = [(left, value)]
    while todo:
        left, value = todo.pop()
        if left.type not in _PATTERNS:
            _bind_to(draft, left, scope, draft.paths(value))
        elif value.type in ("expression_list", "tuple") and (
            len(left.named_children) == len(value.named_children)
            and not any("splat" in part.type for part in (*left.named_children, *value.named_children))
        ):
            todo += zip(left.named_children, value.named_children, strict=True)
        else:
            _bind_all(draft, left, scope)


_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})


def _augmented(draft: Draft, node: Node, scope: int) -> Todo:
    listed(draft, node.child_by_field_name("left"), node.child_by_field_name("right"), scope)
    return inside(node, scope)


def _bind_to(draft: Draft, target: Node, scope: int, paths: Paths) -> None:
    """Bind a name, or an attribute of `self`."""
    if target.type == "identifier":
        name = draft.text(target)
        draft.bind(_scope_of(draft, name, scope), name, paths, scope)
    elif target.type == "attribute":
        of = target.child_by_field_name("object")
        members = (
            _members_of(draft, draft.text(of), scope) if of is not None and of.type == "identifier" else -1
        )
        if members >= 0:
            draft.bind(members, draft.text(target.child_by_field_name("attribute")), paths, scope)


def _scope_of(draft: Draft, name: str, scope: int) -> int:
    """The scope that an assignment binds a name in: `global` and `nonlocal` say where."""
    return draft.redirected.get((scope, name), scope)


def _members_of(draft: Draft, name: str, scope: int) -> int:
    """The scope of the members of the class whose instance or self a name is, -1 if it is neither."""
    at = scope
    while at >= 0:
        given = draft.receivers.get((at, name))
        if given is not None:
            return given
        at = draft.scopes[at].parent
    return -1


def _bind_all(draft: Draft, node: Node | None, scope: int) -> None:
    """Bind all names in a pattern to what is not known."""
    todo = [node] if node is not None else []
    while todo:
        one = todo.pop()
        if one.type == "identifier":
            name = draft.text(one)
            draft.bind(_scope_of(draft, name, scope), name, (UNKNOWN,), scope)
        elif one.type not in ("attribute", "subscript", "call"):
            todo += one.named_children


def _for(draft: Draft, node: Node, scope: int) -> Todo:
    _bind_all(draft, node.child_by_field_name("left"), scope)
    return inside(node, scope)


def _named_expression(draft: Draft, node: Node, scope: int) -> Todo:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is not None and value is not None:
        _bind_to(draft, name, scope, draft.paths(value))
    return inside(node, scope)


def _except(draft: Draft, node: Node, scope: int) -> Todo:
    value = node.child_by_field_name("value")
    alias = field_of(value, "alias")
    if value is not None and alias is not None:
        caught = value.named_children[0]
        kinds = caught.named_children if caught.type == "tuple" else [caught]
        name = next(iter(alias.named_children), None)
        if name is not None and len(kinds) == 1:
            _bind_to(draft, name, scope, tuple((*path, INSTANCE) for path in draft.paths(kinds[0])))
        else:
            _bind_all(draft, alias, scope)
        return [(child, scope) for child in [*kinds, *node.named_children] if child != value]
    return inside(node, scope)


def _with_item(draft: Draft, node: Node, scope: int) -> Todo:
    value = node.child_by_field_name("value")
    alias = field_of(value, "alias")
    if value is None or alias is None:
        return inside(node, scope)
    manager = value.named_children[0]
    name = next(iter(alias.named_children), None)
    if name is not None and name.type in ("identifier", "attribute"):
        entered = tuple((*path, "__enter__", CALLED) for path in draft.paths(manager))
        _bind_to(draft, name, scope, entered)
    else:
        _bind_all(draft, alias, scope)
    return [(manager, scope)]


def _pattern(draft: Draft, node: Node, scope: int) -> Todo:
    """The names that a pattern of `case` captures."""
    todo = [node]
    while todo:
        one = todo.pop()
        if one.type == "dotted_name":
            if len(one.named_children) == 1:
                draft.bind(scope, draft.text(one), (UNKNOWN,))
        elif one.type == "identifier":
            draft.bind(scope, draft.text(one), (UNKNOWN,))
        elif one.type in ("class_pattern", "keyword_pattern"):
            todo += one.named_children[1:]
        else:
            todo += one.named_children
    return []


def _comprehension(draft: Draft, node: Node, scope: int) -> Todo:
    inner = draft.scope(scope)
    for clause in node.named_children:
        if clause.type == "for_in_clause":
            _bind_all(draft, clause.child_by_field_name("left"), inner)
    return inside(node, inner)


def _lambda(draft: Draft, node: Node, scope: int) -> Todo:
    inner = draft.scope(scope)
    parameters = node.child_by_field_name("parameters")
    further: Todo = []
    for parameter in parameters.named_children if parameters is not None else ():
        value = parameter.child_by_field_name("value")
        further += [(value, scope)] if value is not None else []
        _bind_all(draft, parameter.child_by_field_name("name") or parameter, inner)
    body = node.child_by_field_name("body")
    return further + ([(body, inner)] if body is not None else [])


def _elsewhere(draft: Draft, node: Node, scope: int) -> Todo:
    for name in node.named_children:
        text = draft.text(name)
        draft.redirected[scope, text] = 0 if node.type == "global_statement" else _outer(draft, text, scope)
    return []


def _outer(draft: Draft, name: str, scope: int) -> int:
    """The scope around in which a name is bound."""
    at = draft.scopes[scope].parent
    while at > 0 and ((at, name) not in draft.bound or draft.scopes[at].members):
        at = draft.scopes[at].parent
    return max(at, 0)


def _call(draft: Draft, node: Node, scope: int) -> Todo:
    listed_by_call(draft, node, scope)
    draft.call(node.child_by_field_name("function"), scope)
    return inside(node, scope)


_HANDLERS = {
    "import_statement": _import,
    "import_from_statement": _import_from,
    "future_import_statement": _import_from,
    "decorated_definition": _decorated,
    "function_definition": _function,
    "class_definition": _class,
    "assignment": _assignment,
    "augmented_assignment": _augmented,
    "named_expression": _named_expression,
    "for_statement": _for,
    "except_clause": _except,
    "with_item": _with_item,
    "case_pattern": _pattern,
    **dict.fromkeys(
        ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"),
        _comprehension,
    ),
    "lambda": _lambda,
    "global_statement": _elsewhere,
    "nonlocal_statement": _elsewhere,
    "call": _call,
}


def read(draft: Draft, root: Node) -> None:
    draft.walk(root, _HANDLERS)
