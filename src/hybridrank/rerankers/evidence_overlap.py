"""Orders candidates by how much of the source they share, and how rare that is."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from ..errors import NotIndexedError
from ..text.corpus_tokens import CorpusTokens
from ..text.evidence import source_of
from ..types import Contribution, Document, Event, Query, Ranking, check_k

_SOURCE = "evidence-overlap"


@dataclass(frozen=True, init=False, repr=False, eq=False)
class EvidenceOverlap:
    """Compares the query, as a rule a whole chunk of source, with the text of each candidate. Needs no model.

    What counts are the API tokens that both hold: calls, dotted names, constants, literals. A query without
    any is prose, and its words count. Each token weighs the square of ln((N - n + 1) / n), where n of the N
    indexed documents hold it, and nothing if more than half of them do. The score is the mean of two shares,
    0 to 1: how much of the query's weight the candidate holds, and how much of the candidate's weight, plus
    that of two tokens of the highest weight, the query holds. So a candidate rises with what it covers, and
    falls with what it says of something else. docs/evidence.md derives it.

    Equal scores keep their order, so a query that tells nothing changes nothing; an event then says so.

    Args:
        depth: how many hits a pipeline gives to this reranker, `None` all of them.

    Raises:
        InvalidValueError: depth is negative or no int.
    """

    depth: int | None
    _corpus: CorpusTokens | None

    def __init__(self, *, depth: int | None = None) -> None:
        object.__setattr__(self, "depth", None if depth is None else check_k(depth, "depth"))
        object.__setattr__(self, "_corpus", None)

    def index(self, documents: Sequence[Document], /) -> Self:
        """A new reranker that knows how rare tokens are in these documents."""
        return self._with(CorpusTokens.of(documents))

    def state(self) -> dict[str, Any]:
        """How many documents hold each token, see `Storable`.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        return self._indexed().state()

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        """A new reranker with these options and that state.

        Raises:
            IndexFormatError: the state is damaged.
        """
        return self._with(CorpusTokens.restored(state))

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        """The k hits that share most.

        Raises:
            InvalidValueError: k is negative or no int.
            NotIndexedError: there are no documents yet.
        """
        check_k(k)
        source = source_of(ranking.query.text, self._indexed())
        hits = [replace(hit, score=source.overlap(hit.document.text).score) for hit in ranking]
        hits.sort(key=lambda hit: -hit.score)
        events: tuple[Event, ...] = ()
        if hits and not hits[0].score:
            why = "the query shares no rare string with any candidate; their order stays"
            events = (Event("nothing-shared", why),)
        return Ranking(ranking.query, tuple(hits[:k]), _SOURCE, events)

    def explain(self, query: Query, document: Document, /) -> tuple[Contribution, ...]:
        """What each shared string adds to the document's score; the values sum to it but for its rounding.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        corpus = self._indexed()
        return source_of(query.text, corpus).overlap(document.text).contributions(corpus.documents)

    def fingerprint(self) -> str:
        """Equal where rankings are: made of how many documents hold each token."""
        return f"evidence-overlap:{self._corpus.digest[:16] if self._corpus else ''}"

    def __repr__(self) -> str:
        return "EvidenceOverlap()" if self.depth is None else f"EvidenceOverlap(depth={self.depth})"

    def _indexed(self) -> CorpusTokens:
        if self._corpus is None:
            raise NotIndexedError(
                "EvidenceOverlap has no documents yet; call index(documents) and use what it returns"
            )
        return self._corpus

    def _with(self, corpus: CorpusTokens) -> Self:
        new = copy.copy(self)
        object.__setattr__(new, "_corpus", corpus)
        return new
