"""Reciprocal rank fusion: worked values, weights, candidates, identity."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hybridrank.errors import ContractError, InvalidValueError, UnknownNameError
from hybridrank.fusers.rrf import RRF
from hybridrank.protocols import Fuser, Weighted
from hybridrank.types import Component, Document, Event, Hit, Query, Ranking

QUERY = Query("where are redirects followed")


def leg(ids: Sequence[str], query: Query = QUERY) -> Ranking:
    return Ranking.from_order(query, [Document(id, f"text of {id}") for id in ids])


def legs(*lists: Sequence[str]) -> dict[str, Ranking]:
    return {f"leg{number}": leg(ids) for number, ids in enumerate(lists)}


def scores(ranking: Ranking) -> dict[str, float]:
    return {hit.id: hit.score for hit in ranking}


def test_is_a_weighted_fuser() -> None:
    assert isinstance(RRF(), Fuser)
    assert isinstance(RRF(), Weighted)


@pytest.mark.parametrize(
    ("lists", "rrf_k", "weights", "expected"),
    [
        pytest.param([["a", "b"]], 60, None, {"a": 0.016393, "b": 0.016129}, id="FU-01"),
        pytest.param(
            [["p", "q", "r"], ["s", "t", "r"]],
            60,
            None,
            {"r": 0.031746, "p": 0.016393, "s": 0.016393, "q": 0.016129, "t": 0.016129},
            id="FU-02",
        ),
        pytest.param([["a", "b"], ["b", "a"]], 60, (3, 1), {"a": 0.065309, "b": 0.064781}, id="FU-08a"),
        pytest.param([["a", "b"], ["b", "a"]], 60, (1, 3), {"b": 0.065309, "a": 0.064781}, id="FU-08b"),
        pytest.param([[], []], 60, None, {}, id="FU-10"),
        pytest.param(
            [["a", "b", "z"], ["c", "d", "z"]],
            60,
            None,
            {"z": 0.031746, "a": 0.016393, "c": 0.016393, "b": 0.016129, "d": 0.016129},
            id="FU-16a",
        ),
        pytest.param(
            [["a", "b", "z"], ["c", "d", "z"]],
            0,
            None,
            {"a": 1.0, "c": 1.0, "z": 0.666667, "b": 0.5, "d": 0.5},
            id="FU-16b",
        ),
        pytest.param(
            [[], ["u", "v", "w"]], 60, None, {"u": 0.016393, "v": 0.016129, "w": 0.015873}, id="FU-21"
        ),
    ],
)
def test_worked_values(
    lists: list[list[str]], rrf_k: int, weights: Sequence[float] | None, expected: dict[str, float]
) -> None:
    rankings = legs(*lists)
    named = None if weights is None else dict(zip(rankings, weights, strict=True))
    fused = RRF(rrf_k=rrf_k, weights=named).fuse(rankings, k=10)
    assert list(fused.ids) == list(expected)
    assert scores(fused) == pytest.approx(expected, abs=5e-7)


def test_first_and_third_beat_second_twice() -> None:
    fused = RRF().fuse(legs(["a", "b", "c"], ["c", "b", "a"]), k=3)
    assert fused.ids == ("a", "c", "b")
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 63, rel=1e-15)
    assert fused[2].score == pytest.approx(1 / 62 + 1 / 62, rel=1e-15)
    assert fused[0].score > fused[2].score


def test_one_chunk_in_both_legs_is_one_hit_with_both_ranks() -> None:
    # FU-04
    (hit,) = RRF().fuse(legs(["only"], ["only"]), k=5)
    assert hit.score == pytest.approx(2 / 61)
    assert hit.components == {"leg0": Component(1, 1.0), "leg1": Component(1, 1.0)}


def test_ids_are_any_non_empty_strings() -> None:
    # FU-05: an id that is falsy as a number stays; what is no str is refused where the document is made.
    assert RRF().fuse(legs(["0", "1"], ["1", "0"]), k=5).ids == ("0", "1")
    for id in (0, "", None):
        with pytest.raises(InvalidValueError, match="document id"):
            Document(id, "x")  # type: ignore[arg-type]


def test_equal_texts_are_two_documents() -> None:
    # FU-07
    rankings = {id: Ranking.from_order(QUERY, [Document(id, "same text")]) for id in ("v1", "v2")}
    fused = RRF().fuse(rankings, k=5)
    assert scores(fused) == {"v1": 1 / 61, "v2": 1 / 61}


@pytest.mark.parametrize(
    "weight", [-1, -1e-9, math.nan, math.inf, -math.inf, True, False, "2", None, 1e308, 5e-324, 10**400, 1j]
)
def test_weights_that_are_no_weights(weight: Any) -> None:
    # FU-09
    with pytest.raises(InvalidValueError, match="weight of leg 'leg0'"):
        RRF(weights={"leg0": weight})
    with pytest.raises(InvalidValueError, match="weight of leg 'leg0'"):
        RRF().with_weights({"leg0": weight})


@pytest.mark.parametrize("weights", [(1, 2), [1.0], "leg0", 3.0, {0: 1.0}, {None: 1.0}])
def test_weights_that_are_no_mapping_by_name(weights: Any) -> None:
    with pytest.raises(InvalidValueError, match="weights"):
        RRF(weights=weights)


def test_a_weight_for_no_leg_is_refused() -> None:
    # FU-09: a list of the wrong length is a wrong name here. A zero for a mistyped name would change nothing.
    for weight in (2.0, 0.0):
        with pytest.raises(UnknownNameError, match="unknown leg 'leg_1'; did you mean 'leg1'"):
            RRF(weights={"leg_1": weight}).fuse(legs(["a"], ["b"]), k=5)
    with pytest.raises(UnknownNameError):
        RRF(weights={"leg0": 1.0}).fuse({}, k=5)


def test_all_legs_of_weight_zero_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"all legs weigh 0 \('leg0', 'leg1'\)"):
        RRF(weights={"leg0": 0, "leg1": 0}).fuse(legs(["a"], ["b"]), k=5)
    with pytest.raises(InvalidValueError, match="all legs weigh 0"):
        RRF(weights={"leg0": 0}).fuse(legs(["a"]), k=5)


def test_a_leg_of_weight_zero_adds_nothing_but_is_shown() -> None:
    fused = RRF(weights={"leg1": 0}).fuse(legs(["a", "b"], ["b", "c"]), k=5)
    assert scores(fused) == {"a": 1 / 61, "b": 1 / 62}
    assert fused[1].components == {"leg0": Component(2, 0.5), "leg1": Component(1, 1.0)}


def test_a_leg_that_is_not_named_weighs_one() -> None:
    rankings = legs(["a", "b"], ["b", "a"])
    assert RRF(weights={"leg0": 3}).fuse(rankings, k=5) == RRF(weights={"leg0": 3, "leg1": 1}).fuse(
        rankings, k=5
    )


def test_weights_take_numpy_numbers_and_become_plain_floats() -> None:
    numbers: Any = {"a": np.float32(0.5), "b": np.int64(2)}
    fuser = RRF(rrf_k=np.int64(10), weights=numbers)  # type: ignore[arg-type]
    assert repr(fuser) == "RRF(rrf_k=10, weights={'a': 0.5, 'b': 2.0})"


def test_with_weights_replaces_all_weights() -> None:
    before = RRF(rrf_k=10, weights={"bm25": 2, "dense": 3}, same_candidates=True)
    after = before.with_weights({"dense": 0.5})
    assert after == RRF(rrf_k=10, weights={"dense": 0.5}, same_candidates=True)
    assert before.weights == {"bm25": 2, "dense": 3}
    assert before.with_weights({}) == RRF(rrf_k=10, same_candidates=True)


def test_options_cannot_change() -> None:
    weights = {"bm25": 2.0}
    fuser = RRF(weights=weights)
    weights["bm25"] = 9.0
    assert fuser.weights == {"bm25": 2.0}
    with pytest.raises(TypeError):
        fuser.weights["bm25"] = 9.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        fuser.rrf_k = 1  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(fuser)) == fuser  # noqa: S301


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(RRF()) == "RRF()"
    assert repr(RRF(rrf_k=10.5, same_candidates=True)) == "RRF(rrf_k=10.5, same_candidates=True)"


@pytest.mark.parametrize("rrf_k", [-1, -0.5, math.nan, math.inf, True, "60", None, 1e13, 10**400])
def test_rrf_k_out_of_range(rrf_k: Any) -> None:
    # FU-16
    with pytest.raises(InvalidValueError, match="rrf_k"):
        RRF(rrf_k=rrf_k)


def test_neighbouring_ranks_differ_at_the_largest_rrf_k() -> None:
    ids = [f"{9999 - number:04}" for number in range(10_000)]
    assert RRF(rrf_k=1e12, weights={"leg0": 1e-290}).fuse(legs(ids), k=10_000).ids == tuple(ids)


@pytest.mark.parametrize("same", [1, "true", None])
def test_same_candidates_is_a_bool(same: Any) -> None:
    with pytest.raises(InvalidValueError, match="same_candidates"):
        RRF(same_candidates=same)


def test_same_candidates_holds() -> None:
    rankings = legs(["a", "b"], ["b", "a"])
    assert RRF(same_candidates=True).fuse(rankings, k=5) == RRF().fuse(rankings, k=5)


def test_same_candidates_names_what_is_missing_where() -> None:
    with pytest.raises(ContractError) as caught:
        RRF(same_candidates=True).fuse(legs(["a", "b"], ["b", "c", "d"]), k=5)
    assert caught.value.ids == ("a", "c", "d")
    assert "'leg0' lacks 'c', 'd'; 'leg1' lacks 'a'" in str(caught.value)


def test_same_candidates_names_few_of_many() -> None:
    with pytest.raises(ContractError, match="'leg0' lacks '0', '1', '2', '3', '4' and 4 more;"):
        RRF(same_candidates=True).fuse(legs(["a"], ["a", *"012345678"], [*"012345678"]), k=5)


@pytest.mark.parametrize("rankings", [{}, legs(["a"])])
def test_same_candidates_needs_two_rankings(rankings: dict[str, Ranking]) -> None:
    with pytest.raises(ContractError, match="two or more"):
        RRF(same_candidates=True).fuse(rankings, k=5)


def test_nothing_to_fuse() -> None:
    # FU-10
    assert len(RRF().fuse({}, k=5)) == 0
    fused = RRF().fuse(legs([], []), k=5)
    assert (len(fused), fused.query) == (0, QUERY)


@pytest.mark.parametrize("k", [-1, True, 2.0, "5", None])
def test_k_is_a_count(k: Any) -> None:
    with pytest.raises(InvalidValueError, match="k is"):
        RRF().fuse(legs(["a"]), k=k)


def test_k_cuts() -> None:
    rankings = legs(["a", "b"], ["c"])
    assert [len(RRF().fuse(rankings, k=k)) for k in (0, 1, 3, 99)] == [0, 1, 3, 3]


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        ([leg(["a"])], "give a mapping from leg name to Ranking"),
        ({"bm25": ["a", "b"]}, "ranking of leg 'bm25'"),
        ({"bm25": None}, "ranking of leg 'bm25'"),
        ({0: leg(["a"])}, "leg name 0"),
    ],
)
def test_what_is_no_set_of_rankings(rankings: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        RRF().fuse(rankings, k=5)


def test_rankings_of_different_queries_are_refused() -> None:
    rankings = {"bm25": leg(["a"], Query("one")), "dense": leg([], Query("two"))}
    with pytest.raises(
        InvalidValueError, match="'bm25' and 'dense' answer different queries, 'one' and 'two'"
    ):
        RRF().fuse(rankings, k=5)


def test_the_query_does_not_depend_on_the_order_of_legs() -> None:
    one, two = leg(["a"], Query("q", id="1")), leg(["a"], Query("q", id="2"))
    assert RRF().fuse({"x": one, "y": two}, k=5).query.id == "1"
    assert RRF().fuse({"y": two, "x": one}, k=5).query.id == "1"


@pytest.mark.parametrize(
    "changed",
    [{"text": "y"}, {"path": "b.py"}, {"start_line": 2, "end_line": 2}, {"kind": "class"}, {"name": "n"}],
)
def test_one_id_for_two_documents_is_refused(changed: Mapping[str, Any]) -> None:
    one = Document("a:1-1", "x", path="a.py", start_line=1, end_line=1, kind="function", name="f")
    other = replace(one, **changed)
    rankings = {"bm25": Ranking.from_order(QUERY, [one]), "dense": Ranking.from_order(QUERY, [other])}
    with pytest.raises(ContractError, match=f"another {', '.join(changed)} than") as caught:
        RRF().fuse(rankings, k=5)
    assert caught.value.ids == ("a:1-1",)


def test_metadata_may_differ_and_the_least_leg_name_decides() -> None:
    one = Ranking.from_order(QUERY, [Document("a", "x", metadata={"engine": "one"})])
    two = Ranking.from_order(QUERY, [Document("a", "x", metadata={"engine": "two"})])
    for rankings in ({"p": one, "q": two}, {"q": two, "p": one}):
        (hit,) = RRF().fuse(rankings, k=5)
        assert hit.document.metadata == {"engine": "one"}


def test_an_equal_document_from_elsewhere_is_the_same_document() -> None:
    assert len(RRF().fuse({"p": leg(["a"]), "q": leg(["a"])}, k=5)) == 1


def test_components_that_came_with_hits_are_kept() -> None:
    document = Document("a", "x")
    inner = {"bm25": Component(7, 0.1), "title": Component(3, 2.0)}
    nested = Ranking(QUERY, (Hit(document, 0.4, inner),))
    other = Ranking(QUERY, (Hit(document, 9.0, {"title": Component(8, 8.0)}),))
    expected = {"bm25": Component(1, 9.0), "hybrid": Component(1, 0.4), "title": Component(8, 8.0)}
    for rankings in ({"hybrid": nested, "bm25": other}, {"bm25": other, "hybrid": nested}):
        (hit,) = RRF().fuse(rankings, k=5)
        assert hit.components == expected


def test_ties_break_by_path_then_line_then_id() -> None:
    # FU-15
    documents = [
        Document("2", "", path="b.py", start_line=1, end_line=1),
        Document("4", "", path="a.py", start_line=10, end_line=10),
        Document("3", "", path="a.py", start_line=9, end_line=9),
        Document("1", "", path="a.py", start_line=10, end_line=10),
    ]
    rankings = {d.id: Ranking.from_order(QUERY, [d]) for d in documents}
    assert RRF().fuse(rankings, k=5).ids == ("3", "1", "4", "2")


def test_symmetric_ranks_keep_one_order_under_any_hash_seed() -> None:
    # FU-15
    code = (
        "from hybridrank.fusers.rrf import RRF\n"
        "from hybridrank.types import Document, Query, Ranking\n"
        "def leg(ids): return Ranking.from_order(Query('q'), [Document(i, i) for i in ids])\n"
        "print([(h.id, h.score) for h in RRF().fuse({'x': leg('mnop'), 'y': leg('ponm')}, k=5)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
    fused = RRF().fuse(legs(["m", "n"], ["n", "m"]), k=5)
    assert fused.ids == ("m", "n")
    assert fused[0].score == fused[1].score == pytest.approx(0.032522, abs=5e-7)


def test_sums_do_not_depend_on_the_order_of_legs() -> None:
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floats, unless the sum is exact before it is rounded.
    fuser = RRF(rrf_k=0, weights={"x": 0.1, "y": 0.2, "z": 0.3})
    found = {
        fuser.fuse({name: leg(["a"]) for name in names}, k=1)[0].score for names in ("xyz", "zyx", "yzx")
    }
    assert found == {math.fsum([0.1, 0.2, 0.3])}


def test_the_score_over_the_highest_possible_one() -> None:
    # FU-19: a raw score near 0.016 or 0.033 is no confidence.
    rankings = legs(["a", "b"], ["a", "c"])
    best = RRF().max_score(rankings)
    assert RRF().fuse(rankings, k=1)[0].score / best == 1.0
    rankings = legs(["x", "a"], ["b"])
    assert RRF().fuse(rankings, k=1)[0].score / RRF().max_score(["leg0", "leg1"]) == 0.5
    assert RRF(rrf_k=0, weights={"leg0": 3}).max_score(["leg0", "leg1"]) == 4.0
    with pytest.raises(InvalidValueError, match="list of leg names"):
        RRF().max_score("leg0")
    with pytest.raises(UnknownNameError):
        RRF(weights={"bm25": 2}).max_score(["leg0"])


def test_contributions_say_where_a_score_comes_from() -> None:
    rankings = legs(["a", "b"], ["c", "b"], ["a"])
    fuser = RRF(weights={"leg1": 2.5})
    found = fuser.contributions(rankings, "b")
    assert [(c.name, c.detail) for c in found] == [("leg0", "1/(60+2)"), ("leg1", "2.5/(60+2)")]
    assert math.fsum(c.value for c in found) == scores(fuser.fuse(rankings, k=5))["b"]
    assert fuser.contributions(rankings, "nowhere") == ()
    with pytest.raises(InvalidValueError, match="document id"):
        fuser.contributions(rankings, "")


def test_inputs_stay_as_they_are() -> None:
    # FU-20
    rankings = legs(["a", "b"], ["b", "c"])
    before = copy.deepcopy(rankings)
    first = RRF().fuse(rankings, k=5)
    assert rankings == before
    assert RRF().fuse(rankings, k=5) == first
    assert all(not hit.components for ranking in rankings.values() for hit in ranking)


def test_events_stay_with_the_leg() -> None:
    told = Ranking(QUERY, (), events=(Event("empty-query", "nothing to look for"),))
    assert RRF().fuse({"bm25": told, "dense": leg(["a"])}, k=5).events == ()
