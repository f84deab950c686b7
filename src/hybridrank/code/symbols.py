"""What is defined where: one value a definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from ..errors import InvalidValueError
from ..types import Document, tie_key

SYMBOL_KINDS = ("function", "method", "class", "module")
"""Kinds of symbols; `module` is a namespace that has a name, not the file."""

MAX_SIGNATURE = 200
"""Characters of a signature; longer ones are cut and end in `…`."""

_JOINT = re.compile(r"::|[.#\\]|->")


@dataclass(frozen=True, slots=True, order=True)
class Symbol:
    """A definition. Symbols sort by path, lines, qualified name.

    Attributes:
        path: of the file, relative to the root, with forward slashes.
        start_line: the line that the definition proper begins on, below its decorators and comments;
            1-based.
        end_line: its last line, members included; inclusive.
        qualified_name: the name with those of all that it stands in, joined by dots in every language
            (`Client.send`, `outer.inner`).
        name: the last part.
        kind: function, method, class or module (a namespace).
        language: name of the language.
        parent: the qualified name of what it stands in, `""` at the top level. That may be defined in another
            file, as for methods of Go and C++.
        signature: from `start_line` to the body, white space folded, at most `MAX_SIGNATURE` characters.
    """

    path: str
    start_line: int
    end_line: int
    qualified_name: str
    name: str
    kind: str
    language: str = ""
    parent: str = ""
    signature: str = ""


class SymbolName(NamedTuple):
    """A name as someone asks for it: its last part, what that stands in, whether it is only a beginning."""

    raw: str
    name: str
    container: str
    prefix: bool

    @classmethod
    def of(cls, text: str) -> Self:
        """Read `name`, `Class.name`, `Class::name`, `name*`, `name()`, and `*` for all.

        Raises:
            InvalidValueError: it is blank.
        """
        raw = text.strip()
        if len(raw) > 2:
            raw = raw.removesuffix("()")
        if not raw:
            raise InvalidValueError(f"the name of a symbol is {text!r}; give one, or its beginning: parse*")
        prefix = raw == "*" or (raw[-1] == "*" and (raw[-2].isalnum() or raw[-2] in "_.:#"))
        parts = [part.strip() for part in _JOINT.split(raw[:-1] if prefix else raw)]
        return cls(raw, parts[-1], ".".join(filter(None, parts[:-1])), prefix)

    def fits(self, symbol: Symbol, fold: bool = False) -> bool:
        """Whether a symbol has that name; `fold` ignores case."""
        texts = (symbol.name, symbol.parent, self.name, self.container, self.raw)
        name, parent, wanted, container, raw = (text.casefold() for text in texts) if fold else texts
        if name == raw:
            return True
        named = name.startswith(wanted) if self.prefix else name == wanted
        return named and (not container or parent == container or parent.endswith(f".{container}"))


def signature_of(text: str) -> str:
    """A signature on one line, cut where it is too long."""
    folded = " ".join(text[: 4 * MAX_SIGNATURE].split()).removesuffix("{").rstrip()
    return folded if len(folded) <= MAX_SIGNATURE else folded[: MAX_SIGNATURE - 1].rstrip() + "…"


def symbols_of(documents: Iterable[Document]) -> tuple[Symbol, ...]:
    """The symbols that documents tell of by kind, name and lines, sorted; those inside functions are unknown.

    Lines are those of the documents, so comments above a definition count; a class ends with the last
    document that bears its name or that of a member. A definition that was cut into pieces is one symbol.
    """
    made: list[Symbol] = []
    open_: list[tuple[int, str]] = []
    path = ""
    for document in sorted(documents, key=tie_key):
        if document.path != path:
            open_, path = [], document.path
        qualified = document.qualified_name or document.name
        while open_ and not _is_in(qualified, open_[-1][1]):
            open_.pop()
        for place, _ in open_:
            made[place] = _until(made[place], document.end_line)
        if document.kind not in SYMBOL_KINDS or not document.name:
            continue
        if any(name == qualified and made[place].kind == document.kind == "module" for place, name in open_):
            continue  # what else stands in a namespace bears its name and kind
        parent = qualified[: -len(document.name)].rstrip(".") if qualified.endswith(document.name) else ""
        open_.append((len(made), qualified))
        made.append(
            Symbol(
                document.path,
                document.start_line,
                document.end_line,
                qualified,
                document.name,
                document.kind,
                document.language,
                parent,
                signature_of(_line_with(document.text, document.name)),
            )
        )
    return tuple(sorted(made))


def _is_in(name: str, container: str) -> bool:
    return name == container or name.startswith(f"{container}.")


def _until(symbol: Symbol, end: int) -> Symbol:
    return symbol if end <= symbol.end_line else replace(symbol, end_line=end)


def _line_with(text: str, name: str) -> str:
    lines: Sequence[str] = text.splitlines()
    return next((line for line in lines if name in line), lines[0] if lines else "")
