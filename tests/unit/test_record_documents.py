"""Records as documents: what is read, and what is refused by its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hybridrank import InvalidValueError
from hybridrank.evaluation.records import load_records
from hybridrank.records import read_records


def test_records_become_documents(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    record = {
        "metadata": {"rule": {"id": "r1"}},
        "body": "文字",
        "path": "a.md",
        "start_line": 1,
        "end_line": 2,
        "x": 1,
    }
    path.write_text(
        json.dumps(record) + "\n\n" + json.dumps({**record, "metadata": {"rule": {"id": 7}}}), "utf-8"
    )
    (one, two) = load_records(path, id_field="metadata.rule.id", text_field="body").documents
    assert (one.id, one.text, one.path, one.end_line, one.kind) == ("r1", "文字", "a.md", 2, "record")
    assert dict(one.metadata) == {"x": 1}
    assert two.id == "7"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a"}', "there is no field 'text'"),
        ('{"Id": "a", "text": ""}', "there is no field 'id' .id_field.; the record has Id, text"),
        ('{"id": true, "text": ""}', r"r.jsonl:1: its id \(id\) is True"),
        ('{"id": "", "text": ""}', r"its id \(id\) is ''"),
        ('{"id": "a", "text": 1}', r"its text \(text\) is 1"),
        ('{"id": "a", "text": "", "path": 1}', "r.jsonl:1: path is 1; give str"),
        ('{"id": "a", "text": "", "start_line": 1}', "r.jsonl:1: of start_line and end_line there is one"),
        ('{"id": "a", "text": "", "start_line": 3, "end_line": 2}', "r.jsonl:1: .* has lines 3-2"),
        ('{"id": "a", "text": "", "metadata": 1}', "r.jsonl:1: metadata is 1; give an object"),
        (
            '{"id": "a", "text": "", "x": 1, "metadata": {"x": 2}}',
            "'x' stands in it and in its metadata",
        ),
        ('{"id": "a", "text": ""}\n{"id": "a", "text": ""}', "r.jsonl:2: id 'a' stands already at"),
        ("[1]", "a record, an object, is expected"),
        ("", "holds no record"),
    ],
)
def test_records_that_are_none(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(content, "utf-8")
    with pytest.raises(InvalidValueError, match=message):
        load_records(path)


def test_a_record_is_the_same_document_to_the_index_and_to_an_evaluation(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    records: list[dict[str, object]] = [
        {
            "id": 1,
            "text": "a",
            "path": "a.py",
            "language": "python",
            "start_line": 1,
            "end_line": 2,
            "n": None,
        },
        {"id": "b", "text": "b", "kind": "section", "name": "B", "metadata": {"page": 3}, "path": None},
        {"id": "c", "text": "c", "tags": ["x"], "qualified_name": "m.c"},
    ]
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    documents = load_records(path).documents
    assert tuple(read_records(path)) == documents
    assert [document.path for document in documents] == ["a.py", "", ""]
    assert [dict(document.metadata) for document in documents] == [
        {"n": None},
        {"page": 3, "path": None},
        {"tags": ["x"]},
    ]
