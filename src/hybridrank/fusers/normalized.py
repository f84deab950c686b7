"""Scores made comparable: each list is normalised by itself, since the scores of two legs do not compare.

Every normalisation here maps a list's scores to finite numbers of 0 or more, never NaN, and never turns two
of them round. 0 is what a leg adds for a document that it did not find, so being found is never worse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from ..errors import InvalidValueError
from ..types import Contribution, Event, Ranking, check_id
from .combine import Total, combine, rank_of
from .legs import check_legs

Normalization: TypeAlias = Literal["min-max", "max", "z-score"]
"""What `CombSUM` and `CombMNZ` take."""

Normalize: TypeAlias = Callable[[Sequence[float]], list[float]]


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


def max_scaled(scores: Sequence[float]) -> list[float]:
    """s / highest; a score below 0 becomes 0. Where all scores are equal, each is 1."""
    if not scores:
        return []
    low, high = float(min(scores)), float(max(scores))
    if low == high:
        return [1.0] * len(scores)
    if high <= 0:
        return [0.0] * len(scores)
    return [max(float(s), 0.0) / high for s in scores]


def z_score(scores: Sequence[float]) -> list[float]:
    """(s - lowest) / standard deviation (of the population): the z-score, counted from the lowest hit.

    Where all scores are equal, each is 1.
    """
    scaled = min_max(scores)
    # The z-score does not change with scale and offset, and between 0 and 1 nothing can overflow.
    _, deviation = _moments(scaled)
    return [s / deviation for s in scaled] if deviation else scaled


def distribution(scores: Sequence[float]) -> list[float]:
    """(s - (mean - 3 sd)) / (6 sd), with the standard deviation of the population: 0.5 for the mean.

    A score further than 3 sd below the mean becomes 0; one further above it is more than 1, so that the order
    at the top stays. Where all scores are equal, each is 1.
    """
    scaled = min_max(scores)
    mean, deviation = _moments(scaled)
    return [max((s - mean) / deviation + 3, 0.0) / 6 for s in scaled] if deviation else scaled


_FUNCTIONS: dict[str, Normalize] = {
    "min-max": min_max,
    "max": max_scaled,
    "z-score": z_score,
    "distribution": distribution,
}


def check_normalization(value: object) -> Normalization:
    """One of the names of `Normalization`, or InvalidValueError."""
    known = get_args(Normalization)
    if value not in known:
        raise InvalidValueError(f"normalization is {value!r}; give one of {', '.join(map(repr, known))}")
    return value  # type: ignore[return-value]


def fuse_scores(
    rankings: Mapping[str, Ranking],
    weights: Mapping[str, float],
    *,
    k: int,
    source: str,
    by: str,
    total: Callable[[Mapping[str, float]], Total],
) -> Ranking:
    """The k documents with the highest totals of weighted, normalised scores.

    Args:
        by: a name in the table of normalisations.
        total: the weights of the legs to what makes a score of a document's addends.
    """
    legs = check_legs(rankings, weights, source=source)
    normalize = _FUNCTIONS[by]

    def addends(ranking: Ranking, weight: float) -> list[float]:
        return [weight * score for score in normalize([hit.score for hit in ranking.hits])]

    events = _negative(legs.rankings, legs.weights) if by == "max" else ()
    return combine(legs, k=k, source=source, addends=addends, total=total(legs.weights), events=events)


def score_contributions(
    rankings: Mapping[str, Ranking],
    weights: Mapping[str, float],
    id: str,
    *,
    source: str,
    by: str,
    factor: Callable[[Mapping[str, float], int], tuple[float, str]],
) -> tuple[Contribution, ...]:
    """What each leg in which the document stands adds to its score.

    Args:
        factor: the weights of the legs, and in how many of those that weigh the document stands, to what its
            sum is multiplied by, and how that is written.
    """
    legs = check_legs(rankings, weights, source=source)
    check_id(id)
    ranks = {leg: rank_of(id, ranking) for leg, ranking in rankings.items()}
    stands = {leg: rank for leg, rank in ranks.items() if rank is not None}
    by_all, told = factor(legs.weights, sum(1 for leg in stands if legs.weights[leg]))
    found = []
    for leg, rank in stands.items():
        ranking, weight = rankings[leg], legs.weights[leg]
        normalized = _FUNCTIONS[by]([hit.score for hit in ranking.hits])[rank - 1]
        detail = f"{weight:g} × {normalized:.4g} ({by} of {ranking[rank - 1].score:.4g}){told}"
        found.append(Contribution(leg, weight * normalized * by_all, detail))
    return tuple(found)


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and population standard deviation; 0 and 0 of nothing and of equal values."""
    if not values or min(values) == max(values):
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _negative(rankings: Mapping[str, Ranking], weights: Mapping[str, float]) -> list[Event]:
    events = []
    for leg in sorted(rankings):
        scores = [hit.score for hit in rankings[leg]]
        below = sum(1 for score in scores if score < 0)
        if below and weights[leg] and scores[0] != scores[-1]:
            message = f"{below} of {len(scores)} scores of leg {leg!r} are below 0; max normalisation takes 0"
            level: Literal["info", "warning"] = "info" if scores[0] > 0 else "warning"
            if level == "warning":
                message += "; the leg adds nothing, use min-max"
            events.append(Event("negative-scores", message, level=level, data={"leg": leg, "scores": below}))
    return events
