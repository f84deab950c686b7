"""Reciprocal rank fusion."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from ..errors import ContractError, InvalidValueError
from ..types import Contribution, Ranking, check_id
from .combine import combine, rank_of, show
from .legs import as_number, check_legs, check_weights, leg_weights

_SOURCE = "rrf"
# Above it, the floats of neighbouring ranks run into each other.
_LARGEST_K = 1e12


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RRF:
    """Reciprocal rank fusion: the score of a document is the sum over the legs of w / (rrf_k + rank).

    Cormack, Clarke & Büttcher 2009. Ranks count from 1; a leg in which a document does not stand adds 0.
    Only ranks count: scaling the scores of a leg changes nothing.

    The score lies in (0, `max_score(legs)`] and orders the hits of one fusion; it is no probability. Divide
    it by `max_score(legs)` for a number that is 1 where a document stands first in every leg.

    Args:
        rrf_k: 0 to 1e12. The smaller, the more a single first place outweighs agreement between legs. It is
            no number of hits.
        weights: by leg name, 0 or more; a leg that is not named weighs 1. A leg that weighs 0 adds nothing,
            and documents that stand in no other leg are left out.
        same_candidates: refuse to fuse unless at least two rankings hold one and the same set of ids.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    _keeps_components: ClassVar[bool] = True

    rrf_k: float
    weights: Mapping[str, float]
    same_candidates: bool

    def __init__(
        self,
        *,
        rrf_k: float = 60,
        weights: Mapping[str, float] | None = None,
        same_candidates: bool = False,
    ) -> None:
        if not isinstance(same_candidates, bool):
            raise InvalidValueError(f"same_candidates is {same_candidates!r}; give True or False")
        object.__setattr__(self, "rrf_k", _check_rrf_k(rrf_k))
        object.__setattr__(self, "weights", check_weights(weights))
        object.__setattr__(self, "same_candidates", same_candidates)

    def __repr__(self) -> str:
        return show(self, rrf_k=60, weights={}, same_candidates=False)

    def fuse(self, rankings: Mapping[str, Ranking], /, *, k: int) -> Ranking:
        """The k documents with the highest scores; ties by path, start line, id. No rankings, no hits.

        Events stay with the rankings that brought them.

        Raises:
            UnknownNameError: a weight names no leg.
            InvalidValueError: all legs weigh 0, the rankings answer different queries, or k is no count.
            ContractError: one id stands for two documents, or `same_candidates` does not hold.
        """
        legs = check_legs(rankings, self.weights, source=_SOURCE)
        if self.same_candidates:
            _check_same_candidates(rankings)
        return combine(legs, k=k, source=_SOURCE, addends=self._addends)

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg in which the document stands adds to its score, such as bm25: 1/(60+1)."""
        legs = check_legs(rankings, self.weights, source=_SOURCE)
        check_id(id)
        found = []
        for leg, weight in legs.weights.items():
            rank = rank_of(id, rankings[leg])
            if rank is not None:
                detail = f"{weight:g}/({self.rrf_k:g}+{rank})"
                found.append(Contribution(leg, weight / (self.rrf_k + rank), detail))
        return tuple(found)

    def max_score(self, legs: Collection[str], /) -> float:
        """The score of a document that stands first in all these legs (names, or a mapping by name)."""
        if isinstance(legs, str):
            raise InvalidValueError(f"legs is {legs!r}; give a list of leg names")
        weights = leg_weights(self.weights, tuple(legs))
        return math.fsum(weight / (self.rrf_k + 1) for weight in weights.values())

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)

    def _addends(self, ranking: Ranking, weight: float) -> list[float]:
        return [weight / (self.rrf_k + rank) for rank in range(1, len(ranking) + 1)]


def _check_rrf_k(value: object) -> float:
    number = as_number(value)
    if number is None or not 0 <= number <= _LARGEST_K:
        raise InvalidValueError(f"rrf_k is {value!r}; give a number from 0 to {_LARGEST_K:g}")
    return number


def _check_same_candidates(rankings: Mapping[str, Ranking]) -> None:
    if len(rankings) < 2:
        raise ContractError(
            _SOURCE,
            f"compares one set of candidates over rankings and was given {len(rankings)}; give two or more",
        )
    held = {leg: set(ranking.ids) for leg, ranking in rankings.items()}
    every = set().union(*held.values())
    lacking = {leg: sorted(every - ids) for leg, ids in sorted(held.items()) if ids != every}
    if lacking:
        shown = "; ".join(
            f"{leg!r} lacks {', '.join(map(repr, ids[:5]))}"
            + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
            for leg, ids in lacking.items()
        )
        raise ContractError(
            _SOURCE,
            f"needs the same candidates in every ranking ({shown}); give complete=True to the retrievers, or "
            "same_candidates=False to the fuser. Not in every ranking",
            sorted(set().union(*lacking.values())),
        )
