"""What a row about a grammar cannot say with names of node kinds alone: small functions of one node."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from .grammar import Define, DefineOf, Import, ImportOf, NameOf, Text

if TYPE_CHECKING:
    from tree_sitter import Node

NO_NAMES = Import(names=())
"""Imports whose names are not told."""

_PARTS = re.compile(r"::|[.\\:]")


def always(_: Node) -> bool:
    return True


def split_name(node: Node, text: Text) -> tuple[str, ...]:
    """The parts of the name of a node, written with dots, colons or backslashes."""
    name = node.child_by_field_name("name")
    return tuple(_PARTS.split(text(name))) if name else ()


def named(name: str) -> NameOf:
    """The same name for all nodes of a kind, as for constructors."""
    return lambda _node, _text: (name,)


def with_field(field: str, rule: Define, otherwise: Define | None = None) -> DefineOf:
    """A rule for nodes that have a field, as bodies tell definitions from declarations."""
    return lambda node, _: rule if node.child_by_field_name(field) else otherwise


def with_child(kinds: set[str], rule: Define, otherwise: Define | None = None) -> DefineOf:
    """A rule for nodes that have a child of one of these kinds."""
    return lambda node, _: rule if child(node, *kinds) else otherwise


def child(node: Node, *kinds: str) -> Node | None:
    return next((c for c in node.children if c.type in kinds), None)


def calls(*names: str, field: str = "function") -> Callable[[Node, Text], bool]:
    """Whether a node is a call of one of these functions."""

    def test(node: Node, text: Text) -> bool:
        function = node.child_by_field_name(field)
        return (
            function is not None and function.end_byte - function.start_byte < 40 and text(function) in names
        )

    return test


def import_call(*names: str, field: str) -> ImportOf:
    """Calls that import."""
    test = calls(*names, field=field)
    return lambda node, text: NO_NAMES if test(node, text) else None


# JavaScript and TypeScript

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_CASTS = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression"})
_COMPONENTS = calls("memo", "forwardRef", "React.memo", "React.forwardRef")
_REQUIRE = calls("require", "import")


def _value_kind(value: Node | None, text: Text) -> str:
    """Whether a value is a function, a class or (as good as one) an object with functions; else `""`."""
    while value:
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


def js_binding(node: Node, text: Text) -> Define | None:
    """`const f = () => ...`, a class, or an object with functions."""
    declarator = child(node, "variable_declarator")
    kind = _value_kind(declarator.child_by_field_name("value"), text) if declarator else ""
    return Define(kind, js_binding_name, members=kind == "class") if kind else None


def js_binding_name(node: Node, text: Text) -> tuple[str, ...]:
    declarator = child(node, "variable_declarator")
    name = declarator.child_by_field_name("name") if declarator else None
    return (text(name),) if name else ()


def js_assignment(node: Node, text: Text) -> Define | None:
    """`exports.f = function ...`; what `module.exports` itself is set to stands for its own."""
    right = node.child_by_field_name("right")
    kind = _value_kind(right, text)
    if not kind or (right and right.type == "object" and js_assigned_name(node, text) == ("exports",)):
        return None
    left = node.child_by_field_name("left")
    if kind == "function" and left and ".prototype." in text(left):
        kind = "method"
    return Define(kind, js_assigned_name, members=kind == "class")


def js_assigned_name(node: Node, text: Text) -> tuple[str, ...]:
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


def js_default(node: Node, text: Text) -> Define | None:
    """`export default () => ...`."""
    kind = _value_kind(node.child_by_field_name("value"), text)
    return Define(kind, named("")) if kind == "function" else None


def js_member(field: str) -> DefineOf:
    """`name: function ...` in an object, `name = () => ...` in a class."""

    def rule(node: Node, text: Text) -> Define | None:
        kind = _value_kind(node.child_by_field_name("value"), text)
        name = _js_key(field)
        return Define(kind, name, members=kind == "class") if kind else None

    return rule


def _js_key(field: str) -> NameOf:
    def name(node: Node, text: Text) -> tuple[str, ...]:
        key = node.child_by_field_name(field)
        return (text(key).strip("'\"`"),) if key else ()

    return name


js_key_name = _js_key("name")


def js_module_name(node: Node, text: Text) -> tuple[str, ...]:
    name = node.child_by_field_name("name")
    if name is None:
        return ()
    return (text(name).strip("'\""),) if name.type == "string" else tuple(text(name).split("."))


def js_require(node: Node, text: Text) -> Import | None:
    """`const x = require("x")`."""
    declarator = child(node, "variable_declarator")
    value = declarator.child_by_field_name("value") if declarator else None
    return NO_NAMES if value and value.type == "call_expression" and _REQUIRE(value, text) else None


# Go


def go_method_name(node: Node, text: Text) -> tuple[str, ...]:
    """`Server.Start` of `func (s *Server) Start()`."""
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    declared = child(receiver, "parameter_declaration") if receiver else None
    kind = declared.child_by_field_name("type") if declared else None
    while kind and kind.type in ("pointer_type", "generic_type", "parenthesized_type"):
        kind = kind.child_by_field_name("type") or kind.named_children[0]
    return (text(kind) if kind else "", text(name) if name else "")


# Rust


def rust_impl_name(node: Node, text: Text) -> tuple[str, ...]:
    """`Circle` of `impl<T> Display for Circle<T>`."""
    found = node.child_by_field_name("type")
    while found and (inside := found.child_by_field_name("type") or found.child_by_field_name("trait")):
        found = inside
    name = (found.child_by_field_name("name") or found) if found else None
    return (text(name),) if name else ()


# C and C++

_BODIED = frozenset({"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"})


def c_name(node: Node, text: Text) -> tuple[str, ...]:
    """What a declarator declares, inside pointers, references, arrays and parameters."""
    found: Node | None = node.child_by_field_name("declarator")
    while found:
        inside = found.child_by_field_name("declarator") if found.type != "operator_cast" else None
        if inside is None and found.type.endswith("_declarator"):
            inside = next((c for c in found.named_children if not c.type.startswith("ms_")), None)
        if inside is None:
            break
        found = inside
    return cpp_parts(found, text) if found else ()


def cpp_name(node: Node, text: Text) -> tuple[str, ...]:
    """The name of a class or namespace, without template arguments."""
    name = node.child_by_field_name("name")
    return cpp_parts(name, text) if name else ()


def cpp_parts(node: Node, text: Text) -> tuple[str, ...]:
    """`ns`, `Circle` and `area` of `ns::Circle<T>::area`."""
    parts: list[str] = []
    todo: list[Node | None] = [node]
    while todo:
        found = todo.pop()
        if found is None:
            continue
        kind = found.type
        if kind == "qualified_identifier":
            todo += [found.child_by_field_name("name"), found.child_by_field_name("scope")]
        elif kind in ("template_type", "template_function", "template_method", "dependent_name"):
            todo.append(found.child_by_field_name("name") or next(iter(found.named_children), None))
        elif kind == "operator_cast":
            cast = found.child_by_field_name("type")
            parts.append(f"operator {text(cast)}" if cast else "operator")
        elif kind == "operator_name":
            parts.append(operator_name(text(found).removeprefix("operator")))
        else:
            parts += (part.strip() for part in text(found).split("::"))
    return tuple(parts)


def operator_name(symbol: str) -> str:
    """`operator==`, `operator new`."""
    symbol = " ".join(symbol.split())
    return f"operator {symbol}" if symbol[:1].isalpha() else "operator" + symbol.replace(" ", "")


_C_FUNCTION = Define("function", c_name)
_C_METHOD = Define("method", c_name)


def c_function(node: Node, text: Text) -> Define | None:
    """A function; or a class that looks like one because of a macro before its name."""
    kind, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    if declarator is None:
        return None
    if (
        kind
        and kind.type in _BODIED
        and kind.child_by_field_name("body") is None
        and declarator.type in _NAMES
    ):
        return Define("class", c_name, members=True)
    name = c_name(node, text)
    if kind is None and len(name) == 1 and name[0].isupper() and _c_test_name(node, text):
        return _C_TEST
    return _C_METHOD if len(name) > 1 else _C_FUNCTION


def _c_test_name(node: Node, text: Text) -> tuple[str, ...]:
    """`suite.name` of `TEST(suite, name) {...}`."""
    declarator = node.child_by_field_name("declarator")
    parameters = declarator.child_by_field_name("parameters") if declarator else None
    words = tuple(text(p) for p in parameters.named_children) if parameters else ()
    return words if all(word.isidentifier() for word in words) else ()


_C_TEST = Define("function", _c_test_name)
_NAMES = frozenset({"identifier", "template_function", "qualified_identifier"})


def c_specifier(node: Node, _: Text) -> Define | None:
    """A struct, union, enum or class that has its name and its body here."""
    return _C_CLASS if node.child_by_field_name("body") and node.child_by_field_name("name") else None


_C_CLASS = Define("class", cpp_name, members=True)

_MACRO = rb"[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?"
_MACROS = re.compile(
    # `class API Name final : Base {`
    rb"(?<=class |truct |union )(?:"
    + _MACRO
    + rb"[ \t]+)+(?=[A-Za-z_]\w*(?:<[^;{}\n]*>)?\s*(?:final\s*)?(?:\{|:[^:]))"
    # a line of its own that is neither a function's name nor the end of a statement
    rb"|^" + _MACRO + rb"[ \t]*$(?!\s*[({:;=,?])",
    re.MULTILINE,
)


def without_macros(source: bytes) -> bytes:
    """Blank out macros that stand where no grammar expects a word; their names are in capitals."""
    return _MACROS.sub(lambda found: b" " * len(found[0]), source)


# Ruby


def ruby_assignment(node: Node, text: Text) -> Define | None:
    """`Point = Struct.new(:x) do ... end`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or left.type != "constant" or right is None or right.type != "call":
        return None
    receiver, method = right.child_by_field_name("receiver"), right.child_by_field_name("method")
    if receiver is None or method is None:
        return None
    made = (text(receiver).removeprefix("::"), text(method))
    return _RUBY_CLASS if made in _RUBY_MADE else None


