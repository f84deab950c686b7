from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from hybridrank import (
    ChatMessage,
    ChatRequest,
    Component,
    Document,
    DuplicateIdError,
    Event,
    Filter,
    Hit,
    InvalidValueError,
    Query,
    Ranking,
    Result,
    SourceFile,
    Stage,
    Trace,
    Verdict,
)
from hybridrank.types import FrozenDict, check_k, location, tie_key

QUERY = Query("where are redirects followed")


def document(id: str, path: str = "", start: int = 0, **rest: Any) -> Document:
    return Document(id, f"text of {id}", path=path, start_line=start, end_line=start, **rest)


# Documents and queries


def test_a_document_needs_id_and_text_only() -> None:
    plain = Document("a", "")
    assert (plain.path, plain.start_line, plain.end_line, plain.kind, plain.metadata) == ("", 0, 0, "", {})
    assert hash(plain) == hash(Document("a", "", metadata={"unhashable": []}))
    assert plain != Document("a", "", metadata={"x": 1})


@pytest.mark.parametrize("text", [None, b"bytes", 3])
def test_texts_are_strings(text: Any) -> None:
    with pytest.raises(InvalidValueError, match=f"text of document 'a' is {type(text).__name__}; give a str"):
        Document("a", text)
    with pytest.raises(InvalidValueError, match=f"query text is {type(text).__name__}; give a str"):
        Query(text)


def test_a_query_keeps_what_was_typed() -> None:
    assert Query("redirects").typed == "redirects"
    assert Query("redirects", original="where are redirects?").typed == "where are redirects?"


def test_location_is_the_lines_or_the_id() -> None:
    assert location(Document("x", "", path="a.py", start_line=3, end_line=9)) == "a.py:3-9"
    assert location(Document("record 7", "")) == "record 7"


def test_ties_are_in_the_order_of_path_line_and_id() -> None:
    expected = [
        document("z"),
        document("b", "a.py", 2),
        document("c", "a.py", 2),
        # By number: line 10 comes after line 9.
        document("a", "a.py", 9),
        document("a2", "a.py", 10),
        document("0", "b.py", 1),
    ]
    mixed = [expected[place] for place in (3, 0, 5, 1, 4, 2)]
    assert sorted(mixed, key=tie_key) == expected
    ranking = Ranking.from_scores(QUERY, [(d, 0.5) for d in mixed])
    assert ranking.ids == ("z", "b", "c", "a", "a2", "0")


def test_a_source_file_is_a_value() -> None:
    assert SourceFile("a.py", "x = 1", "python") == SourceFile("a.py", "x = 1", language="python")


# Filters


@pytest.mark.parametrize(
    ("globs", "passing"),
    [
        ("*.py", {"a.py", "src/b.py", "src/sub/test_c.py"}),
        ("src/", {"src/b.py", "src/sub/test_c.py", "src/sub/d.go"}),
        ("src/*.py", {"src/b.py"}),
        ("src/**/test_*.py", {"src/sub/test_c.py"}),
        ("/a.py", {"a.py"}),
        (["*.go", "a.py"], {"src/sub/d.go", "a.py"}),
        (["*.py", "!test_*.py"], {"a.py", "src/b.py"}),
        ("連線*", {"docs/連線.md"}),
        ("nothing", set()),
        ((), {"a.py", "src/b.py", "src/sub/test_c.py", "src/sub/d.go", "docs/連線.md", ""}),
    ],
)
def test_path_globs(globs: str | list[str], passing: set[str]) -> None:
    paths = ["a.py", "src/b.py", "src/sub/test_c.py", "src/sub/d.go", "docs/連線.md", ""]
    corpus = [document(str(place), path) for place, path in enumerate(paths)]
    selected = Filter(path=globs).select(corpus)
    assert {path for path, passes in zip(paths, selected, strict=True) if passes} == passing


def test_conditions_on_fields_and_metadata() -> None:
    python = document("p", language="python", kind="function", metadata={"team": "net", "year": None})
    assert Filter(language="python", kind=["class", "function"], metadata={"team": "net"}).matches(python)
    assert not Filter(language="python", kind="class").matches(python)
    assert not Filter(language="pyth").matches(python)
    assert Filter(metadata={"year": None}).matches(python)
    # A key that is not there has no value, not even None.
    assert not Filter(metadata={"month": None}).matches(python)
    assert not Filter()
    assert Filter(kind="x")


# Rankings


def test_from_scores_sorts_by_falling_score() -> None:
    ranking = Ranking.from_scores(QUERY, [(document("a"), 1), (document("b"), 3.5), (document("c"), -2)], k=2)
    assert [(hit.id, hit.score) for hit in ranking] == [("b", 3.5), ("a", 1.0)]
    assert ranking[0].document == document("b")


def test_from_order_scores_by_reciprocal_rank() -> None:
    ranking = Ranking.from_order(QUERY, [document("b"), Hit(document("a"), 9.0)], source="llm")
    assert [(hit.id, hit.score) for hit in ranking] == [("b", 1.0), ("a", 0.5)]
    assert ranking.source == "llm"


def test_components_stay_with_their_hit() -> None:
    hit = Hit(document("a"), 2.0, {"bm25": Component(1, 7.5)})
    for ranking in (Ranking.from_scores(QUERY, [hit]), Ranking.from_order(QUERY, [hit])):
        assert ranking[0].components == {"bm25": Component(1, 7.5)}


