"""Calls, and the definitions that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .symbols import Symbol

CallState = Literal["resolved", "ambiguous", "external", "unresolved", "by-name"]
"""What is known of where a call leads.

`resolved`: to one definition of the repository. `ambiguous`: to one of several, or perhaps elsewhere.
`external`: out of the repository. `unresolved`: its name is all that is known. `by-name`: the language has no
resolver; the targets are all definitions of that name in it.
"""


@dataclass(frozen=True, slots=True, order=True)
class Call:
    """A call. Calls sort by path, line and column.

    Attributes:
        path: of the file that it stands in.
        line, column: where the name of what is called ends: 1-based, and bytes from the start of the line.
        caller: the qualified name of the innermost definition around; `""` at the top level of a file.
        caller_line: the line that this begins on; 0 at the top level.
        name: the last part of what is called.
        expression: what is called, as it is written, parts that are no names left out: `(…).send`.
        state: what is known of where it leads.
        targets: the definitions that it may lead to, sorted; one where it is resolved.
    """

    path: str
    line: int
    column: int
    caller: str
    caller_line: int
    name: str
    expression: str
    state: CallState
    targets: tuple[Symbol, ...] = ()


def written_path(path: Sequence[str]) -> str:
    """A path of names as it was written, what is no name as `(…)`."""
    text = ""
    for part in path:
        if part == "()":
            text += "()"
        elif part == "[]":
            text += "[…]"
        elif part != "@":
            shown = "(…)" if part[:1] == "<" else part
            text += f".{shown}" if text else shown
    return text
