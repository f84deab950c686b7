"""Fusion by normalised scores: CombSUM and CombMNZ, relative score, distribution-based."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import pytest

from hybridrank.errors import ContractError, InvalidValueError, UnknownNameError
from hybridrank.fusers.normalized import Normalize, distribution, max_scaled, min_max, z_score
from hybridrank.fusers.relative import DistributionBased, RelativeScore
from hybridrank.fusers.scores import CombMNZ, CombSUM
from hybridrank.protocols import Fuser, Weighted
from hybridrank.types import Component, Document, Query, Ranking

QUERY = Query("q")
Fusion = CombSUM | CombMNZ | RelativeScore | DistributionBased
EVERY: list[Fusion] = [
    *(kind(normalization=by) for kind in (CombSUM, CombMNZ) for by in ("min-max", "max", "z-score")),
    RelativeScore(),
    DistributionBased(),
]
EACH = pytest.mark.parametrize("fuser", EVERY, ids=repr)


def leg(scores: Mapping[str, float]) -> Ranking:
    return Ranking.from_scores(QUERY, [(Document(id, id), score) for id, score in scores.items()])


def scores(ranking: Ranking) -> dict[str, float]:
    return {hit.id: hit.score for hit in ranking}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ([7.0], [1.0]),
        ([-7.0], [1.0]),
        ([2, 2, 2], [1.0, 1.0, 1.0]),
        ([0.0, 0.0], [1.0, 1.0]),
        ([3.0, 2.0, 1.0], [1.0, 0.5, 0.0]),
        ([-1.0, -2.0, -5.0], [1.0, 0.75, 0.0]),
        ([1e308, 0.0, -1e308], [1.0, 0.5, 0.0]),
        ([5e-324, 0.0], [1.0, 0.0]),
        ([1.0 + 2**-52, 1.0], [1.0, 0.0]),
    ],
)
def test_min_max(given: list[float], expected: list[float]) -> None:
    # FU-12
    assert min_max(given) == expected


ROOT = math.sqrt(2 / 3)  # the standard deviation of three scores a step apart


@pytest.mark.parametrize(
    ("normalize", "given", "expected"),
    [
        (max_scaled, [8.0, 4.0, 1.0], [1.0, 0.5, 0.125]),
        (max_scaled, [0.5, -0.5], [1.0, 0.0]),
        (max_scaled, [0.0, -2.0], [0.0, 0.0]),
        (max_scaled, [-1.0, -2.0], [0.0, 0.0]),
        (max_scaled, [1e308, 1e307], [1.0, 0.1]),
        (z_score, [3.0, 2.0, 1.0], [2 / ROOT, 1 / ROOT, 0.0]),
        (z_score, [-30.0, -40.0, -50.0], [2 / ROOT, 1 / ROOT, 0.0]),
        (z_score, [1.0, 0.0], [2.0, 0.0]),
        (z_score, [1e308, 0.0, -1e308], [2 / ROOT, 1 / ROOT, 0.0]),
        (z_score, [1.0 + 2**-52, 1.0], [2.0, 0.0]),
        # mean 2 and deviation ROOT, so 3 is 1 / ROOT deviations above the mean
        (distribution, [3.0, 2.0, 1.0], [(3 + 1 / ROOT) / 6, 0.5, (3 - 1 / ROOT) / 6]),
        (distribution, [1.0, 0.0], [4 / 6, 2 / 6]),
        # of 17 scores one stands 4 deviations away: above it keeps its place, below it becomes 0
        (distribution, [1.0, *[0.0] * 16], [7 / 6, *[2.75 / 6] * 16]),
        (distribution, [*[1.0] * 16, 0.0], [*[3.25 / 6] * 16, 0.0]),
    ],
)
def test_other_normalisations(normalize: Normalize, given: list[float], expected: list[float]) -> None:
    assert normalize(given) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("normalize", [max_scaled, z_score, distribution])
def test_equal_scores_are_all_the_best(normalize: Normalize) -> None:
    # FU-12
    for value in (7.0, 0.0, -7.0, 1e308, 5e-324):
        assert normalize([value]) == [1.0]
        assert normalize([value] * 3) == [1.0] * 3
    assert normalize([]) == []


def test_worked_values_of_other_normalisations() -> None:
    rankings = {"bm25": leg({"a": 8, "b": 4, "c": 0}), "dense": leg({"c": 0.9, "a": 0.6})}
    by_max = CombSUM(normalization="max", weights={"dense": 3})
    assert scores(by_max.fuse(rankings, k=5)) == pytest.approx({"c": 3.0, "a": 3.0, "b": 0.5})
    # bm25: mean 4 and deviation 4 ROOT; dense: mean 0.75 and deviation 0.15
    by_z = CombSUM(normalization="z-score")
    assert scores(by_z.fuse(rankings, k=5)) == pytest.approx({"a": 2 / ROOT, "c": 2.0, "b": 1 / ROOT})
    counted = CombMNZ(normalization="z-score")
    assert scores(counted.fuse(rankings, k=5)) == pytest.approx({"a": 4 / ROOT, "c": 4.0, "b": 1 / ROOT})


def test_worked_values_of_relative_score_fusion() -> None:
    rankings = {"bm25": leg({"a": 9, "b": 3, "c": 1}), "dense": leg({"b": 0.8, "d": 0.7, "a": 0.3})}
    assert scores(RelativeScore().fuse(rankings, k=5)) == pytest.approx(
        {"b": (0.25 + 1) / 2, "a": (1 + 0) / 2, "d": 0.8 / 2, "c": 0.0}
    )
    alpha = RelativeScore(weights={"dense": 0.75, "bm25": 0.25})
    expected = {"b": 0.25 * 0.25 + 0.75, "d": 0.75 * 0.8, "a": 0.25, "c": 0.0}
    assert scores(alpha.fuse(rankings, k=5)) == pytest.approx(expected)
    threefold = RelativeScore(weights={"dense": 3})
    assert scores(threefold.fuse(rankings, k=5)) == pytest.approx(expected)
    assert RelativeScore().fuse({"x": rankings["bm25"], "y": rankings["bm25"]}, k=1)[0].score == 1.0


def test_worked_values_of_distribution_based_fusion() -> None:
    rankings = {"bm25": leg({"a": 3, "b": 2, "c": 1}), "dense": leg({"c": 0.9, "d": 0.1})}
    high, low = (3 + 1 / ROOT) / 6, (3 - 1 / ROOT) / 6
    assert scores(DistributionBased().fuse(rankings, k=5)) == pytest.approx(
        {"c": (low + 4 / 6) / 2, "a": high / 2, "b": 0.25, "d": 2 / 12}
    )
    heavy = DistributionBased(weights={"bm25": 3})
    assert scores(heavy.fuse(rankings, k=2)) == pytest.approx({"a": 3 * high / 4, "c": (3 * low + 4 / 6) / 4})


def test_max_normalisation_tells_of_scores_below_zero() -> None:
    rankings = {
        "dense": leg({"a": 0.9, "b": -0.1, "c": -0.2}),
        "distance": leg({"a": -2, "b": -1}),
        "bm25": leg({"a": 3, "b": 0}),
        "equal": leg({"a": -3, "b": -3}),
    }
    fused = CombSUM(normalization="max").fuse(rankings, k=5)
    assert scores(fused) == {"a": 3.0, "b": 1.0, "c": 0.0}
    assert [(e.code, e.level, e.data["leg"], e.data["scores"]) for e in fused.events] == [
        ("negative-scores", "info", "dense", 2),
        ("negative-scores", "warning", "distance", 2),
    ]
    assert "min-max" in fused.events[1].message
    assert CombMNZ(normalization="max", weights={"dense": 0, "distance": 0}).fuse(rankings, k=5).events == ()
    assert CombSUM(normalization="z-score").fuse(rankings, k=5).events == ()


@pytest.mark.parametrize("value", ["minmax", "", None, 1, True, ["max"]])
@pytest.mark.parametrize("kind", [CombSUM, CombMNZ])
def test_unknown_normalisations(kind: type[CombSUM] | type[CombMNZ], value: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"normalization is .*'min-max', 'max', 'z-score'"):
        kind(normalization=value)


def test_worked_values() -> None:
    # FU-13: c stands in one list only and gets 0 from the other, no negative number.
    rankings = {"keyword": leg({"a": 1, "b": 3}), "dense": leg({"c": 0.9, "a": 0.1, "b": 0.5})}
    assert scores(CombSUM().fuse(rankings, k=5)) == pytest.approx({"b": 1.5, "c": 1.0, "a": 0.0})
    assert scores(CombMNZ().fuse(rankings, k=5)) == pytest.approx({"b": 3.0, "c": 1.0, "a": 0.0})
    two = {"keyword": leg({"a": 1, "b": 3}), "dense": leg({"c": 0.9, "a": 0.1})}
    assert scores(CombSUM().fuse(two, k=5)) == {"b": 1.0, "c": 1.0, "a": 0.0}


def test_weights_count() -> None:
    # FU-08
    rankings = {"x": leg({"a": 4, "b": 3, "c": 0}), "y": leg({"b": 10, "a": 5, "d": 0})}
    assert scores(CombSUM(weights={"x": 2}).fuse(rankings, k=9)) == {"a": 2.5, "b": 2.5, "c": 0.0, "d": 0.0}
    assert scores(CombMNZ(weights={"y": 3}).fuse(rankings, k=2)) == {"b": 7.5, "a": 5.0}


def test_a_leg_of_weight_zero_does_not_count_for_mnz() -> None:
    rankings = {"x": leg({"a": 4, "b": 3}), "y": leg({"a": 1, "c": 0})}
    fused = CombMNZ(weights={"y": 0}).fuse(rankings, k=9)
    assert scores(fused) == {"a": 1.0, "b": 0.0}
    assert fused[0].components == {"x": Component(1, 4.0), "y": Component(1, 1.0)}


@EACH
def test_the_only_hit_of_a_leg_is_its_best(fuser: Fusion) -> None:
    # FU-12
    rankings = {"keyword": leg({"rare": 0.3}), "dense": leg({"a": 0.9, "b": 0.8, "c": 0.1})}
    found = {c.name: c.value for c in fuser.contributions({"keyword": rankings["keyword"]}, "rare")}
    assert found == {"keyword": 1.0}
    assert fuser.fuse(rankings, k=5).ids.index("rare") < fuser.fuse(rankings, k=5).ids.index("c")


@pytest.mark.parametrize("fuser", [CombSUM(), CombMNZ(), RelativeScore()], ids=repr)
def test_the_only_hit_of_a_leg_ties_with_the_best_of_another(fuser: Fusion) -> None:
    # FU-12
    rankings = {"keyword": leg({"rare": 0.3}), "dense": leg({"a": 0.9, "b": 0.8, "c": 0.1})}
    assert fuser.fuse(rankings, k=5).ids == ("a", "rare", "b", "c")


@EACH
def test_protocols_and_repr(fuser: Fusion) -> None:
    assert isinstance(fuser, Fuser)
    assert isinstance(fuser, Weighted)
    weighted = fuser.with_weights({"x": 2}).with_weights({"y": 0})
    assert eval(repr(weighted)) == weighted
    assert type(weighted) is type(fuser)
    assert fuser.weights == {}


@EACH
def test_odd_input(fuser: Fusion) -> None:
    rankings: dict[str, Any] = {"x": leg({"a": 1}), "y": leg({})}
    # FU-10
    assert len(fuser.fuse({}, k=5)) == len(fuser.fuse({"x": leg({}), "y": leg({})}, k=5)) == 0
    # FU-09
    for weight in (-1, math.nan, math.inf, True, "1"):
        with pytest.raises(InvalidValueError, match="weight of leg 'x'"):
            type(fuser)(weights={"x": weight})  # type: ignore[dict-item]
    with pytest.raises(InvalidValueError, match="all legs weigh 0"):
        fuser.with_weights({"x": 0, "y": 0}).fuse(rankings, k=5)
    with pytest.raises(UnknownNameError, match="unknown leg 'z'"):
        fuser.with_weights({"z": 1}).fuse(rankings, k=5)
    for k in (-1, True, 1.0):
        with pytest.raises(InvalidValueError, match="k is"):
            fuser.fuse(rankings, k=k)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="give a Ranking"):
        fuser.fuse({**rankings, "y": ["a"]}, k=5)  # type: ignore[dict-item]
    with pytest.raises(ContractError, match="'a'"):
        fuser.fuse({**rankings, "y": Ranking.from_order(QUERY, [Document("a", "other")])}, k=5)


@EACH
def test_the_largest_scores_and_weights_stay_finite(fuser: Fusion) -> None:
    rankings = {name: leg({"a": 1.7e308, "b": 1.0, "c": -1.7e308}) for name in "xyz"}
    fused = fuser.with_weights(dict.fromkeys("xyz", 1e290)).fuse(rankings, k=5)
    assert fused.ids == ("a", "b", "c")


@EACH
def test_contributions_add_up_to_the_score(fuser: Fusion) -> None:
    rankings = {
        "x": leg({"a": 9, "b": 4, "c": 2}),
        "y": leg({"b": 0.4, "a": 0.3, "d": 0.1}),
        "z": leg({"b": 1}),
    }
    fuser = fuser.with_weights({"x": 0.7, "z": 0})
    for hit in fuser.fuse(rankings, k=9):
        found = fuser.contributions(rankings, hit.id)
        assert math.fsum(c.value for c in found) == pytest.approx(hit.score)
        assert [c.name for c in found] == [name for name in rankings if name in hit.components]
    assert fuser.contributions(rankings, "nowhere") == ()


def test_contributions_show_the_normalisation() -> None:
    rankings = {"x": leg({"a": 9, "b": 4, "c": 2}), "y": leg({"b": 5})}
    details = [c.detail for c in RelativeScore(weights={"y": 3}).contributions(rankings, "b")]
    assert details == ["1 × 0.2857 (min-max of 4) / 4", "3 × 1 (min-max of 5) / 4"]
    details = [c.detail for c in CombSUM(normalization="max").contributions(rankings, "b")]
    assert details == ["1 × 0.4444 (max of 4)", "1 × 1 (max of 5)"]
    details = [c.detail for c in CombMNZ(weights={"y": 2}).contributions(rankings, "b")]
    assert details == ["1 × 0.2857 (min-max of 4), × 2 legs", "2 × 1 (min-max of 5), × 2 legs"]


@EACH
def test_inputs_stay_as_they_are(fuser: Fusion) -> None:
    # FU-20
    rankings = {"x": leg({"a": 9, "b": 4}), "y": leg({"b": 5})}
    before = copy.deepcopy(rankings)
    first = fuser.fuse(rankings, k=5)
    assert rankings == before
    assert fuser.fuse(rankings, k=5) == first
