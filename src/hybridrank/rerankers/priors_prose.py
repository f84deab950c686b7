"""What a source file says in words: its comments and doc strings, and how its words follow each other."""

from __future__ import annotations

import re

from .priors_paths import HUMPS

_MOST_CHARS = 20_000

# Line comments that begin a line (not the directives of C, not a shebang), block comments, triple quotes.
_COMMENT = re.compile(
    r"""^[ \t]*(?://+!?|\#(?!!|[ ]*(?:include|define|undef|if|ifdef|ifndef|else|elif|endif|pragma|error)\b)\#*
          |--+|;+|%+)[ \t]?([^\n]*)
      | /\*+(.*?)\*/ | \{-+(.*?)-\} | \(\*+(.*?)\*\) | <!--(.*?)-->
      | "{3}(.*?)"{3} | '{3}(.*?)'{3}""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def comments(text: str) -> str:
    """The comments and doc strings of source code in whatever language, one a line.

    Of a text without end only the beginning is read: a comment that is opened again and again and never
    closed would take time that grows with the square of its length.
    """
    return "\n".join(map("".join, _COMMENT.findall(text[:_MOST_CHARS])))


def humps(text: str) -> list[str]:
    """The words of a text in order, lower case, names in camel or snake case cut into theirs."""
    return HUMPS.findall(text)
