"""Rankings judged by documents, files and lines."""

from __future__ import annotations

import pytest

from hybridrank import Case, Document, InvalidValueError, Target, score_run
from hybridrank.evaluation.judgements import collapse, judge
from hybridrank.evaluation.measures import MAP, MRR, Hit, Precision, Recall, nDCG


def chunk(path: str, start: int, end: int) -> Document:
    return Document(f"{path}:{start}-{end}", "x", path=path, start_line=start, end_line=end, name=path[0])


A1, A2, A3 = chunk("a.py", 1, 10), chunk("a.py", 11, 20), chunk("a.py", 21, 30)
B1, C1 = chunk("b.py", 1, 50), chunk("c.py", 1, 5)


def lines(path: str, start: int, end: int) -> Target:
    return Target(path=path, start_line=start, end_line=end)


@pytest.mark.parametrize(
    ("target", "touching"),
    [
        (Target(A2.id), [A2]),
        (Target(path="a.py"), [A1, A2, A3]),
        (lines("a.py", 10, 11), [A1, A2]),
        (lines("a.py", 12, 13), [A2]),
        (lines("a.py", 30, 90), [A3]),
        (lines("a.py", 31, 90), []),
        (Target(path="A.py"), []),
        (Target(path="a.p"), []),
    ],
    ids=str,
)
def test_what_touches_a_target(target: Target, touching: list[Document]) -> None:
    assert [document for document in (A1, A2, A3, B1, C1) if target.touches(document)] == touching


def test_a_document_without_lines_stands_for_its_file() -> None:
    whole = Document("a", "x", path="a.py")
    assert lines("a.py", 3, 4).touches(whole)
    assert not lines("b.py", 3, 4).touches(whole)
    assert not Target(path="a").touches(Document("a", "x"))


# EV-15
def test_a_target_counts_once_at_the_first_document_that_touches_it() -> None:
    judged = judge(Case("q", "x", [lines("a.py", 8, 25)]), [C1, A2, A1, A3])
    assert judged.ranks == {"a.py:8-25": 2}
    assert judged.by == {"a.py:8-25": A2.id}
    assert judged.ranked == (C1.id, "a.py:8-25", A1.id, A3.id)
    assert Recall(k=4).score_found(judged.found) == 1
    assert Precision(k=4).score_found(judged.found) == 0.25
    assert nDCG(k=4).score_found(judged.found) == pytest.approx(0.630930, abs=1e-6)


# EV-15
def test_chunks_ranked_and_files_judged() -> None:
    run, gold = ["f.py#1", "f.py#2", "g.py#1"], {"g.py"}
    files = collapse(run, lambda id: id.split("#")[0])
    assert files == ["f.py", "g.py"]
    assert score_run({"q": gold}, {"q": files}, "MRR").means["MRR"] == 0.5
    in_place = [id.split("#")[0] for id in run]
    assert score_run({"q": gold}, {"q": in_place}, "MRR").means["MRR"] == pytest.approx(1 / 3)


# EV-15
def test_documents_may_take_one_place_per_file() -> None:
    case = Case("q", "x", [Target(path="b.py"), lines("a.py", 25, 26)])
    ranking = [A1, A2, B1, A3]
    assert judge(case, ranking).ranks == {"b.py": 3, "a.py:25-26": 4}
    by_file = judge(case, ranking, collapse="path")
    # The file a.py stands first; its third chunk finds the lines there.
    assert by_file.ranks == {"a.py:25-26": 1, "b.py": 2}
    assert by_file.by == {"a.py:25-26": A3.id, "b.py": B1.id}
    assert by_file.ranked == ("a.py:25-26", "b.py")
    assert list(by_file.found.ranks) == [1, 2]


def test_documents_without_the_field_stay_by_themselves() -> None:
    documents = [Document("x", "x"), Document("y", "y"), Document("x2", "x", path="x"), Document("z", "z")]
    assert judge(Case("q", "x", ["z"]), documents, collapse="path").ranks == {"z": 4}
    assert judge(Case("q", "x", ["z"]), documents, collapse="name").ranks == {"z": 4}


def test_an_unknown_field_to_collapse_by_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="collapse is 'file'; give one of path, name, qualified_name"):
        judge(Case("q", "x", ["z"]), [A1], collapse="file")  # type: ignore[arg-type]


def test_one_document_may_find_several_targets() -> None:
    case = Case(
        "q", "x", {lines("b.py", 1, 2): 1, lines("b.py", 40, 60): 3, Target(C1.id): 2, lines("b.py", 3, 4): 0}
    )
    judged = judge(case, [A1, B1, C1])
    assert judged.ranks == {"b.py:40-60": 2, "b.py:1-2": 2, "b.py:3-4": 2, C1.id: 3}
    # The better grade first; the places of a walk along the ranking move.
    assert judged.ranked == (A1.id, "b.py:40-60", "b.py:1-2", "b.py:3-4", C1.id)
    assert list(judged.found.ranks) == [2, 2, 3]
    assert list(judged.found.grades) == [3, 1, 2]
    assert list(judged.found.ideal) == [3, 2, 1]
    assert list(judged.found.credited) == [2, 3, 4]
    assert Recall(k=2).score_found(judged.found) == pytest.approx(2 / 3)
    assert Precision(k=3).score_found(judged.found) == pytest.approx(2 / 3)
    assert MRR().score_found(judged.found) == 0.5
    assert MAP().score_found(judged.found) == pytest.approx((1 / 2 + 2 / 3 + 3 / 4) / 3)


def test_missed_targets_and_those_judged_not_relevant() -> None:
    judged = judge(Case("q", "x", {C1.id: 1, B1.id: 1, A1.id: 0, A2.id: -1}), [A1, C1])
    assert judged.missed == (B1.id,)
    assert judged.ranks == {A1.id: 1, C1.id: 2}
    assert list(judged.found.ranks) == [2]
    assert judged.grades == {C1.id: 1, B1.id: 1, A1.id: 0, A2.id: -1}


def test_an_empty_ranking_finds_nothing() -> None:
    judged = judge(Case("q", "x", ["a"]), [])
    assert (judged.ranks, judged.ranked, judged.missed) == ({}, (), ("a",))
    assert Hit(k=1).score_found(judged.found) == 0


def test_a_document_named_like_a_target_is_not_taken_for_it() -> None:
    other = Document("a.py:1-10", "x", path="b.py", start_line=60, end_line=70)
    judged = judge(Case("q", "x", [lines("a.py", 1, 10)]), [other])
    assert judged.ranks == {}
    assert MRR().score(judged.ranked, judged.grades) == 0


def test_judging_by_ids_is_scoring_by_ids() -> None:
    case = Case("q", "x", {A1.id: 2, B1.id: 1, "gone": 1})
    ranking = [C1, B1, A2, A1]
    grades = {str(target): grade for target, grade in case.relevant.items()}
    judged = judge(case, ranking)
    for measure in (nDCG(k=3), Recall(k=3), Precision(k=3), MRR(), MAP(), Hit(k=1)):
        value = measure.score([document.id for document in ranking], grades)
        assert measure.score_found(judged.found) == measure.score(judged.ranked, judged.grades) == value
