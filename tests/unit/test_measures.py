"""Measures against hand-worked values, names, and runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fake_distributions import Site, temporary_site
from hybridrank import (
    ContractError,
    DuplicateIdError,
    InvalidValueError,
    Measure,
    PluginError,
    Ranking,
    UnknownNameError,
    parse_measure,
    score_run,
)
from hybridrank.evaluation.found import Found, credited_ranks, find
from hybridrank.evaluation.measures import MAP, MRR, Hit, Precision, Recall, nDCG, parse_measures
from hybridrank.evaluation.scores import EvaluationWarning, mean, ranked
from hybridrank.types import Query

# id, retrieved, relevant, k, recall, precision, hit, reciprocal rank, nDCG
TABLE = [
    ("EV-01", "aa", "a", 2, 1.0, 0.5, 1.0, 1.0, 1.0),
    ("EV-02", "a", "aa", 1, 1.0, 1.0, 1.0, 1.0, 1.0),
    ("EV-03", "ax", "ab", 2, 0.5, 0.5, 1.0, 1.0, 0.613147),
    ("EV-05", "ax", "a", 2, 1.0, 0.5, 1.0, 1.0, 1.0),
    ("EV-09", "0123456789ea", "a", 10, 0.0, 0.0, 0.0, 0.0, 0.0),
    ("EV-10", "xab", "ba", 3, 1.0, 0.666667, 1.0, 0.5, 0.693426),
    ("EV-12@1", "axb", "abcd", 1, 0.25, 1.0, 1.0, 1.0, 1.0),
    ("EV-12@2", "axb", "abcd", 2, 0.25, 0.5, 1.0, 1.0, 0.613147),
    ("EV-12@3", "axb", "abcd", 3, 0.5, 0.666667, 1.0, 1.0, 0.703918),
    ("EV-16", "xya", "a", 3, 1.0, 0.333333, 1.0, 0.333333, 0.5),
]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    yield from temporary_site(tmp_path, monkeypatch)


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_the_table_of_values(row: Any) -> None:
    _, retrieved, relevant, k, *expected = row
    makers: tuple[Callable[..., Measure], ...] = (Recall, Precision, Hit, MRR, nDCG)
    for make, value in zip(makers, expected, strict=True):
        assert make(k=k).score(list(retrieved), dict.fromkeys(relevant, 1)) == pytest.approx(value, abs=1e-6)
    names = [f"{name}@{k}" for name in ("Recall", "Precision", "Hit", "MRR", "nDCG")]
    scores = score_run({"q": list(relevant)}, {"q": list(retrieved)}, names)
    assert list(scores.means.values()) == pytest.approx(expected, abs=1e-6)


# The whole ranking, however deep, is what MRR without a cutoff looks at.
def test_mrr_with_and_without_a_cutoff() -> None:
    retrieved = [*map(str, range(11)), "a"]
    assert MRR().score(retrieved, {"a": 1}) == 1 / 12
    assert MRR(k=12).score(retrieved, {"a": 1}) == 1 / 12
    assert MRR(k=11).score(retrieved, {"a": 1}) == 0


def test_two_relevant_and_one_in_the_first_three() -> None:
    assert Recall(k=3).score(["x", "a", "y", "b"], {"a": 1, "b": 1}) == 0.5


def test_first_relevant_at_ranks_1_2_and_5() -> None:
    run = {"q1": ["a"], "q2": ["x", "a"], "q3": ["x", "y", "z", "u", "a"]}
    scores = score_run({"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}, run, MRR())
    assert list(scores.values["MRR"]) == [1, 0.5, 0.2]
    assert scores.means["MRR"] == pytest.approx(0.5667, abs=5e-5)


def test_graded_ndcg_by_hand() -> None:
    grades = {"a": 3, "b": 2, "c": 1}
    gain = 2 / 1 + 3 / math.log2(4)
    ideal = 3 / 1 + 2 / math.log2(3) + 1 / math.log2(4)
    assert nDCG(k=3).score(["b", "x", "a"], grades) == pytest.approx(gain / ideal, abs=1e-12)
    # The ideal is cut too: two places hold 3 and 2.
    cut = 3 / 1 + 2 / math.log2(3)
    assert nDCG(k=2).score(["b", "x", "a"], grades) == pytest.approx(2 / cut, abs=1e-12)


def test_average_precision_by_hand() -> None:
    # Relevant at ranks 1, 3 and 5 of four relevant: (1/1 + 2/3 + 3/5) / 4.
    retrieved = ["a", "x", "b", "y", "c"]
    grades = dict.fromkeys("abcd", 1)
    assert MAP().score(retrieved, grades) == pytest.approx((1 + 2 / 3 + 3 / 5) / 4, abs=1e-12)
    assert MAP(k=4).score(retrieved, grades) == pytest.approx((1 + 2 / 3) / 4, abs=1e-12)


# EV-01: a repeated id has no second gain, but it does fill a place.
def test_a_repeated_id_counts_once_and_fills_its_places() -> None:
    grades = {"a": 1, "b": 1}
    retrieved = ["a", "a", "a", "b"]
    assert find(retrieved, grades).ranks == [1, 4]
    assert Recall(k=3).score(retrieved, grades) == 0.5
    assert Precision(k=4).score(retrieved, grades) == 0.5
    assert nDCG(k=4).score(retrieved, grades) == pytest.approx(
        (1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3)), abs=1e-12
    )
    assert MAP().score(retrieved, grades) == pytest.approx((1 + 2 / 4) / 2)


# EV-05
@pytest.mark.parametrize("ids", ["ab", "za", "az", "ZZ a"])
def test_ids_are_only_names(ids: str) -> None:
    first, last = ids[0], ids[-1] + "'"
    assert MRR().score([first, last], {first: 1}) == 1
    assert nDCG(k=2).score([last, first], {first: 1}) == pytest.approx(0.630930, abs=1e-6)


# EV-11
def test_precision_is_divided_by_k() -> None:
    assert Precision(k=5).score(["a", "b"], {"a": 1, "b": 1}) == 0.4
    assert Precision(k=5).score(list("abcdefg"), {"a": 1, "b": 1}) == 0.4
    assert Recall(k=5).score(["a", "b"], {"a": 1, "b": 1}) == 1


# EV-14
def test_a_negative_grade_counts_as_0() -> None:
    grades = {"n": -1, "a": 2}
    assert nDCG(k=2).score(["n", "a"], grades) == pytest.approx(0.630930, abs=1e-6)
    assert Recall(k=2).score(["n", "a"], grades) == 1
    assert Precision(k=2).score(["n", "a"], grades) == 0.5
    assert Hit(k=1).score(["n", "a"], grades) == 0
    assert MRR().score(["n", "a"], grades) == 0.5
    assert nDCG(k=5).score(["a"], {"a": 0}) == 0


ALL = (nDCG(), Recall(), Precision(), Hit(), MRR(), MRR(k=3), MAP(), MAP(k=3))


# EV-08
@pytest.mark.parametrize("measure", ALL, ids=repr)
def test_nothing_retrieved_and_nothing_relevant_score_0(measure: Measure) -> None:
    assert measure.score([], {"a": 1}) == 0
    assert measure.score(["a"], {}) == 0
    assert measure.score(["a"], {"b": 1}) == 0
    assert measure.score([], {}) == 0


@pytest.mark.parametrize("grade", [1e308, 5e-324, 1, 0.25, Fraction(1, 3), np.float32(2), np.int64(3)])
def test_a_perfect_ranking_scores_1_whatever_the_grades(grade: Any) -> None:
    for measure in (nDCG(k=3), MAP(), Recall(k=3), MRR()):
        assert measure.score(["a", "b", "c"], dict.fromkeys("abc", grade)) == 1


@pytest.mark.parametrize("grade", [True, "1", None, math.nan, math.inf, -math.inf, 10**400, Decimal(1), 1j])
def test_a_grade_that_is_no_finite_number_is_refused(grade: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"query 'q7': grade of 'a' is .*; give a finite number"):
        score_run({"q7": {"a": grade}}, {}, "MRR")


@pytest.mark.parametrize(
    "ranking", ["abc", b"abc", {"a", "b"}, {"a": 2.0}, 5, None, ["a", 1], ["a", None], [["a"]], iter("ab")]
)
def test_a_ranking_that_is_no_sequence_of_ids_is_refused(ranking: Any) -> None:
    with pytest.raises(InvalidValueError, match="query 'q7': the ranking"):
        score_run({"q7": {"a": 1}}, {"q7": ranking}, "MRR")


def test_a_ranking_of_hits_is_refused_and_its_ids_are_fine() -> None:
    from stubs import doc

    given = Ranking.from_order(Query("q"), [doc("x"), doc("a")])
    with pytest.raises(InvalidValueError, match="give ids as str"):
        MRR().score(given, {"a": 1})  # type: ignore[arg-type]
    assert MRR().score(given.ids, {"a": 1}) == 0.5
    assert MRR().score(np.array(["x", "a"]), {"a": 1}) == 0.5  # type: ignore[arg-type]


@pytest.mark.parametrize("relevant", ["abc", 5, None, {1: 1}, [1], (id for id in "ab")])
def test_relevant_that_is_no_collection_of_ids_is_refused(relevant: Any) -> None:
    with pytest.raises(InvalidValueError, match="query 'q7'"):
        score_run({"q7": relevant}, {"q7": ["a"]}, "MRR")


# Names


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("nDCG@10", nDCG(k=10)),
        ("ndcg@5", nDCG(k=5)),
        ("NDCG@1", nDCG(k=1)),
        (" Recall@5 ", Recall(k=5)),
        ("precision@5", Precision(k=5)),
        ("Hit@1", Hit(k=1)),
        ("MRR", MRR()),
        ("mrr@10", MRR(k=10)),
        ("MAP", MAP()),
        ("map@100", MAP(k=100)),
        ("hybridrank:nDCG@3", nDCG(k=3)),
        ("hybridrank:ndcg@3", nDCG(k=3)),
    ],
)
def test_a_measure_by_name(text: str, measure: Measure) -> None:
    made = parse_measure(text)
    assert made == measure
    assert repr(made) == made.name
    assert parse_measure(made.name) == made
    assert parse_measure(made) is made


def test_measures_are_frozen_values() -> None:
    assert {nDCG(k=10): 1}[nDCG()] == 1
    assert len({nDCG(k=5), Recall(k=5), MRR(k=5), MAP(k=5), Hit(k=5), Precision(k=5)}) == 6
    with pytest.raises((FrozenInstanceError, TypeError)):
        nDCG().k = 3  # type: ignore[misc]


def test_an_unknown_measure_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown measure 'nDGC'; did you mean 'nDCG'"):
        parse_measure("nDGC@10")
    with pytest.raises(UnknownNameError, match="known: Hit, MAP, MRR, Precision, Recall, nDCG"):
        parse_measure("F1@10")
    with pytest.raises(UnknownNameError):
        parse_measure("")


@pytest.mark.parametrize("text", ["nDCG@0", "nDCG@", "nDCG@-1", "nDCG@1.5", "nDCG@ten", "nDCG@05", "MRR@１"])
def test_a_cutoff_that_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="cutoff of measure"):
        parse_measure(text)


@pytest.mark.parametrize("k", [0, -1, True, 1.0, "3", None])
def test_a_cutoff_given_to_a_measure_is_checked(k: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"cutoff k is .*; give an int of 1 or more"):
        Recall(k=k)


@pytest.mark.parametrize(("text", "complete"), [("Recall", "Recall@10"), ("nDCG", "nDCG@10")])
def test_a_missing_cutoff_is_asked_for(text: str, complete: str) -> None:
    with pytest.raises(InvalidValueError, match=f"write {complete}"):
        parse_measure(text)


@pytest.mark.parametrize("given", [nDCG, object(), 5, None])
def test_what_is_no_measure_is_refused(given: Any) -> None:
    with pytest.raises(InvalidValueError, match="is no measure"):
        parse_measure(given)


def test_several_measures_keep_their_order_and_none_stands_twice() -> None:
    assert parse_measures(["MRR", nDCG(k=3), "hit@1"]) == (MRR(), nDCG(k=3), Hit(k=1))
    assert parse_measures("MRR") == parse_measures(MRR()) == (MRR(),)
    with pytest.raises(DuplicateIdError, match="measure 'nDCG@3' was given twice"):
        parse_measures(["nDCG@3", nDCG(k=3)])
    with pytest.raises(InvalidValueError, match="no measure was given"):
        parse_measures([])


# Plug-ins

PLUGIN = """
class Judged:
    '''The share of the first k that is judged.'''
    def __init__(self, k: int = 2) -> None:
        self.k = k
    @property
    def name(self):
        return f'Judged@{self.k}'
    def score(self, ranked_ids, grades, /):
        return sum(id in grades for id in ranked_ids[:self.k]) / self.k

