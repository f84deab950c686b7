"""The conformance checks pass sound measures and catch broken ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hybridrank.evaluation.found import Found
from hybridrank.evaluation.measures import MRR, nDCG
from hybridrank.testing import ConformanceError, check_measure, checks_for


class Judged:
    """A sound measure that walks along the ranking: the share of the first 5 places that are judged."""

    name = "Judged@5"

    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        return len(set(ranked_ids[:5]) & set(grades)) / 5


class Nameless:
    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        return 0.0


class DividesByNothing(Judged):
    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        return len(set(ranked_ids) & set(grades)) / len(grades)


class NotANumber(Judged):
    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        return float("nan") if "x" in ranked_ids else 0.0


class RewardsSilence(Judged):
    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        return 0.0 if ranked_ids else 1.0


class SortsIds(Judged):
    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        return super().score(sorted(ranked_ids)[:2], grades)


class Counts(Judged):
    def __init__(self) -> None:
        self.calls = 0

    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        self.calls += 1
        return float(self.calls) if ranked_ids else 0.0


class Sorts(Judged):
    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        if isinstance(ranked_ids, list):
            ranked_ids.sort()
        return 0.0


class TwoValues(Judged):
    def score_found(self, found: Found, /) -> float:
        return 1.0


BROKEN: list[tuple[str, type[Any]]] = [
    ("measure_protocol", Nameless),
    ("finite_values", DividesByNothing),
    ("finite_values", NotANumber),
    ("nothing_found", RewardsSilence),
    ("ids_are_names", SortsIds),
    ("scored_again", Counts),
    ("scored_again", Sorts),
    ("both_ways", TwoValues),
]


@pytest.mark.parametrize("measure", [Judged, nDCG, lambda: MRR(k=3)])
def test_a_sound_measure_passes(measure: Any) -> None:
    check_measure(measure)


@pytest.mark.parametrize(("law", "measure"), BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_a_broken_law_is_caught_by_its_check(law: str, measure: type[Any]) -> None:
    with pytest.raises(ConformanceError) as caught:
        dict(checks_for("measure"))[law](measure)
    assert caught.value.law == law


def test_each_law_has_a_measure_that_breaks_it() -> None:
    assert {law for law, _ in BROKEN} == set(dict(checks_for("measure")))
