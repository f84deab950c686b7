"""The line chunker, and what lines, ids and limits are."""

from __future__ import annotations

from typing import Any

import pytest

from hybridrank.code.lines import LineChunker
from hybridrank.code.spans import chunk_id, cut_line, split_lines
from hybridrank.errors import InvalidValueError
from hybridrank.types import Document, SourceFile


def spans(text: str, **options: Any) -> list[tuple[int, int]]:
    return [(d.start_line, d.end_line) for d in LineChunker(**options).chunk(SourceFile("a.txt", text))]


def test_a_short_file_is_one_document() -> None:
    (document,) = LineChunker().chunk(SourceFile("docs/a.md", "\n# Title\n\ntext\n\n"))
    assert document == Document(
        id="docs/a.md:2-4",
        text="# Title\n\ntext",
        path="docs/a.md",
        start_line=2,
        end_line=4,
        kind="lines",
        language="markdown",
        metadata={"parser": "lines"},
    )


def test_blank_lines_are_preferred_for_a_cut() -> None:
    text = "a\nb\nc\n\nd\ne\n\nf\ng\nh\n"
    assert spans(text, max_lines=6) == [(1, 3), (5, 10)]
    assert spans(text, max_lines=4) == [(1, 3), (5, 6), (8, 10)]


def test_without_blank_lines_the_pieces_are_even() -> None:
    assert spans("x\n" * 10, max_lines=8) == [(1, 5), (6, 10)]
    assert spans("x\n" * 9, max_chars=5) == [(1, 3), (4, 6), (7, 9)]


def test_no_piece_is_tiny_for_the_sake_of_a_blank_line() -> None:
    assert spans("a\n\n" + "b\n" * 20, max_lines=12) == [(1, 11), (12, 22)]


# CH-12
def test_both_limits_change_the_documents() -> None:
    text = "some words in a line\n" * 200
    assert len(spans(text, max_lines=10)) == 20
    assert len(spans(text, max_lines=1000, max_chars=10_000)) == 1
    assert len(spans(text, max_lines=1000, max_chars=500)) > len(spans(text, max_lines=1000)) > 1


# CH-13
@pytest.mark.parametrize("option", ["max_lines", "max_chars"])
@pytest.mark.parametrize("limit", [0, -5, False, 2.0, "3", None])
def test_a_limit_that_is_no_positive_int_is_refused(option: str, limit: Any) -> None:
    with pytest.raises(InvalidValueError, match=f"{option} is {limit!r}"):
        LineChunker(**{option: limit})


# CH-11
def test_a_long_line_is_cut_after_white_space_within_the_limit() -> None:
    line = "word " * 100
    documents = LineChunker(max_chars=60).chunk(SourceFile("a.txt", f"short\n{line}\nlast\n"))
    pieces = documents[1:-1]
    assert {(d.start_line, d.end_line) for d in pieces} == {(2, 2)}
    assert "".join(d.text for d in pieces) == line
    assert all(len(d.text) <= 60 and d.text.endswith(" ") for d in pieces)
    assert [d.id for d in pieces[:3]] == ["a.txt:2-2", "a.txt:2-2.2", "a.txt:2-2.3"]


def test_a_line_without_white_space_is_cut_all_the_same() -> None:
    assert list(cut_line("abcdefg", 3)) == ["abc", "def", "g"]
    assert list(cut_line("ab" + " " * 9, 3)) == ["ab "]


def test_blank_files_have_no_documents() -> None:
    assert spans("") == spans("\n \r\n\t\r\x0c") == []


def test_lines_end_where_editors_end_them() -> None:
    text = "a\nb\r\nc\rd\x0be\x0cf\x1cg\x85h\u2028i\u2029j\n\r\nk"
    assert split_lines(text) == ["a\n", "b\r\n", "c\r", "d\x0be\x0cf\x1cg\x85h\u2028i\u2029j\n", "\r\n", "k"]


def test_line_ends_inside_a_document_stand_as_they_are() -> None:
    (document,) = LineChunker().chunk(SourceFile("a.txt", "a\r\nb\rc\nd\r\n"))
    assert (document.text, document.end_line) == ("a\r\nb\rc\nd", 4)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", "src/a.py:1-2"),
        ("文件/café.py", "文件/café.py:1-2"),
        ("my file.py", "my%20file.py:1-2"),
        ("100%.py", "100%25.py:1-2"),
        ("a:1-1.py", "a:1-1.py:1-2"),
        ("tab\there\n.py", "tab%09here%0A.py:1-2"),
        ("wide\u3000space.py", "wide%E3%80%80space.py:1-2"),
        ("right\u202eleft.py", "right%E2%80%AEleft.py:1-2"),
        ("bad\udce9.py", "bad%E9.py:1-2"),
        ("lone\ud800.py", "lone%ED%A0%80.py:1-2"),
        ("", ":1-2"),
    ],
)
def test_an_id_is_one_printable_word(path: str, expected: str) -> None:
    assert chunk_id(path, 1, 2) == expected


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(LineChunker()) == "LineChunker()"
    assert repr(LineChunker(max_lines=10, max_chars=99)) == "LineChunker(max_lines=10, max_chars=99)"
