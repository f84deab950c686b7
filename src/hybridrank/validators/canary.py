"""Two questions whose answers are known, made from a corpus, to find out whether a model judges at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from ..errors import InvalidValueError
from ..text.api_tokens import api_tokens
from ..text.corpus_tokens import CorpusTokens
from ..types import Document, Verdict

_LOOKED_AT = 2000
_FEWEST_TOKENS = 3
_MOST_CHARS = 1500


@dataclass(frozen=True, slots=True)
class CanaryPairs:
    """A source with a candidate that holds it, and one that holds nothing of it.

    Attributes:
        source: some lines of `known_yes`.
        known_yes: holds the source word for word, so that the answer must be yes.
        known_no: shares no API token with the source that not most documents hold; the answer must be no.
    """

    source: str
    known_yes: Document
    known_no: Document


@dataclass(frozen=True, slots=True)
class Canary:
    """What a model made of the two questions.

    Attributes:
        model: its name.
        pairs: what it was asked.
        on_yes, on_no: its verdicts, on what must be yes and on what must be no.
        said: what it said before its quotes were checked, in the same order.
        seconds: for both questions.
    """

    model: str
    pairs: CanaryPairs
    on_yes: Verdict
    on_no: Verdict
    said: tuple[str, str]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether it said yes with a quote that stands where it should, and no to the other."""
        return self.on_yes.answer == "yes" and self.on_no.answer == "no"

    def __str__(self) -> str:
        """One line for people."""
        if self.passed:
            return f"model {self.model!r} tells a known yes from a known no"
        if self.said[0] == self.said[1]:
            return f"model {self.model!r} is refused: it says {self.said[0]} to a known yes and to a known no"
        told = [
            f"{verdict.answer} to a known {known}" + (f" ({verdict.reason})" if verdict.reason else "")
            for known, verdict in (("yes", self.on_yes), ("no", self.on_no))
            if verdict.answer != known
        ]
        return f"model {self.model!r} is refused: it says {', and '.join(told)}"


def canary_pairs(documents: Sequence[Document], corpus: CorpusTokens | None = None) -> CanaryPairs:
    """Two questions from the first of the documents that will do; equal documents give equal questions.

    Args:
        documents: at least two that share no rare token.
        corpus: the tokens of the documents, counted here when None.

    Raises:
        InvalidValueError: no two of the documents will do.
    """
    corpus = corpus or CorpusTokens.of(documents)
    rare: list[tuple[Document, frozenset[str]]] = []
    for document in islice(documents, _LOOKED_AT):
        tokens = frozenset(token for token in api_tokens(document.text) if corpus.weight(token) > 0)
        if len(document.text) > _MOST_CHARS or len(tokens) < _FEWEST_TOKENS:
            continue
        for other, theirs in rare:
            if not tokens & theirs:
                return CanaryPairs(_lines_of(other, theirs), other, document)
        rare.append((document, tokens))
    raise InvalidValueError(
        f"no two of {len(documents)} documents differ enough to ask a model a question with a known answer; "
        "give a larger corpus"
    )


def _lines_of(document: Document, tokens: frozenset[str]) -> str:
    """The lines from the first to the last that hold a rare token."""
    lines = document.text.splitlines()
    telling = [place for place, line in enumerate(lines) if any(token in line for token in tokens)]
    return "\n".join(lines[telling[0] : telling[-1] + 1]) if telling else document.text
