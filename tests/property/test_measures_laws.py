"""Laws of the measures, and agreement with trec_eval through ir_measures.

Where we differ from trec_eval: a query that is missing in a run scores 0 and stays in the mean (there it
drops out), ranks decide and never scores (there ties are sorted again by id), and a ranking may repeat ids.
"""

from __future__ import annotations

from collections.abc import Mapping

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import Measure, score_run
from hybridrank.evaluation.judgements import collapse
from hybridrank.evaluation.measures import MAP, MRR, Hit, Precision, Recall, nDCG

IDS = st.sampled_from([f"d{place}" for place in range(12)])
RANKINGS = st.lists(IDS, max_size=12, unique=True)
REPEATING = st.lists(IDS, max_size=15)
GRADES = st.dictionaries(IDS, st.integers(-2, 4), max_size=8)
FLOAT_GRADES = st.dictionaries(IDS, st.floats(-1e300, 1e300), max_size=8)
QUERIES = [f"q{place}" for place in range(4)]
CUTOFFS = st.integers(1, 13)
MEASURES = st.builds(
    lambda make, k: make(k=k), st.sampled_from([nDCG, Recall, Precision, Hit, MRR, MAP]), CUTOFFS
) | st.sampled_from([MRR(), MAP()])

THEIRS = {
    "nDCG@5": ir_measures.nDCG @ 5,
    "nDCG@100": ir_measures.nDCG @ 100,
    "Recall@3": ir_measures.R @ 3,
    "Precision@4": ir_measures.P @ 4,
    "Hit@2": ir_measures.Success @ 2,
    "MRR": ir_measures.RR,
    "MRR@3": ir_measures.RR @ 3,
    "MAP": ir_measures.AP,
    "MAP@4": ir_measures.AP @ 4,
}


@given(
    st.fixed_dictionaries(dict.fromkeys(QUERIES, GRADES)),
    st.dictionaries(st.sampled_from([*QUERIES, "q9"]), RANKINGS),
)
@pytest.mark.filterwarnings("ignore::hybridrank.evaluation.scores.EvaluationWarning")
def test_scores_are_those_of_trec_eval(qrels: dict[str, dict[str, int]], run: dict[str, list[str]]) -> None:
    judged = [ir_measures.Qrel(q, d, grade) for q, grades in qrels.items() for d, grade in grades.items()]
    scored = [
        ir_measures.ScoredDoc(q, d, float(-rank)) for q, ids in run.items() for rank, d in enumerate(ids)
    ]
    theirs: dict[tuple[str, str], float] = {}
    if judged and scored:
        names = {measure: name for name, measure in THEIRS.items()}
        for metric in ir_measures.iter_calc(list(THEIRS.values()), judged, scored):
            theirs[names[metric.measure], metric.query_id] = metric.value
    ours = score_run(qrels, run, list(THEIRS))
    for name in THEIRS:
        for query, value in ours.per_query(name).items():
            # What is not in their answer is missing in the run or unjudged.
            assert value == pytest.approx(theirs.get((name, query), 0.0), abs=1e-9), (name, query)


def renamed(ranking: list[str], grades: Mapping[str, float]) -> tuple[list[str], dict[str, float]]:
    names = {f"d{place}": f"{12 - place:02d} 連線" for place in range(12)}
    return [names[id] for id in ranking], {names[id]: grade for id, grade in grades.items()}


# EV-01, EV-14
@given(MEASURES, REPEATING, GRADES | FLOAT_GRADES)
def test_every_value_lies_between_0_and_1(
    measure: Measure, ranking: list[str], grades: dict[str, float]
) -> None:
    assert 0 <= measure.score(ranking, grades) <= 1


# EV-05
@given(MEASURES, REPEATING, GRADES | FLOAT_GRADES)
def test_other_ids_in_the_same_places_change_nothing(
    measure: Measure, ranking: list[str], grades: dict[str, float]
) -> None:
    assert measure.score(*renamed(ranking, grades)) == measure.score(ranking, grades)


# EV-02
@given(MEASURES, REPEATING, st.lists(IDS, max_size=8))
def test_relevant_ids_may_repeat(measure: Measure, ranking: list[str], relevant: list[str]) -> None:
    once = score_run({"q": dict.fromkeys(relevant, 1)}, {"q": [*ranking, *relevant]}, measure)
    assert score_run({"q": relevant}, {"q": [*ranking, *relevant]}, measure) == once


# EV-12
@given(CUTOFFS, CUTOFFS, REPEATING, GRADES)
def test_recall_and_hit_never_fall_with_k(
    one: int, other: int, ranking: list[str], grades: dict[str, float]
) -> None:
    low, high = sorted((one, other))
    assert Recall(k=low).score(ranking, grades) <= Recall(k=high).score(ranking, grades)
    assert Hit(k=low).score(ranking, grades) <= Hit(k=high).score(ranking, grades)
    assert (
        MRR(k=low).score(ranking, grades)
        <= MRR(k=high).score(ranking, grades)
        <= MRR().score(ranking, grades)
    )
    assert (
        MAP(k=low).score(ranking, grades)
        <= MAP(k=high).score(ranking, grades)
        <= MAP().score(ranking, grades)
    )


@given(CUTOFFS, REPEATING, GRADES)
def test_what_stands_behind_k_changes_nothing(k: int, ranking: list[str], grades: dict[str, float]) -> None:
    for measure in (nDCG(k=k), Recall(k=k), Precision(k=k), Hit(k=k), MRR(k=k), MAP(k=k)):
        assert measure.score(ranking[:k], grades) == measure.score(ranking, grades)


@given(CUTOFFS, GRADES | FLOAT_GRADES)
def test_the_ideal_ranking_scores_1(k: int, grades: dict[str, float]) -> None:
    relevant = sorted((id for id in grades if grades[id] > 0), key=lambda id: -grades[id])
    if relevant:
        perfect: tuple[Measure, ...] = (nDCG(k=k), Hit(k=k), MRR(k=k), MAP(), Recall(k=12))
        assert [measure.score(relevant, grades) for measure in perfect] == [1.0] * len(perfect)


@given(MEASURES, REPEATING, GRADES)
def test_one_relevant_more_in_front_never_harms(
    measure: Measure, ranking: list[str], grades: dict[str, float]
) -> None:
    best = max(grades, key=lambda id: grades[id], default=None)
    if best is not None and grades[best] > 0:
        others = [id for id in ranking if id != best]
        assert measure.score([best, *others], grades) >= measure.score(others, grades)


@given(MEASURES, st.lists(st.tuples(RANKINGS, GRADES), min_size=1, max_size=6))
@pytest.mark.filterwarnings("ignore::hybridrank.evaluation.scores.EvaluationWarning")
def test_means_do_not_depend_on_the_order_of_queries(
    measure: Measure, queries: list[tuple[list[str], dict[str, float]]]
) -> None:
    run = {f"q{place}": ranking for place, (ranking, _) in enumerate(queries)}
    qrels = {f"q{place}": grades for place, (_, grades) in enumerate(queries)}
    turned = dict(reversed(qrels.items()))
    assert score_run(turned, run, measure).means == score_run(qrels, run, measure).means


@given(REPEATING)
def test_collapsing_by_the_id_itself_drops_repetitions(ranking: list[str]) -> None:
    assert collapse(ranking, str) == list(dict.fromkeys(ranking))
    assert collapse(collapse(ranking, str.upper), str.upper) == collapse(ranking, str.upper)
