"""What an answer cites, and whether it stands in the context."""

from __future__ import annotations

from time import perf_counter
from typing import Literal
from unicodedata import normalize

import pytest

from hybridrank.guardrails.citations import Citation, Shown, check_citations

BLOCKS = [
    Shown("src/client.py:10-20", "src/client.py", 10, 20),
    Shown("src/client.py:21-30", "src/client.py", 21, 30),
    Shown("src/client.py:50-60", "src/client.py", 50, 60),
    Shown("my docs/read me (1).md:1-5", "my docs/read me (1).md", 1, 5),
]


def places(answer: str, blocks: list[Shown] = BLOCKS) -> list[tuple[str, int, int]]:
    found = check_citations(answer, blocks)
    assert [one.problem for one in found] == [""] * len(found)
    return [(one.path, one.start_line, one.end_line) for one in found]


@pytest.mark.parametrize(
    "written",
    [
        "[src/client.py:12-14]",
        "`src/client.py:12-14`",
        "(src/client.py:12–14).",
        "see src/client.py:12-14, which",
        "src/client.py:L12-L14",
        "src/client.py#L12-L14",
        "src/client.py, lines 12-14",
        "src/client.py (lines 12 to 14)",
        "src/client.py lines 12 - 14",
        "src/client.py 第 12 至 14 行",
        "見src/client.py:12-14。",
        "### src/client.py:12-14 (method f)",
        "`src/client.py` lines 12-14",
        "**src/client.py**:12-14",
        "`src/client.py`: lines 12-14",
        "[src/client.py:lines 12-14]",
        "[src/client.py: 12-14]",
        "src/client.py:12-14, 3 functions of it",
        "src/client.py:12-14 and 2 more files",
        "src/client.py:12-14, in 2 ways",
    ],
)
def test_ways_to_cite(written: str) -> None:
    assert places(written) == [("src/client.py", 12, 14)]


def test_one_line_and_several_places() -> None:
    assert places("It is src/client.py:10 and src/client.py:55-60; src/client.py:10 again.") == [
        ("src/client.py", 10, 10),
        ("src/client.py", 55, 60),
    ]


@pytest.mark.parametrize(
    "written",
    [
        "[src/client.py:12-14, 99]",
        "[src/client.py:12-14; L99]",
        "src/client.py, lines 12-14 and 99.",
        "(src/client.py:12-14,99)",
    ],
)
def test_further_lines_of_a_file_are_checked_too(written: str) -> None:
    good, bad = check_citations(written, BLOCKS)
    assert (good.start_line, good.end_line, good.problem) == (12, 14, "")
    assert (bad.text, bad.path, bad.start_line, bad.end_line) == ("src/client.py:99", "src/client.py", 99, 99)
    assert bad.problem


@pytest.mark.parametrize("path", ["cafe\u0301.py", "src/\ufb01le.py", "報告（１）.md"])
@pytest.mark.parametrize("form", ["NFC", "NFKC", "NFD"])
def test_forms_of_the_same_characters_are_one_path(path: str, form: Literal["NFC", "NFKC", "NFD"]) -> None:
    blocks = [Shown(f"{path}:1-2", path, 1, 2)]
    assert places(f"see [{normalize(form, path)}:1-2]", blocks) == [(path, 1, 2)]


def test_three_places_in_one_bracket() -> None:
    assert places("[src/client.py:10, 12-13, and 55]") == [
        ("src/client.py", 10, 10),
        ("src/client.py", 12, 13),
        ("src/client.py", 55, 55),
    ]


def test_a_file_in_brackets_that_is_not_there_is_flagged() -> None:
    (found,) = check_citations("It is in [src/ghost.py], not in [src/client.py] nor [tokens.remove].", BLOCKS)
    assert (found.path, found.problem) == ("src/ghost.py", "the context has no such file")


def test_lines_may_run_over_neighbouring_blocks() -> None:
    assert places("src/client.py:15-25") == [("src/client.py", 15, 25)]


def test_paths_with_blanks_and_brackets() -> None:
    assert places("as [my docs/read me (1).md:2-3] says") == [("my docs/read me (1).md", 2, 3)]


@pytest.mark.parametrize(
    "written", ["client.py:12", "./src/client.py:12", "repo/src/client.py:12", "src\\client.py:12"]
)
def test_a_file_that_only_one_end_fits_is_meant(written: str) -> None:
    assert places(written) == [("src/client.py", 12, 12)]


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("src/server.py:1-3", "the context has no such file"),
        ("lient.py:12", "the context has no such file"),
        ("xsrc/client.py:12", "the context has no such file"),
        ("src/client.py:1-3", "the context has lines 10-20, 21-30, 50-60 of it"),
        ("src/client.py:25-55", "the context has lines 10-20, 21-30, 50-60 of it"),
        ("src/client.py:60-61", "the context has lines 10-20, 21-30, 50-60 of it"),
        ("src/client.py:14-12", "no such lines"),
        ("src/client.py:0", "no such lines"),
        ("src/client.py:10000000000", "the context has lines 10-20, 21-30, 50-60 of it"),
    ],
)
def test_what_does_not_point_into_the_context_is_flagged(written: str, problem: str) -> None:
    (found,) = check_citations(f"It is in {written}.", BLOCKS)
    assert found.problem == problem