_RUBY_CLASS = Define("class", ("left",), members=True)
_RUBY_MADE = {("Struct", "new"), ("Class", "new"), ("Module", "new"), ("Data", "define")}


def ruby_call(node: Node, text: Text) -> Define | None:
    """`define_method(:name) { ... }`."""
    method = node.child_by_field_name("method")
    if method is None or text(method) not in ("define_method", "define_singleton_method"):
        return None
    return Define("function", _ruby_symbol) if _ruby_symbol(node, text) else None


def _ruby_symbol(node: Node, text: Text) -> tuple[str, ...]:
    arguments = node.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    return (text(first)[1:],) if first and first.type == "simple_symbol" else ()


# Kotlin, Swift


def kotlin_property_name(node: Node, text: Text) -> tuple[str, ...]:
    declared = child(node, "variable_declaration")
    name = child(declared, "identifier") if declared else None
    return (text(name),) if name else ()


SWIFT_CLASS = Define("class", members=True)
SWIFT_EXTENSION = Define("class_body", split_name, members=True)


def swift_class(node: Node, _: Text) -> Define | None:
    return SWIFT_EXTENSION if child(node, "extension") else SWIFT_CLASS


# Lua


def lua_function(node: Node, text: Text) -> Define | None:
    name = node.child_by_field_name("name")
    return _LUA_METHOD if name and name.type == "method_index_expression" else _LUA_DECLARED


