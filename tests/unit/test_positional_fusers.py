"""Borda count and inverse square rank: worked values, absent documents, weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from hybridrank import registry
from hybridrank.errors import ContractError, InvalidValueError, UnknownNameError
from hybridrank.fusers.positional import ISR, Borda
from hybridrank.protocols import Fuser, Weighted
from hybridrank.types import Component, Document, Query, Ranking

QUERY = Query("q")
EACH = pytest.mark.parametrize("fuser", [Borda(), ISR()], ids=repr)


def leg(ids: Sequence[str]) -> Ranking:
    return Ranking.from_order(QUERY, [Document(id, id) for id in ids])


def legs(*lists: str) -> dict[str, Ranking]:
    return {f"leg{number}": leg(ids) for number, ids in enumerate(lists)}


def scores(ranking: Ranking) -> dict[str, float]:
    return {hit.id: hit.score for hit in ranking}


@pytest.mark.parametrize(
    ("lists", "weights", "expected"),
    [
        # One voter, three candidates.
        (["abc"], None, {"a": 3.0, "b": 2.0, "c": 1.0}),
        (["abc", "cba"], None, {"a": 4.0, "b": 4.0, "c": 4.0}),
        # Four candidates; each leg leaves 1 + 2 points to the two that it did not find.
        (["ab", "cd"], None, {"a": 5.5, "c": 5.5, "b": 4.5, "d": 4.5}),
        # Five candidates, leg0 gives 5 4 3 and 1.5 to s and t; leg1 gives 5 4 3 and 1.5 to p and q.
        (["pqr", "str"], None, {"p": 6.5, "s": 6.5, "r": 6.0, "q": 5.5, "t": 5.5}),
        (["ab", "cd"], {"leg0": 2}, {"a": 9.5, "b": 7.5, "c": 7.0, "d": 6.0}),
        # A leg that found nothing gives each of two candidates 1.5.
        (["ab", ""], None, {"a": 3.5, "b": 2.5}),
        # A leg that weighs 0 names no candidates.
        (["ab", "cd"], {"leg1": 0}, {"a": 2.0, "b": 1.0}),
        (["", ""], None, {}),
        ([], None, {}),
    ],
)
def test_worked_values_of_borda(
    lists: list[str], weights: dict[str, float] | None, expected: dict[str, float]
) -> None:
    fused = Borda(weights=weights).fuse(legs(*lists), k=10)
    assert scores(fused) == expected
    assert list(fused.ids) == list(expected)


@pytest.mark.parametrize(
    ("lists", "weights", "expected"),
    [
        (["abc"], None, {"a": 1.0, "b": 1 / 4, "c": 1 / 9}),
        (["ab", "ba"], None, {"a": 2.5, "b": 2.5}),
        # r stands third twice: 2 (1/9 + 1/9) = 4/9, less than a first place.
        (["pqr", "str"], None, {"p": 1.0, "s": 1.0, "r": 4 / 9, "q": 1 / 4, "t": 1 / 4}),
        # z stands second twice: 2 (1/4 + 1/4) = 1, as much as one first place.
        (["az", "bz"], None, {"a": 1.0, "b": 1.0, "z": 1.0}),
        (["ab", "ba"], {"leg0": 3}, {"a": 2 * (3 + 1 / 4), "b": 2 * (3 / 4 + 1)}),
        # A leg that weighs 0 does not count a document.
        (["ab", "bc"], {"leg1": 0}, {"a": 1.0, "b": 1 / 4}),
        (["", ""], None, {}),
    ],
)
def test_worked_values_of_inverse_square_rank(
    lists: list[str], weights: dict[str, float] | None, expected: dict[str, float]
) -> None:
    fused = ISR(weights=weights).fuse(legs(*lists), k=10)
    assert scores(fused) == pytest.approx(expected, rel=1e-15)
    assert list(fused.ids) == list(expected)


def test_unlike_rrf_one_first_place_beats_two_third_places() -> None:
    # FU-16, for a fuser in which that is meant
    fused = ISR().fuse(legs("abz", "cdz"), k=3)
    assert fused.ids == ("a", "c", "z")


def test_contributions_of_borda_name_legs_that_did_not_find_it() -> None:
    rankings = legs("ab", "cd", "")
    found = Borda(weights={"leg0": 2, "leg2": 0}).contributions(rankings, "a")
    assert [(c.name, c.value, c.detail) for c in found] == [
        ("leg0", 8.0, "2 × 4 (4-1+1)"),
        ("leg1", 1.5, "1 × 1.5 (not found: (4-2+1)/2)"),
    ]
    assert Borda(weights={"leg0": 0}).contributions(rankings, "a") == ()


def test_contributions_of_inverse_square_rank() -> None:
    found = ISR(weights={"leg0": 2, "leg2": 0}).contributions(legs("ab", "cb", "b"), "b")
    assert [(c.name, c.value, c.detail) for c in found] == [
        ("leg0", 1.0, "2/2², × 2 legs"),
        ("leg1", 0.5, "1/2², × 2 legs"),
        ("leg2", 0.0, "0/1², × 2 legs"),
    ]


@EACH
def test_contributions_add_up_to_the_score(fuser: Borda | ISR) -> None:
    rankings = legs("abcd", "da", "e", "")
    fuser = fuser.with_weights({"leg0": 0.7, "leg2": 0})
    for hit in fuser.fuse(rankings, k=9):
        assert math.fsum(c.value for c in fuser.contributions(rankings, hit.id)) == pytest.approx(hit.score)
    assert fuser.contributions(rankings, "nowhere") == ()


@EACH
def test_protocols_repr_and_components(fuser: Borda | ISR) -> None:
    assert isinstance(fuser, Fuser)
    assert isinstance(fuser, Weighted)
    assert repr(fuser) == f"{type(fuser).__name__}()"
    weighted = fuser.with_weights({"x": 2}).with_weights({"leg1": 3})
    assert repr(weighted) == f"{type(fuser).__name__}(weights={{'leg1': 3.0}})"
    (b,) = [hit for hit in weighted.fuse(legs("ab", "b"), k=5) if hit.id == "b"]
    assert b.components == {"leg0": Component(2, 0.5), "leg1": Component(1, 1.0)}


@EACH
def test_odd_input(fuser: Borda | ISR) -> None:
    rankings: dict[str, Any] = legs("ab", "b")
    # FU-09
    for weight in (-1, math.nan, math.inf, True, "1"):
        with pytest.raises(InvalidValueError, match="weight of leg 'leg0'"):
            type(fuser)(weights={"leg0": weight})  # type: ignore[dict-item]
    with pytest.raises(InvalidValueError, match="all legs weigh 0"):
        fuser.with_weights({"leg0": 0, "leg1": 0}).fuse(rankings, k=5)
    with pytest.raises(UnknownNameError, match="unknown leg 'z'"):
        fuser.with_weights({"z": 1}).fuse(rankings, k=5)
    for k in (-1, True, 1.0):
        with pytest.raises(InvalidValueError, match="k is"):
            fuser.fuse(rankings, k=k)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="give a Ranking"):
        fuser.fuse({**rankings, "leg1": ["a"]}, k=5)  # type: ignore[dict-item]
    with pytest.raises(InvalidValueError, match="different queries"):
        fuser.fuse({**rankings, "leg1": Ranking(Query("other"))}, k=5)
    with pytest.raises(ContractError, match="'a'"):
        fuser.fuse({**rankings, "leg1": Ranking.from_order(QUERY, [Document("a", "other")])}, k=5)
    with pytest.raises(InvalidValueError):
        fuser.contributions(rankings, 1)  # type: ignore[arg-type]


@EACH
def test_the_largest_weights_stay_finite(fuser: Borda | ISR) -> None:
    rankings = legs(*["abcdefghij"] * 9)
    fused = fuser.with_weights(dict.fromkeys(rankings, 1e290)).fuse(rankings, k=5)
    assert fused.ids == tuple("abcde")


@pytest.mark.parametrize("name", ["borda", "isr", "relative-score", "distribution-based"])
def test_registry_names_are_those_that_rankings_carry(name: str) -> None:
    fuser = registry.load_component("fuser", name)()
    assert fuser.fuse(legs("ab"), k=1).source == name
