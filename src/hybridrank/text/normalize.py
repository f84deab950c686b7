"""Takes from a query the words that only ask."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from ..errors import InvalidValueError
from ..protocols import Normalized
from .stopwords import (
    ALSO_NAMES,
    ARTICLES,
    ASKING,
    AUXILIARIES,
    POLITE,
    PRONOUNS,
    SHOW_ME,
    asking_phrases,
)

Span: TypeAlias = tuple[int, int]

_QUOTED = re.compile(
    r"""`[^`]*`|"[^"]*"|(?<!\w)'[^']*'(?!\w)|“[^“”]*”|‘[^‘’]*’|«[^«»]*»|「[^「」]*」|『[^『』]*』|《[^《》]*》"""
)
_CODE = re.compile(r"[(){}=;]")
_MENTIONED_CALL = re.compile(r"(?<=\w)\(\)(?![A-Za-z0-9_({=;:\[]|\.\w)")
_WORDS = ASKING | ALSO_NAMES | AUXILIARIES
# A longer text is something that was pasted; a question of this length takes some milliseconds.
_LONGEST = 1000
_EDGES = ".,;:!?…，。、；：？！"
_QUESTION_MARKS = ("?", "？")


@dataclass(frozen=True)
class QueryNormalizer:
    """Drops question words: `where are redirects followed` is searched for as `redirects followed`.

    English words go as whole words, with auxiliaries, pronouns and articles, where the text is a question;
    Chinese, Japanese and Korean phrases go from running text. What stands in quotes or backquotes, after an
    article (`the where clause`), in capitals, or joined to a name (`is_valid`, `what.py`) stays. Left alone
    are queries of one word, of several lines or more than 1000 characters, of code (with one of
    `( ) { } = ;`, other than in `name()`), and those of which nothing with a letter or a digit would be left.

    White space is folded and trimmed, a question mark at the end goes with the question words.
    """

    def __call__(self, text: str, /) -> Normalized:
        """The text without its question words, and these as they stand in it, in order.

        Raises:
            InvalidValueError: `text` is no str.
        """
        return normalize_query(text)


def normalize_query(text: str) -> Normalized:
    """What `QueryNormalizer` does.

    Raises:
        InvalidValueError: `text` is no str.
    """
    if not isinstance(text, str):
        raise InvalidValueError(f"query text is {type(text).__name__} {text!r:.40}; give a str")
    if (
        len(text) > _LONGEST
        or len(text.strip().splitlines()) > 1
        or _CODE.search(_MENTIONED_CALL.sub("", text))
    ):
        return Normalized(text)
    folded = " ".join(text.split())
    dropped: list[Span] = []
    rest = folded
    # What a phrase hid behind may show itself when the phrase is gone.
    while found := [*_english(rest), *_phrases(rest)]:
        dropped.extend(found)
        for start, end in found:
            rest = rest[:start] + " " * (end - start) + rest[end:]
    if not dropped:
        return Normalized(folded)
    kept = " ".join(rest.rstrip("?？。 ").split())
    if not any(map(str.isalnum, kept)):
        return Normalized(folded)
    return Normalized(kept, tuple(folded[start:end].strip(_EDGES) for start, end in sorted(dropped)))


def _english(text: str) -> Iterator[Span]:
    """Where the English words stand that are to go."""
    chunks = list(re.finditer(r"\S+", text))
    if len(chunks) < 2:
        return
    quoted = _quoted(text)
    words = ["" if _within(chunk.span(), quoted) else _plain_word(chunk[0]) for chunk in chunks]
    for place, (article, word) in enumerate(pairwise(words)):
        if article in ARTICLES and word in _WORDS:
            words[place : place + 2] = ["", ""]
    asked = text.rstrip().endswith(_QUESTION_MARKS)
    question = asked or _is_question([word for word in words if word not in ARTICLES | POLITE])
    for place, (chunk, word) in enumerate(zip(chunks, words, strict=True)):
        before = words[place - 1] if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        asks = question and (
            word == "a"
            or word in ASKING | AUXILIARIES | PRONOUNS
            or (word in ALSO_NAMES and (asked or place + 1 < len(words)))
            or (word == "to" and before == "how")
            or (word in SHOW_ME and after == "me")
        )
        if asks or word in ("an", "the") or word in POLITE:
            yield chunk.span()


def _is_question(words: list[str]) -> bool:
    """Whether these words, `""` for all others, are a question though no question mark ends them."""
    if not words:
        return False
    opens = words[0] in ALSO_NAMES | AUXILIARIES and len(words) > 2
    shows = words[0] in SHOW_ME and words[1:2] == ["me"]
    return (
        opens
        or shows
        or not ASKING.isdisjoint(words)
        or any(a in ALSO_NAMES and b in AUXILIARIES | PRONOUNS for a, b in pairwise(words))
    )


def _plain_word(chunk: str) -> str:
    """The chunk in lower case where it may be a common word; `""` for names in capitals or camel case."""
    word = unicodedata.normalize("NFKC", chunk.strip(_EDGES)).replace("’", "'")
    if word.islower() or word == "I" or (word[1:].islower() and word[0].isupper()):
        return word.lower()
    return ""


def _phrases(text: str) -> Iterator[Span]:
    """Where the phrases of unspaced scripts stand that are to go."""
    if text.isascii():
        return
    quoted = _quoted(text)
    for phrase in asking_phrases().finditer(text):
        if not _within(phrase.span(), quoted):
            yield phrase.span()


def _quoted(text: str) -> list[Span]:
    return [match.span() for match in _QUOTED.finditer(text)]


def _within(span: Span, spans: list[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in spans)
