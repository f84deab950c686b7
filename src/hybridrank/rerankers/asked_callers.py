"""What answers "where is X called" among hits: the definition of X and its callers, by a leg for names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..errors import InvalidValueError
from ..retrievers.symbol import CALLER as CALLER
from ..retrievers.symbol import FOLDED_NAME
from ..types import Hit

DEFINITION = FOLDED_NAME
"""The least of the leg's scores for a definition of what was asked for."""
_MOST_DEFINITIONS = 2


def names_of_legs(given: Sequence[str]) -> tuple[str, ...]:
    """Names of legs as they were given to a reranker.

    Raises:
        InvalidValueError: it is no list of names.
    """
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise InvalidValueError(f"name_legs is {given!r}; give a list of names of legs")
    return tuple(given)


def asked_for(hits: Sequence[Hit], legs: Collection[str]) -> tuple[list[int], list[int]]:
    """Places of definitions and of callers among hits, best first; none where no hit is a caller.

    Of several definitions two count: further ones would stand before the callers that were asked for.

    A hit is a caller by the score that `SymbolRetriever` gives only where a query asks for callers.

    Args:
        hits: best first.
        legs: names of the legs that find by name.
    """
    scores = [
        max((hit.components[leg].score for leg in legs if leg in hit.components), default=0.0) for hit in hits
    ]
    callers = [place for place, score in enumerate(scores) if score == CALLER]
    if not callers:
        return [], []
    return [place for place, score in enumerate(scores) if score >= DEFINITION][:_MOST_DEFINITIONS], callers