def test_what_is_wrong_with_a_ranking_is_said() -> None:
    a, b = document("a"), document("b")
    with pytest.raises(InvalidValueError, match=r"score of 'b' in ranking 'dense' is nan"):
        Ranking(QUERY, (Hit(a, 1.0), Hit(b, float("nan"))), "dense")
    with pytest.raises(InvalidValueError, match=r"'b' in ranking 'dense' rises from 1\.0 to 2\.0; sort"):
        Ranking(QUERY, (Hit(a, 1.0), Hit(b, 2.0)), "dense")
    with pytest.raises(DuplicateIdError, match=r"id 'a' stands twice in ranking 'dense'"):
        Ranking(QUERY, (Hit(a, 1.0), Hit(a, 1.0)), "dense")


def test_hits_may_come_from_any_iterable() -> None:
    hits: Any = (Hit(document(id), 1.0) for id in "ab")
    assert Ranking(QUERY, hits).ids == ("a", "b")


@pytest.mark.parametrize("k", [-1, True, 1.0, "1", None])
def test_k_names_itself_when_it_is_wrong(k: Any) -> None:
    with pytest.raises(InvalidValueError, match=f"recall is {k!r}; give an int of 0 or more"):
        check_k(k, "recall")
    assert check_k(0) == 0


def test_a_ranking_shows_its_first_ten_hits() -> None:
    corpus = [document(f"{n}", "a.py", n, kind="function", qualified_name=f"f{n}") for n in range(1, 13)]
    lines = repr(Ranking.from_order(QUERY, corpus, source="bm25")).splitlines()
    assert lines[0] == "Ranking 'bm25', 12 hits for 'where are redirects followed'"
    assert lines[1] == "  1  1.0000  a.py:1-1  f1 (function)"
    assert lines[-1] == "     … 2 more"
    assert len(lines) == 12
    assert repr(Ranking(Query("x " * 100))).count("\n") == 0


# Results


def test_a_trace_tells_every_stage_in_plain_data() -> None:
    event = Event("dropped-words", "not searched for: where", "normalizer", data={"words": ["where"]})
    stage = Stage("bm25", "retriever", (), ("a", "b"), (2.0, 1.0), 0.5, (event,))
    trace = Trace(Query("redirects", id="q7", original="where redirects"), (stage,))
    assert trace["bm25"] is stage
    with pytest.raises(KeyError, match="no stage 'dense'; there are: bm25"):
        trace["dense"]
    assert json.loads(json.dumps(trace.to_dict())) == {
        "query": {"id": "q7", "text": "redirects", "typed": "where redirects"},
        "stages": [
            {
                "name": "bm25",
                "kind": "retriever",
                "ids_in": [],
                "ids_out": ["a", "b"],
                "scores": [2.0, 1.0],
                "seconds": 0.5,
                "events": [
                    {
                        "stage": "normalizer",
                        "code": "dropped-words",
                        "level": "info",
                        "message": "not searched for: where",
                        "data": {"words": ["where"]},
                    }
                ],
            }
        ],
    }


def test_a_result_is_a_sequence_of_hits() -> None:
    hits = (Hit(document("a"), 1.0), Hit(document("b"), 0.5))
    result = Result(QUERY, hits, (Verdict("a", "yes", True),))
    assert (len(result), list(result), result[0], result[1:]) == (2, list(hits), hits[0], hits[1:])
    assert result.ids == ("a", "b")
    assert result.trace.stages == ()
    assert repr(result).splitlines()[0] == "Result, 2 hits for 'where are redirects followed'"
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301


# Frozen mappings


def test_a_frozen_mapping_reads_as_a_dict() -> None:
    mapping = FrozenDict({"a": 1})
    assert mapping == {"a": 1}
    assert json.dumps(mapping) == '{"a": 1}'
    assert hash(mapping) == hash(FrozenDict({"a": 1}))
    assert mapping | {"b": 2} == {"a": 1, "b": 2}
    assert pickle.loads(pickle.dumps(mapping)) == mapping  # noqa: S301
    with pytest.raises(TypeError, match="make a new value"):
        mapping["a"] = 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(FrozenDict({"a": []}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": None},
        {"name": 3},
        {"kind": b"x"},
        {"start_line": "3"},
        {"end_line": 1.0},
        {"start_line": True},
    ],
)
def test_a_field_of_the_wrong_type_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match=next(iter(wrong))):
        Document("a", "text", **wrong)


@pytest.mark.parametrize(
    "wrong", [{"path": "!"}, {"path": "!docs/"}, {"path": ""}, {"kind": ["function", None]}, {"language": 3}]
)
def test_a_filter_that_can_match_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match=f"{next(iter(wrong))} of the filter"):
        Filter(**wrong)


def test_a_chat_request_is_checked_and_frozen() -> None:
    ask = ChatMessage("user", "which of these?")
    request = ChatRequest([ask], stop=["\n"], schema={"type": "array"})  # type: ignore[arg-type]
    assert (request.messages, request.stop, request.temperature) == ((ask,), ("\n",), 0.0)
    for wrong in ({"messages": ()}, {"temperature": -1}, {"max_tokens": 0}, {"timeout": float("nan")}):
        with pytest.raises(InvalidValueError, match=next(iter(wrong))):
            ChatRequest(**{"messages": (ask,), **wrong})  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="role is 'robot'"):
        ChatMessage("robot", "")  # type: ignore[arg-type]
