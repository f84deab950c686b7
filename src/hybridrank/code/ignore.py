"""Ignore files as git reads them (gitignore(5), and wildmatch.c for what it leaves open).

Patterns match bytes, as git's do. Each pattern becomes a regular expression that never backtracks over an
earlier star, so that no ignore file can make the walk slow.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SEPARATOR, _STAR = "/", "*"
_SPECIAL = re.compile(rb"[*?\[\\]")
_ANY_NAME = rb"[^/]*"
_ANY_BYTE = rb"[^/]"
_CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb" \t\n\r\x0b\x0c",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class _Pattern(NamedTuple):
    regex: bytes
    negated: bool
    by_name: bool


class IgnoreFile:
    """The patterns of one ignore file.

    The last pattern that matches decides. A file below an ignored directory is not asked about: the walk does
    not enter it.
    """

    def __init__(self, content: bytes) -> None:
        patterns = [p for line in _lines(content) if (p := _parse(line)) is not None]
        patterns.reverse()
        self._by_name = _Alternatives(patterns, by_name=True)
        self._by_path = _Alternatives(patterns, by_name=False)
        self._negated = [p.negated for p in patterns]

    def __bool__(self) -> bool:
        return bool(self._negated)

    def verdict(self, name: bytes, path: bytes, *, is_dir: bool) -> bool | None:
        """True: ignored; False: re-included; None: nothing is said about it.

        Args:
            name: last segment of the path.
            path: relative to the folder of the ignore file, with forward slashes.
        """
        end = b"/" if is_dir else b""
        first = min(self._by_name.match(name + end), self._by_path.match(path + end))
        return None if first == len(self._negated) else not self._negated[first]


class _Alternatives:
    """Patterns of one sort as one expression; the first in it that matches is the last in the file."""

    def __init__(self, patterns: list[_Pattern], *, by_name: bool) -> None:
        chosen = [(i, p.regex) for i, p in enumerate(patterns) if p.by_name is by_name]
        self._none = len(patterns)
        self._indices = [self._none, *(i for i, _ in chosen)]
        joined = b"|".join(b"(%b)" % regex for _, regex in chosen)
        self._regex = re.compile(joined, re.DOTALL) if chosen else None

    def match(self, subject: bytes) -> int:
        found = self._regex.fullmatch(subject) if self._regex else None
        return self._indices[found.lastindex or 0] if found else self._none


def _lines(content: bytes) -> list[bytes]:
    return [line.removesuffix(b"\r") for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]


def _parse(line: bytes) -> _Pattern | None:
    if line.startswith(b"#"):
        return None
    line = _without_trailing_spaces(line)
    negated = line.startswith(b"!")
    line = line[negated:]
    only_dirs = line.endswith(b"/")
    line = line[: len(line) - only_dirs]
    by_name = b"/" not in line
    line = line.removeprefix(b"/")
    # Git compares what stands before the first wildcard literally and starts the pattern behind it, so that
    # `a**/b` also begins with a `**` that is a whole segment.
    wildcard = None if by_name else _SPECIAL.search(line)
    literal = line[: wildcard.start()] if wildcard else b""
    tokens = _tokens(line[len(literal) :])
    if not line or tokens is None:
        return None
    body = _segment(tokens) if by_name else re.escape(literal) + _path(tokens, glued=literal[-1:] not in b"/")
    return _Pattern(body + (b"/" if only_dirs else b"/?"), negated, by_name)


def _without_trailing_spaces(line: bytes) -> bytes:
    """A space at the end counts only behind a backslash."""
    stripped = line.rstrip(b" ")
    escapes = len(stripped) - len(stripped.rstrip(b"\\"))
    return line[: len(stripped) + 1] if escapes % 2 and len(stripped) < len(line) else stripped


def _tokens(pattern: bytes) -> list[bytes | str] | None:
    """One-byte expressions, separators and stars; None for a pattern that matches nothing."""
    tokens: list[bytes | str] = []
    at = 0
    while at < len(pattern):
        byte = pattern[at : at + 1]
        at += 1
        if byte == b"\\":
            byte = pattern[at : at + 1]
            at += 1
            if not byte:
                return None
            tokens.append(_SEPARATOR if byte == b"/" else re.escape(byte))
        elif byte == b"[":
            bracket = _bracket(pattern, at)
            if bracket is None:
                return None
            at, expression = bracket
            tokens.append(expression)
        elif byte == b"?":
            tokens.append(_ANY_BYTE)
        elif byte == b"*":
            tokens.append(_STAR)
        else:
            tokens.append(_SEPARATOR if byte == b"/" else re.escape(byte))
    return tokens


def _bracket(pattern: bytes, at: int) -> tuple[int, bytes] | None:
    """Where the bracket expression opened before `at` ends, and what it matches; None if it never ends."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    members: list[bytes] = []
    before = b""
    first = True
    while first or pattern[at : at + 1] != b"]":
        first = False
        byte = pattern[at : at + 1]
        if not byte:
            return None
        if byte == b"\\":
            at += 1
            byte = pattern[at : at + 1]
            if not byte:
                return None
            members.append(re.escape(byte))
        elif byte == b"-" and before and pattern[at + 1 : at + 2] not in (b"", b"]"):
            at += 1
            last = pattern[at : at + 1]
            if last == b"\\":
                at += 1
                last = pattern[at : at + 1]
                if not last:
                    return None
            if before <= last:
                members.append(re.escape(before) + b"-" + re.escape(last))
            byte = b""
        elif byte == b"[" and pattern[at + 1 : at + 2] == b":":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                return None
            if end > at + 2 and pattern[end - 1 : end] == b":":
                members_of = _CLASSES.get(pattern[at + 2 : end - 1])
                if members_of is None:
                    return None
                members.append(members_of)
                at, byte = end, b""
            else:
                members.append(rb"\[")
        else:
            members.append(re.escape(byte))
        before = byte
        at += 1
    inside = b"".join(members)
    if negated:
        return at + 1, b"[^/" + inside + b"]"
    return at + 1, b"(?!/)[" + inside + b"]" if inside else b"(?!)"


