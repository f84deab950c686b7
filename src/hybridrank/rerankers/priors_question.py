"""What code priors make of a query: its terms with their rarity, the identifiers in it, what it asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from .priors_index import FileIndex, term_of
from .priors_paths import ROLES, Tokenize, asks_for, compact, words
from .priors_prose import humps

_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[^\W\d]\w*(?:(?:::|[.#/])[^\W\d]\w*)*")
_NAME_JOINT = re.compile(r"::|[.#/]")
# What nobody would write in the middle of a sentence: camel case, underscores, scopes, capitals.
_NAME_LIKE = re.compile(r"[a-z][A-Z]|_|::|\.|[A-Z]{2}|^[A-Z]")
_MOST_WORDS = 64
_COMPOUND = 4


@dataclass(frozen=True, slots=True)
class Question:
    """A query as code priors see it.

    Attributes:
        weights: the different terms and what each weighs: its idf over files; they sum to 1.
        words: the tokens of each different word, in order; `plain` the words' compact forms.
        trigrams: those of each plain word of three letters and more.
        pairs: terms of neighbouring words.
        identifiers: what looks like a name, as it is written, without its scope; the whole query if it is
            `alone`, one word.
        compounds: neighbouring words written as one, of 2 to 4.
        asked: one bool per role of `ROLES`: whether the query asks for files of that role.
    """

    weights: dict[str, float]
    words: tuple[frozenset[str], ...]
    plain: tuple[str, ...]
    trigrams: tuple[frozenset[str], ...]
    pairs: tuple[tuple[str, str], ...]
    identifiers: tuple[str, ...]
    alone: bool
    compounds: frozenset[str]
    asked: tuple[bool, ...]

    @classmethod
    def of(cls, text: str, index: FileIndex, tokenizer: Tokenize) -> Question:
        found = list(dict.fromkeys(_WORD.findall(text)))[:_MOST_WORDS]
        idf = {term: index.idf(term) for term in dict.fromkeys(tokenizer(text))}
        total = sum(idf.values()) or 1.0
        plain = tuple(filter(None, map(compact, found)))
        spoken = [word.lower() for word in _WORD.findall(text)[:_MOST_WORDS]]
        terms = [term_of(hump, tokenizer) for hump in humps(text)[: 2 * _MOST_WORDS]]
        asked = {part for word in found for part in (word.lower(), *words(word))}
        return cls(
            {term: value / total for term, value in idf.items()},
            tuple(frozenset(tokenizer(word)) for word in found),
            plain,
            tuple(trigrams(word) for word in plain if len(word) > 2),
            tuple(dict.fromkeys((a, b) for a, b in pairwise(terms) if a and b)),
            _identifiers(text),
            len(text.split()) == 1,
            frozenset(
                "".join(spoken[start : start + size])
                for size in range(2, _COMPOUND + 1)
                for start in range(len(spoken) - size + 1)
            ),
            tuple(asks_for(role, asked) for role in ROLES),
        )


def _identifiers(text: str) -> tuple[str, ...]:
    names = _NAME.findall(text)[:_MOST_WORDS]
    alone = len(text.split()) == 1
    kept = [name for name in names if alone or _NAME_LIKE.search(name)]
    return tuple(dict.fromkeys(_NAME_JOINT.split(name)[-1] for name in kept))


@lru_cache(maxsize=1 << 15)
def trigrams(word: str) -> frozenset[str]:
    """Three characters each, the ends of the word marked."""
    marked = f"^{word}$"
    return frozenset(marked[at : at + 3] for at in range(len(marked) - 2))


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """How alike two sets are, 0 to 1 (Dice 1945)."""
    size = len(one) + len(other)
    return 2.0 * len(one & other) / size if size else 0.0
