"""Fusion by the sum of normalised scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from ..types import Contribution, Ranking
from .combine import Total, counted_sum, show
from .legs import check_weights
from .normalized import Normalization, check_normalization, fuse_scores, score_contributions


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CombSUM:
    """The sum of a document's weighted, normalised scores (Fox & Shaw 1994).

    A leg in which a document does not stand adds 0. Scores are 0 or more and order the hits of one fusion;
    they are no probabilities.

    Each list is normalised by itself. `"min-max"` (Lee 1997) maps it to 0 to 1, so a leg adds 0 for its last
    hit; it stretches any difference in a list to the full range, so noise in a list of near-equal scores
    counts fully. `"max"` divides by the highest score; it is for scores of 0 or more: one below 0 counts as
    0, and an event (code "negative-scores") tells. `"z-score"` divides by the standard deviation of the list
    (Montague & Aslam 2001), counting from the lowest score and not from the mean, since a hit below the mean
    would otherwise stand behind a document that was not found at all. Where all scores of a list are equal,
    each becomes 1. `RRF` does not look at scores.

    Args:
        normalization: "min-max", "max" or "z-score".
        weights: by leg name, 0 or more; a leg that is not named weighs 1. A leg that weighs 0 adds nothing,
            and documents that stand in no other leg are left out.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    normalization: Normalization
    weights: Mapping[str, float]

    def __init__(
        self, *, normalization: Normalization = "min-max", weights: Mapping[str, float] | None = None
    ) -> None:
        object.__setattr__(self, "normalization", check_normalization(normalization))
        object.__setattr__(self, "weights", check_weights(weights))

    def __repr__(self) -> str:
        return show(self, normalization="min-max", weights={})

    def fuse(self, rankings: Mapping[str, Ranking], /, *, k: int) -> Ranking:
        """The k documents with the highest scores; ties by path, start line, id. No rankings, no hits.

        Events stay with the rankings that brought them.

        Raises:
            UnknownNameError: a weight names no leg.
            InvalidValueError: all legs weigh 0, the rankings answer different queries, or k is no count.
            ContractError: one id stands for two documents.
        """
        return fuse_scores(
            rankings, self.weights, k=k, source="combsum", by=self.normalization, total=_plain_sum
        )

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg in which the document stands adds to its score."""
        return score_contributions(
            rankings, self.weights, id, source="combsum", by=self.normalization, factor=_once
        )

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CombMNZ:
    """CombSUM times the number of legs in which the document stands (Fox & Shaw 1994).

    A leg counts where it weighs more than 0, also for its last hit, whose min-max score is 0.

    Args:
        normalization: as for `CombSUM`.
        weights: by leg name, 0 or more; a leg that is not named weighs 1. A leg that weighs 0 adds nothing,
            and documents that stand in no other leg are left out.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    normalization: Normalization
    weights: Mapping[str, float]

    def __init__(
        self, *, normalization: Normalization = "min-max", weights: Mapping[str, float] | None = None
    ) -> None:
        object.__setattr__(self, "normalization", check_normalization(normalization))
        object.__setattr__(self, "weights", check_weights(weights))

    def __repr__(self) -> str:
        return show(self, normalization="min-max", weights={})

    def fuse(self, rankings: Mapping[str, Ranking], /, *, k: int) -> Ranking:
        """The k documents with the highest scores; ties by path, start line, id. No rankings, no hits.

        Events stay with the rankings that brought them.

        Raises:
            UnknownNameError: a weight names no leg.
            InvalidValueError: all legs weigh 0, the rankings answer different queries, or k is no count.
            ContractError: one id stands for two documents.
        """
        return fuse_scores(
            rankings, self.weights, k=k, source="combmnz", by=self.normalization, total=_sum_by_count
        )

    def contributions(self, rankings: Mapping[str, Ranking], id: str, /) -> tuple[Contribution, ...]:
        """What each leg in which the document stands adds to its score, the factor included."""
        return score_contributions(
            rankings, self.weights, id, source="combmnz", by=self.normalization, factor=_by_count
        )

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        """The same fuser with these weights and no others: a leg that is not named weighs 1."""
        return replace(self, weights=weights)


def _plain_sum(weights: Mapping[str, float]) -> Total:
    return math.fsum


def _sum_by_count(weights: Mapping[str, float]) -> Total:
    return counted_sum


def _once(weights: Mapping[str, float], count: int) -> tuple[float, str]:
    return 1.0, ""


def _by_count(weights: Mapping[str, float], count: int) -> tuple[float, str]:
    return count, f", × {count} legs"
