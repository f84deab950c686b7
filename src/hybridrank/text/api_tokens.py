"""The strings of a text that name something of a program: calls, dotted names, constants, literals.

Nothing is parsed, so it works for code in any language and for prose about code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from .scripts import UNSPACED

Span: TypeAlias = tuple[int, int]

_LONGEST = 100
# An identifier does not run on into a script without spaces: 使用position.clamp限制.
_FIRST, _NEXT = rf"[^\W\d{UNSPACED}]", rf"[^\W{UNSPACED}]"
_JOINT = r"(?:\.|::|->|\?\.)"
_NAMES = re.compile(rf"(?<!{_NEXT})(@?)({_FIRST}{_NEXT}*(?:{_JOINT}{_FIRST}{_NEXT}*)*)(!?\()?")
_PART = re.compile(rf"{_FIRST}{_NEXT}*")
# What opens must close on its line. An apostrophe inside a word opens nothing, and an escaped quote neither.
_LITERALS = re.compile(r"""\\.|"((?:[^"\\\n]++|\\.)*+)"|(?<!\w)'((?:[^'\\\n]++|\\.)*+)'(?!\w)|`([^`\n]++)`""")
# Those that an identifier is made of too.
_WORDS = re.compile(rf"[^\W\d_{UNSPACED}][^\W_{UNSPACED}]+|[{UNSPACED}]+")
_ASCII_WORDS = re.compile("[A-Za-z][A-Za-z0-9]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
# camelCase and PascalCase of two words; letters with a number behind (Vector2, utf8); capitals (ZERO).
_TELLING = re.compile(r"[a-z\d][A-Z]|[A-Z][a-z\d]+[A-Z]|[^\W\d_]{2}\d|^[A-Z][A-Z\d]+$")
_RECEIVERS = frozenset({"self", "this", "cls", "super", "Self"})
# They stand before a parenthesis and call nothing.
_KEYWORDS = frozenset(
    """and assert await case catch def do elif else elseif fn for foreach fun func function if in is lambda
    match new not or return select sizeof switch typeof until unless when where while with yield""".split()  # noqa: SIM905
)


def api_tokens(text: str) -> Mapping[str, Span]:
    """The API tokens of a text, each with the first place where it stands: `text[start:end]` is the token.

    Tokens are, case kept:

    - dotted names (`Input.is_action_pressed`; `::`, `->` and `?.` join too), whole and their last two and
      three parts, unless they end in one letter (`velocity.x`); a leading `self` or `this` is no part;
    - names that are called (`clamp` of `position.clamp(…)`) or follow an `@` (`@export`);
    - names that no prose has: with underscores, with a change of case or a digit inside, in capitals;
    - the content of literals in quotes or backticks that begin and end on one line, up to 100
      characters, without their marks.

    Time and memory are linear in the length of the text.
    """
    found: dict[str, Span] = {}
    for start, end in _spans(text):
        found.setdefault(text[start:end], (start, end))
    return MappingProxyType(found)


def words(text: str) -> Mapping[str, Span]:
    """The words of prose in lower case, each with the first place where it stands.

    Words have two characters or more, an underscore ends one; scripts without spaces give pairs of
    neighbours.
    """
    found: dict[str, Span] = {}
    for match in _WORDS.finditer(text):
        start, end = match.span()
        if not _UNSPACED.match(match[0]):
            found.setdefault(match[0].lower(), (start, end))
            continue
        for at in range(start, max(end - 1, start + 1)):
            found.setdefault(text[at : min(at + 2, end)], (at, min(at + 2, end)))
    return MappingProxyType(found)


def api_token_set(text: str) -> set[str]:
    """The API tokens of a text without their places, which is some times faster."""
    found: set[str] = set()
    for at, name, call in set(_NAMES.findall(text)):
        if at:
            found.add(at + name)
        found.update(_named(name, bool(call)))
    for contents in set(_LITERALS.findall(text)):
        content = "".join(contents).strip()
        if _is_token(content):
            found.add(content)
    return found


def word_set(text: str) -> set[str]:
    """The words of prose without their places, which is some times faster."""
    if text.isascii():
        return set(map(str.lower, _ASCII_WORDS.findall(text)))
    return set(words(text))


def _spans(text: str) -> Iterator[Span]:
    for match in _NAMES.finditer(text):
        at, name, call = match.groups()
        start, end = match.span(2)
        if at:
            yield start - 1, end
        for token_start, token_end in _of_name(name, bool(call)):
            yield start + token_start, start + token_end
    for match in _LITERALS.finditer(text):
        whole = match[match.lastindex or 0]
        content = whole.strip()
        if match.lastindex and _is_token(content):
            start = match.start(match.lastindex) + len(whole) - len(whole.lstrip())
            yield start, start + len(content)


@lru_cache(maxsize=1 << 15)
def _named(name: str, called: bool) -> tuple[str, ...]:
    return tuple(name[start:end] for start, end in _of_name(name, called))


def _of_name(name: str, called: bool) -> Iterator[Span]:
    """Where the tokens of a name stand in it."""
    if name.isidentifier():
        if (called and name not in _KEYWORDS) or _tells(name):
            yield 0, len(name)
        return
    parts = [(part.start(), part.end(), part[0]) for part in _PART.finditer(name)]
    own = next((at for at, part in enumerate(parts) if part[2] not in _RECEIVERS), len(parts) - 1)
    parts = parts[own:]
    end = parts[-1][1]
    # Not e.g. and i.e., and not the coordinates of whatever is called velocity: its x tells nothing of it.
    if len(parts) > 1 and (called or len(parts[-1][2]) > 1):
        for size in dict.fromkeys((len(parts), 3, 2)):
            if size <= len(parts) and end - parts[-size][0] <= _LONGEST:
                yield parts[-size][0], end
    for start, stop, part in parts:
        if _tells(part):
            yield start, stop
    if called:
        yield parts[-1][:2]


def _is_token(content: str) -> bool:
    """Whether the content of a literal is a token."""
    return 1 < len(content) <= _LONGEST and any(map(str.isalpha, content))


def _tells(name: str) -> bool:
    """Whether the name is one that no prose has."""
    if "_" in name:
        return len(name.strip("_")) > 1
    return _TELLING.search(name) is not None