class Odd:
    name = 'Odd'
    def score(self, ranked_ids, grades, /):
        return float('nan')

class Unnamed:
    pass
"""


def test_a_measure_of_another_distribution(site: Site) -> None:
    entries = {name: f"judging:{name}" for name in ("Judged", "Odd", "Unnamed")}
    site.install("judging-kit", {"measures": entries | {"Broken": "judging:Nothing"}}, {"judging": PLUGIN})
    scores = score_run({"q": {"a": 0, "b": 1}}, {"q": ["a", "x", "b"]}, ["judged@2", "MRR"])
    assert scores.means == {"Judged@2": 0.5, "MRR": pytest.approx(1 / 3)}
    with pytest.raises(InvalidValueError, match="write Judged@2"):
        parse_measure("Judged")
    with pytest.raises(InvalidValueError, match="Odd takes no cutoff; write Odd"):
        parse_measure("Odd@3")
    with pytest.raises(ContractError, match="'measure Odd' returned no finite number for query 'q'"):
        score_run({"q": {"a": 1}}, {"q": ["a"]}, "Odd")
    with pytest.raises(InvalidValueError, match="lacks a name or a method score"):
        parse_measure("Unnamed")
    with pytest.raises(PluginError, match="cannot be loaded"):
        parse_measure("Broken")


def test_two_measures_whose_names_differ_in_case_only(site: Site) -> None:
    site.install("other-kit", {"measures": {"judged": "judging2:Judged", "JUDGED": "judging2:Judged"}})
    with pytest.raises(UnknownNameError, match="did you mean 'judged'"):
        parse_measure("Judged@2")


# Runs


# EV-06
def test_a_query_that_is_missing_or_empty_stays_in_the_mean() -> None:
    qrels = {"q1": {"a"}, "q2": {"b"}}
    for run in ({"q1": ["a"]}, {"q1": ["a"], "q2": []}, {"q1": ["a"], "q9": ["b"]}):
        scores = score_run(qrels, run, ["Recall@5", "MRR", "nDCG@5", "MAP", "Precision@1", "Hit@1"])
        assert set(scores.means.values()) == {0.5}
        assert scores.queries == ("q1", "q2")
        assert scores.missing == (() if "q2" in run else ("q2",))
        assert scores.unjudged == (("q9",) if "q9" in run else ())


def test_a_judged_query_without_anything_relevant_scores_0_and_is_told() -> None:
    scores = score_run({"q1": {"a": 1}, "q2": {"b": 0}, "q3": []}, {"q1": ["a"], "q2": ["b"]}, "MRR")
    assert scores.means == {"MRR": pytest.approx(1 / 3)}
    assert scores.without_relevant == ("q2", "q3")
    assert "without relevant: 2 (q2, q3)" in repr(scores)


def test_scores_tell_their_parts() -> None:
    scores = score_run({"q1": ["a"], "q2": ["a"]}, {"q1": ["x", "a"], "q3": []}, ["MRR", "Hit@1"])
    assert scores.per_query("MRR") == {"q1": 0.5, "q2": 0.0}
    assert scores.to_dict() == {
        "means": {"MRR": 0.25, "Hit@1": 0.0},
        "queries": ["q1", "q2"],
        "values": {"MRR": [0.5, 0.0], "Hit@1": [0.0, 0.0]},
        "missing": ["q2"],
        "unjudged": ["q3"],
        "without_relevant": [],
    }
    assert repr(scores).splitlines() == [
        "Scores, 2 judged queries",
        "  MRR    0.2500",
        "  Hit@1  0.0000",
        "  missing: 1 (q2)",
        "  unjudged: 1 (q3)",
    ]


# EV-15
@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q": ["f.py#1", "g.py#1"]}, "no judged id stands in any ranking: 'f.py#1' in the run, 'g.py' in"),
        ({"Q": ["g.py"]}, "the run holds no judged query: 'Q' in the run, 'q' in the judgements"),
    ],
)
def test_a_run_that_shares_no_id_with_the_judgements_is_warned_of(
    run: dict[str, list[str]], message: str
) -> None:
    with pytest.warns(EvaluationWarning, match=message):
        scores = score_run({"q": {"g.py"}}, run, "MRR")
    assert scores.means == {"MRR": 0}


@pytest.mark.parametrize("run", [{}, {"q": []}, {"q": ["n", "x"]}])
def test_a_run_that_found_nothing_relevant_is_not_warned_of(run: dict[str, list[str]]) -> None:
    assert score_run({"q": {"a": 1, "n": 0}}, run, "MRR").means == {"MRR": 0}


def test_a_mean_over_nothing_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="there are no judged queries"):
        score_run({}, {"q": ["a"]}, "MRR")
    with pytest.raises(InvalidValueError, match="not defined"):
        mean([])


@pytest.mark.parametrize(
    ("qrels", "run"), [([("q", "a")], {}), ({"q": ["a"]}, [["a"]]), ({1: ["a"]}, {}), ({"q": ["a"]}, {1: []})]
)
def test_judgements_and_run_are_mappings_by_query_id(qrels: Any, run: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"give a mapping by query id|is no str"):
        score_run(qrels, run, "MRR")


def test_scores_become_a_ranking_whose_ties_keep_their_order() -> None:
    assert ranked({"b": 1.0, "z": 2.0, "a": 1.0}) == ["z", "b", "a"]
    with pytest.raises(InvalidValueError, match="score of 'a' is nan"):
        ranked({"a": math.nan})


# Several targets in one hit


def test_targets_of_one_hit_are_credited_one_after_another() -> None:
    assert credited_ranks([1, 1, 1, 4, 4, 9]) == (1, 2, 3, 4, 5, 9)
    assert credited_ranks([1, 1, 2]) == (1, 2, 3)
    assert credited_ranks([]) == ()


@pytest.mark.parametrize(
    ("measure", "value"),
    [(Recall(k=1), 1), (Hit(k=1), 1), (MRR(), 1), (Precision(k=1), 1), (Precision(k=2), 0.5), (MAP(), 1)],
    ids=repr,
)
def test_a_hit_that_holds_all_targets_is_a_perfect_ranking(measure: Any, value: float) -> None:
    ranks: Sequence[int] = (1, 1)
    found = Found(ranks, (2.0, 1.0), (2.0, 1.0), credited_ranks(ranks))
    assert measure.score_found(found) == value
    assert nDCG(k=2).score_found(found) == 1


def test_every_measure_is_a_measure() -> None:
    makers: tuple[Callable[[], object], ...] = (nDCG, Recall, Precision, Hit, MRR, MAP)
    assert all(isinstance(make(), Measure) for make in makers)
