"""Evaluations and comparisons of pipelines whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from hybridrank import (
    BM25,
    Case,
    Comparison,
    DuplicateIdError,
    Evaluation,
    Event,
    Filter,
    HybridRankError,
    InvalidValueError,
    Pipeline,
    Query,
    Ranking,
    Result,
    Target,
    UnknownNameError,
    compare,
    evaluate,
)
from hybridrank.evaluation.measures import MRR, Recall, nDCG
from hybridrank.evaluation.outcomes import percentile
from hybridrank.evaluation.scores import EvaluationWarning
from hybridrank.types import Document
from stubs import doc


@dataclass
class Answers:
    """A leg with an answer by query text; an exception is raised; its events are told every time."""

    by_query: Mapping[str, Sequence[str] | Exception]
    events: tuple[Event, ...] = ()
    asked: list[tuple[str, str, int, Filter | None]] = field(default_factory=list)

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        self.asked.append((query.text, query.id, k, where))
        answer = self.by_query[query.text]
        if isinstance(answer, Exception):
            raise answer
        return Ranking.from_order(query, [doc(id, kind="record") for id in answer][:k], events=self.events)


def pipeline(
    by_query: Mapping[str, Sequence[str] | Exception], *events: Event, known: str = "abcdefgx"
) -> Pipeline:
    made = Pipeline({"leg": Answers(by_query, events)}, normalizer=None)
    return made.index([doc(id) for id in known]) if known else made


CASES = (
    Case("q1", "one", ["a"], category="easy"),
    Case("q2", "two", {"a": 2, "b": 1}, category="hard"),
    Case("g1", "gap", expected="disclose_gap", gap_id="no-such-thing", category="hard"),
    Case("q3", "three", ["c"], category="hard"),
)
GOOD = {"one": ["a", "x"], "two": ["x", "b", "a"], "gap": ["x", "d", "e", "f"], "three": ["d", "e"]}


def test_every_case_is_run_and_scored_and_gaps_are_not() -> None:
    result = evaluate(pipeline(GOOD), CASES, measures=["MRR", "Recall@2"], name="bm25")
    assert [outcome.case.id for outcome in result.outcomes] == ["q1", "q2", "g1", "q3"]
    assert result.values("MRR") == (1, 0.5, 0)
    assert result.values("Recall@2") == (1, 0.5, 0)
    assert result.means == {"MRR": 0.5, "Recall@2": 0.5}
    assert result.by_category == {"easy": {"MRR": 1, "Recall@2": 1}, "hard": {"MRR": 0.25, "Recall@2": 0.25}}
    assert [dict(outcome.ranks) for outcome in result.scored] == [{"a": 1}, {"b": 2, "a": 3}, {}]
    assert [outcome.missed for outcome in result.scored] == [(), (), ("c",)]
    (gap,) = result.gaps
    assert (gap.scored, dict(gap.values), gap.ids) == (False, {}, ("x", "d", "e", "f"))


def test_a_gap_is_told_with_its_reason_and_its_first_ids() -> None:
    told = evaluate(pipeline(GOOD), CASES).to_dict(timings=False)
    assert told["gaps"] == [
        {
            "id": "g1",
            "query": "gap",
            "category": "hard",
            "scored": False,
            "reason": "the corpus cannot answer this question, so no document is a right answer",
            "gap_id": "no-such-thing",
            "first_ids": ["x", "d", "e"],
            "ids": ["x", "d", "e", "f"],
        }
    ]
    assert told["cases"] == 3
    assert [query["id"] for query in told["queries"]] == ["q1", "q2", "q3"]
    assert told["queries"][1] == {
        "id": "q2",
        "query": "two",
        "category": "hard",
        "scored": True,
        "values": told["queries"][1]["values"],
        "ranks": {"b": 2, "a": 3},
        "missed": [],
        "ids": ["x", "b", "a"],
    }


def test_what_is_told_is_json_and_equal_runs_tell_the_same() -> None:
    one, two = (evaluate(pipeline(GOOD), CASES, name="n") for _ in range(2))
    assert json.dumps(one.to_dict(timings=False)) == json.dumps(two.to_dict(timings=False))
    timed = json.loads(json.dumps(one.to_dict()))
    assert set(timed["latency"]) == {"p50", "p95"}
    assert all(query["seconds"] > 0 for query in timed["queries"] + timed["gaps"])
    assert timed["measures"] == ["nDCG@10", "MRR@10", "Recall@10"]


# EV-17
def test_a_search_that_raises_counts_as_0_and_is_listed() -> None:
    result = evaluate(pipeline({**GOOD, "one": RuntimeError("the server is down")}), CASES, measures="MRR")
    assert result.values("MRR") == (0, 0.5, 0)
    (failed,) = result.errors
    assert (failed.case.id, failed.ids, failed.result) == ("q1", (), None)
    assert failed.error == "RuntimeError: the server is down"
    assert result.to_dict()["errors"] == [{"id": "q1", "error": "RuntimeError: the server is down"}]
    assert "q1    RuntimeError: the server is down" in repr(result)


# EV-17
def test_a_failed_gap_is_listed_too() -> None:
    result = evaluate(pipeline({**GOOD, "gap": ValueError("odd")}), CASES)
    assert [outcome.case.id for outcome in result.errors] == ["g1"]
    assert "g1    no-such-thing  failed" in repr(result)


# EV-17
@pytest.mark.parametrize("gap", [["x"], RuntimeError("down")])
def test_all_searches_failing_raises(gap: Any) -> None:
    down = RuntimeError("down")
    broken = pipeline({"one": down, "two": down, "three": down, "gap": gap})
    with pytest.raises(
        HybridRankError, match="the searches of all 3 cases to score failed; the first: RuntimeError: down"
    ) as caught:
        evaluate(broken, CASES)
    assert caught.value.__cause__ is down


def test_an_answer_that_is_no_result_is_an_error() -> None:
    class Silent:
        def search(self, query: Query, /, *, k: int) -> Any:
            return None if query.text == "one" else pipeline(GOOD).search(query, k=k)

    result = evaluate(Silent(), CASES)
    assert [outcome.error for outcome in result.errors] == [
        "ContractError: stage 'search' returned NoneType, not a Result"
    ]
    with pytest.raises(InvalidValueError, match="say how many by k"):
        evaluate(Silent(), CASES, measures="MRR")


def test_an_interrupt_is_not_an_error_of_a_query() -> None:
    class Interrupted:
        documents = None

        def search(self, query: Query, /, *, k: int) -> Result:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(Interrupted(), CASES)


# EV-06, EV-08
def test_a_query_that_returned_nothing_stays_in_the_mean() -> None:
    assert evaluate(pipeline({**GOOD, "one": [], "two": ["a"]}), CASES[:2], measures="Recall@1").means == {
        "Recall@1": 0.25
    }


def test_events_are_counted_by_code() -> None:
    events = (Event("fallback", "kept the order", level="warning"), Event("note", "x"), Event("note", "y"))
    result = evaluate(pipeline(GOOD, *events), CASES)
    assert result.event_counts == {"note": 8, "fallback": 4}
    assert result.warning_counts == {"fallback": 4}
    assert "fallback      4" in repr(result)
    assert result.outcomes[0].events[0].code == "fallback"


def test_searches_get_what_was_asked_for() -> None:
    leg = Answers(GOOD)
    made = Pipeline({"leg": leg}, normalizer=None).index([doc(id) for id in "abcdefx"])
    where = Filter(kind="record")
    evaluate(made, CASES[:1], measures="Hit@3", recall=7, where=where, rerank_depth=0, weights={"leg": 2.0})
    assert leg.asked == [("one", "q1", 7, where)]
    with pytest.raises(HybridRankError, match="unknown leg in weights 'log'"):
        evaluate(made, CASES[:1], weights={"log": 2.0})


@pytest.mark.parametrize(
    ("measures", "options", "k"),
    [
        (["nDCG@10", "Recall@20"], {}, 20),
        (["nDCG@10", "MRR"], {}, 80),
        (["MRR"], {"recall": 30}, 30),
        (["MRR"], {"k": 12}, 12),
        (["Hit@1"], {"k": 12}, 12),
    ],
)
def test_how_many_hits_are_asked_for(measures: list[str], options: dict[str, int], k: int) -> None:
    assert evaluate(pipeline(GOOD), CASES, measures=measures, **options).k == k  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "nDCG@10", "k": 5}, "nDCG@10 looks at 10 hits, but k=5 gives no more; raise it"),
        ({"measures": "nDCG@100"}, "nDCG@100 looks at 100 hits, but recall=80 gives no more; raise it"),
        ({"measures": "Hit@9", "recall": 8}, "Hit@9 looks at 9 hits, but recall=8"),
        ({"measures": "MRR", "k": True}, "k is True"),
        ({"measures": "MRR", "k": 90}, "k=90 is above recall=80; raise recall"),
        ({"measures": []}, "no measure was given"),
        ({"measures": "MRRR"}, "unknown measure 'MRRR'; did you mean 'MRR'"),
        ({"collapse": "file"}, "collapse is 'file'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(pipeline(GOOD), CASES, **options)


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([], "of 0 cases none can be answered"),
        (CASES[2:3], "of 1 cases none can be answered; at least one must be scored"),
        ("cases.jsonl", "'cases.jsonl' is no Case; give load_cases"),
        ([{"id": "q"}], "is no Case; give load_cases"),
        ([Case("q9", "one", ["zz"])], "case 'q9': no document has the id 'zz'"),
        ([Case("q9", "one", [Target(path="zz")])], "case 'q9': no document has the path 'zz'"),
    ],
)
def test_cases_that_cannot_be_run_are_refused(cases: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        evaluate(pipeline(GOOD), cases)


def test_two_cases_of_one_id_are_refused() -> None:
    with pytest.raises(DuplicateIdError, match="case 'q1'"):
        evaluate(pipeline(GOOD), [CASES[0], CASES[1], CASES[0]])


def test_unknown_targets_pass_where_asked_and_are_never_found() -> None:
    result = evaluate(pipeline(GOOD), [Case("q9", "one", ["a", "zz"])], measures="Recall@5", check=False)
    assert result.means == {"Recall@5": 0.5}
    assert result.scored[0].missed == ("zz",)


# EV-15
def test_results_that_hold_no_target_are_warned_of_where_documents_are_unknown() -> None:
    unindexed = pipeline({"one": ["a.py#1"]}, known="")
    with pytest.warns(EvaluationWarning, match=r"'a.py#1' was found, 'a.py' is wanted"):
        evaluate(unindexed, [Case("q", "one", ["a.py"])])


def test_files_and_lines_are_judged_by_the_documents_that_touch_them() -> None:
    documents = [
        Document(
            f"a.py:{start}-{start + 9}", f"word{start}", path="a.py", start_line=start, end_line=start + 9
        )
        for start in (1, 11, 21)
    ]
    made = Pipeline({"bm25": BM25()}).index(documents)
    target = Target(path="a.py", start_line=15, end_line=22)
    case = Case("q", "word1 word11 word21", [target])
    result = evaluate(made, [case], measures=["MRR", "Precision@3"])
    assert result.scored[0].ids == ("a.py:1-10", "a.py:11-20", "a.py:21-30")
    assert dict(result.scored[0].ranks) == {"a.py:15-22": 2}
    assert result.means == {"MRR": 0.5, "Precision@3": pytest.approx(1 / 3)}
    assert evaluate(made, [case], measures=["MRR"], collapse="path").means == {"MRR": 1}


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    evaluate(pipeline(GOOD), CASES, progress=lambda *step: told.append(step))
    assert told == [("evaluate", done, 4) for done in range(5)]
    told.clear()
    compare({"a": pipeline(GOOD), "b": pipeline(GOOD)}, CASES, progress=lambda *step: told.append(step))
    assert [step for step, done, _ in told if done == 4] == ["evaluate a", "evaluate b"]


def test_percentiles_by_linear_interpolation() -> None:
    assert percentile([3, 1, 2], 50) == 2
    assert percentile([0, 10], 95) == 9.5
    assert percentile([4], 95) == 4
    assert percentile(list(range(101)), 95) == 95


class Judged:
    """A measure that walks along the ranking, without a cutoff of its own."""

    name = "Judged"

    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        return sum(id in grades for id in ranked_ids) / max(1, len(ranked_ids))


def test_a_measure_may_be_any_object() -> None:
    assert evaluate(pipeline(GOOD), CASES, measures=[Judged()]).values("Judged") == (0.5, 2 / 3, 0)


# Comparisons

BETTER = {"one": ["a"], "two": ["a", "b"], "gap": ["e"], "three": ["d", "c"]}


def test_methods_are_compared_with_the_first() -> None:
    result = compare({"old": pipeline(GOOD), "new": pipeline(BETTER)}, CASES, measures=["MRR", "Recall@2"])
    assert list(result.evaluations) == ["old", "new"]
    assert result.baseline == "old"
    mrr, recall = result.differences
    assert (mrr.method, mrr.measure) == ("new", "MRR")
    assert mrr.difference == pytest.approx(((1 + 1 + 0.5) - (1 + 0.5 + 0)) / 3)
    assert (mrr.wins, mrr.ties, mrr.losses) == (2, 1, 0)
    # Two differences, both up: 2 of 4 sign flips are as extreme; Holm doubles p.
    assert (mrr.p, mrr.p_holm, mrr.exact) == (0.5, 1.0, True)
    assert recall.difference == pytest.approx(0.5)
    assert result.clear == ()


def test_another_baseline_turns_the_signs() -> None:
    pipelines = {"old": pipeline(GOOD), "new": pipeline(BETTER)}
    one = compare(pipelines, CASES).differences[0]
    other = compare(pipelines, CASES, baseline="new").differences[0]
    assert (other.method, other.difference, other.p) == ("old", -one.difference, one.p)
    assert (other.low, other.high) != (one.low, one.high)


def test_too_few_cases_are_told_and_no_winner_is_named() -> None:
    few = compare({"old": pipeline(GOOD), "new": pipeline(BETTER)}, CASES, measures=["MRR"])
    assert few.notes == (
        "3 cases do not tell these methods apart at the level 0.05: at least 6 are needed to show any "
        "difference, however large.",
    )
    cases = [Case(f"q{place}", "one", ["a"]) for place in range(12)]
    same = compare({"old": pipeline(GOOD), "new": pipeline(GOOD)}, cases, measures=["MRR"])
    assert same.notes == (
        "12 cases do not tell these methods apart at the level 0.05: the smallest difference they could have "
        "shown is 0.500, if 6 of them went from 0 to 1 and none the other way.",
    )
    for shown in (repr(few), repr(same), few._repr_html_(), json.dumps(few.to_dict())):
        assert not any(word in shown.lower() for word in ("winner", "best", "wins over"))


def test_a_clear_difference_is_clear() -> None:
    cases = [Case(f"q{place}", "one", ["a"]) for place in range(8)]
    result = compare(
        {"old": pipeline({"one": ["x"]}), "new": pipeline({"one": ["a"]})}, cases, measures="MRR"
    )
    (one,) = result.differences
    assert result.clear == (one,)
    assert result.notes == ()
    assert (one.difference, one.low, one.high, one.p, one.p_holm) == (1, 1, 1, 2 / 256, 2 / 256)


def test_gaps_are_shown_with_the_first_ids_of_each_method() -> None:
    result = compare({"old": pipeline(GOOD), "new": pipeline({**BETTER, "gap": []})}, CASES)
    assert result.gaps == [
        {
            "id": "g1",
            "query": "gap",
            "gap_id": "no-such-thing",
            "scored": False,
            "reason": "the corpus cannot answer this question, so no document is a right answer",
            "first_ids": {"old": ["x", "d", "e"], "new": []},
        }
    ]
    assert "new     nothing, which is right" in repr(result)


def test_a_comparison_needs_all_methods_cases_and_measures() -> None:
    one = evaluate(pipeline(GOOD), CASES, measures=["MRR", "Hit@1"], k=20)
    alike = Comparison.of({"a": one, "b": one})
    assert (alike.clear, alike.evaluations["b"].name) == ((), "b")

    def refused(message: str, other: Evaluation) -> None:
        for pair in ({"a": one, "b": other}, {"b": other, "a": one}):
            with pytest.raises(InvalidValueError, match=message):
                Comparison.of(pair)

    refused(
        "'b' lacks the measure 'Hit@1', which others have", evaluate(pipeline(GOOD), CASES, measures="MRR")
    )
    fewer = evaluate(pipeline(GOOD), CASES[:3], measures=["MRR", "Hit@1"], k=20)
    refused("'b' lacks the case 'q3', which others have", fewer)
    refused(
        "MRR looks at all hits, of which", evaluate(pipeline(GOOD), CASES, measures=["MRR", "Hit@1"], k=9)
    )
    turned = evaluate(pipeline(GOOD), CASES[::-1], measures=["MRR", "Hit@1"], k=20)
    refused("differs from the one of .*, or stands elsewhere", turned)
    other_gold = [Case("q1", "one", ["x"], category="easy"), *CASES[1:]]
    refused("case 'q1'", evaluate(pipeline(GOOD), other_gold, measures=["MRR", "Hit@1"], k=20))
    with pytest.raises(InvalidValueError, match="needs two methods or more; given: a"):
        Comparison.of({"a": one})
    with pytest.raises(UnknownNameError, match="unknown baseline 'c'"):
        Comparison.of({"a": one, "b": one}, baseline="c")


def test_measures_with_cutoffs_compare_at_any_depth() -> None:
    made = pipeline(GOOD)
    shallow, deep = (evaluate(made, CASES, measures=["MRR@5", nDCG(k=3)], k=k) for k in (5, 20))
    assert all(one.difference == 0 for one in Comparison.of({"a": shallow, "b": deep}).differences)


def test_bad_options_are_refused_before_anything_runs() -> None:
    legs = [Answers(GOOD), Answers(GOOD)]
    pipelines = {name: Pipeline({"leg": leg}) for name, leg in zip("ab", legs, strict=True)}
    options: list[dict[str, Any]] = [
        {"alpha": 0},
        {"samples": 0},
        {"seed": -1},
        {"baseline": "c"},
        {"measures": "M"},
    ]
    for given in options:
        with pytest.raises(ValueError, match=r"alpha|samples|seed|baseline|measure"):
            compare(pipelines, CASES, **given)
    with pytest.raises(InvalidValueError, match="needs two methods or more; given: none"):
        compare({}, CASES)
    with pytest.raises(InvalidValueError, match="name of a method is ''"):
        compare({"": pipelines["a"], "b": pipelines["b"]}, CASES)
    assert not legs[0].asked
    assert not legs[1].asked


def test_a_comparison_without_differences_shows_none() -> None:
    one = evaluate(pipeline(GOOD), CASES)
    side_by_side = Comparison.of({"a": one, "b": one}, differences=False)
    assert (side_by_side.baseline, side_by_side.differences, side_by_side.notes) == (None, (), ())
    assert "difference" not in repr(side_by_side)
    assert side_by_side.to_dict()["differences"] == []


def test_a_comparison_is_json_and_names_its_methods() -> None:
    told = compare(
        {"a": pipeline(GOOD), "b": pipeline(BETTER)}, CASES, measures=[MRR(), Recall(k=1)]
    ).to_dict()
    assert json.loads(json.dumps(told)) == told
    assert [method["name"] for method in told["methods"]] == ["a", "b"]
    assert told["measures"] == ["MRR", "Recall@1"]
    assert [one["measure"] for one in told["differences"]] == ["MRR", "Recall@1"]


# What people see


def test_an_evaluation_is_a_table() -> None:
    made = evaluate(pipeline(GOOD), CASES, measures=["MRR", "Recall@2"], name="bm25")
    timed = replace(made, outcomes=tuple(replace(one, seconds=0.0125) for one in made.outcomes))
    assert repr(timed).splitlines() == [
        "Evaluation 'bm25': 3 cases scored, 1 gap, 80 hits each; p50 12.5 ms, p95 12.5 ms",
        "        cases     MRR  Recall@2",
        "  all       3  0.5000    0.5000",
        "  easy      1  1.0000    1.0000",
        "  hard      2  0.2500    0.2500",
        "gaps: the corpus cannot answer them; never scored",
        "  case  gap            first",
        "  g1    no-such-thing  x, d, e",
    ]


def test_a_comparison_is_a_table() -> None:
    made = compare({"old": pipeline(GOOD), "new": pipeline(BETTER)}, CASES, measures=["MRR"])
    lines = repr(made).splitlines()
    assert lines[0] == "Comparison of 2 methods: 3 cases scored, 1 gap"
    assert lines[1].split() == ["MRR", "p50", "ms", "p95", "ms", "warnings", "errors"]
    assert lines[2].split()[:2] == ["old", "0.5000"]
    assert lines[4] == "differences from 'old'"
    assert " ".join(lines[5].split()) == "measure difference 95 % interval p p (Holm) wins/ties/losses"
    assert " ".join(lines[6].split()) == "new MRR +0.3333 +0.0000 to +0.5000 0.5000 0.5000 2/1/0"
    assert lines[-1] == made.notes[0]


HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\u202e"


def test_hostile_text_stays_text() -> None:
    answers: dict[str, Sequence[str] | Exception] = {
        HOSTILE: [HOSTILE],
        "gap": [HOSTILE],
        "bad": RuntimeError(HOSTILE),
    }
    cases = [
        Case(HOSTILE, HOSTILE, [HOSTILE], category=HOSTILE),
        Case("e", "bad", [HOSTILE]),
        Case("g", "gap", expected="disclose_gap", gap_id=HOSTILE),
    ]
    made = Pipeline({"leg": Answers(answers, (Event(HOSTILE, HOSTILE, level="warning"),))}, normalizer=None)
    indexed = made.index([Document(HOSTILE, "x")])
    one = evaluate(indexed, cases, name=HOSTILE)
    two = compare({HOSTILE: indexed, "b": indexed}, cases)
    for page in (one._repr_html_(), two._repr_html_()):
        assert "<script" not in page
        assert page.count("&lt;script&gt;") >= 4
        assert page.count("<table ") == page.count("</table>") >= 4
        assert "http" not in page
    for text in (one._repr_html_(), two._repr_html_(), repr(one), repr(two)):
        assert not any(character in text for character in "\x1b\u202e")
    assert json.loads(json.dumps(two.to_dict())) == two.to_dict()


def test_the_page_lists_the_cases_one_by_one() -> None:
    page = evaluate(pipeline(GOOD), CASES)._repr_html_()
    assert "<td>b at 2, a at 3</td>" in page
    assert "<td>c missed</td>" in page
    many = [Case(f"q{place}", "one", ["a"]) for place in range(60)]
    assert "cases, 10 more not shown" in evaluate(pipeline(GOOD), many)._repr_html_()
