"""C and C++."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import ALIAS, FUNCTION, NO_NAMES, each, operator_name

if TYPE_CHECKING:
    from tree_sitter import Node

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
    rb"|^" + _MACRO + rb"[ \t]*(?=\r?$)(?!\s*[({:;=,?])",
    re.MULTILINE,
)


def without_macros(source: bytes) -> bytes:
    """Blank out macros that stand where no grammar expects a word; their names are in capitals."""
    return _MACROS.sub(lambda found: b" " * len(found[0]), source)


C = Grammar(
    module="tree_sitter_c",
    definitions={
        "function_definition": c_function,
        "preproc_function_def": FUNCTION,
        **each(c_specifier, "struct_specifier", "union_specifier", "enum_specifier"),
        "type_definition": Define("class", c_name, inside=False),
    },
    wrappers=frozenset({"declaration"}),
    blocks=frozenset({"declaration_list", "compound_statement", "labeled_statement"}),
    through=frozenset(
        {
            *("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"),
            "linkage_specification",
        }
    ),
    imports={"preproc_include": NO_NAMES},
    prepare=without_macros,
)

CPP = replace(
    C,
    module="tree_sitter_cpp",
    definitions={
        **C.definitions,
        "class_specifier": c_specifier,
        **each(ALIAS, "alias_declaration", "concept_definition"),
        "namespace_definition": Define("module", cpp_name, members=True),
    },
    wrappers=C.wrappers | {"template_declaration", "friend_declaration", "field_declaration"},
    blocks=C.blocks | {"field_declaration_list"},
)