def _path(tokens: list[bytes | str], *, glued: bool) -> bytes:
    """A pattern with slashes: `**` as a whole segment stands for any number of segments.

    `glued`: the literal text before it ends inside a segment.
    """
    segments: list[list[bytes | str]] = [[]]
    for token in tokens:
        if token == _SEPARATOR:
            segments.append([])
        else:
            segments[-1].append(token)
    out: list[bytes] = []
    run: list[bytes] = []
    any_folders = False
    for segment in segments[:-1]:
        if len(segment) > 1 and set(segment) == {_STAR}:
            if run:
                body = b"/".join(run) + b"/"
                out.append(b"(?>(?:[^/]*/)*?" + body + b")" if any_folders else body)
                run = []
            any_folders = True
        else:
            run.append(_segment(segment))
    last = segments[-1]
    if set(last) == {_STAR}:
        # A folder ends in a slash here, and `a/*` is what stands in it, not the folder itself.
        below = (_ANY_BYTE if len(last) == 1 else b".") + (b"*" if glued and len(segments) == 1 else b"+")
        body = b"".join(part + b"/" for part in run) + below
    else:
        body = b"/".join([*run, _segment(last)])
    return b"".join(out) + (b"(?:[^/]*/)*" + body if any_folders else body)


def _segment(tokens: list[bytes | str]) -> bytes:
    """One path segment: a star before more text takes the first place where that text stands."""
    chunks: list[list[bytes]] = [[]]
    for token in tokens:
        if token == _STAR:
            chunks.append([])
        elif isinstance(token, bytes):
            chunks[-1].append(token)
    texts = [b"".join(chunk) for chunk in chunks]
    if len(texts) == 1:
        return texts[0]
    middle = b"".join(b"(?>[^/]*?" + text + b")" for text in texts[1:-1] if text)
    return texts[0] + middle + _ANY_NAME + texts[-1]
