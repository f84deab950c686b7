"""What a name may stand for, and the names of a file."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .references.facts import ALL, TOP, Binding, Facts
from .references.facts import UNKNOWN as UNKNOWN_PATH

VAGUE = frozenset({"typing", "typing_extensions", "collections.abc", "types", "builtins.object"})
_GO = """
append cap clear close complex copy delete imag len make max min new panic print println real recover
bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
uint uint8 uint16 uint32 uint64 uintptr any comparable
"""
_JAVASCRIPT = """
Array ArrayBuffer BigInt Boolean Buffer DataView Date Error EvalError Float32Array Float64Array Function
Int8Array Int16Array Int32Array Intl JSON Map Math Number Object Promise Proxy RangeError ReferenceError
Reflect RegExp Set String Symbol SyntaxError TypeError URIError Uint8Array Uint16Array Uint32Array
WeakMap WeakRef WeakSet AbortController Blob Event EventTarget FormData Headers Request Response URL
URLSearchParams TextDecoder TextEncoder Worker WebSocket alert atob btoa clearInterval clearTimeout
console decodeURI decodeURIComponent document encodeURI encodeURIComponent eval fetch globalThis
isFinite isNaN localStorage navigator parseFloat parseInt process queueMicrotask requestAnimationFrame
require sessionStorage setImmediate setInterval setTimeout structuredClone window import
"""
EXTERNAL_NAMES: Mapping[str, frozenset[str]] = {
    "python": frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__path__", "reveal_type"},
    "go": frozenset(_GO.split()),
    "javascript": frozenset(_JAVASCRIPT.split()),
}
"""What is there without being imported, where nothing else has the name."""


class Value(NamedTuple):
    """What a name may stand for.

    Attributes:
        kind: `module`, `definition`, `instance` of a class, `super` of one, `external`, `unknown`.
        path: of the file of a definition; the place of a module; the name of what is external.
        number: of the definition in its file.
        receiver: what a method was taken of.
    """

    kind: str
    path: str = ""
    number: int = -1
    receiver: tuple[str, int] | None = None


UNKNOWN = Value("unknown")
Values = tuple[Value, ...]


class File:
    """The facts of a file, by name."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.language = "javascript" if facts.language in ("typescript", "tsx") else facts.language
        self._named: dict[tuple[int, str], Sequence[Binding]] = {}
        self.names: dict[tuple[int, str], list[Binding]] = {}
        for binding in facts.bindings:
            self.names.setdefault((binding.scope, binding.name), []).append(binding)

    def named(self, scope: int, name: str) -> Sequence[Binding]:
        """What a scope binds a name to; of several definitions there the last counts, but for overloads."""
        key = (scope, name)
        if key not in self._named:
            self._named[key] = self._counting(self.names.get(key, ()))
        return self._named[key]

    def class_around(self, scope: int) -> int:
        """The definition of the class around a scope, -1 where there is none."""
        scopes = self.facts.scopes
        while scope >= 0:
            if scopes[scope].members:
                return scopes[scope].definition
            scope = scopes[scope].parent
        return -1

    def hands_on(self, name: str) -> bool:
        """Whether `from module import *` of Python binds a name: those in `__all__`, or all without `_`."""
        told = self.names.get((TOP, ALL))
        if told is None:
            return name[:1] != "_"
        listed = [path for one in told for path in one.paths]
        return UNKNOWN_PATH in listed or any(name in names for names in listed)

    def _counting(self, found: Sequence[Binding]) -> Sequence[Binding]:
        defined = [binding for binding in found if binding.how == "definition"]
        if len(defined) > 1:
            whole = [
                one for one in defined if self.facts.definitions[one.number].role != "overload"
            ] or defined
            return [binding for binding in found if binding.how != "definition" or binding is whole[-1]]
        return found


def linear(
    start: tuple[str, int], bases: Mapping[tuple[str, int], Sequence[tuple[str, int]]]
) -> list[tuple[str, int]]:
    """A class before its bases, those in their order; a class that inherits from itself does so once."""
    done: list[tuple[str, int]] = []
    seen = {start}
    todo: list[tuple[tuple[str, int], bool]] = [(start, False)]
    while todo:
        one, finished = todo.pop()
        if finished:
            done.append(one)
            continue
        if one != start and one in seen:
            continue
        seen.add(one)
        todo.append((one, True))
        todo += [(base, False) for base in bases[one] if base not in seen]
    return done[::-1]
