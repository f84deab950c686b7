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

from hybridrank.fusers.normalized import Normalize, distribution, max_scaled, min_max, z_score
from hybridrank.fusers.positional import ISR, Borda
from hybridrank.fusers.relative import DistributionBased, RelativeScore
from hybridrank.fusers.rrf import RRF
from hybridrank.fusers.scores import CombMNZ, CombSUM
from hybridrank.types import Component, Document, Hit, Query, Ranking

QUERY = Query("q")
DOCUMENTS = [
    Document(f"d{n}", "", path=f"{'cab'[n % 3]}.py", start_line=n // 3 + 1, end_line=n // 3 + 1)
    for n in range(12)
]
Fusion = RRF | CombSUM | CombMNZ | RelativeScore | DistributionBased | Borda | ISR
EVERY: list[Fusion] = [
    RRF(),
    RRF(rrf_k=0),
    CombSUM(),
    CombSUM(normalization="max"),
    CombSUM(normalization="z-score"),
    CombMNZ(),
    CombMNZ(normalization="max"),
    CombMNZ(normalization="z-score"),
    RelativeScore(),
    DistributionBased(),
    Borda(),
    ISR(),
]
FUSERS = st.sampled_from(EVERY)
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


@given(weighted(), st.sampled_from([0.5, 4.0, 1024.0]))
def test_weights_count_by_their_ratio(case: tuple[Fusion, dict[str, Ranking]], factor: float) -> None:
    """All weights times a power of two change no place, whether or not the fuser divides by their sum."""
    fuser, given_rankings = case
    weights = {leg: factor * fuser.weights.get(leg, 1.0) for leg in given_rankings}
    assert fuser.with_weights(weights).fuse(given_rankings, k=99).ids == fuser.fuse(given_rankings, k=99).ids


@given(weighted())
def test_with_weights_replaces_and_changes_nothing_else(case: tuple[Fusion, dict[str, Ranking]]) -> None:
    fuser, given_rankings = case
    assert fuser.with_weights({}) in EVERY
    assert fuser.with_weights({}).with_weights(fuser.weights) == fuser
    every = {leg: fuser.weights.get(leg, 1.0) for leg in given_rankings}
    assert fuser.with_weights(every).fuse(given_rankings, k=99) == fuser.fuse(given_rankings, k=99)


@given(FUSERS, legs(), legs(), st.sampled_from(DOCUMENTS), FINITE)
def test_being_found_last_is_never_worse_than_not_being_found(
    fuser: Fusion, one: Ranking, two: Ranking, document: Document, score: float
) -> None:
    """FU-13 for every fuser: two documents that other legs cannot tell apart, of which one leg knows one."""
    twin = replace(document, id="twin")
    known = [hit for hit in one if hit.id != document.id]
    knows = Ranking(QUERY, (*known, Hit(document, min([score, *(hit.score for hit in known)]))))
    others = [hit for hit in two if hit.id != document.id]
    lowest = min([score, *(hit.score for hit in others)])
    there, back = (
        Ranking(QUERY, (*others, *(Hit(each, lowest) for each in pair)))
        for pair in ((document, twin), (twin, document))
    )
    found = scores(fuser.fuse({"knows": knows, "there": there, "back": back}, k=99))
    assert found[document.id] >= found["twin"]


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


@given(st.sampled_from([RRF(), Borda(), ISR()]), legs(), legs(), st.sampled_from([1000.0, 1e-6, 0.5]))
def test_positional_fusers_do_not_look_at_scores(
    fuser: RRF | Borda | ISR, one: Ranking, two: Ranking, factor: float
) -> None:
    # FU-14
    hits = [replace(hit, score=max(min(hit.score, 1e300), -1e300)) for hit in two]
    scaled = [replace(hit, score=hit.score * factor) for hit in hits]
    fused, rescaled = (fuser.fuse({"a": one, "b": replace(two, hits=tuple(h))}, k=99) for h in (hits, scaled))
    assert [(h.id, h.score) for h in fused] == [(h.id, h.score) for h in rescaled]


@given(st.sampled_from([RRF(), Borda(), ISR()]), legs(), legs(), st.integers(0, 12))
def test_documents_of_one_list_keep_its_order(
    fuser: RRF | Borda | ISR, one: Ranking, two: Ranking, k: int
) -> None:
    # FU-18
    alone = [id for id in one.ids if id not in set(two.ids)]
    fused = [id for id in fuser.fuse({"one": one, "two": two}, k=k).ids if id in set(alone)]
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


@given(
    st.sampled_from([min_max, max_scaled, z_score, distribution]),
    st.lists(SCORES).map(lambda s: sorted(s, reverse=True)),
)
def test_normalised_scores_are_in_range_and_keep_their_order(
    normalize: Normalize, values: list[float]
) -> None:
    normalized = normalize(values)
    assert len(normalized) == len(values)
    assert normalized == sorted(normalized, reverse=True)
    # In standard deviations, none is further from the mean than the root of their number (Samuelson 1968).
    far = math.sqrt(len(values))
    highest = 2 * far if normalize is z_score else (far + 3) / 6 if normalize is distribution else 1.0
    assert all(0 <= value <= max(highest, 1.0) for value in normalized)
    if values and values[0] == values[-1]:
        assert normalized == [1.0] * len(values)


@given(rankings())
def test_relative_scores_are_shares_of_comb_sum(given_rankings: dict[str, Ranking]) -> None:
    weights = {leg: 1.0 + place for place, leg in enumerate(given_rankings)}
    summed = CombSUM(weights=weights).fuse(given_rankings, k=99)
    shared = RelativeScore(weights=weights).fuse(given_rankings, k=99)
    whole = sum(weights.values())
    assert scores(shared) == pytest.approx({hit.id: hit.score / whole for hit in summed}, rel=1e-12)
    assert all(hit.score <= 1 + 1e-12 for hit in shared)


@given(rankings())
def test_z_scores_and_distributions_are_their_formulas(given_rankings: dict[str, Ranking]) -> None:
    z_sum: dict[str, float] = {}
    d_mean: dict[str, float] = {}
    for ranking in given_rankings.values():
        values = [Fraction(hit.score) for hit in ranking]
        if not values:
            continue
        mean = sum(values, Fraction(0)) / len(values)
        variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
        for hit, value in zip(ranking, values, strict=True):
            z = above = Fraction(1)
            if variance:
                # In units of the range, where a Fraction fits a float.
                span = values[0] - values[-1]
                deviation = Fraction(math.sqrt(variance / span**2)) * span
                above = (value - values[-1]) / deviation
                z = max((value - mean + 3 * deviation) / (6 * deviation), Fraction(0))
            z_sum[hit.id] = z_sum.get(hit.id, 0.0) + float(above)
            d_mean[hit.id] = d_mean.get(hit.id, 0.0) + float(z) / len(given_rankings)
    fused = scores(CombSUM(normalization="z-score").fuse(given_rankings, k=99))
    assert fused == pytest.approx(z_sum, rel=1e-9, abs=1e-9)
    fused = scores(DistributionBased().fuse(given_rankings, k=99))
    assert fused == pytest.approx(d_mean, rel=1e-9, abs=1e-9)


@given(rankings())
def test_borda_and_isr_are_their_formulas(given_rankings: dict[str, Ranking]) -> None:
    candidates = {id for ranking in given_rankings.values() for id in ranking.ids}
    points, squares = {}, {}
    for id in candidates:
        ranks = [ranking.ids.index(id) + 1 for ranking in given_rankings.values() if id in ranking.ids]
        left = [
            Fraction(len(candidates) - len(ranking) + 1, 2)
            for ranking in given_rankings.values()
            if id not in ranking.ids
        ]
        points[id] = float(sum(len(candidates) - rank + 1 for rank in ranks) + sum(left))
        squares[id] = float(len(ranks) * sum(Fraction(1, rank**2) for rank in ranks))
    assert scores(Borda().fuse(given_rankings, k=99)) == points
    assert scores(ISR().fuse(given_rankings, k=99)) == pytest.approx(squares, rel=1e-14)


@given(rankings())
def test_borda_gives_out_all_points(given_rankings: dict[str, Ranking]) -> None:
    """Each leg gives 1 + 2 + … + c points, whatever it found."""
    fused = Borda().fuse(given_rankings, k=99)
    count = len(fused)
    assert math.fsum(hit.score for hit in fused) == len(given_rankings) * count * (count + 1) / 2


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
