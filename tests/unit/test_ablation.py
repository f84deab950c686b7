"""Ablations whose numbers follow from which of two legs knows a name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hybridrank import (
    RRF,
    Ablation,
    Case,
    ConfigError,
    Document,
    Filter,
    HybridRankError,
    InvalidValueError,
    Pipeline,
    Query,
    Ranking,
    Target,
    UnknownNameError,
    ablate,
)
from hybridrank.evaluation import memory
from hybridrank.evaluation.measures import Recall
from hybridrank.evaluation.memory import Memory, Remembering
from hybridrank.evaluation.variants import (
    Variant,
    build_variants,
    index_variants,
    run_variants,
    without,
)
from stubs import Failing, Reorder, Table, doc

CONFIG: dict[str, Any] = {
    "retrievers": {
        "text": {"use": "bm25", "fields": ["text"]},
        "name": {"use": "bm25", "fields": ["name"]},
    },
    "rerankers": {"definition": {"use": "definition"}},
    "ablations": {"no-name": {"retrievers.name": False}},
}
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
DOCUMENTS = [Document(word, f"the text of {number}", name=word) for number, word in enumerate(WORDS)]


def cases(number: int) -> list[Case]:
    """Each asks for a name that only the leg of names can find."""
    return [Case(f"q{place}", word, [word], category="name") for place, word in enumerate(WORDS[:number])]


def run(number: int, **options: Any) -> Ablation:
    return ablate(CONFIG, DOCUMENTS, cases(number), measures="Recall@1", **options)


def test_a_part_that_finds_everything_is_worth_everything() -> None:
    made = run(8)
    means = {name: one.means["Recall@1"] for name, one in made.comparison.evaluations.items()}
    assert means == {"baseline": 1.0, "no-name": 0.0}
    (one,) = made.clear
    # All 8 differ in one direction: 2 of 2^8 sign flips are as extreme.
    assert (one.difference, one.low, one.high, one.p, one.p_holm) == (-1, -1, -1, 2 / 256, 2 / 256)
    assert (one.wins, one.ties, one.losses) == (0, 0, 8)
    assert made.findings == ("no-name: Recall@1 falls by 1.0000, p = 0.0078 after Holm's correction",)
    assert made.notes == ()


def test_too_few_cases_are_told_and_nothing_is_called_better() -> None:
    made = run(3)
    assert made.findings == ()
    assert made.notes == (
        "3 cases do not tell these methods apart at the level 0.05: at least 6 are needed to show any "
        "difference, however large.",
        "None is shown to be better or worse: look into single cases (hybridrank diagnose), or write more of "
        "them.",
    )
    for shown in (repr(made), made._repr_html_(), json.dumps(made.to_dict())):
        assert not any(word in shown.lower() for word in ("winner", "best ", "wins over", "significant"))


def test_what_is_not_clear_beside_what_is_clear_is_told_too() -> None:
    variants = {"no-name": {"retrievers.name": False}, "no-definition": {"rerankers.definition": False}}
    made = run(10, variants=variants)
    assert [one.method for one in made.clear] == ["no-name"]
    # Two tests: 10 cases against alpha / 2, so 7 of them must differ: 0.7.
    assert made.notes == (
        "The other difference is not told from chance by 10 cases: the smallest they could have shown is "
        "0.700, if 7 of them went from 0 to 1 and none the other way.",
    )


def test_under_a_policy_nothing_is_said_about_differences() -> None:
    made = run(8, policy="no_selection")
    assert (made.comparison.differences, made.clear, made.findings) == ((), (), ())
    assert "The contract's policy is 'no_selection'" in made.notes[0]
    shown = [repr(made), made._repr_html_(), json.dumps(made.to_dict())]
    for text in shown:
        assert "Holm" not in text
        assert "p_holm" not in text
        assert "interval" not in text
    assert made.to_dict()["selection_policy"] == "no_selection"


def test_what_is_told_is_json_and_equal_runs_tell_the_same() -> None:
    one, two = (json.dumps(run(4).to_dict(timings=False)) for _ in range(2))
    assert one == two
    assert json.loads(one)["changes"] == {"no-name": {"retrievers.name": False}}


def test_the_table_names_changes_and_values() -> None:
    lines = [" ".join(line.split()) for line in repr(run(8)).splitlines()]
    assert lines[0] == "Comparison of 2 methods: 8 cases scored, 0 gaps"
    assert "no-name retrievers.name left out" in lines
    assert any(line.startswith("baseline 1.0000 ") for line in lines)
    assert "no-name Recall@1 -1.0000 -1.0000 to -1.0000 0.0078 0.0078 0/0/8" in lines
    assert lines[-1] == "no-name: Recall@1 falls by 1.0000, p = 0.0078 after Holm's correction"


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        ({}, "there is nothing to compare with"),
        ({"baseline": {"recall": 3}}, "a variant is named 'baseline'"),
        (
            {"x": {"retrievers.nam": False}},
            r"ablations\.x\.\"?retrievers.nam.*did you mean 'retrievers.name'",
        ),
        ({"x": {"rerankers.definition.scope": "odd"}}, "'odd'"),
        ({"x": {"recall": 0}}, "recall"),
    ],
)
def test_variants_that_do_not_fit_are_refused_before_anything_runs(
    variants: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        run(3, variants=variants)


def test_a_variant_that_measures_cannot_look_into_is_refused_by_name() -> None:
    with pytest.raises(InvalidValueError, match="nDCG@10 looks at 10 hits, but recall=5") as caught:
        ablate(CONFIG, DOCUMENTS, cases(3), variants={"narrow": {"recall": 5}})
    assert caught.value.__notes__ == ["in variant 'narrow'"]


def test_targets_that_a_variant_does_not_have_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 2\n", encoding="utf-8")
    case = Case("q", "f", ["a.py:1-2"])
    variants = {"lines": {"chunker": {"use": "lines", "max_chars": 1000}}}
    config = {"retrievers": {"bm25": {"use": "bm25"}}}
    with pytest.raises(InvalidValueError, match=r"chunks move: write .*a\.py.*lines") as caught:
        ablate(config, tmp_path, [case], variants=variants)
    assert caught.value.__notes__ == ["in variant 'lines'"]
    by_lines = Case("q", "f", [Target(path="a.py", start_line=1, end_line=2)])
    made = ablate(config, tmp_path, [by_lines], variants=variants)
    assert [len(documents) for documents in made.documents.values()] == [2, 1]
    with pytest.raises(ConfigError, match="cut files in different ways, but documents were given"):
        ablate(config, DOCUMENTS, cases(3), variants=variants)


# EV-17
def test_a_variant_whose_every_search_fails_is_an_error_that_names_it() -> None:
    pipelines = {
        "baseline": Pipeline({"leg": Table(["a"])}).index([doc("a")]),
        "down": Pipeline({"leg": Failing()}).index([doc("a")]),
    }
    variants = {name: Variant() for name in pipelines}
    with pytest.raises(HybridRankError, match="the searches of all 1 cases to score failed") as caught:
        run_variants(pipelines, variants, [Case("q", "q", ["a"])], measures=[Recall(k=1)])
    assert caught.value.__notes__ == ["in variant 'down'"]


# Taking parts out


def test_without_takes_the_weight_too() -> None:
    config = {**CONFIG, "fuser": {"use": "rrf", "weights": {"name": 2.0}}, "normalizer": {"use": "x"}}
    assert without(config, "name") == {"retrievers.name": False}
    assert without(config, "text") == {"retrievers.text": False}
    assert without(config, "definition") == {"rerankers.definition": False}
    assert without(config, "normalizer") == {"normalizer": False}
    with pytest.raises(UnknownNameError, match="unknown part to leave out 'nam'; did you mean 'name'"):
        without(config, "nam")
    with pytest.raises(UnknownNameError, match="'validator'"):
        without(config, "validator")
    made = build_variants(
        {key: value for key, value in config.items() if key != "normalizer"},
        {"x": Variant(without(config, "name"))},
    )
    assert list(made["x"].retrievers) == ["text"]
    assert made["x"].fuser == RRF()


def test_one_leg_that_is_left_has_no_candidates_to_compare() -> None:
    config = {
        "retrievers": {
            "text": {"use": "bm25", "complete": True},
            "name": {"use": "bm25", "fields": ["name"], "complete": True},
        },
        "fuser": {"use": "rrf", "same_candidates": True},
    }
    patch = without(config, "name")
    assert patch == {"retrievers.name": False, "fuser.same_candidates": False}
    made = ablate(config, DOCUMENTS, cases(2), variants={"x": patch}, measures="Recall@10")
    assert made.comparison.evaluations["x"].means == {"Recall@10": 1.0}


# Sharing


def test_parts_that_differ_in_nothing_are_one_part_and_others_are_not() -> None:
    variants = {
        "baseline": Variant(),
        "same": Variant({"fuser": {"use": "rrf"}}),
        "other": Variant({"retrievers.text.k1": 2.0}),
    }
    made = build_variants(CONFIG, variants)
    texts = [pipeline.retrievers["text"] for pipeline in made.values()]
    names = [pipeline.retrievers["name"] for pipeline in made.values()]
    assert texts[0] is texts[1]
    assert texts[0] is not texts[2]
    assert names[0] is names[1] is names[2]
    assert names[0] is not texts[0]


@dataclass
class Counting:
    """A leg that counts how often any of its kind was indexed, and what it is asked."""

    indexed: list[int] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    documents: tuple[Document, ...] = ()

    def index(self, documents: Sequence[Document], /) -> Counting:
        self.indexed.append(len(documents))
        return Counting(self.indexed, self.asked, tuple(documents))

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        self.asked.append(query.text)
        return Ranking.from_order(query, self.documents[:k])


def test_a_leg_is_indexed_and_asked_once_over_all_variants() -> None:
    one, two = Counting(), Counting()
    backwards = Reorder()
    pipelines = {
        "baseline": Pipeline({"one": one, "two": two}, rerankers={"back": backwards}),
        "no-two": Pipeline({"one": one}, rerankers={"back": backwards}),
        "no-back": Pipeline({"one": one, "two": two}),
    }
    variants = {name: Variant() for name in pipelines}
    indexed = index_variants(pipelines, [doc(id) for id in "abc"])
    assert (one.indexed, two.indexed) == ([3], [3])
    asked = [Case("q1", "first", ["c"]), Case("q2", "second", ["a"])]
    shared = run_variants(indexed, variants, asked, measures=[Recall(k=1)])
    assert (one.asked, two.asked) == (["first", "second"], ["first", "second"])
    # Another list came to the reranker where a leg is missing.
    assert len(backwards.seen) == 4
    assert {name: made.values("Recall@1") for name, made in shared.items()} == {
        "baseline": (1.0, 0.0),
        "no-two": (1.0, 0.0),
        "no-back": (0.0, 1.0),
    }
    whole = run_variants(indexed, variants, asked, measures=[Recall(k=1)], share=False)
    assert len(one.asked) == 2 + 6
    for name, made in whole.items():
        assert made.to_dict(timings=False) == shared[name].to_dict(timings=False)


def test_a_failure_is_not_remembered() -> None:
    @dataclass
    class Moody:
        calls: int = 0

        def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
            self.calls += 1
            if self.calls == 1:
                raise TimeoutError("slow")
            return Ranking.from_order(query, [doc("a")])

    leg = Moody()
    shared = Memory()
    pipeline = Pipeline({"leg": leg}).index([doc("a")])
    with pytest.raises(TimeoutError):
        Remembering(pipeline, shared).search(Query("q"), k=1)
    for _ in range(2):
        assert Remembering(pipeline, shared).search(Query("q"), k=1).ids == ("a",)
    assert leg.calls == 2


def test_another_width_or_filter_is_another_question() -> None:
    leg = Table(["a", "b"])
    searcher = Remembering(Pipeline({"leg": leg}).index([doc("a"), doc("b", kind="x")]), Memory())
    for options in ({"recall": 1}, {"recall": 2}, {"recall": 2, "where": Filter(path="x")}, {"recall": 1}):
        searcher.search(Query("q"), k=1, **options)
    assert [k for _, k in leg.calls] == [1, 2, 2]


def test_remembered_answers_count_with_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(memory, "perf_counter", lambda: now[0])

    @dataclass
    class Slow:
        seconds: float

        def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
            now[0] += self.seconds
            return Ranking.from_order(query, [doc("a")])

        def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
            now[0] += self.seconds
            return ranking

    pipeline = Pipeline({"two": Slow(2), "three": Slow(3)}, rerankers={"five": Slow(5)}).index([doc("a")])
    shared = Memory()
    first, second = Remembering(pipeline, shared), Remembering(pipeline, shared)
    alone = Remembering(pipeline.without("three", "five"), shared)
    results = [searcher.search(Query("q", id="q"), k=1) for searcher in (first, second, alone)]
    # Two and three seconds one after the other, which a search runs side by side: 2 less.
    assert first.beyond == {"q": -2.0}
    # Nothing was asked: the slower leg and the reranker are added.
    assert second.beyond == {"q": 3.0 + 5.0}
    assert alone.beyond == {"q": 2.0}
    for result in results[:2]:
        seconds = {stage.name: stage.seconds for stage in result.trace.stages}
        assert (seconds["two"], seconds["three"], seconds["five"]) == (2, 3, 5)
