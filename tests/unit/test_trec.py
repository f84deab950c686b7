"""TREC files: what is written, what is read, what cannot stand in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import pytest

from hybridrank import DuplicateIdError, InvalidValueError, score_run
from hybridrank.evaluation.trec import read_qrels, read_run, write_qrels, write_run


def test_judgements_are_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    write_qrels(path, {"q1": {"d1": 1, "連線.py:1-9": 2.0}, "q2": {"d1": 0, "d2": -1}})
    assert path.read_text(encoding="utf-8") == "q1 0 d1 1\nq1 0 連線.py:1-9 2\nq2 0 d1 0\nq2 0 d2 -1\n"
    assert read_qrels(path) == {"q1": {"d1": 1, "連線.py:1-9": 2}, "q2": {"d1": 0, "d2": -1}}


def test_runs_are_written_with_strictly_falling_scores(tmp_path: Path) -> None:
    path = tmp_path / "run"
    write_run(path, {"q1": ["z", "a", "m"], "q2": ["a"], "q3": []}, tag="bm25")
    assert path.read_text(encoding="utf-8").splitlines() == [
        "q1 Q0 z 1 3 bm25",
        "q1 Q0 a 2 2 bm25",
        "q1 Q0 m 3 1 bm25",
        "q2 Q0 a 1 1 bm25",
    ]
    assert read_run(path) == {"q1": ["z", "a", "m"], "q2": ["a"]}


# EV-05
def test_a_tool_that_sorts_by_score_sees_our_order(tmp_path: Path) -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"a": 1, "z": 2}}
    run = {"q1": ["d1", "d2"], "q2": ["z", "b", "a"]}
    write_qrels(tmp_path / "qrels", qrels)
    write_run(tmp_path / "run", run)
    theirs = ir_measures.calc_aggregate(
        [ir_measures.RR, ir_measures.nDCG @ 10],
        ir_measures.read_trec_qrels(str(tmp_path / "qrels")),  # type: ignore[no-untyped-call]
        ir_measures.read_trec_run(str(tmp_path / "run")),  # type: ignore[no-untyped-call]
    )
    ours = score_run(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run"), ["MRR", "nDCG@10"])
    assert ours.means["MRR"] == pytest.approx(theirs[ir_measures.RR]) == 1
    assert ours.means["nDCG@10"] == pytest.approx(theirs[ir_measures.nDCG @ 10])


def test_runs_of_other_tools_are_read_by_score_then_rank_then_place(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text(
        "\ufeffq1 Q0 low 3 0.5 t\r\n"
        "q1\tQ0  high  1  1.5e1\tt\n"
        "q2 Q0 b 0 1 t\n\n"
        "q1 Q0 tie2 2 2.0 t\n"
        "q1 Q0 tie1 1 2.0 t\n"
        "q2 Q0 a 0 1 t\n"
        "q2 Q0 a\u00a0b 0 -1 t",
        encoding="utf-8",
    )
    assert read_run(path) == {"q1": ["high", "tie1", "tie2", "low"], "q2": ["b", "a", "a\u00a0b"]}


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "q Q0 a 1 2 t\nq Q0 b 2 3 t\n",
            InvalidValueError,
            "file:1: query 'q': 'a' has a better rank than 'b'",
        ),
        ("q Q0 a 1 2 t\nq Q0 a 2 1 t\n", DuplicateIdError, "file:2: document 'a' stands twice for query 'q'"),
        ("q Q0 a 1 2\n", InvalidValueError, "file:1: 5 columns; give 6: query Q0 document rank score tag"),
        ("q Q0 a b 1 2 t\n", InvalidValueError, "file:1: 7 columns"),
        ("q Q0 a 1 nan t\n", InvalidValueError, "file:1: score is 'nan'"),
        ("q Q0 a 1 inf t\n", InvalidValueError, "file:1: score is 'inf'"),
        ("q Q0 a 1 high t\n", InvalidValueError, "file:1: score is 'high'"),
        ("q Q0 a 1 1_0 t\n", InvalidValueError, "file:1: score is '1_0'"),
        ("q Q0 a first 1 t\n", InvalidValueError, "file:1: rank is 'first'"),
    ],
)
def test_a_run_that_is_none_is_refused(
    tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    with pytest.raises(error, match=message):
        read_run(tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 a\n", "file:1: 3 columns; give 4: query iteration document grade"),
        ("\nq 0 a 0.5\n", "file:2: grade is '0.5'; give an int"),
        ("q 0 a 1_0\n", "file:1: grade is '1_0'; give an int"),
        ("q 0 a " + "9" * 5000, "file:1: grade is '999"),
        ("q 0 a 1\nq 0 b 1\nq 0 a 2\n", "file:3: document 'a' has the grades 1 and 2 for query 'q'"),
    ],
)
def test_judgements_that_are_none_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidValueError, match=message):
        read_qrels(tmp_path / "file")


# EV-02
def test_a_judgement_may_stand_twice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("q 0 a 1\nq 1 a 1\n", encoding="utf-8")
    assert read_qrels(tmp_path / "file") == {"q": {"a": 1}}


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="there is no file"):
        read_run(tmp_path / "none")
    (tmp_path / "file").write_bytes(b"q 0 \xff 1\n")
    with pytest.raises(InvalidValueError, match="cannot read"):
        read_qrels(tmp_path / "file")
    with pytest.raises(InvalidValueError, match="cannot read"):
        read_qrels(tmp_path)


@pytest.mark.parametrize("id", ["a b", "", " a", "a\n", "a\tb", "a\u3000b", "a\0", "\ud800", 7, None])
def test_an_id_that_is_no_word_is_refused(tmp_path: Path, id: Any) -> None:
    path = tmp_path / "file"
    message = "cannot stand in a TREC file; give ids without white space|give ids as str"
    with pytest.raises(InvalidValueError, match=message):
        write_run(path, {"q": ["a", id]})
    with pytest.raises(InvalidValueError, match=r"query id .* cannot stand"):
        write_run(path, {id: ["a"]})
    with pytest.raises(InvalidValueError, match=r"tag .* cannot stand"):
        write_run(path, {}, tag=id)
    with pytest.raises(InvalidValueError, match=r"document id .* cannot stand"):
        write_qrels(path, {"q": {id: 1}})
    with pytest.raises(InvalidValueError, match=r"query id .* cannot stand"):
        write_qrels(path, {id: {"a": 1}})
    assert not path.exists()


def test_what_the_formats_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DuplicateIdError, match="query 'q': document 'a' stands twice in the ranking"):
        write_run(tmp_path / "file", {"q": ["a", "b", "a"]})
    with pytest.raises(InvalidValueError, match="query 'q': the ranking is a mapping"):
        write_run(tmp_path / "file", {"q": {"a": 1.0}})  # type: ignore[dict-item]
    for grade in (0.5, True, "1", float("nan")):
        with pytest.raises(InvalidValueError, match=r"query 'q': grade of 'a' is .* whole numbers"):
            write_qrels(tmp_path / "file", {"q": {"a": grade}})  # type: ignore[dict-item]
