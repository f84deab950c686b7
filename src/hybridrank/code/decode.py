"""Bytes of a file to text: UTF-8, what a byte order mark or coding line declares, else a guess."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

SNIFFED = 8192
"""Bytes at the start of a file in which a NUL makes it binary."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


class Decoded(NamedTuple):
    """A text, the encoding it was read with, and whether that was a guess."""

    text: str
    encoding: str
    guessed: bool = False


def decode(data: bytes, *, cookie: bool = False) -> Decoded | None:
    """The text of a file without its byte order mark, or None when it is binary.

    Args:
        cookie: whether a coding line counts (PEP 263), as it does in Python source.

    Binary is what holds a NUL in its first 8 KiB, or is neither text in the encoding that its byte order mark
    names nor UTF-8 and holds control characters. What is left is read as Windows-1252 or Latin-1: a guess.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _try(data[len(mark) :], encoding)
            if text is not None and "\0" not in text[:SNIFFED]:
                return Decoded(text, encoding)
            if encoding != "utf-8":
                return None
    if b"\0" in data[:SNIFFED]:
        return None
    declared = _declared(data) if cookie else None
    for name in filter(None, (declared, "utf-8")):
        text = _try(data, name)
        if text is not None:
            return Decoded(text, name)
    if _CONTROL.search(data):
        return None
    text = _try(data, "cp1252")
    if text is not None:
        return Decoded(text, "cp1252", guessed=True)
    return Decoded(data.decode("latin-1"), "latin-1", guessed=True)


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (LookupError, ValueError):
        return None


def _declared(data: bytes) -> str | None:
    """The codec that one of the first two lines declares, where it is one for texts."""
    for line in re.split(rb"\r\n|\r|\n", data[:SNIFFED], maxsplit=2)[:2]:
        found = _COOKIE.match(line)
        if found:
            return _charset(found[1].decode("ascii"))
        if not _BLANK_OR_COMMENT.match(line):
            return None
    return None


def _charset(name: str) -> str | None:
    """The codec of that name, unless it is UTF-8, unknown, or no character set (some of those are slow)."""
    try:
        known = codecs.lookup(name).name.replace("_", "-")
    except LookupError:
        return None
    return None if known.startswith("utf-8") or known in _NO_CHARSETS else known
