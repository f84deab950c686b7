"""Fusion by scores: every list is normalised first, since the scores of two legs do not compare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ..types import Contribution, Ranking, check_id
from .combine import Total, combine, rank_of, show
from .legs import check_legs, check_weights


def min_max(scores: Sequence[float]) -> list[float]:
    """(s - lowest) / (highest - lowest): 1 for the highest, 0 for the lowest.

    Where all scores are equal, each is 1, whatever their value: a list's only hit is its best one. An empty
    list stays empty. Never NaN, at any finite scores.
    """
    if not scores:
        return []
    low, high = float(min(scores)), float(max(scores))
    if low == high:
        return [1.0] * len(scores)
    scale = 1.0 if math.isfinite(high - low) else 0.5
    low, span = low * scale, high * scale - low * scale
    return [(float(s) * scale - low) / span for s in scores]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CombSUM:
    """The sum of a document's weighted min-max scores (Fox & Shaw 1994).

    A leg in which a document does not stand adds 0, as does a leg for its last hit. Scores lie in 0 to the
    sum of the weights and order the hits of one fusion; they are no probabilities. The normalisation
    stretches any difference in a list to the full range, so noise in a list of near-equal scores counts
    fully; `RRF` does not look at scores.

    Args:
        weights: by leg name, 0 or more; a leg that is not named weighs 1. A leg that weighs 0 adds nothing,
            and documents that stand in no other leg are left out.

    Raises:
        InvalidValueError: a weight is outside its range.
    """

    weights: Mapping[str, float]

    def __init__(self, *, weights: Mapping[str, float] | None = None) -> None:
        object.__setattr__(self, "weights", check_weights(weights))

    def __repr__(self) -> str:
        return show(self, weights={})

    def fuse(self, rankings: Mapping[str, Ranking], /, *, k: int) -> Ranking:
        """The k documents with the highest scores; ties by path, start line, id. No rankings, no hits.

        Events stay with the rankings that brought them.

        Raises:
            UnknownNameError: a weight names no leg.
            InvalidValueError: all legs weigh 0, the rankings answer different queries, or k is no count.
            ContractError: one id stands for two documents.
        """
        return _fuse(rankings, self.weights, k, "combsum", math.fsum)

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg in which the document stands adds to its score."""
        return _contributions(rankings, self.weights, id, "combsum", counted=False)

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CombMNZ:
    """CombSUM times the number of legs in which the document stands (Fox & Shaw 1994).

    A leg counts where it weighs more than 0, also for its last hit, whose min-max score is 0.

    Args:
        weights: by leg name, 0 or more; a leg that is not named weighs 1. A leg that weighs 0 adds nothing,
            and documents that stand in no other leg are left out.

    Raises:
        InvalidValueError: a weight is outside its range.
    """

    weights: Mapping[str, float]

    def __init__(self, *, weights: Mapping[str, float] | None = None) -> None:
        object.__setattr__(self, "weights", check_weights(weights))

    def __repr__(self) -> str:
        return show(self, weights={})

    def fuse(self, rankings: Mapping[str, Ranking], /, *, k: int) -> Ranking:
        """The k documents with the highest scores; ties by path, start line, id. No rankings, no hits.

        Events stay with the rankings that brought them.

        Raises:
            UnknownNameError: a weight names no leg.
            InvalidValueError: all legs weigh 0, the rankings answer different queries, or k is no count.
            ContractError: one id stands for two documents.
        """
        return _fuse(rankings, self.weights, k, "combmnz", _counted_sum)

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg in which the document stands adds to its score, the factor included."""
        return _contributions(rankings, self.weights, id, "combmnz", counted=True)

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)


def _fuse(
    rankings: Mapping[str, Ranking], weights: Mapping[str, float], k: int, source: str, total: Total
) -> Ranking:
    legs = check_legs(rankings, weights, source=source)
    return combine(legs, k=k, source=source, addends=_addends, total=total)


def _addends(ranking: Ranking, weight: float) -> list[float]:
    return [weight * score for score in min_max([hit.score for hit in ranking.hits])]


def _counted_sum(addends: Sequence[float]) -> float:
    return len(addends) * math.fsum(addends)


def _contributions(
    rankings: Mapping[str, Ranking], weights: Mapping[str, float], id: str, source: str, *, counted: bool
) -> tuple[Contribution, ...]:
    legs = check_legs(rankings, weights, source=source)
    check_id(id)
    ranks = {leg: rank_of(id, ranking) for leg, ranking in rankings.items()}
    stands = {leg: rank for leg, rank in ranks.items() if rank is not None}
    count = sum(1 for leg in stands if legs.weights[leg])
    found = []
    for leg, rank in stands.items():
        ranking, weight = rankings[leg], legs.weights[leg]
        normalized = min_max([hit.score for hit in ranking.hits])[rank - 1]
        detail = f"{weight:g} × {normalized:.4g} (min-max of {ranking[rank - 1].score:.4g})"
        if counted:
            found.append(Contribution(leg, count * weight * normalized, f"{detail}, × {count} legs"))
        else:
            found.append(Contribution(leg, weight * normalized, detail))
    return tuple(found)
