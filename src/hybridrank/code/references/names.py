"""Reads the other languages by name: which module a statement names, what a call calls, what is defined."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..symbols import Symbol
from .facts import CallFact, Definition, Facts, ImportFact, Path, Scope

if TYPE_CHECKING:
    from tree_sitter import Node

_TEXT = 300
_GENERIC = re.compile(r"::<[^()]*>|<[^<>()]*>|\[[^\[\]()]*\]")
_JOINT = re.compile(r"\?\.|!!\.|->|::|[.:\\]")
_WORD = re.compile(r"[$@]?[^\W\d]\w*[?!]?")
_KEYWORDS = re.compile(
    r"^(?:pub(?:\([^)]*\))?\s+|global\s+|extern\s+crate\s+|import\s+|using\s+|use\s+|static\s+|qualified\s+"
    r"|safe\s+|function\s+|const\s+|unsafe\s+|export\s+|mod\s+|typealias\s+|struct\s+|class\s+|enum\s+"
    r"|protocol\s+|let\s+|var\s+|func\s+)+"
)
_MODULE = re.compile(r"(?:\w+\s*=\s*)?((?:::)?[^\W\d][\w]*(?:\s*(?:\.|::|\\)\s*[\w*]+)*)")


@dataclass(frozen=True, slots=True)
class Names:
    """Where a grammar has names. Keys are kinds of nodes.

    Attributes:
        calls: the field of what is called, `""` for the first named child.
        objects: the field of what the called is a member of, for kinds that keep it apart.
        imports: the field of the module, `""` where it is in the text of the statement.
        importing: functions whose call with a text imports.
        defining: functions whose call defines something; what looks like a call of that is none.
    """

    calls: Mapping[str, str]
    objects: Mapping[str, str] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)
    importing: frozenset[str] = frozenset()
    defining: frozenset[str] = frozenset()


_C = Names({"call_expression": "function", "new_expression": "type"}, imports={"preproc_include": "path"})
NAMES: Mapping[str, Names] = {
    "bash": Names({"command": "name"}, importing=frozenset({"source", "."})),
    "c": _C,
    "cpp": _C,
    "csharp": Names(
        {"invocation_expression": "function", "object_creation_expression": "type"},
        imports={"using_directive": ""},
    ),
    "elixir": Names(
        {"call": "target"},
        importing=frozenset({"import", "alias", "use", "require"}),
        defining=frozenset(
            ("def", "defp", "defmacro", "defmacrop", "defmodule", "defstruct", "defguard", "defdelegate")
        ),
    ),
    "gdscript": Names(
        dict.fromkeys(("call", "attribute_call"), ""), importing=frozenset({"preload", "load"})
    ),
    "haskell": Names({"apply": "function"}, imports={"import": "module"}),
    "java": Names(
        {"method_invocation": "name", "object_creation_expression": "type"},
        {"method_invocation": "object"},
        {"import_declaration": ""},
    ),
    "kotlin": Names(dict.fromkeys(("call_expression", "constructor_invocation"), ""), imports={"import": ""}),
    "lua": Names({"function_call": "name"}, importing=frozenset({"require", "dofile"})),
    "php": Names(
        {
            **dict.fromkeys(("member_call_expression", "nullsafe_member_call_expression"), "name"),
            "scoped_call_expression": "name",
            "function_call_expression": "function",
            "object_creation_expression": "",
        },
        {
            **dict.fromkeys(("member_call_expression", "nullsafe_member_call_expression"), "object"),
            "scoped_call_expression": "scope",
        },
        {
            "namespace_use_clause": "",
            **dict.fromkeys(
                (
                    *("include_expression", "include_once_expression"),
                    *("require_expression", "require_once_expression"),
                ),
                "text",
            ),
        },
    ),
    "ruby": Names(
        {"call": "method"}, {"call": "receiver"}, importing=frozenset({"require", "require_relative", "load"})
    ),
    "rust": Names(
        {"call_expression": "function", "macro_invocation": "macro"},
        imports={"use_declaration": "", "extern_crate_declaration": "", "mod_item": ""},
    ),
    "scala": Names(
        {"call_expression": "function", "instance_expression": ""}, imports={"import_declaration": ""}
    ),
    "swift": Names({"call_expression": ""}, imports={"import_declaration": ""}),
    "zig": Names(
        dict.fromkeys(("call_expression", "builtin_function"), ""), importing=frozenset({"@import"})
    ),
}
_STRINGS = re.compile(r"[\"'`]([^\"'`\n]+)[\"'`]")


def read_names(root: Node, source: bytes, language: str, symbols: Sequence[Symbol]) -> Facts:
    """What a file says by names; its definitions are the symbols that are known of it."""
    names = NAMES[language]
    calls: list[CallFact] = []
    imports: list[ImportFact] = []
    definitions, scopes = _definitions(symbols)
    begins = [definition.line for definition in definitions]
    heads: set[int] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        kind = node.type
        called = _called(node, names, source) if kind in names.calls else ()
        if kind in names.imports or (called and called[-1] in names.importing):
            module = _module(node, names, source)
            if module:
                first, last = node.start_point.row + 1, node.end_point.row + 1
                imports.append(ImportFact(first, max(first, last), module, 0, (), False))
        elif called and called[-1] in names.defining:
            given = next((one for one in node.named_children if one.type == "arguments"), None)
            heads.update(one.id for one in (given.named_children[:1] if given is not None else ()))
        elif called and node.id not in heads:
            end = _callee(node, names)
            row, column = end.end_point if end is not None else node.start_point
            scope = _scope_at(definitions, begins, row + 1)
            calls.append(CallFact(row + 1, column, called[-1], called, scope))
        todo += reversed(node.named_children)
    return Facts(
        language, "", True, tuple(imports), tuple(definitions), tuple(scopes), (), tuple(sorted(calls))
    )


def _callee(node: Node, names: Names) -> Node | None:
    name = names.calls[node.type]
    return node.child_by_field_name(name) if name else next(iter(node.named_children), None)


def _called(node: Node, names: Names, source: bytes) -> Path:
    """The parts of what is called, `()` where it has no name."""
    callee = _callee(node, names)
    if callee is None:
        return ()
    text = _text(callee, source)
    of = node.child_by_field_name(names.objects.get(node.type, "")) if node.type in names.objects else None
    if text == "." or text.startswith("@"):
        return (text,)
    parts = [part.strip() for part in _JOINT.split(_GENERIC.sub("", text).strip("!"))]
    if not _WORD.fullmatch(parts[-1]):
        return ()
    if of is not None:
        parts = [*(part.strip() for part in _JOINT.split(_GENERIC.sub("", _text(of, source)))), *parts]
    plain = all(_WORD.fullmatch(part) for part in parts)
    return tuple(parts) if plain else ("<?>", parts[-1])


def _module(node: Node, names: Names, source: bytes) -> str:
    """The module that a statement names, `""` where it names none."""
    if node.type == "mod_item":
        return "" if node.child_by_field_name("body") else _text(node.child_by_field_name("name"), source)
    where = names.imports.get(node.type, "text")
    text = _text(node, source)
    if where and where != "text":
        text = _text(node.child_by_field_name(where), source)
        return text if text.startswith("<") else text.strip("\"'")
    quoted = _STRINGS.search(text)
    if where == "text" and quoted:
        return quoted[1].removeprefix("res://")
    if where == "text":
        words = text.split()  # source file.sh, import Some.Module
        return words[1].strip("(),\"'") if len(words) > 1 else ""
    found = _MODULE.match(_KEYWORDS.sub("", text.strip().rstrip(";")))
    return "".join(found[1].split()).removesuffix(".*").lstrip("\\") if found else ""


def _text(node: Node | None, source: bytes) -> str:
    if node is None:
        return ""
    end = min(node.end_byte, node.start_byte + _TEXT)
    return source[node.start_byte : end].decode("utf-8", "replace")


def _definitions(symbols: Sequence[Symbol]) -> tuple[list[Definition], list[Scope]]:
    definitions: list[Definition] = []
    scopes = [Scope(-1, -1, False)]
    open_: list[int] = []
    for number, symbol in enumerate(sorted(symbols, key=lambda one: (one.start_line, -one.end_line))):
        while open_ and definitions[open_[-1]].end_line < symbol.start_line:
            open_.pop()
        bound = definitions[open_[-1]].body if open_ else 0
        scopes.append(Scope(bound, number, symbol.kind == "class"))
        definitions.append(
            Definition(
                symbol.name,
                symbol.qualified_name,
                symbol.kind,
                symbol.start_line,
                symbol.end_line,
                bound,
                len(scopes) - 1,
                (),
                (),
                "",
                symbol.signature,
            )
        )
        open_.append(number)
    return definitions, scopes


def _scope_at(definitions: Sequence[Definition], begins: Sequence[int], line: int) -> int:
    """The scope of the innermost definition that a line is in."""
    number = bisect_right(begins, line) - 1
    while number >= 0 and definitions[number].end_line < line:
        number = _around(definitions, number)
    return definitions[number].body if number >= 0 else 0


def _around(definitions: Sequence[Definition], number: int) -> int:
    """The definition around one; bodies are numbered as definitions are, after the file's own scope."""
    return definitions[number].bound - 1
