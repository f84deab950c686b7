"""How much a source and a candidate have in common, by the strings that they share and how rare these are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ..types import Contribution, Quote
from .api_tokens import Span, api_tokens, words
from .corpus_tokens import WORD, CorpusTokens
from .normalize import normalize_query
from .stopwords import ALSO_NAMES, ARTICLES, ASKING, AUXILIARIES, POLITE, PRONOUNS, SHOW_ME

PRIOR = 2
"""How many tokens of the highest weight a candidate is taken to hold beside its own."""

_LINKS = frozenset(("and", "for", "from", "into", "not", "that", "this", "then", "with"))
_ASKING = ASKING | ALSO_NAMES | AUXILIARIES | ARTICLES | POLITE | PRONOUNS | SHOW_ME | _LINKS
_CACHED_CHARS = 1 << 14
_RECENT = 4


class Shared(NamedTuple):
    """A string that source and candidate share.

    Attributes:
        weight: more than 0.
        held: how many documents of the corpus hold it.
        in_source, in_document: the first place in each, as character offsets.
    """

    text: str
    weight: float
    held: int
    in_source: Span
    in_document: Span


@dataclass(frozen=True, slots=True)
class Overlap:
    """What a source and a candidate share.

    Attributes:
        score: the mean of coverage and agreement, 0 to 1 (Kulczynski 1927), rounded to 6 decimals.
        coverage: share of the source's weight that the candidate holds.
        agreement: share of the candidate's weight that the source holds, `PRIOR` tokens added to it.
        shared: heaviest first.
        unit: what a weight of 1 adds to the score.
    """

    score: float
    coverage: float
    agreement: float
    shared: tuple[Shared, ...]
    unit: float

    def contributions(self, documents: int) -> tuple[Contribution, ...]:
        """What each shared string adds to the score."""
        return tuple(
            Contribution(one.text, one.weight * self.unit, f"in {one.held} of {documents} documents")
            for one in self.shared
        )

    def quotes(self, source: str, document: str) -> tuple[Quote, ...]:
        """The shared strings as quotes, heaviest first, without those that lie inside another."""
        return tuple(_quote(one, source, document) for one in _outermost(self.shared))


class Source:
    """A source, ready to be compared with candidates.

    Its tokens are its API tokens. Where it has none, it is prose, and they are its words, without those that
    only ask or join, and without those of one or two Latin letters.

    Attributes:
        text: the source.
        weights: its tokens with what each weighs; those of weight 0 too.
        total: sum of the weights.
    """

    def __init__(self, text: str, corpus: CorpusTokens) -> None:
        self.text = text
        self._corpus = corpus
        self._spans = api_tokens(text)
        self._prose = not self._spans
        if self._prose:
            self._spans = _asked(text)
        self.weights = {token: self._weight(token) for token in self._spans}
        self.total = math.fsum(self.weights.values())
        self._known = dict(self.weights)

    @property
    def tells(self) -> bool:
        """Whether it has a token that no more than half of the documents hold."""
        return self.total > 0

    def overlap(self, text: str) -> Overlap:
        """What it shares with a candidate. Tokens that more than half of the documents hold do not count."""
        spans = _words(text) if self._prose else _tokens(text)
        common = [token for token, weight in self.weights.items() if weight and token in spans]
        shared = math.fsum(self.weights[token] for token in common)
        if not shared:
            return Overlap(0.0, 0.0, 0.0, (), 0.0)
        theirs = math.fsum(map(self._known_weight, spans)) + PRIOR * self._corpus.highest
        unit = (1.0 / self.total + 1.0 / theirs) / 2.0
        common.sort(key=lambda token: (-self.weights[token], self._spans[token][0], -len(token)))
        found = tuple(
            Shared(token, self.weights[token], self._held(token), self._spans[token], spans[token])
            for token in common
        )
        return Overlap(round(shared * unit, 6), shared / self.total, shared / theirs, found, unit)

    def _weight(self, token: str) -> float:
        return self._corpus.weight(WORD + token if self._prose else token)

    def _held(self, token: str) -> int:
        return self._corpus.held(WORD + token if self._prose else token)

    def _known_weight(self, token: str) -> float:
        weight = self._known.get(token)
        if weight is None:
            weight = self._known[token] = self._weight(token)
        return weight


def _asked(text: str) -> Mapping[str, Span]:
    """The words of a question without those that only ask or join."""
    kept = words(normalize_query(text).text)
    return {
        word: span
        for word, span in words(text).items()
        if word in kept and word not in _ASKING and not (len(word) < 3 and word.isascii())
    }


def _outermost(shared: Sequence[Shared]) -> list[Shared]:
    reached, inner = 0, set()
    for one in sorted(shared, key=lambda one: (one.in_source[0], -one.in_source[1])):
        if one.in_source[1] <= reached:
            inner.add(one.text)
        reached = max(reached, one.in_source[1])
    return [one for one in shared if one.text not in inner]


def _quote(one: Shared, source: str, document: str) -> Quote:
    text = document[slice(*one.in_document)]
    # Words of prose may differ in case; a quote stands where it says.
    same = source[slice(*one.in_source)] == text
    return Quote(text, one.in_source if same else None, one.in_document)


def _tokens(text: str) -> Mapping[str, Span]:
    return _cached_tokens(text) if len(text) <= _CACHED_CHARS else api_tokens(text)


def _words(text: str) -> Mapping[str, Span]:
    return _cached_words(text) if len(text) <= _CACHED_CHARS else words(text)


def source_of(text: str, corpus: CorpusTokens) -> Source:
    """The source of that text; candidates come in batches, and each may be asked for an explanation."""
    found: Source | None = corpus.recent.get(text)
    if found is None:
        found = Source(text, corpus)
        if len(corpus.recent) >= _RECENT:
            corpus.recent.clear()
        corpus.recent[text] = found
    return found


# A reranker and a validator look at the same candidates, one after the other.
_cached_tokens = lru_cache(maxsize=512)(api_tokens)
_cached_words = lru_cache(maxsize=512)(words)
