"""What a word of a spaced script is made of: `parseHTTPResponse` of parse, http and response."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

PLAIN = re.compile(r"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*|\d+(?:\.\d+)?|[\u3400-\u9fff]+")
"""Lower-case Latin words with inner dots, underscores and hyphens, numbers, runs of Han."""

_JOINT = re.compile(r"(?<!\d)\.|\.(?!\d)|-")  # a dot between digits belongs to the number
_GROUPED_NUMBER = re.compile(r"\d+(?:_\d+)+")
_HEX_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+")
# A digest or a UUID group; its letters and digits mean nothing apart.
_DIGEST = re.compile(r"(?=[a-fA-F]*\d+[a-fA-F]+\d)[0-9a-fA-F]{7,}")
# In order: number; the one product name that the rules would cut wrongly; plural of an acronym (URLs);
# acronym before a capitalised word; word; acronym.
_HUMP = re.compile(
    r"\d+(?:\.\d+)*|OAuth|[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+",
)
_LANGUAGES = frozenset(("c++", "c#", "f#"))


def fold(word: str) -> str:
    """Lower case. Lower-casing can bring base and mark into a pair that has a character of its own."""
    lower = word.lower()
    return lower if lower.isascii() else unicodedata.normalize("NFKC", lower)


def word_tokens(word: str) -> dict[str, bool]:
    """The tokens of a word, each once, the whole word first; whether it is a name that humps divide.

    The levels are: the word; its segments between dots and hyphens; theirs between underscores; theirs
    between changes of case and between letters and digits. A number keeps its decimal point; a version with
    more dots also gives its first two places and each place. Without letters and digits there are no tokens.
    """
    if not any(map(str.isalnum, word)):
        return {}
    name = fold(word)
    if name in _LANGUAGES:
        return {name: False, name[0]: False}
    word, name = word.rstrip("+#"), name.rstrip("+#")
    if name.isalpha() and (word[1:] == name[1:] or (word.isascii() and word.isupper())):
        return {name: False}
    found = {name: False}
    if name.isascii():
        found.update(dict.fromkeys(PLAIN.findall(name), False))
    if _GROUPED_NUMBER.fullmatch(word):
        found[word.replace("_", "")] = False
    for segment in _JOINT.split(word):
        for whole in (segment, segment.strip("_")):
            if whole.strip("_"):
                found.setdefault(fold(whole), False)
        for piece in filter(None, segment.split("_")):
            humps = _humps(piece)
            found[fold(piece)] = len(humps) > 1
            for hump in humps:
                found.setdefault(hump, False)
    return found


@lru_cache(maxsize=1 << 14)
def _humps(piece: str) -> tuple[str, ...]:
    """The folded parts of a piece without separators; the piece alone if it is not to be divided."""
    if _HEX_NUMBER.fullmatch(piece) or _DIGEST.fullmatch(piece):
        return (fold(piece),)
    found: list[str] = []
    for hump in _HUMP.findall(piece) if piece.isascii() else _wide_humps(piece):
        found.append(fold(hump))
        if hump.count(".") > 1:
            places = hump.split(".")
            found.extend((".".join(places[:2]), *places))
    return tuple(found)


def _wide_humps(piece: str) -> Iterator[str]:
    """The same cuts, made in a drawing of the piece in ASCII; marks stay with the letter before them."""
    starts = [at for at, character in enumerate(piece) if not unicodedata.category(character).startswith("M")]
    drawing = "".join(_shape(piece[at]) for at in starts)
    starts.append(len(piece))
    for match in _HUMP.finditer(drawing):
        yield piece[starts[match.start()] : starts[match.end()]]


def _shape(character: str) -> str:
    if character == ".":
        return character
    if character.isnumeric():
        return "0"
    return "A" if character.isupper() or character.istitle() else "a"