def _lua_declared_name(node: Node, text: Text) -> tuple[str, ...]:
    name = node.child_by_field_name("name")
    return _lua_parts(name, text) if name else ()


_LUA_METHOD = Define("method", _lua_declared_name)
_LUA_DECLARED = Define("function", _lua_declared_name)


def lua_assignment(node: Node, text: Text) -> Define | None:
    """`M.f = function() ... end`, or a table of functions."""
    values = child(node, "expression_list")
    first = next(iter(values.named_children), None) if values else None
    if first is None:
        return None
    if first.type == "table_constructor" and any(map(_lua_holds_function, first.named_children)):
        return _LUA_TABLE
    return _LUA_FUNCTION if first.type == "function_definition" else None


def lua_field(node: Node, _: Text) -> Define | None:
    """`f = function() ... end` in a table."""
    return Define("function", lua_field_name) if _lua_holds_function(node) else None


def lua_field_name(node: Node, text: Text) -> tuple[str, ...]:
    name = node.child_by_field_name("name")
    return (text(name).strip("'\""),) if name else ()


def _lua_holds_function(node: Node) -> bool:
    value = node.child_by_field_name("value")
    return value is not None and value.type == "function_definition"


def _lua_assigned_name(node: Node, text: Text) -> tuple[str, ...]:
    targets = child(node, "variable_list")
    name = next(iter(targets.named_children), None) if targets else None
    return _lua_parts(name, text) if name else ()


