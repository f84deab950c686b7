"""Fusion by normalised scores: CombSUM and CombMNZ."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import pytest

from hybridrank.errors import ContractError, InvalidValueError, UnknownNameError
from hybridrank.fusers.scores import CombMNZ, CombSUM, min_max
from hybridrank.protocols import Fuser, Weighted
from hybridrank.types import Component, Document, Query, Ranking

QUERY = Query("q")
BOTH = pytest.mark.parametrize("fuser", [CombSUM(), CombMNZ()], ids=lambda f: type(f).__name__)


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


@BOTH
def test_the_only_hit_of_a_leg_is_its_best(fuser: CombSUM | CombMNZ) -> None:
    # FU-12
    rankings = {"keyword": leg({"rare": 0.3}), "dense": leg({"a": 0.9, "b": 0.8, "c": 0.1})}
    assert fuser.fuse(rankings, k=5).ids == ("a", "rare", "b", "c")


@BOTH
def test_protocols_and_repr(fuser: CombSUM | CombMNZ) -> None:
    assert isinstance(fuser, Fuser)
    assert isinstance(fuser, Weighted)
    name = type(fuser).__name__
    assert repr(fuser) == f"{name}()"
    weighted = fuser.with_weights({"x": 2}).with_weights({"y": 0})
    assert repr(weighted) == f"{name}(weights={{'y': 0.0}})"
    assert type(weighted) is type(fuser)
    assert fuser.weights == {}


@BOTH
def test_odd_input(fuser: CombSUM | CombMNZ) -> None:
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


@BOTH
def test_the_largest_scores_and_weights_stay_finite(fuser: CombSUM | CombMNZ) -> None:
    rankings = {name: leg({"a": 1.7e308, "b": 1.0, "c": -1.7e308}) for name in "xyz"}
    fused = fuser.with_weights(dict.fromkeys("xyz", 1e290)).fuse(rankings, k=5)
    assert fused.ids == ("a", "b", "c")


@BOTH
def test_contributions_add_up_to_the_score(fuser: CombSUM | CombMNZ) -> None:
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
    details = [c.detail for c in CombMNZ(weights={"y": 2}).contributions(rankings, "b")]
    assert details == ["1 × 0.2857 (min-max of 4), × 2 legs", "2 × 1 (min-max of 5), × 2 legs"]


@BOTH
def test_inputs_stay_as_they_are(fuser: CombSUM | CombMNZ) -> None:
    # FU-20
    rankings = {"x": leg({"a": 9, "b": 4}), "y": leg({"b": 5})}
    before = copy.deepcopy(rankings)
    first = fuser.fuse(rankings, k=5)
    assert rankings == before
    assert fuser.fuse(rankings, k=5) == first
