from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from typing import Any

import pytest

from hybridrank import (
    BM25,
    RRF,
    ConfigError,
    ContractError,
    DefinitionFirst,
    Document,
    DuplicateIdError,
    Filter,
    Hit,
    InvalidValueError,
    Normalized,
    Pipeline,
    Query,
    Ranking,
    UnknownNameError,
    Verdict,
)
from stubs import Accept, Contains, Failing, Only, Reorder, Table, doc, ranking

LEGS = {"a": Table(["1", "2", "3"]), "b": Table(["3", "4"])}


def pipeline(**parts: Any) -> Pipeline:
    return Pipeline(**{"retrievers": {"a": Table(["1", "2", "3"]), "b": Table(["3", "4"])}, **parts})


# Composition


def test_no_retriever_is_refused_at_construction() -> None:  # FU-10
    with pytest.raises(ConfigError, match="at least one retriever"):
        Pipeline([])
    with pytest.raises(ConfigError, match="at least one retriever"):
        Pipeline({})


def test_a_plain_list_gets_registry_names() -> None:
    made = pipeline(rerankers=[DefinitionFirst()])
    assert list(made.rerankers) == ["definition"]


def test_two_parts_of_one_registry_name_need_names() -> None:
    with pytest.raises(ConfigError, match="two rerankers are named 'definition'"):
        pipeline(rerankers=[DefinitionFirst(), DefinitionFirst()])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"rerankers": {"a": Reorder()}}, r"\['a'\]"),
        ({"retrievers": {"fusion": Table([])}}, r"\['fusion'\]"),
        ({"rerankers": {"validator": Reorder()}}, r"\['validator'\]"),
        ({"retrievers": {"": Table([])}}, "retriever name"),
        ({"retrievers": {"a": Reorder()}}, r"no method retrieve\(\)"),
        ({"retrievers": {"a": Table}}, "give an instance"),
        ({"fuser": Table([])}, r"no method fuse\(\)"),
        ({"validator": Table([])}, r"no method validate\(\)"),
        ({"recall": 0}, "recall is 0"),
        ({"recall": True}, "recall is True"),
        ({"validate_depth": -1}, "validate_depth is -1"),
        ({"on_error": "ignore"}, "on_error is 'ignore'"),
    ],
)
def test_bad_parts_are_refused_at_construction(parts: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigError, InvalidValueError), match=message):
        pipeline(**parts)


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises(TypeError):
        pipeline(retriever={})
    with pytest.raises(TypeError):
        pipeline().with_(reranker={})  # type: ignore[call-arg]


def test_a_weight_for_no_leg_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bm25'"):
        Pipeline({"bm25": Table([])}, RRF(weights={"bm52": 2.0}))


# Searching


def test_fused_order_and_components() -> None:
    result = pipeline().search("q")
    assert result.ids == ("3", "1", "2", "4")  # 1/63 + 1/61, then 1/61, then 1/62 by tie order of ids
    first = result[0]
    assert {name: c.rank for name, c in first.components.items()} == {"a": 3, "b": 1, "fusion": 1}
    assert first.score == pytest.approx(1 / 63 + 1 / 61)
    assert first.components["fusion"].score == first.score


def test_k_above_recall_is_an_error_naming_both() -> None:
    with pytest.raises(InvalidValueError, match="k=6 is above recall=5"):
        pipeline().search("q", k=6, recall=5)


@pytest.mark.parametrize("k", [-1, True, 2.0, "3", None])
def test_a_bad_k_is_refused(k: Any) -> None:
    with pytest.raises(InvalidValueError, match="k is"):
        pipeline().search("q", k=k)


def test_k_zero_and_k_beyond_what_exists() -> None:
    assert pipeline().search("q", k=0).hits == ()
    assert len(pipeline().search("q", k=80)) == 4


def test_recall_is_given_to_the_legs() -> None:
    made = pipeline()
    made.search("q", recall=7)
    leg = made.retrievers["a"]
    assert isinstance(leg, Table)
    assert leg.calls == [("q", 7)]