def _lua_parts(node: Node, text: Text) -> tuple[str, ...]:
    """The parts of `M.x.f`, `M:f` or `M["f"]`."""
    parts: list[str] = []
    found: Node | None = node
    while found and (table := found.child_by_field_name("table")):
        last = found.child_by_field_name("field") or found.child_by_field_name("method")
        parts.append(text(last).strip("'\"") if last else "")
        found = table
    return (text(found) if found else "", *reversed(parts))


_LUA_FUNCTION = Define("function", _lua_assigned_name)
_LUA_TABLE = Define("class", _lua_assigned_name, members=True)


def lua_require(node: Node, text: Text) -> Import | None:
    """`local x = require("x")`."""
    return NO_NAMES if re.search(r"=\s*require\b", text(node)[:200]) else None


# Haskell


def haskell_name(node: Node, text: Text) -> tuple[str, ...]:
    """The name of an equation or signature; operators without parentheses or back quotes."""
    found: Node | None = node
    if node.type in ("pattern_synonym", "foreign_import"):
        found = child(node, "signature", "equation") or node
    name = found.child_by_field_name("name") or found.child_by_field_name("synonym") if found else None
    if name is None and found:
        several = found.child_by_field_name("names")
        infix = child(found, "infix")
        if several:
            name = several.child_by_field_name("name")
        elif infix:
            name = infix.child_by_field_name("operator")
    return (text(name).strip("()`"),) if name else ()


def haskell_instance_name(node: Node, text: Text) -> tuple[str, ...]:
    """`HasArea Shape` of `instance HasArea Shape where`."""
    name, types = node.child_by_field_name("name"), node.child_by_field_name("patterns")
    return (" ".join(text(n) for n in (name, types) if n),)


# Elixir

_ELIXIR_MODULES = frozenset({"defmodule", "defprotocol", "defimpl"})
_ELIXIR_FUNCTIONS = frozenset(
    {"def", "defp", "defmacro", "defmacrop", "defdelegate", "defguard", "defguardp", "defn", "defnp"}
)
_ELIXIR_IMPORTS = frozenset({"alias", "import", "require", "use"})


def elixir_call(node: Node, text: Text) -> Define | None:
    target = node.child_by_field_name("target")
    if target is None or target.type != "identifier":
        return None
    word = text(target)
    if word in _ELIXIR_MODULES:
        return _ELIXIR_MODULE
    return _ELIXIR_FUNCTION if word in _ELIXIR_FUNCTIONS and _elixir_head(node) else None