def test_an_end_that_two_files_have_is_flagged() -> None:
    blocks = [Shown("a/x.py:1-2", "a/x.py", 1, 2), Shown("b/x.py:1-2", "b/x.py", 1, 2)]
    (found,) = check_citations("x.py:1", blocks)
    assert found.problem == "the context has no such file"
    assert places("b/x.py:1", blocks) == [("b/x.py", 1, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "at 12:30",
        "http://example.com:8080/x",
        "std::vector:3",
        "ratio 3:4",
        "a[0]",
        "localhost:8080",
        "lines 3-4",
    ],
)
def test_what_is_no_citation(text: str) -> None:
    assert check_citations(text, BLOCKS) == ()


def test_documents_without_lines_are_cited_by_label() -> None:
    blocks = [Shown("first_2d_game/coding", "", 0, 0), Shown("notes.txt", "notes.txt", 0, 0)]
    found = check_citations(
        "As [first_2d_game/coding] says, and [first_3d_game/x]; items[i], [a link](x).", blocks
    )
    assert found == (
        Citation("[first_2d_game/coding]", "first_2d_game/coding"),
        Citation("[first_3d_game/x]", "first_3d_game/x", problem="the context has no such document"),
    )
    (lines,) = check_citations("notes.txt:3", blocks)
    assert lines.problem == "the context has it without lines"


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a/",
        "a.b:",
        "src/client.py:1",
        "[",
        "a.py, lines 1 - ",
        "line 1 of a.py ",
        "lines 1-2 of ",
        " L1",
        "-" * 3,
    ],
)
def test_time_is_linear(unit: str) -> None:
    started = perf_counter()
    check_citations(unit * (60_000 // len(unit)), BLOCKS)
    assert perf_counter() - started < 5


@pytest.mark.parametrize(
    "unit", ["line 1 of a.py [", "line 1 of a.py \n", "+1", "+a", "a.py:1 [b] ", "a.py:1, "]
)
def test_eight_times_the_answer_takes_not_thirty_times_as_long(unit: str) -> None:
    seconds = []
    for size in (20_000, 160_000):
        times = []
        for _ in range(2):
            started = perf_counter()
            check_citations(unit * (size // len(unit)), BLOCKS)
            times.append(perf_counter() - started)
        seconds.append(max(min(times), 0.004))
    assert seconds[1] < 30 * seconds[0], seconds


def test_an_id_that_looks_like_a_place_is_checked() -> None:
    blocks = [Shown("note#1", "", 0, 0)]
    assert [one.problem for one in check_citations("[note#1], [note#2]", blocks)] == [
        "",
        "the context has no such document",
    ]


FURTHER = [Shown("src/a.py:10-20", "src/a.py", 10, 20), Shown("src/[id]/p.tsx:1-9", "src/[id]/p.tsx", 1, 9)]


@pytest.mark.parametrize(
    "form",
    [
        "src/a.py (L{})",
        "src/a.py L{}",
        "`src/a.py` (L{}-L{})",
        "[src/a.py {}]",
        "[src/a.py, {}-{}]",
        "src/a.py:{}..{}",
        "src/a.py:{}…{}",
        "lines {}-{} of src/a.py.",
        "line {} in `src/a.py`",
        "Lines {} to {} of the file src/a.py, where",
        "src/a.py 的第 {} 行",
    ],
)
def test_lines_in_other_words_are_checked(form: str) -> None:
    (good,) = check_citations(form.format(12, 12), FURTHER)
    assert (good.path, good.start_line, good.end_line, good.problem) == ("src/a.py", 12, 12, "")
    (bad,) = check_citations(form.format(99, 99), FURTHER)
    assert bad.problem == "the context has lines 10-20 of it"
    (gone,) = check_citations(form.format(99, 99).replace("a.py", "b.py"), FURTHER)
    assert gone.problem == "the context has no such file"


@pytest.mark.parametrize(
    "text",
    [
        "a.py 3 times",
        "in line 3 of the poem",
        "see a.py, 12 of them",
        "lines 3 in all",
        "python3.11 L",
        "line 3 of a poem.",
    ],
)
def test_other_numbers_are_no_lines(text: str) -> None:
    assert check_citations(text, FURTHER) == ()


def test_a_part_of_a_path_in_brackets_and_a_footnote_are_no_citations_of_their_own() -> None:
    blocks = [*FURTHER, Shown("rec-1", "", 0, 0)]
    (one,) = check_citations("It is in src/[id]/p.tsx:3", blocks)
    assert (one.path, one.problem) == ("src/[id]/p.tsx", "")
    assert check_citations("so[^1]\n\n[^1]: a note", blocks) == ()
