"""Arrays and objects in a text that is mostly something else, found in one pass.

JSON is read as it is written, with commas too many, comments, other quotation marks and labels such as `ID 2`
allowed; whatever else stands in an array ends it, so that no number is ever taken from a sentence. Nothing is
read twice and nothing recurses: the time is linear in the text, also where it is made to be slow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Item: TypeAlias = "str | Number | dict[str, Any] | list[Any] | bool | None"

# Comments, which some models write behind the items of an array, count as white space, as do the marks of
# bold letters and an ellipsis at the end: it says what happens to the items that are left out anyway.
_SKIPPED = r"""(?:\s++|//[^\n]*+|/\*[^\n]{0,200}?\*/|\#(?!\d)[^\n]*+|\*\*|(?:\.\.\.|…)(?=\s{0,99}\]))*+"""
_TOKEN = re.compile(
    _SKIPPED
    + r"""(?:
    (?P<mark>[\[\]{},:])
    |\#?(?P<number>[+-]?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)(?![\w.])
    |(?:ID|Id|id)[\s:_\#-]{0,3}(?P<label>[0-9]{1,9}+)(?![\w.])
    |(?P<literal>true|false|null|True|False|None|NaN|Infinity|-Infinity)(?!\w)
    |(?P<string>"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|“[^”\n]*+”|‘[^’\n]*+’|`[^`\n]*+`)
    )""",
    re.VERBOSE,
)
# What is left where the text ends inside an array, in the middle of a token or not.
_END = re.compile(
    _SKIPPED
    + r"""(?:
    "(?:[^"\\\n]|\\.)*+\\?
    |'(?:[^'\\\n]|\\.)*+\\?
    |[“‘`][^\n]*+
    |/\*[^\n]*+
    |\#?[+-]?[0-9.eE+-]*+
    |I?D?[\s:_\#-]{0,3}[0-9]*+
    |tr?u?|fa?l?s?|nu?l?
    )\Z""",
    re.VERBOSE,
)
_HEADER = re.compile(r"\[\s{0,3}ID[\s:_#-]{0,3}([0-9]{1,9})\s{0,3}\]", re.IGNORECASE)
_LINK = re.compile(r"[\s*`]{0,8}(?:>{1,3}=?|&gt;|[-=]>|[→≻≥⟩])[\s*`]{0,8}")
# Between brackets in a list: it counts where nothing else stands on its line, one of several lines only
# where it is the whole reply, since models that begin with such lines go on with anything.
_LISTED = re.compile(r"[ \t*`]{0,8}(?:,[\s*`]{0,8}|\n\s{0,4}(?:(?:[-*+]|\d{1,2}[.)])[ \t]{1,4})?[*`]{0,3})")
_INDENT = 16
_BEFORE = re.compile(r"\s{0,4}(?:(?:[-*+]|\d{1,2}[.)])[ \t]{1,4})?[*`]{0,3}")
_ENDS, _ENDS_LINE = re.compile(r"[\s*`.,]*+\Z"), re.compile(r"[ \t\r*`.,]*+(?:\n|\Z)")
_INDEXED = re.compile(r"[A-Za-z0-9_)\]]")
_DEEPEST = 32
_LITERALS = {"true": True, "True": True, "false": False, "False": False}


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written: how large it is, is for the reader to say."""

    text: str


@dataclass(frozen=True, slots=True)
class Array:
    """The items of an array, in order. `cut` tells that the text ended inside it."""

    items: tuple[Any, ...]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Object:
    """An object that stands in no other, closed: its fields in order, and where it stands in the text."""

    fields: tuple[tuple[str, Any], ...]
    start: int
    end: int


@dataclass(slots=True)
class _Frame:
    """An array or an object that is not closed yet."""

    opener: str
    start: int
    items: list[Any] = field(default_factory=list)
    key: str | None = None
    expects: str = "value"  # or "comma", "key", "colon"


def arrays(text: str) -> Iterator[Array]:
    """Every array in the text, inner ones before the ones around them, chains `[2] > [0]` as one.

    So are brackets in a list: `[2], [0]` alone on a line, or one a line where there is nothing else at all.

    A bracket that follows a name is an index (`args[0]`) and no array. Of an array in which the text ends,
    the number at the very end is left out, since its other digits may be missing.
    """
    return (found for found in _Scan(text, "[").run() if isinstance(found, Array))


def objects(text: str) -> Iterator[Object]:
    """Every object in the text that stands in no other, read as leniently as arrays are."""
    return (found for found in _Scan(text, "{").run() if isinstance(found, Object))


def unescaped(text: str) -> str:
    """What a string of an array or an object says: its escapes read as in JSON, or left if they are none."""
    plain = re.sub(r"\\(.)", lambda found: "'" if found[1] == "'" else found[0], text, flags=re.DOTALL)
    quoted = re.sub(r'\\.|"', lambda found: '\\"' if found[0] == '"' else found[0], plain, flags=re.DOTALL)
    try:
        return str(json.loads(f'"{quoted}"', strict=False))
    except ValueError:
        return text


class _Scan:
    def __init__(self, text: str, opener: str) -> None:
        self.text = text
        self.opener = opener
        self.found: list[Array | Object] = []
        self.stack: list[_Frame] = []
        self.chain: list[Any] = []
        self.chain_start = self.chain_end = -1
        self.listed = False

    def run(self) -> Iterator[Array | Object]:
        text, place = self.text, 0
        while True:
            if self.found:
                yield from self.found
                self.found.clear()
            if not self.stack:
                place = self.open(place)
                if place < 0:
                    break
            token = _TOKEN.match(text, place)
            if token is None:
                if _END.match(text, place):
                    break
                # Not an array after all; what made it none is read again, it may hold the next one.
                self.stack.clear()
                continue
            place = token.end()
            if not self.take(token):
                self.stack.clear()
                # A bracket that has no place in this array may open another.
                place = token.start("mark") if token["mark"] in ("[", "{") else place
        self.close_chain()
        yield from self.found
        for frame in reversed(self.stack):
            if frame.opener == "[" and not self.in_code():
                yield Array(tuple(_uncut(frame)), cut=True)

    def open(self, place: int) -> int:
        """Push the frame of the next bracket that may open an array; where to read on, -1 at the end."""
        text = self.text
        while True:
            place = text.find(self.opener, place)
            if place < 0:
                return place
            if self.opener == "{":
                self.stack.append(_Frame("{", place, expects="key"))
                return place + 1
            header = _HEADER.match(text, place)
            if header:
                self.link(place, header.end(), Number(header[1]))
                place = header.end()
            elif place and _INDEXED.match(text[place - 1]):
                place += 1
            else:
                self.stack.append(_Frame("[", place))
                return place + 1

    def in_code(self) -> bool:
        """Whether the outermost array is assigned, or an argument: where it is cut, it is no answer."""
        start = self.stack[0].start
        return self.text[max(0, start - 8) : start].rstrip(" \t")[-1:] in ("=", "(")

    def take(self, token: re.Match[str]) -> bool:
        """Put the token into the innermost frame; whether it had a place there."""
        frame = self.stack[-1]
        mark = token["mark"]
        if mark is None:
            return self.put(frame, _value(token))
        if mark == ",":
            # What follows a comma may also be the end.
            fits = frame.expects == "comma" or (frame.opener == "[" and bool(frame.items))
            frame.expects = "value" if frame.opener == "[" else "key"
            return fits
        if mark == ":":
            fits = frame.expects == "colon"
            frame.expects = "value"
            return fits
        if mark in "[{":
            if frame.expects != "value" or len(self.stack) == _DEEPEST:
                return False
            self.stack.append(_Frame(mark, token.start("mark"), expects="value" if mark == "[" else "key"))
            return True
        return self.close(frame, mark, token.end())

    def put(self, frame: _Frame, value: Any) -> bool:
        if frame.opener == "{" and frame.expects == "key":
            frame.key, frame.expects = (value, "colon") if isinstance(value, str) else (None, "nothing")
            return frame.key is not None
        if frame.expects != "value":
            return False
        frame.items.append((frame.key, value) if frame.opener == "{" else value)
        frame.expects = "comma"
        return True

    def close(self, frame: _Frame, mark: str, end: int) -> bool:
        if mark != {"[": "]", "{": "}"}[frame.opener]:
            return False
        if frame.opener == "{" and frame.expects not in ("key", "comma"):
            return False
        self.stack.pop()
        value: Any = dict(frame.items) if frame.opener == "{" else frame.items
        if frame.opener == "[":
            if not self.stack and len(value) == 1:
                self.link(frame.start, end, value[0])
            self.found.append(Array(tuple(value)))
        elif not self.stack:
            self.found.append(Object(tuple(frame.items), frame.start, end))
        return not self.stack or self.put(self.stack[-1], value)

    def link(self, start: int, end: int, item: Any) -> None:
        """Add a one-item array to the chain that ends before it, or begin another."""
        gap = self.text[self.chain_end : start] if 0 <= self.chain_end <= start <= self.chain_end + 20 else ""
        listed = _LISTED.fullmatch(gap) is not None
        if not listed and not _LINK.fullmatch(gap):
            self.close_chain()
        if not self.chain:
            self.chain_start = start
        self.listed = self.listed or listed
        self.chain.append(item)
        self.chain_end = end

    def close_chain(self) -> None:
        if len(self.chain) > 1 and not (self.listed and self.in_prose()):
            self.found.append(Array(tuple(self.chain)))
        self.chain.clear()
        self.chain_end = -1
        self.listed = False

    def in_prose(self) -> bool:
        """Whether something else stands where the chain does."""
        text, start, end = self.text, self.chain_start, self.chain_end
        lines = "\n" in text[start:end]
        first = 0 if lines else text.rfind("\n", 0, start) + 1
        return start - first > _INDENT or not (
            _BEFORE.fullmatch(text, first, start) and (_ENDS if lines else _ENDS_LINE).match(text, end)
        )


def _value(token: re.Match[str]) -> Any:
    if token["number"]:
        return Number(token["number"])
    if token["label"]:
        return Number(token["label"])
    if token["literal"]:
        return _LITERALS.get(token["literal"])
    return token["string"][1:-1]


def _uncut(frame: _Frame) -> list[Any]:
    """The items without a number that the end of the text may have cut."""
    ends_in_number = frame.expects == "comma" and isinstance(frame.items[-1], Number)
    return frame.items[:-1] if ends_in_number else frame.items
