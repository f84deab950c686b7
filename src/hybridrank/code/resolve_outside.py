"""What is known of values from outside of a repository: builtins, literals, packages that are not in it."""

from __future__ import annotations

import builtins

from .resolve_values import Value, Values

_ELEMENTS = frozenset(
    {"<list>", "<tuple>", "<dict>", "<set>", "<array>", "<object>", "<plain>", "<func>", "<literal>"}
    | {
        f"builtins.{name}"
        for name in ("list", "tuple", "dict", "set", "frozenset", "Array", "Map", "Set", "Object")
    }
)
_ANYTHING = frozenset(
    f"builtins.{name}"
    for name in (
        *("next", "getattr", "min", "max", "iter", "reversed", "enumerate", "zip", "map", "filter", "sorted"),
        *("sum", "vars", "eval", "type", "new", "append", "recover", "structuredClone", "Object.assign"),
        *("Object.freeze", "Object.values", "Object.entries", "Object.create", "Promise.resolve"),
    )
)


def is_head(path: str) -> bool:
    """Whether it is a literal or the like, which has a type but no name."""
    return path[:1] == "<" and path[-1:] == ">"


def gives_anything(path: str) -> bool:
    """Whether a call of what is external may give something of the repository: an element, an argument."""
    return path in _ANYTHING or is_head(path) or path.rpartition(".")[0] in _ELEMENTS


def holds_anything(path: str) -> bool:
    """Whether the parts of what is external may be things of the repository."""
    return path in _ELEMENTS or path in _ANYTHING


def outside_member(value: Value, name: str) -> Values:
    """What a member of something from outside may be: from outside too."""
    type_of = getattr(builtins, value.path.strip("<>").rpartition(".")[2], None)
    of_builtins = value.path[:1] == "<" or value.path.startswith("builtins.")
    if of_builtins and isinstance(type_of, type) and not hasattr(type_of, name):
        return ()  # of several types that it may have, it is another one
    return (Value("external", f"{value.path}.{name}"),)
