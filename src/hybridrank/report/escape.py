"""Text that others wrote, made fit for a terminal, a page or a UTF-8 stream."""

from __future__ import annotations

import re
import unicodedata

# Controls, format characters (bidi overrides, zero widths), lone surrogates, line and paragraph separators.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SPLIT = re.compile(r"\r\n|\r|\n")


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with each control or invisible character as a backslash escape (`\x1b`, `\u202e`, `\udcff`).

    So file names and source code cannot steer the terminal, nor break a line in two. What is in `keep` stays.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in keep or unicodedata.category(c) not in _UNSAFE else _escape(ord(c)) for c in text
    )


def code_lines(text: str) -> list[str]:
    """The lines of a text, safe to print: LF, CRLF and CR end a line, tabs stay."""
    lines = [printable(line, keep="\t") for line in _SPLIT.split(text)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def width(text: str) -> int:
    """Columns that the text fills in a terminal: wide East Asian characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def clip(text: str, columns: int) -> str:
    """The text, or its head and an ellipsis where it would fill more columns."""
    if width(text) <= columns:
        return text
    kept, used = [], 1
    for character in text:
        used += width(character)
        if used > columns:
            break
        kept.append(character)
    return "".join(kept) + "…"


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
