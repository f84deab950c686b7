"""A leg that forgives misspelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from hybridrank import (
    Contribution,
    Document,
    DuplicateIdError,
    Event,
    Filter,
    InvalidValueError,
    NotIndexedError,
    Query,
    Ranking,
)
from hybridrank.types import check_k


class Trigram:
    """The share of the query's runs of three characters that a document has; no hit below `at_least`.

    Args:
        at_least: above 0, at most 1.
    """

    def __init__(self, *, at_least: float = 0.3) -> None:
        if isinstance(at_least, bool) or not 0 < at_least <= 1:
            raise InvalidValueError(f"at_least is {at_least!r}; give a number above 0, at most 1")
        self.at_least = at_least
        self._documents: tuple[tuple[Document, frozenset[str]], ...] | None = None

    def __repr__(self) -> str:
        return f"Trigram(at_least={self.at_least})"

    def index(self, documents: Sequence[Document], /) -> Self:
        made = type(self)(at_least=self.at_least)
        made._documents = tuple((document, _trigrams(document.text)) for document in documents)
        if len({document.id for document, _ in made._documents}) < len(made._documents):
            raise DuplicateIdError("an id was given to two documents; give each its own")
        return made

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        check_k(k)
        if self._documents is None:
            raise NotIndexedError("Trigram has no documents; call index, or put it into a Pipeline")
        wanted = _trigrams(query.text)
        if not wanted:
            event = Event("empty-query", "the query has no letter and no digit")
            return Ranking(query, source="trigram", events=(event,))
        found = [
            (document, len(wanted & has) / len(wanted))
            for document, has in self._documents
            if where is None or where.matches(document)
        ]
        hits = [(document, share) for document, share in found if share >= self.at_least]
        return Ranking.from_scores(query, hits, source="trigram", k=k)

    def explain(self, query: Query, document: Document, /) -> tuple[Contribution, ...]:
        wanted, has = _trigrams(query.text), _trigrams(document.text)
        return tuple(Contribution(trigram, 1 / len(wanted)) for trigram in sorted(wanted) if trigram in has)


def _trigrams(text: str) -> frozenset[str]:
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return frozenset(f" {word} "[at : at + 3] for word in words for at in range(len(word)))