def _elixir_module_name(node: Node, text: Text) -> tuple[str, ...]:
    """`Shape.Shapes.Circle` of `defimpl Shape, for: Shapes.Circle`."""
    arguments = child(node, "arguments")
    named = [n for n in arguments.named_children if n.type == "alias"] if arguments else []
    keywords = child(arguments, "keywords") if arguments else None
    if keywords and named:
        pairs = [p.child_by_field_name("value") for p in keywords.named_children]
        named += [p for p in pairs if p and p.type == "alias"]
    return tuple(part for n in named for part in text(n).split("."))


def _elixir_head(node: Node) -> Node | None:
    """`area(x)` of `def area(x) when is_number(x), do: x`."""
    arguments = child(node, "arguments")
    head = arguments.named_children[0] if arguments and arguments.named_children else None
    if head and head.type == "binary_operator" and child(head, "when"):
        head = head.child_by_field_name("left")
    return head


def _elixir_name(node: Node, text: Text) -> tuple[str, ...]:
    head = _elixir_head(node)
    if head is None:
        return ()
    name = head.child_by_field_name("target") or head.child_by_field_name("operator") or head
    return (text(name),)


def _elixir_arity(node: Node) -> int:
    head = _elixir_head(node)
    if head is None:
        return -1
    if head.type == "binary_operator":
        return 2
    arguments = child(head, "arguments")
    return 1 + (arguments.named_child_count if arguments else 0)


_ELIXIR_MODULE = Define("module", _elixir_module_name, members=True)
_ELIXIR_FUNCTION = Define("function", _elixir_name, one_with=_elixir_arity)


def elixir_import(node: Node, text: Text) -> Import | None:
    target = node.child_by_field_name("target")
    return NO_NAMES if target and text(target) in _ELIXIR_IMPORTS else None


# Zig

_ZIG_TYPES = ("struct_declaration", "enum_declaration", "union_declaration", "opaque_declaration")


def zig_variable(node: Node, _: Text) -> Define | None:
    """`const Circle = struct {...}`."""
    if child(node, *_ZIG_TYPES):
        return Define("class", _zig_name, members=True)
    return Define("class", _zig_name) if child(node, "error_set_declaration") else None


def _zig_name(node: Node, text: Text) -> tuple[str, ...]:
    name = child(node, "identifier", "string")
    return (text(name).strip('"'),) if name else ()


ZIG_TEST = Define("function", _zig_name)


def zig_import(node: Node, text: Text) -> Import | None:
    return NO_NAMES if child(node, "builtin_function") and "@import" in text(node) else None


# Markdown


def markdown_heading(node: Node, _: Text) -> Define | None:
    """A heading; its section lasts to the next of its rank or a higher one."""
    marker = next((c.type for c in node.children if c.type.endswith(("_marker", "_underline"))), "")
    rank = next((int(c) for c in marker if c.isdigit()), 6)
    return Define("section", _markdown_name, rank=rank)


def _markdown_name(node: Node, text: Text) -> tuple[str, ...]:
    content = node.child_by_field_name("heading_content")
    return (text(content).strip("# \t"),) if content else ()


# C#, PHP


def namespace(node: Node, _: Text) -> Define | None:
    """A namespace, of a whole file where it has no body."""
    return _NAMESPACE if node.child_by_field_name("body") else _FILE_NAMESPACE


def csharp_operator_name(node: Node, text: Text) -> tuple[str, ...]:
    found = node.child_by_field_name("operator") or node.child_by_field_name("type")
    return (operator_name(text(found) if found else ""),)


def csharp_destructor_name(node: Node, text: Text) -> tuple[str, ...]:
    name = node.child_by_field_name("name")
    return (f"~{text(name)}",) if name else ()


def csharp_property(node: Node, _: Text) -> Define | None:
    """A property that runs code."""
    accessors = node.child_by_field_name("accessors")
    if accessors is None:
        return Define("method") if child(node, "arrow_expression_clause") else None
    has_code = any(child(a, "block", "arrow_expression_clause") for a in accessors.named_children)
    return Define("method") if has_code else None


_NAMESPACE = Define("module", split_name, members=True)
_FILE_NAMESPACE = Define("module", split_name, rank=1)
