"""Each stage that can lose a target, and what is told of it. Ranks are those of the stubs' lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hybridrank import (
    Case,
    Diagnosis,
    Document,
    Filter,
    HybridRankError,
    InvalidValueError,
    NotIndexedError,
    Pipeline,
    Query,
    Ranking,
    Target,
    diagnose,
    evaluate,
)
from hybridrank.evaluation.diagnosis import Loss, diagnose_evaluation
from stubs import Accept, Failing, Reorder

BY_ID = {
    document.id: document
    for document in (
        *(Document(id, f"text {id}") for id in "abcdefghij"),
        Document("s.py:1-10", "one", path="s.py", start_line=1, end_line=10),
        Document("s.py:11-20", "two", path="s.py", start_line=11, end_line=20),
        Document("s.py:31-40", "three", path="s.py", start_line=31, end_line=40),
        Document("whole.txt", "whole", path="whole.txt"),
    )
}


@dataclass
class Fixed:
    """A leg with one order of documents for every query."""

    ids: Sequence[str]

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = [BY_ID[id] for id in self.ids]
        kept = [document for document in found if where is None or where.matches(document)]
        return Ranking.from_order(query, kept[:k])


def pipeline(legs: Mapping[str, Any], rerankers: Mapping[str, Any] | None = None, **options: Any) -> Pipeline:
    made = Pipeline(legs, rerankers=rerankers or {}, normalizer=None, recall=5, **options)
    return made.index(BY_ID.values())


def lost(made: Pipeline, target: str | Target, k: int = 3, **options: Any) -> Loss:
    (loss,) = diagnose(made, [Case("q", "ask", [target])], k=k, **options).losses
    return loss


def lines(first: int, last: int, path: str = "s.py") -> Target:
    return Target(path=path, start_line=first, end_line=last)


ABC = pipeline({"one": Fixed("abcdefgh"), "two": Fixed("badcfehg")})


def test_what_is_found_is_no_loss() -> None:
    made = diagnose(ABC, [Case("q", "ask", {"a": 1, "b": 2, "j": 0})], k=3)
    assert made.losses == ()
    assert (made.targets, made.cases) == (2, 1)
    assert repr(made).splitlines()[0] == (
        "Diagnosis: 2 of 2 targets are in the first 3; 0 of 1 cases lost something"
    )


# Corpus


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("zz", "no document has the id 'zz'"),
        (Target(path="z.py"), "no document has the path 'z.py'"),
        ("s.py", "no document has the id 's.py'; for the file write"),
        ("s.py:5-9", "no document has the id 's.py:5-9'; chunks move: write"),
        (lines(41, 42), "it begins behind line 40, where its file ends"),
    ],
)
def test_a_target_that_is_not_in_the_corpus(target: str | Target, reason: str) -> None:
    loss = lost(ABC, target)
    assert loss.stage == "corpus"
    assert loss.reason.startswith(reason)
    assert (dict(loss.legs), dict(loss.way), loss.documents) == ({}, {}, ())


def test_a_file_that_was_skipped_or_gave_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    (tmp_path / "b.py").write_text("x = 1\n" * 1000, encoding="utf-8")
    (tmp_path / "c.py").write_text("\n\n", encoding="utf-8")
    made = Pipeline.for_code(tmp_path, config={"retrievers": {"bm25": {"use": "bm25"}}}, max_bytes=100)
    skipped = lost(made, Target(path="b.py"))
    assert skipped.stage == "corpus"
    assert skipped.reason.startswith("b.py was skipped: ")
    blank = lost(made, Target(path="c.py"))
    assert (blank.stage, blank.reason) == ("chunking", "c.py was read, but nothing in it became a document")


def test_a_target_that_the_filter_leaves_out() -> None:
    loss = lost(ABC, lines(1, 10), where=Filter(path="whole.txt"))
    assert (loss.stage, loss.reason) == ("corpus", "the filter leaves it out")


# Chunking


def test_lines_that_no_chunk_holds() -> None:
    loss = lost(ABC, lines(21, 30))
    assert (loss.stage, loss.reason) == (
        "chunking",
        "no chunk holds any of its lines; the nearest: s.py:11-20 and s.py:31-40",
    )


def test_lines_that_chunks_share() -> None:
    made = pipeline({"one": Fixed(["a", "b", "c", "s.py:11-20"])})
    loss = lost(made, lines(8, 12))
    assert loss.stage == "chunking"
    assert loss.reason == "split over 2 chunks: s.py:1-10, s.py:11-20; ranks: fusion 4; legs: one 4"
    assert loss.documents == ("s.py:1-10", "s.py:11-20")
    assert dict(loss.legs) == {"one": 4}


@pytest.mark.parametrize(
    "target", [lines(12, 18), lines(11, 20), lines(18, 25), Target(path="s.py"), lines(5, 6, "whole.txt")]
)
def test_lines_of_one_chunk_and_whole_files_are_not_split(target: Target) -> None:
    assert lost(ABC, target).stage == "recall"


# Search


# EV-17
def test_a_search_that_failed() -> None:
    class Moody(Fixed):
        def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
            if query.text == "bad":
                raise TimeoutError("slow")
            return super().retrieve(query, k=k, where=where)

    made = diagnose(
        pipeline({"one": Moody("abcde")}), [Case("q", "ask", ["a"]), Case("r", "bad", ["a"])], k=1
    )
    (loss,) = made.losses
    assert (loss.case, loss.stage, loss.reason) == ("r", "search", "TimeoutError: slow")
    assert made.to_dict()["errors"] == [{"id": "r", "error": "TimeoutError: slow"}]


# EV-17
def test_all_searches_failing_raises() -> None:
    with pytest.raises(HybridRankError, match="the searches of all 1 cases to score failed"):
        diagnose(pipeline({"one": Failing()}), [Case("q", "ask", ["a"])], k=3)


# Recall


def test_what_no_leg_gave_has_its_rank_in_each_leg() -> None:
    loss = lost(ABC, "g")
    assert (loss.stage, dict(loss.legs)) == ("recall", {"one": 7, "two": 8})
    assert loss.reason == "one has it at 7, two has it at 8 (recall 5)"
    assert dict(loss.way) == {}
    never = lost(ABC, "j")
    assert dict(never.legs) == {"one": None, "two": None}
    assert never.reason == "one does not have it, two does not have it (recall 5)"


def test_a_wider_recall_is_looked_at() -> None:
    loss = lost(ABC, "g", recall=8)
    assert loss.stage == "fusion"
    narrow = lost(ABC, "e", k=2, recall=2)
    assert (narrow.stage, dict(narrow.legs)) == ("recall", {"one": 5, "two": 6})


def test_a_leg_that_is_turned_off_is_not_asked() -> None:
    assert list(lost(ABC, "g", weights={"two": 0}).legs) == ["one"]


def test_a_query_without_words_reaches_no_leg() -> None:
    (loss,) = diagnose(ABC, [Case("q", "?!", ["a"]), Case("r", "ask", ["a"])], k=1).losses
    assert loss.stage == "recall"
    assert loss.reason.startswith("no leg ran: the query has no letter")


def test_a_leg_that_failed_or_cannot_go_deeper_says_so() -> None:
    class Shallow(Fixed):
        def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
            if k > 5:
                raise ValueError("at most 5")
            return super().retrieve(query, k=k, where=where)

    made = pipeline({"one": Shallow("abcde"), "down": Failing()}, on_error="degrade")
    loss = lost(made, "j")
    assert loss.stage == "recall"
    assert "one cannot be searched deeper (ValueError: at most 5)" in loss.reason
    assert "down failed (stage 'down' failed and was left out: RuntimeError" in loss.reason


# Fusion


def test_what_was_fused_too_low() -> None:
    loss = lost(ABC, "e")
    # Sums of 1/(60 + rank): a and b, c and d, then e, which `two` gives below its recall.
    assert (loss.stage, loss.part, dict(loss.way)) == ("fusion", "", {"fusion": 5})
    assert loss.reason == "ranks: fusion 5; legs: one 5"
    assert dict(loss.legs) == {"one": 5, "two": 6}


def test_what_the_fuser_left_out() -> None:
    @dataclass
    class FirstTwo:
        def fuse(self, rankings: Mapping[str, Ranking], /, *, k: int) -> Ranking:
            return next(iter(rankings.values())).cut(2)

    made = pipeline({"one": Fixed("abcde")}, fuser=FirstTwo())
    loss = lost(made, "c")
    assert (loss.stage, loss.reason, dict(loss.way)) == (
        "fusion",
        "ranks: fusion left it out; legs: one 3",
        {"fusion": None},
    )


# Rerankers


def test_the_reranker_that_moved_it_out() -> None:
    made = pipeline({"one": Fixed("abcde")}, {"keep": Reorder(lambda hits: hits), "turn": Reorder()})
    loss = lost(made, "a")
    assert (loss.stage, loss.part) == ("reranker", "turn")
    assert loss.reason == "out of the first 3 by turn; ranks: fusion 1, keep 1, turn 5"
    assert dict(loss.way) == {"fusion": 1, "keep": 1, "turn": 5}


def test_of_two_that_moved_it_out_the_last_one_is_told() -> None:
    made = pipeline({"one": Fixed("abcde")}, {name: Reorder() for name in ("first", "second", "third")})
    loss = lost(made, "a", k=2)
    assert (loss.part, dict(loss.way)) == ("third", {"fusion": 1, "first": 5, "second": 1, "third": 5})


def test_a_reranker_that_drops_it() -> None:
    made = pipeline({"one": Fixed("abcde")}, {"drop": Reorder(lambda hits: hits[1:])})
    loss = lost(made, "a")
    assert (loss.stage, loss.part, dict(loss.way)) == ("reranker", "drop", {"fusion": 1, "drop": None})
    assert "drop left it out" in loss.reason


def test_what_lies_below_the_depth_moves_up_where_hits_are_dropped() -> None:
    made = pipeline({"one": Fixed("abcde")}, {"drop": Reorder(lambda hits: hits[2:], depth=3)})
    # c, then d and e behind it.
    loss = lost(made, "e", k=2)
    assert (loss.stage, dict(loss.way)) == ("fusion", {"fusion": 5, "drop": 3})


def test_a_reranker_that_did_not_lift_it_did_not_lose_it() -> None:
    made = pipeline({"one": Fixed("abcde")}, {"keep": Reorder(lambda hits: hits)})
    assert lost(made, "e").stage == "fusion"


# Validator


def test_what_the_validator_rejected() -> None:
    made = pipeline({"one": Fixed("abcde")}, validator=Accept(frozenset("bcde")))
    loss = lost(made, "a")
    assert (loss.stage, loss.part) == ("validator", "validator")
    assert loss.reason == "the validator said no; ranks: fusion 1"


def test_what_the_validator_rejected_behind_k_would_have_come_in() -> None:
    made = pipeline({"one": Fixed("abcde")}, validator=Accept(frozenset("ac")), validate_depth=5)
    # b was rejected, so that d was judged too.
    assert lost(made, "d").stage == "validator"


def test_what_the_validator_never_looked_at() -> None:
    made = pipeline({"one": Fixed("abcde")}, validator=Accept(frozenset("abc")), validate_depth=1)
    loss = lost(made, "b", k=2)
    assert (loss.stage, loss.reason) == (
        "validator",
        "the validator looked at the first 1 only; ranks: fusion 2",
    )
    assert lost(made, "d", k=2).stage == "fusion"


# All together


def several() -> Diagnosis:
    cases = [
        Case("q1", "one", ["a", "e", "zz"], category="x"),
        Case("q2", "two", ["j"]),
        Case("q3", "three", ["a", "b"]),
        Case("g", "gap", expected="disclose_gap", gap_id="none"),
    ]
    return diagnose(pipeline({"one": Fixed("abcde")}, {"turn": Reorder(depth=4)}), cases, k=3)


def test_one_line_a_query_and_a_summary_by_stage() -> None:
    made = several()
    assert dict(made.summary) == {
        "corpus": 1,
        "chunking": 0,
        "search": 0,
        "recall": 1,
        "fusion": 1,
        "reranker": 2,
        "validator": 0,
    }
    assert made.rerankers == {"turn": 2}
    assert list(made.by_case()) == ["q1", "q2", "q3"]
    lines = repr(made).splitlines()
    assert lines[0] == "Diagnosis: 1 of 6 targets are in the first 3; 3 of 3 cases lost something"
    assert lines[1].startswith(
        "  q1  [reranker] a: out of the first 3 by turn; ranks: fusion 1, turn 4; [fusion] e:"
    )
    assert lines[2] == "  q2  [recall] j: one does not have it (recall 5)"
    assert [" ".join(line.split()) for line in lines if line.startswith("  reranker")] == [
        "reranker a reranker moved it out of the first k 2"
    ]
    assert "turn" in made._repr_html_()


def test_what_is_told_is_json() -> None:
    told = several().to_dict()
    assert json.loads(json.dumps(told)) == told
    assert (told["targets"], told["found"], told["cases"], told["k"], told["recall"]) == (6, 1, 3, 3, 5)
    assert told["losses"][0] == {
        "case": "q1",
        "query": "one",
        "category": "x",
        "target": "a",
        "stage": "reranker",
        "reason": "out of the first 3 by turn; ranks: fusion 1, turn 4",
        "part": "turn",
        "legs": {"one": 1},
        "way": {"fusion": 1, "turn": 4},
        "documents": ["a"],
    }


def test_an_evaluation_that_was_made_can_be_diagnosed() -> None:
    made = evaluate(ABC, [Case("q", "ask", ["a", "d"])], measures="Recall@5")
    assert [loss.target for loss in diagnose_evaluation(ABC, made, k=2).losses] == ["d"]
    assert diagnose_evaluation(ABC, made).losses == ()
    with pytest.raises(InvalidValueError, match="k=6 is above the 5 hits"):
        diagnose_evaluation(ABC, made, k=6)


def test_what_cannot_be_diagnosed() -> None:
    with pytest.raises(NotIndexedError, match="the pipeline has no documents"):
        diagnose(Pipeline({"one": Fixed("ab")}), [Case("q", "ask", ["a"])])
    with pytest.raises(InvalidValueError, match="k is 0"):
        diagnose(ABC, [Case("q", "ask", ["a"])], k=0)
    with pytest.raises(InvalidValueError, match="k is -1"):
        diagnose(ABC, [Case("q", "ask", ["a"])], k=-1)
    with pytest.raises(InvalidValueError, match="recall"):
        diagnose(ABC, [Case("q", "ask", ["a"])], k=9)
