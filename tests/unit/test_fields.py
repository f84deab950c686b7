"""Which fields of a document are searched."""

from __future__ import annotations

from typing import Any

import pytest

from hybridrank import Document, InvalidValueError
from hybridrank.text.fields import FIELDS, check_fields, searchable_text

document = Document(
    "a.py:1-2",
    "def send(): ...\n",
    path="src/a.py",
    start_line=1,
    end_line=2,
    kind="method",
    name="send",
    qualified_name="Client.send",
    language="python",
)


def test_fields_are_joined_by_lines_in_the_given_order() -> None:
    assert searchable_text(document, ("text",)) == document.text
    assert (
        searchable_text(document, ("path", "qualified_name", "text"))
        == "src/a.py\nClient.send\ndef send(): ...\n"
    )
    assert searchable_text(document, ["text", "path"]) == "def send(): ...\n\nsrc/a.py"
    assert searchable_text(document, FIELDS).splitlines() == [
        "def send(): ...",
        "",
        "src/a.py",
        "send",
        "Client.send",
        "method",
        "python",
    ]


def test_empty_fields_are_left_out() -> None:
    bare = Document("1", "text")
    assert searchable_text(bare, ("path", "text", "kind")) == "text"
    assert searchable_text(bare, ("path", "kind")) == ""
    assert searchable_text(Document("1", ""), ("text",)) == ""


def test_checked_fields_are_a_tuple() -> None:
    assert check_fields(["path", "text"]) == check_fields(("path", "text")) == ("path", "text")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("text", r"fields is 'text'; give a list such as \['text'\]"),
        (None, "fields is None"),
        (3, "fields is 3"),
        ({"text"}, "fields is {'text'}"),
        ([], "fields is empty"),
        (["text", "title"], "fields names 'title'; give some of: text, path, name"),
        (["id"], "fields names 'id'"),
        ([None], "fields names None"),
        ([["text"]], r"fields names \['text'\]"),
        (["text", "path", "text"], "names one twice"),
    ],
)
def test_bad_fields_are_errors(fields: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        check_fields(fields)
