"""Records from JSON lines: what becomes a document, and what is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hybridrank import Document, InvalidValueError
from hybridrank.records import BadLine, read_records


def read(
    tmp_path: Path, content: str | bytes, id: str = "id", text: str = "text"
) -> list[Document | BadLine]:
    file = tmp_path / "records.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return list(read_records(file, id_field=id, text_field=text))


def test_a_line_is_a_document_and_the_rest_is_metadata(tmp_path: Path) -> None:
    (found,) = read(
        tmp_path, '{"id": "a", "text": "alpha 血糖", "n": 1, "tags": ["x", null, 1.5], "deep": {"b": true}}'
    )
    assert found == Document(
        "a", "alpha 血糖", kind="record", metadata={"n": 1, "tags": ["x", None, 1.5], "deep": {"b": True}}
    )


def test_fields_in_nested_objects(tmp_path: Path) -> None:
    line = '{"meta": {"key": {"id": 7}, "year": 2}, "body": {"text": "t"}}'
    (found,) = read(tmp_path, line, "meta.key.id", "body.text")
    assert found == Document("7", "t", kind="record", metadata={"meta": {"year": 2}})


def test_fields_of_documents_are_those_of_the_record(tmp_path: Path) -> None:
    line = (
        '{"id": "a", "text": "t", "path": "p.md", "language": "gdscript", "kind": "section", "name": "n", '
        '"qualified_name": "m.n", "start_line": 3, "end_line": 4, "metadata": {"page": 1}, "x": 2}'
    )
    (found,) = read(tmp_path, line)
    assert found == Document(
        "a", "t", "p.md", 3, 4, "section", "n", "m.n", "gdscript", metadata={"page": 1, "x": 2}
    )


def test_what_is_no_field_by_its_type_stays_among_the_metadata(tmp_path: Path) -> None:
    rest = '"path": ["a", "b"], "name": null, "kind": 3, "start_line": "1", "end_line": 2, "metadata": "none"'
    (found,) = read(tmp_path, f'{{"id": "a", "text": "t", {rest}}}')
    assert isinstance(found, Document)
    assert (found.path, found.name, found.kind, found.start_line, found.end_line) == ("", "", "record", 0, 0)
    assert dict(found.metadata) == {
        "path": ["a", "b"],
        "name": None,
        "kind": 3,
        "start_line": "1",
        "end_line": 2,
        "metadata": "none",
    }


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('{"a.b": "x", "a": {"b": "y"}, "text": ""}', "a.b"),
        ('{"a.b": {"c": "x"}, "text": ""}', "a.b.c"),
        ('{"a": {"b.c": "x"}, "text": ""}', "a.b.c"),
    ],
)
def test_a_name_with_dots_wins(tmp_path: Path, line: str, field: str) -> None:
    (found,) = read(tmp_path, line, field)
    assert isinstance(found, Document)
    assert found.id == "x"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no json", "it is no JSON: Expecting value at character 1"),
        ('{"id": "a", "text": "cut', "it is no JSON"),
        ("[1, 2]", "it is no object but list"),
        ("null", "it is no object but NoneType"),
        ('{"text": "t"}', "it has no field 'id'"),
        ('{"id": "a"}', "it has no field 'text'"),
        ('{"id": "", "text": "t"}', r"its id \(id\) is ''"),
        ('{"id": null, "text": "t"}', r"its id \(id\) is None"),
        ('{"id": true, "text": "t"}', r"its id \(id\) is True"),
        ('{"id": 1.5, "text": "t"}', r"its id \(id\) is 1.5"),
        ('{"id": "a", "text": 3}', r"its text \(text\) is 3"),
        ('{"id": "a", "text": null}', r"its text \(text\) is None"),
        ('{"id": "a", "text": "t", "start_line": 3, "end_line": 2}', "has lines 3-2"),
        ('{"id": "a", "text": "t", "n": 1, "metadata": {"n": 2}}', "'n' stands in it and in its metadata"),
        ('{"id": "a", "id": "b", "text": "t"}', "its key 'id' stands twice in one object"),
        ('{"id": "a", "text": "t", "n": NaN}', "it holds NaN, which is no JSON"),
        ('{"id": "a", "text": "t", "n": -Infinity}', "it holds -Infinity"),
        ("[" * 100_000, "nested too deeply|no JSON"),
        (b'{"id": "a", "text": "\xff"}', "it is not UTF-8: invalid start byte at byte 22"),
        ('{"id": 1' + "0" * 5000 + ', "text": ""}', "[Ee]xceeds the limit"),
    ],
)
def test_a_bad_line_is_reported_and_the_others_are_read(
    tmp_path: Path, line: str | bytes, reason: str
) -> None:
    import re

    content = line if isinstance(line, bytes) else line.encode()
    before, bad, after = read(tmp_path, b'{"id": 1, "text": "x"}\n' + content + b'\n{"id": 2, "text": "y"}')
    assert isinstance(before, Document)
    assert isinstance(after, Document)
    assert (before.id, after.id) == ("1", "2")
    assert isinstance(bad, BadLine)
    assert bad.line == 2
    assert re.search(reason, bad.reason)


def test_the_first_of_two_records_of_one_id_counts(tmp_path: Path) -> None:
    first, second, third = read(
        tmp_path, '{"id": 1, "text": "a"}\n\n{"id": "1", "text": "b"}\n{"id": "2", "text": "c"}'
    )
    assert isinstance(first, Document)
    assert (first.text, second) == ("a", BadLine(3, "its id '1' is that of line 1"))
    assert isinstance(third, Document)


def test_marks_line_ends_and_blank_lines(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbf{"id": "a", "text": "x\\u2028y"}\r\n   \r\n\n{"id": "b", "text": ""}'
    assert [item.id for item in read(tmp_path, content) if isinstance(item, Document)] == ["a", "b"]
    assert read(tmp_path, b"") == []


def test_lone_surrogates_may_be_escaped(tmp_path: Path) -> None:
    (found,) = read(tmp_path, '{"id": "\\ud800", "text": "\\udfff"}')
    assert isinstance(found, Document)
    assert (found.id, found.text) == ("\ud800", "\udfff")


@pytest.mark.parametrize(("id", "text"), [("", "text"), ("id", "."), ("x", "x")])
def test_names_of_fields_are_checked(tmp_path: Path, id: str, text: str) -> None:
    with pytest.raises(InvalidValueError, match="_field"):
        read(tmp_path, "{}", id, text)


@pytest.mark.parametrize("place", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read(tmp_path: Path, place: str) -> None:
    with pytest.raises(InvalidValueError, match="cannot read"):
        list(read_records(tmp_path / place, id_field="id", text_field="text"))


def test_one_bad_line_among_many_never_stops_the_file(tmp_path: Path) -> None:
    lines: list[Any] = [f'{{"id": {number}, "text": "t"}}' for number in range(100)]
    lines[50] = "bad"
    found = read(tmp_path, "\n".join(lines))
    assert [isinstance(item, BadLine) for item in found].count(True) == 1
    assert len(found) == 100


def test_a_nested_field_that_is_not_there_is_named_whole(tmp_path: Path) -> None:
    found = read(tmp_path, '{"rec": {"x": 1}, "text": "t"}\n{"rec": 3, "text": "t"}\n', id="rec.id")
    assert [line.reason for line in found if isinstance(line, BadLine)] == ["it has no field 'rec.id'"] * 2