def test_more_hits_keep_the_first_ones() -> None:  # FU-17
    made = Pipeline(
        {"a": Table([str(i) for i in range(30)]), "b": Table([str(i) for i in range(40, 10, -1)])},
        rerankers={"half": Reorder(depth=10)},
    )
    full = made.search("q", k=30).ids
    assert all(made.search("q", k=k).ids == full[:k] for k in range(30))


def test_per_call_weights_merge_over_the_fusers() -> None:
    made = pipeline(fuser=RRF(weights={"a": 1.0, "b": 3.0}))
    assert made.search("q").ids[:2] == ("3", "4")
    assert made.search("q", weights={"a": 9.0}).ids[:2] == ("3", "1")
    assert made.search("q", weights={"b": 1.0}).hits == pipeline().search("q").hits


def test_a_leg_of_weight_zero_is_not_run() -> None:
    made = pipeline()
    result = made.search("q", weights={"b": 0})
    leg = made.retrievers["b"]
    assert isinstance(leg, Table)
    assert leg.calls == []
    assert result.ids == ("1", "2", "3")
    assert [stage.name for stage in result.trace.stages] == ["normalizer", "a", "fusion"]
    assert pipeline(fuser=RRF(weights={"b": 0})).search("q").hits == result.hits


@pytest.mark.parametrize(
    "weights", [{"a": 0, "b": 0}, {"a": -1.0}, {"a": math.nan}, {"b": math.inf}, {"c": 1.0}, {"a": True}]
)
def test_bad_weights_are_refused(weights: dict[str, float]) -> None:  # FU-09
    with pytest.raises((InvalidValueError, UnknownNameError)):
        pipeline().search("q", weights=weights)


def test_weights_for_a_fuser_that_takes_none_are_refused() -> None:
    with pytest.raises(ConfigError, match="takes none"):
        pipeline(fuser=Only()).search("q", weights={"a": 2.0})


def test_filter_is_passed_to_the_legs() -> None:
    documents = [doc("1", path="src/a.py", text="x"), doc("2", path="tests/b.py", text="x")]
    made = Pipeline({"a": Contains()}).index(documents)
    assert made.search("x", where=Filter(path="tests/")).ids == ("2",)
    with pytest.raises(InvalidValueError, match="give a Filter"):
        made.search("x", where={"path": "tests/"})  # type: ignore[arg-type]


# Rerankers


def test_a_reranker_reorders_and_scores_stay_in_components() -> None:
    result = pipeline(rerankers={"back": Reorder()}).search("q")
    assert result.ids == ("4", "2", "1", "3")
    assert result[0].components["back"].rank == 1
    assert result[0].components["fusion"].rank == 4


def test_depth_cuts_what_a_reranker_sees_and_the_rest_keeps_its_order() -> None:
    back = Reorder(depth=2)
    result = pipeline(rerankers={"back": back}).search("q")
    assert back.seen == [("3", "1")]
    assert result.ids == ("1", "3", "2", "4")
    assert [hit.score for hit in result] == [1, 1 / 2, 1 / 3, 1 / 4]
    assert "back" not in result[2].components


def test_rerank_depth_overrides_all_and_zero_turns_off() -> None:
    back, also = Reorder(depth=2), Reorder()
    made = pipeline(rerankers={"back": back, "also": also})
    assert made.search("q", rerank_depth=0).ids == ("3", "1", "2", "4")
    assert back.seen == also.seen == []
    made.search("q", rerank_depth=3)
    assert len(back.seen[0]) == len(also.seen[0]) == 3
    with pytest.raises(InvalidValueError, match="rerank_depth is -1"):
        made.search("q", rerank_depth=-1)


def test_a_reranker_may_leave_out_hits() -> None:
    result = pipeline(rerankers={"one": Reorder(order=lambda hits: hits[:1])}).search("q")
    assert result.ids == ("3",)
    assert result.trace["one"].ids_in == ("3", "1", "2", "4")


