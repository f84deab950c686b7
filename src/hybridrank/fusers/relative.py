"""Fusion by the weighted mean of normalised scores: weights are shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ..types import Contribution, Ranking
from .combine import Total, show
from .legs import check_weights
from .normalized import fuse_scores, score_contributions


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RelativeScore:
    """Relative score fusion: the weighted mean, over all legs, of a document's min-max scores.

    As Weaviate's `relativeScoreFusion` (its alpha is `weights={"dense": alpha, "bm25": 1 - alpha}`) and
    LlamaIndex's `relative_score`. Weights are shares: they are divided by their sum, so that scores lie in 0
    to 1, and 1 means first in every leg. A leg in which a document does not stand adds 0. The order is that
    of `CombSUM`, whose scores are not divided.

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
        return fuse_scores(rankings, self.weights, k=k, source="relative-score", by="min-max", total=_mean)

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg in which the document stands adds to its score."""
        return score_contributions(
            rankings, self.weights, id, source="relative-score", by="min-max", factor=_share
        )

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DistributionBased:
    """Distribution-based score fusion: as `RelativeScore`, with mean ± 3 standard deviations for 0 and 1.

    Mazzeschi 2023; LlamaIndex's `dist_based_score`, Qdrant's DBSF. A score s of a leg becomes
    (s - (mean - 3 sd)) / (6 sd), with mean and (population) standard deviation of that leg's list, so one
    outlier does not press all others together, and a leg's last hit still counts for more than a document
    that was not found. What lies further than 3 sd below the mean becomes 0, what lies further above it is
    more than 1. Where all scores of a list are equal, each becomes 1.

    Args:
        weights: by leg name, 0 or more; a leg that is not named weighs 1. They are divided by their sum. A
            leg that weighs 0 adds nothing, and documents that stand in no other leg are left out.

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
        return fuse_scores(
            rankings, self.weights, k=k, source="distribution-based", by="distribution", total=_mean
        )

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg in which the document stands adds to its score."""
        return score_contributions(
            rankings, self.weights, id, source="distribution-based", by="distribution", factor=_share
        )

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)


def _mean(weights: Mapping[str, float]) -> Total:
    whole = math.fsum(weights.values())

    def mean(addends: Sequence[float]) -> float:
        return math.fsum(addends) / whole

    return mean


def _share(weights: Mapping[str, float], count: int) -> tuple[float, str]:
    whole = math.fsum(weights.values())
    return 1 / whole, f" / {whole:g}"
