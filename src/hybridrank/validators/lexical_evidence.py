"""Accepts what shares enough rare strings with the source. Needs no model."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from ..errors import InvalidValueError, NotIndexedError
from ..text.corpus_tokens import CorpusTokens
from ..text.evidence import Overlap, Source, source_of
from ..types import Document, Ranking, Verdict

THRESHOLD = 1 / 3
"""Two thirds of the source whatever else a candidate says, or two thirds of what it says however long the
source is, or a third of both."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class LexicalEvidence:
    """Accepts candidates by the rare API tokens that they share with the query; these are its evidence.

    The score is that of `EvidenceOverlap`, which its docstring gives: the mean of how much of the query's
    weight a candidate covers and how much of the candidate's own weight that is. Tokens that more than half
    of the documents hold weigh nothing, however many are shared.

    yes: the score is at least the threshold. no: it is below. undecided: there is nothing to judge by, since
    more than half of the documents hold each of the query's tokens, or it has none; so it is for everything
    where there is only one document. Each verdict quotes the shared strings, heaviest first, at their first
    place in the query's and the document's text.

    Args:
        threshold: score from which a candidate is accepted, above 0 and at most 1.
        on_undecided: "drop" rejects what is undecided, "keep" accepts it.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    threshold: float
    on_undecided: Literal["drop", "keep"]
    _corpus: CorpusTokens | None

    def __init__(
        self, *, threshold: float = THRESHOLD, on_undecided: Literal["drop", "keep"] = "drop"
    ) -> None:
        given: object = threshold
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 1:
            raise InvalidValueError(f"threshold is {threshold!r}; give a number above 0 and at most 1")
        if on_undecided not in ("drop", "keep"):
            raise InvalidValueError(f'on_undecided is {on_undecided!r}; give "drop" or "keep"')
        self._set(threshold=float(threshold), on_undecided=on_undecided, _corpus=None)

    def index(self, documents: Sequence[Document], /) -> Self:
        """A new validator that knows how rare tokens are in these documents."""
        return self._with(CorpusTokens.of(documents))

    def state(self) -> dict[str, Any]:
        """How many documents hold each token, see `Storable`.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        return self._indexed().state()

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        """A new validator with these options and that state.

        Raises:
            IndexFormatError: the state is damaged.
        """
        return self._with(CorpusTokens.restored(state))

    def validate(self, ranking: Ranking, /) -> tuple[Verdict, ...]:
        """One verdict per hit, in rank order. None depends on the other hits.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        source = source_of(ranking.query.text, self._indexed())
        return tuple(self._judge(source, hit.document) for hit in ranking)

    def fingerprint(self) -> str:
        """Equal where verdicts are: made of options and of how many documents hold each token."""
        learnt = self._corpus.digest[:16] if self._corpus else ""
        return f"lexical-evidence:{self.threshold!r}:{self.on_undecided}:{learnt}"

    def __repr__(self) -> str:
        shown = [f"threshold={self.threshold!r}"] if self.threshold != THRESHOLD else []
        if self.on_undecided != "drop":
            shown.append(f"on_undecided={self.on_undecided!r}")
        return f"LexicalEvidence({', '.join(shown)})"

    def _judge(self, source: Source, document: Document) -> Verdict:
        if not source.tells:
            why = f"the source has no string that is rare among {self._indexed().documents} documents"
            return Verdict(document.id, "undecided", self.on_undecided == "keep", reason=why)
        found = source.overlap(document.text)
        accepted = found.score >= self.threshold
        quotes = found.quotes(source.text, document.text)
        return Verdict(
            document.id, "yes" if accepted else "no", accepted, quotes, self._reason(found, accepted)
        )

    def _reason(self, found: Overlap, accepted: bool) -> str:
        if not found.shared:
            return "shares no rare string with the source"
        told = (
            f"overlap {found.score:.3f}: holds {found.coverage:.0%} of the source's weight, "
            f"which is {found.agreement:.0%} of its own"
        )
        return told if accepted else f"{told}; accepted from {self.threshold:.3g}"

    def _indexed(self) -> CorpusTokens:
        if self._corpus is None:
            raise NotIndexedError(
                "LexicalEvidence has no documents yet; call index(documents) and use what it returns"
            )
        return self._corpus

    def _with(self, corpus: CorpusTokens) -> Self:
        new = copy.copy(self)
        new._set(_corpus=corpus)
        return new

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)
