"""Fusion by places other than reciprocal ranks: Borda count and inverse square rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from ..types import Contribution, Ranking, check_id
from .combine import combine, counted_sum, rank_of, show
from .legs import Legs, check_legs, check_weights

_BORDA, _ISR = "borda", "isr"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Borda:
    """Borda count: each leg is a voter; of c candidates its first gets c points, its next one less.

    Aslam & Montague 2001 (weighted Borda-fuse). The candidates are the documents of all legs that weigh
    more than 0. Those that a leg did not find share its remaining points evenly: with n hits each gets
    (c - n + 1) / 2, which is no more than the leg's last hit gets. So a leg adds something for documents that
    it does not know, and a leg without hits adds the same to all. Only places count, never scores.

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
        """The k documents with the most points; ties by path, start line, id. No rankings, no hits.

        Events stay with the rankings that brought them.

        Raises:
            UnknownNameError: a weight names no leg.
            InvalidValueError: all legs weigh 0, the rankings answer different queries, or k is no count.
            ContractError: one id stands for two documents.
        """
        legs = check_legs(rankings, self.weights, source=_BORDA)
        candidates = len(_candidates(legs))

        def points(ranking: Ranking, weight: float) -> list[float]:
            return [weight * (candidates - place) for place in range(len(ranking))]

        def share(ranking: Ranking, weight: float) -> float:
            return weight * (candidates - len(ranking) + 1) / 2

        return combine(legs, k=k, source=_BORDA, addends=points, absent=share)

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg that weighs more than 0 adds to its score, also where it does not stand."""
        legs = check_legs(rankings, self.weights, source=_BORDA)
        check_id(id)
        candidates = _candidates(legs)
        found = []
        for leg, weight in legs.weights.items():
            if weight and id in candidates:
                ranking = rankings[leg]
                rank = rank_of(id, ranking)
                if rank is None:
                    points = (len(candidates) - len(ranking) + 1) / 2
                    told = f"not found: ({len(candidates)}-{len(ranking)}+1)/2"
                else:
                    points = float(len(candidates) - rank + 1)
                    told = f"{len(candidates)}-{rank}+1"
                found.append(Contribution(leg, weight * points, f"{weight:g} × {points:g} ({told})"))
        return tuple(found)

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ISR:
    """Inverse square rank: n · Σ w / rank², n being the number of legs in which the document stands.

    Mourão, Martins & Magalhães 2015, with weights added. Ranks count from 1; a leg in which a document does
    not stand adds 0, and counts for n only where it weighs more than 0. First places dominate: second in two
    legs (2 · (1/4 + 1/4) = 1) is worth no more than first in one.
    Only places count, never scores.

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
        legs = check_legs(rankings, self.weights, source=_ISR)
        return combine(legs, k=k, source=_ISR, addends=_inverse_squares, total=counted_sum)

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg in which the document stands adds to its score, the factor included."""
        legs = check_legs(rankings, self.weights, source=_ISR)
        check_id(id)
        ranks = {leg: rank_of(id, ranking) for leg, ranking in rankings.items()}
        stands = {leg: rank for leg, rank in ranks.items() if rank is not None}
        count = sum(1 for leg in stands if legs.weights[leg])
        return tuple(
            Contribution(
                leg, count * legs.weights[leg] / rank**2, f"{legs.weights[leg]:g}/{rank}², × {count} legs"
            )
            for leg, rank in stands.items()
        )

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)


def _candidates(legs: Legs) -> dict[str, None]:
    return {id: None for leg, ranking in legs.rankings.items() if legs.weights[leg] for id in ranking.ids}


def _inverse_squares(ranking: Ranking, weight: float) -> list[float]:
    return [weight / rank**2 for rank in range(1, len(ranking) + 1)]
