"""What holds for every fusion."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank.fusers.rrf import RRF
from hybridrank.fusers.scores import CombMNZ, CombSUM, min_max
from hybridrank.types import Component, Document, Query, Ranking

QUERY = Query("q")
DOCUMENTS = [
    Document(f"d{n}", "", path=f"{'cab'[n % 3]}.py", start_line=n // 3 + 1, end_line=n // 3 + 1)
    for n in range(12)
]
Fusion = RRF | CombSUM | CombMNZ
FUSERS: st.SearchStrategy[Fusion] = st.sampled_from([RRF(), RRF(rrf_k=0), CombSUM(), CombMNZ()])
FINITE = st.floats(allow_nan=False, allow_infinity=False)
# Few values, so that scores tie often.
SCORES = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0]), FINITE)
WEIGHTS = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))


@st.composite
def legs(draw: st.DrawFn, scores: st.SearchStrategy[float] = SCORES, least: int = 0) -> Ranking:
    documents = draw(st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=least))
    return Ranking.from_scores(QUERY, [(document, draw(scores)) for document in documents])


def rankings(least: int = 0) -> st.SearchStrategy[dict[str, Ranking]]:
    return st.dictionaries(
        st.sampled_from(["bm25", "dense", "symbol", "title"]), legs(least=least), max_size=4
    )


@st.composite
def weighted(draw: st.DrawFn) -> tuple[Fusion, dict[str, Ranking]]:
    """A fuser with weights that fit the rankings."""
    given_rankings = draw(rankings())
    weights = draw(st.fixed_dictionaries({}, optional=dict.fromkeys(given_rankings, WEIGHTS)))
    if given_rankings and len(weights) == len(given_rankings) and not any(weights.values()):
        weights = {}
    return draw(FUSERS).with_weights(weights), given_rankings


def scores(ranking: Ranking) -> dict[str, float]:
    return {hit.id: hit.score for hit in ranking}


@given(weighted())
def test_ids_are_the_union_of_the_legs_that_weigh(case: tuple[Fusion, dict[str, Ranking]]) -> None:
    fuser, given_rankings = case
    expected = {
        id for leg, ranking in given_rankings.items() if fuser.weights.get(leg, 1.0) for id in ranking.ids
    }
    fused = fuser.fuse(given_rankings, k=99)
    assert set(fused.ids) == expected
    assert all(math.isfinite(hit.score) and hit.score >= 0 for hit in fused)


@given(weighted())
def test_components_hold_every_rank_and_score(case: tuple[Fusion, dict[str, Ranking]]) -> None:
    fuser, given_rankings = case
    for hit in fuser.fuse(given_rankings, k=99):
        assert hit.components == {
            leg: Component(rank, original.score)
            for leg, ranking in given_rankings.items()
            for rank, original in enumerate(ranking, 1)
            if original.id == hit.id
        }


@given(weighted(), st.randoms(use_true_random=False))
def test_the_order_of_legs_changes_nothing(case: tuple[Fusion, dict[str, Ranking]], random: Random) -> None:
    fuser, given_rankings = case
    names = list(given_rankings)
    random.shuffle(names)
    assert fuser.fuse({name: given_rankings[name] for name in names}, k=99) == fuser.fuse(
        given_rankings, k=99
    )


@given(weighted(), st.integers(0, 14), st.integers(0, 14))
def test_top_k_is_a_prefix(case: tuple[Fusion, dict[str, Ranking]], k: int, more: int) -> None:
    fuser, given_rankings = case
    assert fuser.fuse(given_rankings, k=k).hits == fuser.fuse(given_rankings, k=k + more).hits[:k]


@given(weighted())
def test_inputs_stay_as_they_are(case: tuple[Fusion, dict[str, Ranking]]) -> None:
    # FU-20
    fuser, given_rankings = case
    before = copy.deepcopy(given_rankings)
    fuser.fuse(given_rankings, k=99)
    assert given_rankings == before


@given(weighted())
def test_ties_break_by_path_line_id(case: tuple[Fusion, dict[str, Ranking]]) -> None:
    fuser, given_rankings = case
    hits = fuser.fuse(given_rankings, k=99).hits
    keys = [(-h.score, h.document.path, h.document.start_line, h.id) for h in hits]
    assert keys == sorted(keys)


@given(weighted())
def test_contributions_add_up(case: tuple[Fusion, dict[str, Ranking]]) -> None:
    fuser, given_rankings = case
    for hit in fuser.fuse(given_rankings, k=99):
        found = fuser.contributions(given_rankings, hit.id)
        assert math.fsum(c.value for c in found) == pytest.approx(hit.score, rel=1e-12)


@given(rankings(), st.integers(0, 100))
def test_rrf_is_its_formula(given_rankings: dict[str, Ranking], rrf_k: int) -> None:
    expected: dict[str, Fraction] = {}
    for ranking in given_rankings.values():
        for rank, id in enumerate(ranking.ids, 1):
            expected[id] = expected.get(id, Fraction(0)) + Fraction(1, rrf_k + rank)
    fused = scores(RRF(rrf_k=rrf_k).fuse(given_rankings, k=99))
    assert fused == pytest.approx({id: float(value) for id, value in expected.items()}, rel=1e-14)


@given(rankings())
def test_comb_sum_and_mnz_are_their_formulas(given_rankings: dict[str, Ranking]) -> None:
    addends: dict[str, list[Fraction]] = {}
    for ranking in given_rankings.values():
        if not ranking:
            continue
        low, high = Fraction(ranking[-1].score), Fraction(ranking[0].score)
        for hit in ranking:
            value = Fraction(1) if low == high else (Fraction(hit.score) - low) / (high - low)
            addends.setdefault(hit.id, []).append(value)
    total = {id: float(sum(values)) for id, values in addends.items()}
    counted = {id: float(sum(values) * len(values)) for id, values in addends.items()}
    assert scores(CombSUM().fuse(given_rankings, k=99)) == pytest.approx(total, rel=1e-9, abs=1e-12)
    assert scores(CombMNZ().fuse(given_rankings, k=99)) == pytest.approx(counted, rel=1e-9, abs=1e-12)


@given(rankings())
def test_mnz_is_never_below_sum(given_rankings: dict[str, Ranking]) -> None:
    lower, upper = (scores(f.fuse(given_rankings, k=99)) for f in (CombSUM(), CombMNZ()))
    assert all(upper[id] >= lower[id] for id in lower)


@given(legs(), st.integers(0, 1000), st.floats(1e-6, 1e6))
def test_rrf_of_one_ranking_keeps_its_order(ranking: Ranking, rrf_k: int, weight: float) -> None:
    assert RRF(rrf_k=rrf_k, weights={"only": weight}).fuse({"only": ranking}, k=99).ids == ranking.ids


@given(legs(), legs(), st.sampled_from([1000.0, 1e-6, 0.5]))
def test_rrf_does_not_look_at_scores(one: Ranking, two: Ranking, factor: float) -> None:
    # FU-14
    hits = [replace(hit, score=max(min(hit.score, 1e300), -1e300)) for hit in two]
    scaled = [replace(hit, score=hit.score * factor) for hit in hits]
    fused, rescaled = (RRF().fuse({"a": one, "b": replace(two, hits=tuple(h))}, k=99) for h in (hits, scaled))
    assert [(h.id, h.score) for h in fused] == [(h.id, h.score) for h in rescaled]


@given(legs(), legs(), st.integers(0, 12))
def test_documents_of_one_list_keep_its_order(one: Ranking, two: Ranking, k: int) -> None:
    # FU-18
    alone = [id for id in one.ids if id not in set(two.ids)]
    fused = [id for id in RRF().fuse({"one": one, "two": two}, k=k).ids if id in set(alone)]
    assert fused == alone[: len(fused)]


@given(st.permutations(DOCUMENTS), legs(), st.data(), FUSERS)
def test_a_better_rank_never_worsens_the_place(
    order: list[Document], other: Ranking, data: st.DataObject, fuser: Fusion
) -> None:
    """A document moves up in one list, past documents that each fall by one rank."""
    start = data.draw(st.integers(1, len(order) - 1))
    target = data.draw(st.integers(0, start - 1))
    moved = [*order[:target], order[start], *order[target:start], *order[start + 1 :]]

    def place(documents: list[Document]) -> int:
        # Scores fall by one per rank, so that the range which score fusions normalise by stays the same.
        ranking = Ranking.from_scores(QUERY, [(d, -float(n)) for n, d in enumerate(documents)])
        return fuser.fuse({"moved": ranking, "other": other}, k=99).ids.index(order[start].id)

    assert place(moved) <= place(order)


@given(st.lists(FINITE).map(lambda s: sorted(s, reverse=True)))
def test_min_max_is_in_range_and_keeps_order(values: list[float]) -> None:
    normalized = min_max(values)
    assert len(normalized) == len(values)
    assert all(0 <= value <= 1 for value in normalized)
    assert normalized == sorted(normalized, reverse=True)
    assert not values or normalized[0] == 1.0


@given(rankings())
def test_rrf_scores_stay_below_the_highest_possible_one(given_rankings: dict[str, Ranking]) -> None:
    # FU-19
    highest = RRF().max_score(given_rankings)
    assert all(hit.score <= highest for hit in RRF().fuse(given_rankings, k=99))


@given(legs(), st.permutations(["bm25", "dense", "title"]))
def test_first_everywhere_is_one(ranking: Ranking, names: list[str]) -> None:
    given_rankings = dict.fromkeys(names, ranking)
    fuser = RRF(weights={"dense": 0.3})
    for hit in fuser.fuse(given_rankings, k=1):
        assert hit.score / fuser.max_score(names) == 1.0


@given(st.permutations(DOCUMENTS), st.permutations(DOCUMENTS))
def test_same_candidates_changes_no_score(one: list[Document], two: list[Document]) -> None:
    given_rankings = {"a": Ranking.from_order(QUERY, one), "b": Ranking.from_order(QUERY, two)}
    assert RRF(same_candidates=True).fuse(given_rankings, k=99) == RRF().fuse(given_rankings, k=99)