def test_components_survive_a_reranker_that_builds_new_hits() -> None:
    plain = Reorder(order=lambda hits: [Hit(hit.document, 0.0) for hit in hits])
    result = pipeline(rerankers={"plain": plain}).search("q")
    assert set(result[0].components) == {"a", "b", "fusion", "plain"}


# Contracts


class Bad:
    """A part that answers whatever it was told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Any:
        return self.answer

    def rerank(self, ranking: Ranking, /, *, k: int) -> Any:
        return self.answer

    def validate(self, ranking: Ranking, /) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("parts", "stage", "ids"),
    [
        ({"retrievers": {"a": Bad(ranking(*"abcdef"))}, "recall": 5}, "a", ("f",)),
        ({"retrievers": {"a": Bad([])}}, "a", ()),
        ({"retrievers": {"a": Bad(None)}}, "a", ()),
        ({"rerankers": {"r": Bad(ranking("1", "9"))}}, "r", ("9",)),
        ({"rerankers": {"r": Bad(["1"])}}, "r", ()),
        ({"validator": Bad([Verdict("9", "yes", True)])}, "validator", ("3", "1", "2", "4")),
        ({"validator": Bad([])}, "validator", ("3", "1", "2", "4")),
    ],
)
def test_a_breach_names_the_stage_and_the_ids(parts: dict[str, Any], stage: str, ids: Sequence[str]) -> None:
    for policy in ("raise", "degrade"):
        with pytest.raises(ContractError) as caught:
            pipeline(**parts, on_error=policy).search("q")
        assert (caught.value.stage, caught.value.ids) == (stage, tuple(ids))
        assert stage in str(caught.value)


def test_a_leg_that_returns_what_was_never_indexed_or_is_filtered_out() -> None:
    made = Pipeline({"a": Contains(), "b": Bad(ranking("zz"))}).index([doc("1", path="src/x.py")])
    with pytest.raises(ContractError, match="never indexed"):
        made.search("1")
    made = Pipeline({"b": Bad(ranking("1"))}).index([doc("1", path="src/x.py")])
    with pytest.raises(ContractError, match="filter excludes"):
        made.search("1", where=Filter(path="tests/"))


# Failures


def test_a_failing_part_raises_its_own_error_with_the_stage_noted() -> None:
    for parts in ({"retrievers": {"a": Table(["1"]), "bad": Failing()}}, {"rerankers": {"bad": Failing()}}):
        with pytest.raises(RuntimeError, match="the server is down") as caught:
            pipeline(**parts).search("q")
        assert "'bad'" in caught.value.__notes__[0]


def test_degrade_leaves_a_leg_out_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    made = pipeline(retrievers={"a": Table(["1", "2"]), "bad": Failing()}, on_error="degrade")
    with caplog.at_level(logging.WARNING):
        result = made.search("q")
    assert result.ids == ("1", "2")
    (event,) = result.events
    assert (event.code, event.stage, event.level) == ("stage-failed", "bad", "warning")
    assert "the server is down" in event.message
    assert "the server is down" in caplog.text


def test_degrade_leaves_a_reranker_and_a_validator_out() -> None:
    made = pipeline(rerankers={"bad": Failing()}, validator=Failing(), on_error="degrade")
    result = made.search("q")
    assert result.ids == ("3", "1", "2", "4")
    assert [event.stage for event in result.events] == ["bad", "validator"]


def test_degrade_with_no_leg_left_raises() -> None:
    with pytest.raises(RuntimeError, match="down"):
        pipeline(retrievers={"bad": Failing()}, on_error="degrade").search("q")


# Validator


def test_the_validator_judges_in_rank_order_until_k_are_accepted() -> None:
    accept = Accept(frozenset("124"))
    result = pipeline(validator=accept, validate_depth=10).search("q", k=2)
    assert result.ids == ("1", "2")
    assert accept.seen == [("3", "1"), ("2",)]
    assert [(v.id, v.accepted) for v in result.verdicts] == [("3", False), ("1", True), ("2", True)]


def test_the_validator_judges_k_by_default() -> None:
    accept = Accept(frozenset("4"))
    result = pipeline(validator=accept).search("q", k=2)
    assert result.ids == ()
    assert accept.seen == [("3", "1")]
    assert [event.code for event in result.events] == ["judged", "all-rejected"]  # VA-05


# Queries


@pytest.mark.parametrize("text", ["", "   ", "+-*/ ()", "\n", "。。", "\x00"])
def test_an_empty_query_gives_an_empty_result_and_an_event(text: str) -> None:
    result = pipeline().search(text)
    assert result.hits == ()
    assert [event.code for event in result.events] == ["empty-query"]


def test_a_query_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="give a str"):
        pipeline().search(None)  # type: ignore[arg-type]


def test_dropped_words_show_in_the_trace_and_legs_get_the_rest() -> None:
    made = pipeline(normalizer=lambda text: Normalized(text.replace("where is ", ""), ("where", "is")))
    result = made.search(Query("where is x", id="q1"))
    leg = made.retrievers["a"]
    assert isinstance(leg, Table)
    assert leg.calls[0][0] == "x"
    assert result.query == Query("x", id="q1", original="where is x")
    (event,) = result.events
    assert (event.code, event.stage, event.data["words"]) == ("dropped-words", "normalizer", ["where", "is"])
    assert made.with_(normalizer=None).search("where is x").events == ()


# Documents


def test_index_add_remove_make_new_pipelines() -> None:
    empty = Pipeline({"a": Contains()})
    one = empty.index([doc("1")])
    two = one.add([doc("12")])
    back = two.remove(["1"])
    assert empty.documents is None
    assert [p.search("1").ids for p in (one, two, back)] == [("1",), ("1", "12"), ("12",)]


def test_documents_are_sorted_once_by_path_line_id() -> None:
    made = Pipeline({"a": Contains()}).index([doc("z", path="b"), doc("y", path="a"), doc("x", path="b")])
    assert made.documents is not None
    assert [d.id for d in made.documents] == ["y", "x", "z"]


def test_duplicate_ids_are_refused() -> None:
    made = Pipeline({"a": Contains()})
    with pytest.raises(DuplicateIdError, match="'1'"):
        made.index([doc("1"), doc("1", text="other")])
    with pytest.raises(DuplicateIdError, match="'1'"):
        made.index([doc("1")]).add([doc("1")])


def test_remove_of_an_unknown_id_and_of_a_bare_string_are_refused() -> None:
    made = Pipeline({"a": Contains()}).index([doc("10")])
    with pytest.raises(InvalidValueError, match="'2'"):
        made.remove(["2"])
    with pytest.raises(InvalidValueError, match=r"\['10'\]"):
        made.remove("10")


def test_an_empty_corpus_works() -> None:
    assert Pipeline({"a": Contains()}).index([]).search("x").hits == ()


def test_a_part_swapped_in_is_indexed_and_the_others_are_kept() -> None:
    made = Pipeline({"a": Contains(), "b": Contains(option=1)}).index([doc("1")])
    kept = made.retrievers["a"]
    swapped = made.with_(retrievers={"a": kept, "c": Contains(option=2)})
    assert swapped.retrievers["a"] is kept
    assert swapped.search("1").ids == ("1",)
    assert swapped.retrievers["c"] == Contains(tuple(made.documents or ()), 2)
    assert made.with_(recall=7).retrievers["a"] is kept


def test_every_indexable_part_gets_the_documents() -> None:
    class Rare(Reorder):
        documents: tuple[Document, ...] = ()

        def index(self, documents: Sequence[Document], /) -> Rare:
            made = Rare()
            made.documents = tuple(documents)
            return made

    made = Pipeline({"a": Contains()}, rerankers={"rare": Rare()}).index([doc("1")])
    rare = made.rerankers["rare"]
    assert isinstance(rare, Rare)
    assert [d.id for d in rare.documents] == ["1"]


def test_without_drops_the_leg_and_its_weight() -> None:
    made = pipeline(fuser=RRF(weights={"a": 2.0, "b": 3.0}), rerankers={"back": Reorder()})
    bare = made.without("b", "back")
    assert isinstance(bare.fuser, RRF)
    assert dict(bare.fuser.weights) == {"a": 2.0}
    assert bare.search("q").ids == ("1", "2", "3")
    assert list(made.retrievers) == ["a", "b"]
    with pytest.raises(UnknownNameError, match="did you mean 'back'"):
        made.without("bakc")


# Trace and explanation


def test_the_trace_holds_every_stage_and_serialises() -> None:
    made = pipeline(rerankers={"back": Reorder()}, validator=Accept(frozenset("12")))
    trace = made.search("q", k=4).trace
    assert [(s.name, s.kind) for s in trace.stages] == [
        ("normalizer", "normalizer"),
        ("a", "retriever"),
        ("b", "retriever"),
        ("fusion", "fuser"),
        ("back", "reranker"),
        ("validator", "validator"),
    ]
    assert trace["a"].ids_out == ("1", "2", "3")
    assert set(trace["fusion"].ids_in) == set("1234")
    assert trace["back"].ids_in == ("3", "1", "2", "4")
    assert trace["back"].ids_out == ("4", "2", "1", "3")
    assert trace["validator"].ids_out == ("2", "1")
    assert all(len(s.scores) == len(s.ids_out) and s.seconds >= 0 for s in trace.stages)
    told = json.loads(json.dumps(trace.to_dict()))
    assert told["stages"][3]["ids_out"] == ["3", "1", "2", "4"]
    with pytest.raises(KeyError, match="no stage 'dense'"):
        trace["dense"]


def test_explanations_come_from_the_parts_that_can_explain() -> None:
    documents = [doc("1", name="load", kind="function", text="load"), doc("2", text="load load")]
    made = Pipeline({"a": Contains()}, rerankers=[DefinitionFirst()]).index(documents)
    result = made.search("load", explain=True)
    told = result.explanations["1"]
    assert [round(c.value, 6) for c in told["fusion"]] == [round(1 / 61, 6)]
    assert sum(c.value for c in told["definition"]) == pytest.approx(0.8)
    assert made.search("load").explanations == {}


# The rest


def test_repr_and_html_show_the_parts() -> None:
    made = pipeline(rerankers={"back": Reorder()})
    assert repr(made).splitlines()[0] == "Pipeline, not indexed, recall 80"
    assert "back" in repr(made)
    assert "back" in made._repr_html_()
    assert "<table" in made.search("q")._repr_html_()


def test_close_reaches_the_parts_that_can_be_closed() -> None:
    class Open(Table):
        closed = 0

        def close(self) -> None:
            type(self).closed += 1

    with pipeline(retrievers={"a": Open(["1"]), "b": Table([])}) as made:
        made.search("q")
    assert Open.closed == 1


def test_fingerprint_follows_what_changes_a_ranking() -> None:
    made = Pipeline({"a": Contains()}, RRF()).index([doc("1")])
    assert made.fingerprint() == made.with_().fingerprint()
    assert made.fingerprint() != made.with_(fuser=RRF(rrf_k=10)).fingerprint()
    assert made.fingerprint() != made.with_(recall=10).fingerprint()


# What must not slip through


def test_a_failing_validator_lets_no_rejected_hit_back_in() -> None:
    class Tired(Accept):
        def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
            if self.seen:
                raise RuntimeError("the model is gone")
            return super().validate(ranking)

    made = pipeline(validator=Tired(frozenset("2")), validate_depth=4, on_error="degrade")
    result = made.search("q", k=2)
    assert result.ids == ("2", "4")
    assert [event.code for event in result.events] == ["stage-failed"]


@pytest.mark.parametrize("answer", [None, 3, [1, 2, 3, 4], "yes"])
def test_a_validator_that_returns_no_verdicts_is_a_breach(answer: Any) -> None:
    with pytest.raises(ContractError, match="not a sequence of Verdict"):
        pipeline(validator=Bad(answer)).search("q")


def test_a_bare_string_is_no_batch_and_no_corpus() -> None:
    made = Pipeline({"a": Contains()})
    for wrong in ("abc", Query("abc"), 3):
        with pytest.raises(InvalidValueError, match="several queries"):
            made.search_batch(wrong)  # type: ignore[arg-type]
    for documents in ("abc", doc("1"), [1]):
        with pytest.raises(InvalidValueError, match="documents"):
            made.index(documents)  # type: ignore[arg-type]


def test_a_part_that_loses_itself_when_indexed_is_a_breach() -> None:
    class Lost(Contains):
        def index(self, documents: Sequence[Document], /) -> Any:
            return None

    with pytest.raises(ContractError, match="'a' must return its indexed self"):
        Pipeline({"a": Lost()}).index([doc("1")])


def test_a_reranker_with_a_negative_depth_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="depth of reranker 'r' is -1"):
        pipeline(rerankers={"r": Reorder(depth=-1)}).search("q")


def test_results_and_pipelines_cannot_be_changed() -> None:
    made = Pipeline({"a": Contains()}, rerankers=[DefinitionFirst()]).index([doc("1", name="1")])
    result = made.search("1", explain=True)
    mappings: list[Any] = [result.explanations, result.explanations["1"], made.retrievers, made.rerankers]
    for mapping in mappings:
        with pytest.raises(TypeError):
            mapping.clear()
    assert isinstance(result.trace["a"].ids_out, tuple)


def test_fingerprint_follows_what_stands_beside_the_text() -> None:
    named = Pipeline({"a": Contains()}).index([doc("1", name="load", text="x")])
    other = Pipeline({"a": Contains()}).index([doc("1", name="save", text="x")])
    assert named.fingerprint() != other.fingerprint()
    assert named.fingerprint() == named.with_().fingerprint()


def test_a_repr_cannot_steer_a_terminal() -> None:
    hostile = doc("1", path="a\x1b]0;pwn\x07\nb.py", text="1")
    shown = repr(Pipeline({"a": Contains()}).index([hostile]).search("1"))
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 2


def test_every_candidate_is_explained_where_that_is_asked_for() -> None:
    documents = [doc("word"), doc("word other"), doc("other")]
    pipeline = Pipeline({"bm25": BM25(), "table": Table(["other", "word other"])}).index(documents)
    plain = pipeline.search("word", k=1)
    assert (plain.trace.documents, plain.trace.tokens, plain.explanations) == ({}, {}, {})
    told = pipeline.search("word", k=1, explain="all")
    assert told.hits == plain.hits
    assert set(told.trace.documents) == set(told.explanations) == {"word", "word other", "other"}
    assert told.trace.documents["word"].text == "word"
    assert told.trace.tokens == {"bm25": ("word",)}
    assert set(told.explanations["word"]) == {"bm25", "fusion"}
    assert set(told.explanations["other"]) == {"fusion"}
    for hit in pipeline.search("word", k=3, explain=True):
        assert told.explanations[hit.id] == pipeline.search("word", k=3, explain=True).explanations[hit.id]
    with pytest.raises(InvalidValueError, match="explain is 'hits'"):
        pipeline.search("word", explain="hits")  # type: ignore[arg-type]


def test_a_reranker_that_was_left_out_explains_nothing() -> None:
    pipeline = Pipeline({"table": Table(["a", "b"])}, rerankers={"broken": Failing()}, on_error="degrade")
    result = pipeline.index([doc("a"), doc("b")]).search("q", k=2, explain="all")
    assert all("broken" not in stages for stages in result.explanations.values())
