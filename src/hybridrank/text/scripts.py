"""Which characters belong to a word, and which scripts are written without spaces between words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count, groupby

# Every block of Han with its unassigned code points, so that one newer than this Python is still Han;
# radicals (2E80) are symbols to Unicode but stand for characters in scanned text.
HAN = r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_KANA = r"\u3041-\u3096\u3099-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"
_HANGUL = r"\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_BOPOMOFO = r"\u3105-\u312f\u31a0-\u31bf"
_YI_TANGUT_KHITAN_NUSHU = r"\ua000-\ua48c\U00016fe0-\U00016fe4\U00017000-\U00018d8f\U0001b170-\U0001b2fb"
# Letters and vowel signs of the scripts that Unicode's line breaking (UAX 14) calls complex context; their
# digits are left out, since numbers are words.
_THAI_LAO = r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf"
_MYANMAR = r"\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
_KHMER = r"\u1780-\u17d3\u17d7\u17dc-\u17dd"
_TAI_AHOM = r"\u1950-\u1974\u1980-\u19c9\u1a20-\u1a7c\uaa80-\uaadf\U00011700-\U0001172b"

UNSPACED = (
    HAN + _KANA + _HANGUL + _BOPOMOFO + _YI_TANGUT_KHITAN_NUSHU + _THAI_LAO + _MYANMAR + _KHMER + _TAI_AHOM
)
"""Members of a character class: the scripts in which a space does not part words."""

# Soft hyphen, grapheme joiner, Mongolian and other variation selectors, zero width (non-)joiner, word joiner,
# byte order mark: they change how a word looks, not which word it is.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u180b-\u180d\u180f\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)


@dataclass(frozen=True, slots=True)
class Wide:
    """Patterns for text beyond ASCII.

    Attributes:
        marks: a run of combining marks.
        unspaced: one run of unspaced script with its marks, as a group, for `split`.
        cluster: a character of such a run with its marks.
        letter, follower: members of a character class, what begins a word and what goes on with it.
    """

    marks: re.Pattern[str]
    unspaced: re.Pattern[str]
    cluster: re.Pattern[str]
    letter: str
    follower: str


@cache
def wide() -> Wide:
    """Compiled when the first text beyond ASCII comes: it takes some milliseconds."""
    marks = "".join(_ranges(code for code in range(0x300, 0x1F000) if _is_mark(chr(code))))
    return Wide(
        marks=re.compile(f"[{marks}]+"),
        unspaced=re.compile(f"((?![{marks}])[{UNSPACED}][{UNSPACED}{marks}]*)"),
        cluster=re.compile(f"[{UNSPACED}][{marks}]*"),
        letter=rf"\w{HAN}",
        follower=rf"\w{HAN}{marks}",
    )


def _is_mark(character: str) -> bool:
    """Signs that belong to a letter; enclosing marks (keycaps) do not."""
    return unicodedata.category(character) in ("Mn", "Mc")


def _ranges(codes: Iterable[int]) -> Iterator[str]:
    """Rising code points as members of a character class."""
    counter = count()
    for _, run in groupby(codes, key=lambda code: code - next(counter)):
        first, *rest = run
        yield f"{chr(first)}-{chr(rest[-1])}" if rest else chr(first)
