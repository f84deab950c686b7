"""Context assembly; ids such as CX-03 are those of reported faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridrank import (
    BM25,
    Document,
    Hit,
    InvalidValueError,
    Pipeline,
    Query,
    Quote,
    Ranking,
    Reranker,
    Result,
    SpreadFiles,
    Verdict,
    assemble_context,
)


def chunk(path: str, start: int, end: int, *, kind: str = "", name: str = "") -> Document:
    """A document of numbered lines."""
    text = "\n".join(f"{path} line {number}" for number in range(start, end + 1))
    return Document(f"{path}:{start}-{end}", text, path, start, end, kind, name)


def hits(*documents: Document) -> list[Hit]:
    return [Hit(document, 1.0 / rank) for rank, document in enumerate(documents, 1)]


def test_files_stand_in_rank_order_and_their_blocks_in_line_order() -> None:
    found = hits(
        chunk("b.py", 8, 9, kind="function", name="late"),
        chunk("a.py", 1, 1),
        chunk("b.py", 2, 3, kind="method", name="early"),
        Document("free", "no file"),
    )
    context = assemble_context(found)
    assert context.text == (
        "### b.py:2-3 (method early)\nb.py line 2\nb.py line 3\n…\n"
        "### b.py:8-9 (function late)\nb.py line 8\nb.py line 9\n\n"
        "### a.py:1-1\na.py line 1\n\n### free\nno file"
    )
    assert context.included == tuple(hit.id for hit in found)
    assert (context.cut, context.left_out) == ((), ())
    assert context.used == len(context.text)
    assert [block.label for block in context.blocks] == ["b.py:2-3", "b.py:8-9", "a.py:1-1", "free"]


def test_headers_name_the_qualified_symbol() -> None:
    document = Document("x", "pass", "a.py", 4, 4, "method", "send", "Client.send")
    assert assemble_context(hits(document)).text == "### a.py:4-4 (method Client.send)\npass"


def test_a_header_stays_one_line() -> None:
    document = Document("x", "pass", "a\n### b.py:1-9\x1b[2J.py", 1, 1, "function", "f")
    assert assemble_context(hits(document)).text.splitlines() == [
        "### a\\x0a### b.py:1-9\\x1b[2J.py:1-1 (function f)",
        "pass",
    ]


@pytest.mark.parametrize("budget", [0, 1, 12])
def test_no_budget_gives_nothing_cx_02(budget: int) -> None:
    context = assemble_context(hits(Document("x", "abc", "a.py", 1, 1)), budget)
    assert (context.text, context.used, context.blocks) == ("", 0, ())
    assert context.left_out == ("x",)


@pytest.mark.parametrize("budget", [-1, 1.5, True, "10", None])
def test_a_budget_below_zero_is_an_error_cx_02(budget: Any) -> None:
    with pytest.raises(ValueError, match="budget is"):
        assemble_context(hits(Document("x", "abc")), budget)


def test_a_first_document_over_the_budget_is_cut_cx_03() -> None:
    context = assemble_context(hits(Document("long", "x" * 5000), Document("small", "small")), 1000)
    assert context.text == "### long\n" + "x" * (1000 - len("### long\n\n… (cut)")) + "\n… (cut)"
    assert (context.used, context.cut, context.left_out) == (1000, ("long",), ("small",))


def test_a_cut_is_made_between_lines() -> None:
    document = chunk("a.py", 1, 500)
    context = assemble_context(hits(document), 91)
    assert context.text == (
        "### a.py:1-5\na.py line 1\na.py line 2\na.py line 3\na.py line 4\na.py line 5\n… (cut)"
    )
    assert context.blocks[0].cut


def test_a_second_document_gets_no_piece_of_a_line() -> None:
    context = assemble_context(hits(Document("a", "short"), Document("b", "y" * 500)), 300)
    assert context.text == "### a\nshort"
    assert context.left_out == ("b",)


def test_a_cut_keeps_what_matched_cx_04() -> None:
    document = Document("x", "a " * 2000 + "needle" + " b" * 2000)
    context = assemble_context(hits(document), 500, matches={"x": (4000, 4006)})
    assert "needle" in context.text
    assert context.used == 500
    assert context.text.splitlines()[1] == context.text.splitlines()[-1] == "… (cut)"
    without = assemble_context(hits(document), 500)
    assert without.text.startswith("### x\na a a ")


def test_a_cut_keeps_the_line_that_matched_cx_04() -> None:
    document = chunk("a.py", 101, 200)
    start = document.text.index("a.py line 160")
    context = assemble_context(hits(document), 81, matches={document.id: (start, start + 5)})
    assert context.text == ("### a.py:159-161\n… (cut)\na.py line 159\na.py line 160\na.py line 161\n… (cut)")


def test_a_match_that_is_longer_than_the_budget_keeps_its_head() -> None:
    document = Document("x", "a" * 1000 + "b" * 5000 + "c" * 1000)
    context = assemble_context(hits(document), 200, matches={"x": (1000, 6000)})
    assert context.text == "### x\n… (cut)\n" + "b" * (200 - len("### x\n… (cut)\n\n… (cut)")) + "\n… (cut)"


def test_the_first_quote_of_a_validator_is_a_match() -> None:
    document = chunk("a.py", 1, 100)
    start = document.text.index("a.py line 50")
    verdict = Verdict(document.id, "yes", True, (Quote("line 50", None, (start, start + 12)),))
    result = Result(Query("q"), tuple(hits(document)), (verdict,))
    assert "a.py line 50\n" in assemble_context(result, 100).text


def test_what_is_cut_or_left_out_is_told_cx_05() -> None:
    found = hits(*(Document(id, "\n".join([id * 39] * 10)) for id in "abc"))
    assert all(len(hit.document.text) == 399 for hit in found)
    context = assemble_context(found, 900)
    assert (context.included, context.cut, context.left_out) == (("a", "b"), ("c",), ())
    assert assemble_context(found, 850).left_out == ("c",)


@pytest.mark.parametrize("turned", [False, True])
def test_a_nested_chunk_stands_once_cx_07(turned: bool) -> None:
    found = hits(chunk("a.py", 1, 20, kind="class", name="C"), chunk("a.py", 5, 10, kind="method", name="m"))
    context = assemble_context(found[::-1] if turned else found)
    assert context.text == "### a.py:1-20 (class C)\n" + found[0].document.text
    assert len(context.blocks) == 1
    assert set(context.included) == {"a.py:1-20", "a.py:5-10"}


@pytest.mark.parametrize("turned", [False, True])
def test_a_nested_chunk_without_whole_lines_stands_once_cx_07(turned: bool) -> None:
    found = hits(
        Document("outer", "class C: def m(self): ...", "a.py", 1, 20, "class", "C"),
        Document("inner", "def m(self): ...", "a.py", 5, 10, "method", "m"),
    )
    context = assemble_context(found[::-1] if turned else found)
    assert context.text == "### a.py:1-20 (class C)\nclass C: def m(self): ..."


def test_overlapping_chunks_become_one_block_cx_07() -> None:
    context = assemble_context(hits(chunk("a.py", 10, 30, name="g"), chunk("a.py", 1, 12, name="f")))
    assert context.text == "### a.py:1-30 (g)\n" + chunk("a.py", 1, 30).text


def test_equal_texts_stand_once_cx_07() -> None:
    found = hits(
        Document("a", "def f():\n    return 1", "a.py", 1, 2, "function", "f"),
        Document("b", "def f():\n    return 1", "b.py", 7, 8, "function", "f"),
    )
    context = assemble_context(found)
    assert context.text == (
        "### a.py:1-2 (function f)\ndef f():\n    return 1\n\n"
        "### b.py:7-8 (function f)\n(same text as a.py:1-2)"
    )
    assert context.included == ("a", "b")


def test_pieces_of_one_long_line_both_stand() -> None:
    found = hits(Document("1", "first;", "a.js", 1, 1), Document("2", "second;", "a.js", 1, 1))
    text = assemble_context(found).text
    assert "first;" in text
    assert "second;" in text


def test_the_same_lines_with_another_end_stand_once_cx_07() -> None:
    found = hits(
        Document("1", "line", "a.py", 1, 1),
        Document("2", "line\n", "a.py", 1, 1),
        Document("3", "long\nlonger", "b.py", 1, 2),
        Document("4", "line", "a.py", 1, 1),
    )
    whole = assemble_context(found)
    assert whole.text == "### a.py:1-1\nline\n\n### b.py:1-2\nlong\nlonger"
    # What stands in it is told to, though what is before it does not fit.
    for budget in range(len("### a.py:1-1\nline"), whole.used + 1):
        assert {"1", "2", "4"} <= set(assemble_context(found, budget).included)


def test_neighbours_keep_their_headers() -> None:
    context = assemble_context(hits(chunk("a.py", 1, 2, name="f"), chunk("a.py", 3, 4, name="g")))
    assert [block.header for block in context.blocks] == ["### a.py:1-2 (f)", "### a.py:3-4 (g)"]


def test_a_cut_chunk_joins_what_it_contains() -> None:
    found = hits(chunk("a.py", 3, 4), chunk("a.py", 1, 100))
    context = assemble_context(found, 91)
    assert context.text == "### a.py:1-5\n" + chunk("a.py", 1, 5).text + "\n… (cut)"
    assert (context.included, context.cut) == (("a.py:3-4",), ("a.py:1-100",))


def test_what_a_cut_chunk_shows_of_later_ones_counts() -> None:
    found = hits(chunk("a.py", 1, 100), chunk("a.py", 2, 3), chunk("a.py", 90, 95))
    context = assemble_context(found, 100)
    assert (context.included, context.cut, context.left_out) == (
        ("a.py:2-3",),
        ("a.py:1-100",),
        ("a.py:90-95",),
    )


def test_an_open_fence_is_closed() -> None:
    lines = ["# Title", "````python", "```", *(f"x{number} = 1" for number in range(50)), "````", "end"]
    document = Document("guide", "\n".join(lines), "guide.md", 1, len(lines))
    context = assemble_context(hits(document), 62)
    assert context.text == ("### guide.md:1-4\n# Title\n````python\n```\nx0 = 1\n````\n… (cut)")
    assert assemble_context(hits(document)).text.endswith("````\nend")


def test_a_fence_that_was_opened_before_the_window_is_opened_again() -> None:
    lines = ["~~~", *(f"x{number} = 1" for number in range(50)), "~~~"]
    document = Document("guide", "\n".join(lines), "guide.md", 1, len(lines))
    start = document.text.index("x25")
    context = assemble_context(hits(document), 50, matches={"guide": (start, start + 3)})
    assert context.text == "### guide.md:27-27\n… (cut)\n~~~\nx25 = 1\n~~~\n… (cut)"


def test_a_whole_block_with_an_open_fence_is_closed() -> None:
    context = assemble_context(hits(Document("a", "```\ncode"), Document("b", "text")))
    assert context.text == "### a\n```\ncode\n```\n\n### b\ntext"


def test_line_ends_become_plain() -> None:
    document = Document("x", "a\r\nb\rc\n", "a.py", 1, 3)
    assert assemble_context(hits(document)).text == "### a.py:1-3\na\nb\nc"


def test_an_empty_document_takes_no_room() -> None:
    context = assemble_context(hits(Document("empty", " \n", "a.py", 1, 1), Document("b", "text")))
    assert context.text == "### b\ntext"
    assert context.included == ("empty", "b")


def test_the_order_before_spreading_counts() -> None:
    documents = [
        Document("a1", "word word word word", "a.py", 1, 1),
        Document("a2", "word word word", "a.py", 9, 9),
        Document("b1", "word x", "b.py", 1, 1),
    ]
    spread = Pipeline({"bm25": BM25()}, rerankers={"spread": SpreadFiles()}).index(documents)
    result = spread.search("word", k=3)
    assert result.ids == ("a1", "b1", "a2")
    budget = len("### a.py:1-1\nword word word word\n…\n### a.py:9-9\nword word word")
    assert assemble_context(result, budget).included == ("a1", "a2")
    assert assemble_context(result, budget, spreading=()).included == ("a1", "b1")
    assert assemble_context(result.hits, budget).included == ("a1", "b1")


def test_a_reranker_behind_the_spreading_decides() -> None:
    class Turned:
        def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
            return Ranking.from_order(ranking.query, ranking.hits[::-1])

    documents = [
        Document(id, "word " * number, id[0], 1, 1) for number, id in enumerate(["b1", "a2", "a1"], 1)
    ]
    parts: dict[str, Reranker] = {"spread": SpreadFiles(), "turned": Turned()}
    result = Pipeline({"bm25": BM25()}, rerankers=parts).index(documents).search("word", k=3)
    assert assemble_context(result).included == result.ids


def test_tokens_are_counted_by_the_tokenizer() -> None:
    found = hits(Document("a", "one two three"), Document("b", "four five six seven"))
    context = assemble_context(found, 5, "tokens", tokenizer=str.split)
    assert context.text == "### a\none two three"
    assert (context.used, context.unit) == (5, "tokens")
    counted = assemble_context(found, 5, "tokens", tokenizer=lambda text: len(text.split()))
    assert counted == context
    counted = assemble_context(found, 5, "tokens", tokenizer=lambda text: np.int64(len(text.split())))
    assert counted == context


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "words"}, "unit is 'words'"),
        ({"unit": "tokens"}, "give a tokenizer"),
        ({"tokenizer": len}, 'unit is "chars"'),
        ({"unit": "tokens", "tokenizer": lambda text: -1}, "the tokenizer's count is -1"),
        ({"unit": "tokens", "tokenizer": lambda text: True}, "the tokenizer's count is True"),
        ({"unit": "tokens", "tokenizer": lambda text: {"input_ids": [1]}}, "the tokenizer gave {'input_ids'"),
        ({"unit": "tokens", "tokenizer": lambda text: 1.5}, "the tokenizer gave 1.5"),
        ({"unit": "tokens", "tokenizer": str.lower}, "the tokenizer gave '### x"),
        ({"unit": "tokens", "tokenizer": "words"}, "tokenizer is 'words'"),
        ({"matches": {"x": (5, 2)}}, "match of 'x' is"),
        ({"matches": {"x": None}}, "match of 'x' is None"),
    ],
)
def test_what_does_not_fit_together_is_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        assemble_context(hits(Document("x", "abc")), **options)


def test_hits_are_wanted() -> None:
    with pytest.raises(InvalidValueError, match="result holds 'abc'"):
        assemble_context(["abc"])  # type: ignore[list-item]


def test_no_hits_make_no_context() -> None:
    assert assemble_context([]).text == ""


def test_to_dict_holds_the_report() -> None:
    told = assemble_context(hits(chunk("a.py", 1, 50), chunk("b.py", 1, 1)), 50).to_dict()
    assert told["cut"] == ["a.py:1-50"]
    assert told["left_out"] == ["b.py:1-1"]
    assert told["blocks"] == [
        {
            "label": "a.py:1-2",
            "path": "a.py",
            "start_line": 1,
            "end_line": 2,
            "ids": ["a.py:1-50"],
            "cut": True,
        }
    ]
