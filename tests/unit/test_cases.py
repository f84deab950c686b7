"""Cases and case files: what is read, and what is refused by name."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hybridrank import Case, Document, DuplicateIdError, InvalidValueError, Target, load_cases
from hybridrank.evaluation.cases import check_cases

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(*records: Any, name: str = "cases.jsonl") -> Path:
        path = tmp_path / name
        lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return _write


FULL = {
    "id": "q1",
    "query": "誰呼叫 revoke_token",
    "relevant": [
        "d1",
        {"id": "d2", "grade": 2},
        {"path": "src/a b.py"},
        {"path": "src/a.py", "lines": [3, 9], "grade": 0.5},
        {"path": "src/no.py", "grade": 0},
    ],
    "category": "callers",
    "expected": "retrieve",
    "gap_id": None,
    "metadata": {"author": {"name": "x"}},
}
GAP = {"id": "g1", "query": "who wrote it", "expected": "disclose_gap", "gap_id": "authors"}


def test_a_file_of_lines(write: Write) -> None:
    path = write(FULL, "", GAP, "  ")
    full, gap = load_cases(path)
    assert (full.id, full.query, full.category, full.gap_id) == ("q1", "誰呼叫 revoke_token", "callers", None)
    assert full.relevant == {
        Target("d1"): 1,
        Target("d2"): 2,
        Target(path="src/a b.py"): 1,
        Target(path="src/a.py", start_line=3, end_line=9): 0.5,
        Target(path="src/no.py"): 0,
    }
    assert full.metadata == {"author": {"name": "x"}}
    assert not full.is_gap
    assert (gap.expected, gap.gap_id, gap.is_gap, dict(gap.relevant)) == ("disclose_gap", "authors", True, {})
    assert [case.where for case in (full, gap)] == [f"{path}:1", f"{path}:3"]


@pytest.mark.parametrize("text", [json.dumps([FULL, GAP]), json.dumps({"cases": [FULL, GAP]}, indent=2)])
def test_a_file_of_one_list(write: Write, text: str) -> None:
    path = write(text, name="cases.json")
    assert load_cases(path) == load_cases(write(FULL, GAP))
    assert [case.where for case in load_cases(str(path))] == [f"{path}[0]", f"{path}[1]"]


def test_a_case_file_written_from_cases_reads_the_same(write: Write) -> None:
    cases = load_cases(write(FULL, GAP, {"id": "q2", "query": "x", "relevant": {"d1": 3, "d 2": 0.25}}))
    assert load_cases(write(*(case.to_dict() for case in cases), name="again.jsonl")) == cases
    assert cases[0].to_dict()["relevant"][:2] == [{"id": "d1", "grade": 1}, {"id": "d2", "grade": 2}]


def test_probe_field_names_are_read_as_they_are(write: Write) -> None:
    retrieve = {
        "probe_id": "p1",
        "query": "血糖與脫水",
        "expected_behavior": "retrieve",
        "expected_rule_ids": ["rule-3"],
        "expected_gap_id": None,
        "origin": "author",
        "uses_patient_record": False,
        "metadata": {"topic": "x"},
    }
    gap = {
        "probe_id": "p2",
        "query": "完整門檻",
        "expected_behavior": "disclose_gap",
        "expected_rule_ids": [],
        "expected_gap_id": "thresholds",
    }
    one, two = load_cases(write(retrieve, gap))
    assert one == Case(
        "p1",
        "血糖與脫水",
        ["rule-3"],
        metadata={"topic": "x", "origin": "author", "uses_patient_record": False},
    )
    assert two == Case("p2", "完整門檻", expected="disclose_gap", gap_id="thresholds")


def bad(**changes: Any) -> dict[str, Any]:
    """A sound case with changes; a field that is `...` is left out."""
    record = {"id": "q7", "query": "x", "relevant": ["d1"], **changes}
    return {name: value for name, value in record.items() if value is not ...}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (bad(relevant=...), "case 'q7': nothing is relevant; name a document or path"),
        (bad(relevant=[]), "case 'q7': nothing is relevant"),
        (bad(relevant={"d1": 0, "d2": -1}), "case 'q7': nothing is relevant"),
        (bad(gap_id="g"), "case 'q7': gap_id is 'g', but only a gap"),
        (bad(gap_id=""), "case 'q7': gap_id is '', but only a gap"),
        (bad(expected="disclose_gap", gap_id="g"), "case 'q7': a gap has nothing relevant, .* names d1"),
        (bad(expected="disclose_gap", relevant=[]), "case 'q7': gap_id is None; a gap needs one"),
        (bad(expected="disclose_gap", relevant=[], gap_id=" "), "case 'q7': gap_id is ' '; a gap needs one"),
        (bad(expected="disclose_gap", relevant=[], gap_id=3), "case 'q7': gap_id is 3; a gap needs one"),
        (bad(expected="refuse"), "case 'q7': expected is 'refuse'; give 'retrieve' or 'disclose_gap'"),
        (bad(expected=None), "case 'q7': expected is None"),
        (bad(expected=["retrieve"]), "case 'q7': expected is"),
        (bad(id=...), "case None: there is no field 'id'"),
        (bad(query=...), "case 'q7': there is no field 'query'"),
        (bad(id=7), "case 7: id is 7; give a str"),
        (bad(id=" "), "case ' ': id is ' '; give a str that is not blank"),
        (bad(query="\n"), r"case 'q7': query is '\\n'; give a str that is not blank"),
        (bad(query=None), "case 'q7': query is None"),
        (bad(category=3), "case 'q7': category is 3"),
        (bad(category=None), "case 'q7': category is None"),
        (bad(metadata=[]), r"case 'q7': metadata is \[\]; give an object"),
        (bad(relevent=["d1"]), "case 'q7': unknown field 'relevent'; did you mean 'relevant'"),
        (bad(note="x"), "case 'q7': unknown field 'note'; what is yours goes into 'metadata'"),
        (bad(probe_id="p"), "case 'q7': 'id' and 'probe_id' are one field; give one of them"),
        (bad(expected_rule_ids=[]), "'relevant' and 'expected_rule_ids' are one field"),
        (bad(relevant=None), "case 'q7': relevant is None; give a list"),
        (bad(relevant="d1"), "case 'q7': relevant is 'd1'; give a list"),
        (bad(relevant=["d1", "d1"]), "case 'q7': 'd1' stands twice among what is relevant"),
        (bad(relevant=["d1", {"id": "d1", "grade": 2}]), "'d1' stands twice"),
        (bad(relevant=[""]), "case 'q7': target has id '' and path ''; give one of them"),
        (bad(relevant=[3]), "case 'q7': 3 is no target"),
        (bad(relevant=[None]), "case 'q7': None is no target"),
        (bad(relevant=[{}]), "target has id '' and path ''"),
        (bad(relevant=[{"id": "a", "path": "b"}]), "target has id 'a' and path 'b'; give one of them"),
        (bad(relevant=[{"id": 3}]), "target has id 3"),
        (bad(relevant=[{"path": "a", "line": 3}]), "target has an unknown field 'line'"),
        (bad(relevant=[{"id": "a", "lines": [1, 2]}]), "target 'a' has lines; lines go with a path"),
        (bad(relevant=[{"path": "a", "lines": [5, 2]}]), "target 'a' has lines 5 to 2"),
        (bad(relevant=[{"path": "a", "lines": [0, 2]}]), "target 'a' has lines 0 to 2"),
        (bad(relevant=[{"path": "a", "lines": [0, 0]}]), r"lines of a target are \[0, 0\]"),
        (bad(relevant=[{"path": "a", "lines": [1.0, 2]}]), "target 'a' has lines 1.0 to 2"),
        (bad(relevant=[{"path": "a", "lines": [True, 2]}]), "target 'a' has lines True to 2"),
        (bad(relevant=[{"path": "a", "lines": [1]}]), r"lines of a target are \[1\]; give \[first, last\]"),
        (bad(relevant=[{"path": "a", "lines": "1-2"}]), "lines of a target are '1-2'"),
        (bad(relevant=[{"path": "a", "lines": None}]), "lines of a target are None"),
        (bad(relevant=[{"id": "a", "grade": "2"}]), "grade of 'a' is '2'; give a finite number"),
        (bad(relevant=[{"id": "a", "grade": True}]), "grade of 'a' is True"),
        (bad(relevant={"a": None}), "grade of 'a' is None"),
        (bad(relevant=["a:1-2", {"path": "a", "lines": [1, 2]}]), "'a:1-2' stands twice"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_inconsistent_case_is_refused_by_file_line_and_id(
    write: Write, record: dict[str, Any], message: str
) -> None:
    path = write(GAP, record)
    with pytest.raises(InvalidValueError, match=message) as caught:
        load_cases(path)
    assert str(caught.value).startswith(f"{path}:2: case ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "stands where a case, an object, is expected"),
        ("null", "None stands where a case"),
        ("{", "not valid JSON"),
        ('{"id": "a", "id": "b"}', "not valid JSON: key 'id' stands twice in one object"),
        ('{"id": "a", "query": "x", "relevant": {"d": NaN}}', "NaN is no JSON number"),
        ('{"id": "a", "query": "x", "relevant": {"d": 1e999}}', "grade of 'd' is inf"),
        ("[" * 100_000, "nested too deeply"),
    ],
    ids=lambda value: value[:20],
)
def test_a_line_that_is_no_case_is_refused_by_its_place(write: Write, text: str, message: str) -> None:
    path = write(GAP, text)
    with pytest.raises(InvalidValueError, match=message) as caught:
        load_cases(path)
    assert str(caught.value).startswith(f"{path}:2: ")


def test_an_id_that_stands_twice_is_refused_with_both_places(write: Write) -> None:
    path = write(GAP, bad(), bad(query="y"))
    with pytest.raises(DuplicateIdError, match="case 'q7': the id stands for another case too") as caught:
        load_cases(path)
    assert f"{path}:3" in str(caught.value)
    assert f"{path}:2" in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, write: Write) -> None:
    with pytest.raises(InvalidValueError, match="there is no file"):
        load_cases(tmp_path / "none.jsonl")
    with pytest.raises(InvalidValueError, match="holds no case"):
        load_cases(write(""))
    with pytest.raises(InvalidValueError, match="holds no case"):
        load_cases(write("[]", name="cases.json"))
    with pytest.raises(InvalidValueError, match="give a list of cases"):
        load_cases(write('{"q1": {}}', name="cases.json"))
    with pytest.raises(InvalidValueError, match=r"ends in \.jsonl or \.json, not in '.csv'"):
        load_cases(write("", name="cases.csv"))
    (tmp_path / "latin.jsonl").write_bytes(b'{}\n{"id": "\xe4"}')
    with pytest.raises(InvalidValueError, match=r"latin.jsonl:2: not UTF-8"):
        load_cases(tmp_path / "latin.jsonl")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InvalidValueError, match="cannot read"):
        load_cases(tmp_path / "folder.json")
    with pytest.raises(InvalidValueError, match="is no case file"):
        load_cases(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="cannot read"):
        load_cases("nul\0.json")


def test_a_byte_order_mark_and_odd_line_ends_do_no_harm(tmp_path: Path) -> None:
    lines = [json.dumps(bad(query="a\u2028b"), ensure_ascii=False), json.dumps(GAP)]
    path = tmp_path / "cases.jsonl"
    path.write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    assert [case.query for case in load_cases(path)] == ["a\u2028b", "who wrote it"]


# In Python


def test_a_case_takes_ids_targets_and_grades() -> None:
    assert Case("q", "x", ["a", Target(path="b")]).relevant == {Target("a"): 1, Target(path="b"): 1}
    assert Case("q", "x", {"a": 2, Target(path="b"): 1}).relevant == {Target("a"): 2, Target(path="b"): 1}
    # EV-02: repeated ids count once.
    assert Case("q", "x", ["a", "a"]).relevant == {Target("a"): 1}


@pytest.mark.parametrize(
    "relevant", ["a", Target("a"), None, [3], [["a"]], [{}], {3: 1}, {"a": 1, Target("a"): 2}]
)
def test_other_relevant_things_are_refused(relevant: Any) -> None:
    with pytest.raises(InvalidValueError, match="case 'q': "):
        Case("q", "x", relevant)


def test_a_case_is_a_frozen_value() -> None:
    case = Case("q", "x", {"a": 1}, metadata={"tags": ["y"]}, where="f:1")
    assert case == Case("q", "x", ["a"], metadata={"tags": ["y"]}, where="f:2")
    assert hash(case) == hash(Case("q", "x", ["a"]))
    assert case != Case("q", "x", {"a": 2})
    with pytest.raises(AttributeError):
        case.id = "r"  # type: ignore[misc]
    with pytest.raises(TypeError):
        case.relevant[Target("b")] = 1  # type: ignore[index]


def test_a_case_can_be_changed_pickled_and_copied() -> None:
    case = Case("q", "x", {"a": 1, Target(path="b"): 2}, category="c", metadata={"tags": ["y"]}, where="f:1")
    assert pickle.loads(pickle.dumps(case)) == copy.deepcopy(case) == case  # noqa: S301
    assert replace(case, id="r") == Case("r", "x", case.relevant, category="c", metadata=case.metadata)


# Against the corpus

DOCUMENTS = [
    Document("src/a.py:1-9", "x", path="src/a.py", start_line=1, end_line=9),
    Document("src/a.py:10-20", "x", path="src/a.py", start_line=10, end_line=20),
    Document("note-1", "x"),
    Document("readme", "x", path="README.md"),
]


def test_known_targets_pass() -> None:
    targets: list[str | Target] = [
        "note-1",
        "src/a.py:1-9",
        Target(path="src/a.py"),
        Target(path="src/a.py", start_line=20, end_line=25),
        Target(path="README.md", start_line=400, end_line=401),
    ]
    check_cases([Case("q", "x", targets), Case("g", "y", expected="disclose_gap", gap_id="n")], DOCUMENTS)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("note-2", "case 'q': no document has the id 'note-2'; did you mean 'note-1'"),
        ("zzz", "case 'q': no document has the id 'zzz'$"),
        ("src/a.py", """no document has the id 'src/a.py'; for the file write {"path": 'src/a.py'}"""),
        ("src/a.py:3-4", """'src/a.py:3-4'; chunks move: write {"path": 'src/a.py', "lines": \\[3, 4\\]}"""),
        ("src/a.py:x-4", "no document has the id 'src/a.py:x-4'; did you mean 'src/a.py:1"),
        (Target(path="src/b.py"), "no document has the path 'src/b.py'; did you mean 'src/a.py'"),
        (Target(path="src"), "no document has the path 'src'"),
        (
            Target(path="src/a.py", start_line=21, end_line=22),
            "case 'q': src/a.py:21-22 begins behind line 20, where its file ends",
        ),
    ],
)
def test_an_unknown_target_is_refused_with_the_nearest(target: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        check_cases([Case("q", "x", [target])], DOCUMENTS)


def test_all_unknown_targets_are_listed_up_to_ten() -> None:
    cases = [Case(f"q{place}", "x", [f"note-{place + 2}"], where=f"f:{place}") for place in range(12)]
    with pytest.raises(InvalidValueError, match="did you mean") as caught:
        check_cases(cases, DOCUMENTS)
    lines = str(caught.value).splitlines()
    assert [line.split(": no ")[0] for line in lines[:10]] == [f"f:{n}: case 'q{n}'" for n in range(10)]
    assert lines[10:] == ["and 2 more"]


def test_cases_of_one_id_are_refused() -> None:
    with pytest.raises(DuplicateIdError, match="case 'q': the id stands for another case too"):
        check_cases([Case("q", "x", ["note-1"]), Case("q", "y", ["note-1"])], DOCUMENTS)
