"""Reads `__all__`, which says what `from module import *` of Python binds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draft import Draft
from .facts import ALL, TOP, UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_LISTS = frozenset({"list", "tuple", "set", "parenthesized_expression", "expression_list", "binary_operator"})


def listed(draft: Draft, target: Node | None, value: Node | None, scope: int) -> None:
    """Note what a module gives `__all__`: each name that is written out, and whether there may be others.

    Lists of several branches count together, since it is not known which one is taken.
    """
    if scope != TOP or value is None or draft.text(target) != "__all__":
        return
    todo = [value]
    names: list[str] = []
    while todo:
        one = todo.pop()
        if one.type in _LISTS:
            todo += [child for child in one.named_children if child.type != "comment"]
        elif one.type == "string" and not any(part.type == "interpolation" for part in one.named_children):
            parts = [draft.text(part) for part in one.named_children if part.type == "string_content"]
            names.append("".join(parts))
        else:
            draft.bind(TOP, ALL, (UNKNOWN,))
    draft.bind(TOP, ALL, (tuple(sorted(names)),))


def listed_by_call(draft: Draft, call: Node, scope: int) -> None:
    """`__all__.extend(names)`, `__all__.append(name)`."""
    function, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is not None and draft.text(function) in ("__all__.extend", "__all__.append"):
        for value in given.named_children if given is not None else ():
            listed(draft, function.child_by_field_name("object"), value, scope)
