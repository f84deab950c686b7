"""Records as documents: what is read, and what is refused by its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hybridrank import InvalidValueError
from hybridrank.evaluation.records import load_records


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
    assert dict(one.metadata) == {"x": 1, "rule": {"id": "r1"}}
    assert two.id == "7"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a"}', "there is no field 'text'"),
        ('{"Id": "a", "text": ""}', "there is no field 'id' .id_field.; the record has Id, text"),
        ('{"id": true, "text": ""}', "r.jsonl:1: document id is True"),
        ('{"id": "", "text": ""}', "document id is ''"),
        ('{"id": "a", "text": 1}', "text of document 'a' is int"),
        ('{"id": "a", "text": "", "path": 1}', "r.jsonl:1"),
        (
            '{"id": "a", "text": "", "x": 1, "metadata": {"x": 2}}',
            "'x' stands in the record and in its metadata",
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
