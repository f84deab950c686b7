"""What people see: text, HTML and JSON made of results that are written out here."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import PurePosixPath

import pytest

from hybridrank import (
    BM25,
    Component,
    Contribution,
    DefinitionFirst,
    Document,
    Event,
    Hit,
    Pipeline,
    Query,
    Quote,
    Ranking,
    Result,
    Stage,
    Trace,
    Verdict,
)
from hybridrank.report.data import dumps, plain, result_data
from hybridrank.report.escape import clip, code_lines, printable, width
from hybridrank.report.explanation import stage_names, steps
from hybridrank.report.text import WIDTH, code_text, explain_text, hit_line, reasons, result_text

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'

follow = Document(
    "httpx/client.py:10-12",
    "def follow(self):\n\treturn self.redirects\n",
    "httpx/client.py",
    10,
    12,
    "method",
    "follow",
    "Client.follow",
    "python",
)
notes = Document("notes.txt:1-1", "redirects", "notes.txt", 1, 1, "lines")


def a_result() -> Result:
    """bm25 puts the notes first, the reranker the definition; the query lost two words."""
    query = Query("follow", original="where is follow")
    ids = (follow.id, notes.id)
    hits = (
        Hit(
            follow,
            0.5164,
            {
                "bm25": Component(2, 1.5),
                "dense": Component(1, 0.9),
                "fusion": Component(2, 0.0164),
                "definition": Component(1, 0.5164),
            },
        ),
        Hit(
            notes,
            0.0325,
            {"bm25": Component(1, 2.0), "fusion": Component(1, 0.0325), "definition": Component(2, 0.0325)},
        ),
    )
    dropped = Event(
        "dropped-words", "not searched for: where, is", "normalizer", data={"words": ["where", "is"]}
    )
    stages = (
        Stage("normalizer", "normalizer", seconds=0.5, events=(dropped,)),
        Stage("bm25", "retriever", (), (notes.id, follow.id), (2.0, 1.5), 0.5),
        Stage("dense", "retriever", (), (follow.id,), (0.9,), 0.5),
        Stage("fusion", "fuser", ids, (notes.id, follow.id), (0.0325, 0.0164), 0.5),
        Stage("definition", "reranker", (notes.id, follow.id), ids, (0.5164, 0.0325), 0.5),
    )
    explanations = {
        follow.id: {
            "bm25": (Contribution("follow", 1.5, "tf 1"),),
            "definition": (Contribution("name equals the query", 0.5),),
        }
    }
    return Result(query, hits, (), (dropped,), Trace(query, stages), explanations)


class Elements(HTMLParser):
    """Tags and text of a page, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


# Text


def test_hit_line() -> None:
    assert hit_line(a_result()[0]) == "[0.5164] httpx/client.py:10-12  Client.follow (method)"


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (Document("a", "t"), "[1.0000] a"),
        (Document("a", "t", kind="record"), "[1.0000] a  (record)"),
        (Document("a", "t", path="p.py", start_line=1, end_line=2), "[1.0000] p.py:1-2"),
        (Document("a", "t", name="f"), "[1.0000] a  f"),
        (Document("a", "t", name="f", qualified_name="C.f", kind="method"), "[1.0000] a  C.f (method)"),
    ],
)
def test_hit_line_leaves_out_what_is_empty(document: Document, line: str) -> None:
    assert hit_line(Hit(document, 1.0)) == line


def test_result_text() -> None:
    assert result_text(a_result()) == (
        "[0.5164] httpx/client.py:10-12  Client.follow (method)\n[0.0325] notes.txt:1-1  (lines)"
    )
    assert result_text(Result(Query("q"), ())) == ""


def test_code_has_line_numbers_and_no_controls() -> None:
    crlf = replace(follow, text="a\r\nb\x1b[2J\rc\n\n")
    assert code_text(Hit(crlf, 1.0)) == "    10  a\n    11  b\\x1b[2J\n    12  c"
    assert code_text(Hit(Document("a", "x\ny"), 1.0)) == "    x\n    y"


def test_explain_text() -> None:
    assert explain_text(a_result()).splitlines() == [
        "query     where is follow",
        "searched  follow",
        "dropped   where, is",
        "",
        "[0.5164] httpx/client.py:10-12  Client.follow (method)",
        "    bm25        #2              1.5000  follow +1.5 (tf 1)",
        "    dense       #1              0.9000",
        "    fusion      #2              0.0164",
        "    definition  #2 -> #1        0.5164  name equals the query +0.5",
        "",
        "[0.0325] notes.txt:1-1  (lines)",
        "    bm25        #1              2.0000",
        "    dense       not in top 1",
        "    fusion      #1              0.0325",
        "    definition  #1 -> #2        0.0325",
        "",
        "info: normalizer: not searched for: where, is",
    ]


def test_explanation_fits_its_width() -> None:
    many = tuple(Contribution(f"血糖{n}" * 9, float(-n), "tf 1, in 8 of 9 documents") for n in range(200))
    one = a_result()
    long = replace(
        one,
        query=replace(one.query, original="é" * 500),
        explanations={follow.id: {"bm25": many, "fusion": (Contribution("x" * 300, 1.0),)}},
    )
    shown = explain_text(long).splitlines()
    assert max(width(line) for line in shown) <= WIDTH
    assert sum("血糖" in line for line in shown) == 8
    # 0 + … + 191 stay unnamed, the eight with the largest values are told.
    assert any("192 more -1.834e+04" in line for line in shown)


def test_few_reasons_keep_the_order_in_which_the_part_told_them() -> None:
    step = steps(a_result(), a_result()[0])[0]
    told = replace(
        step, contributions=(Contribution("b", 0.25), Contribution("a", 1.0), Contribution("c", 0))
    )
    assert reasons(told) == ["b +0.25", "a +1", "c"]


def test_verdicts_are_told() -> None:
    judged = replace(
        a_result(),
        verdicts=(Verdict(follow.id, "yes", True, (Quote("self.redirects"),), "says\x1b it"),),
    )
    assert '    verdict  yes, accepted, says\\x1b it, "self.redirects"' in explain_text(judged).splitlines()
    assert result_data(judged)["verdicts"] == [
        {
            "id": follow.id,
            "answer": "yes",
            "accepted": True,
            "reason": "says\x1b it",
            "quotes": ["self.redirects"],
            "places": [{"in_source": None, "in_document": None}],
        }
    ]


def test_a_result_without_trace_is_explained_as_far_as_it_goes() -> None:
    bare = Result(Query("follow"), (Hit(follow, 1.0),))
    assert explain_text(bare).splitlines()[-1] == "[1.0000] httpx/client.py:10-12  Client.follow (method)"
    assert steps(bare, bare[0]) == []


# Steps


def test_steps_follow_a_hit() -> None:
    way = {step.stage: step for step in steps(a_result(), a_result()[0])}
    assert list(way) == ["bm25", "dense", "fusion", "definition"]
    assert (way["bm25"].rank_before, way["bm25"].rank, way["bm25"].score) == (None, 2, 1.5)
    # Legs are fused as sets: a place in the union would mean nothing.
    assert (way["fusion"].rank_before, way["fusion"].rank) == (None, 2)
    assert (way["definition"].rank_before, way["definition"].rank) == (2, 1)
    absent = {step.stage: step for step in steps(a_result(), a_result()[1])}["dense"]
    assert (absent.rank, absent.score, absent.size) == (None, None, 1)


def test_stage_names_are_those_of_the_trace_then_the_rest() -> None:
    one = a_result()
    assert stage_names(one) == ["bm25", "dense", "fusion", "definition"]
    other = replace(one, hits=(Hit(follow, 1.0, {"zeta": Component(1, 1.0), "bm25": Component(1, 1.0)}),))
    assert stage_names(other) == ["bm25", "zeta"]


# What others wrote


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\x00", "a\\x0ab\\x09c\\x00"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eexe.py", "\\u202eexe.py"),
        ("\udcff", "\\udcff"),
        ("\u2028", "\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("血糖 é ａ\u3000b", "血糖 é ａ\u3000b"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_code_lines_keep_tabs_only() -> None:
    assert code_lines("\ta\x07\n\n  b\n") == ["\ta\\x07", "", "  b"]
    assert code_lines("") == []


def test_clip_counts_wide_characters_twice() -> None:
    assert width("血糖e\u0301") == 5
    assert clip("血糖血糖", 8) == "血糖血糖"
    assert clip("血糖血糖", 6) == "血糖…"


# HTML


def hostile() -> Result:
    document = Document(
        f"{EVIL}:1-1",
        f"</pre>{EVIL}\x00\ud800\u202e",
        f"{EVIL}\x1b.py",
        1,
        1,
        EVIL,
        EVIL,
        f"C.{EVIL}",
        "python",
    )
    query = Query(EVIL, original=f"&lt;{EVIL}")
    event = Event(EVIL, EVIL, EVIL, "warning", {"words": [EVIL]})
    hit = Hit(document, 1.0, {EVIL: Component(1, 1.0)})
    stages = (Stage(EVIL, "retriever", (), (document.id,), (1.0,)),)
    told = {document.id: {EVIL: (Contribution(EVIL, 1.0, EVIL),)}}
    return Result(query, (hit,), (), (event,), Trace(query, stages), told)


def test_hostile_markup_stays_text() -> None:
    harmless = Elements(a_result()._repr_html_())
    pages = [
        hostile()._repr_html_(),
        Ranking(hostile().query, hostile().hits, EVIL, hostile().events)._repr_html_(),
    ]
    for page in pages:
        seen = Elements(page)
        assert set(seen.tags) <= set(harmless.tags)
        assert seen.attributes <= harmless.attributes
        assert not {name for name in seen.attributes if name.startswith("on") or name in ("src", "href")}
        assert EVIL in seen.text
        assert not {"\x1b", "\x00", "\ud800", "\u202e"} & set(page)
        page.encode("utf-8")


def test_result_html_shows_places_moves_code_and_reasons() -> None:
    seen = Elements(a_result()._repr_html_())
    assert "script" not in seen.tags
    assert "link" not in seen.tags
    for text in ("where is follow", "httpx/client.py:10-12", "Client.follow", "0.5164", "1 ↑1", "2 ↓1"):
        assert text in seen.text
    for text in ("follow +1.5 (tf 1)", "name equals the query +0.5", "2 → 1", "not searched for: where, is"):
        assert text in seen.text
    assert "\treturn self.redirects" in seen.text
    # Only the first hit is explained.
    assert seen.text.count("why here") == 1


def test_html_is_limited_and_says_so() -> None:
    documents = [Document(f"d{n}", "line\n" * 100 + "x" * 10_000) for n in range(300)]
    page = Ranking.from_order(Query("q"), documents)._repr_html_()
    assert len(page) < 100_000
    assert "250 more" in page
    assert "77 more lines" in page


def test_html_without_hits() -> None:
    assert "no hits" in Result(Query(""), ())._repr_html_()
    assert "no hits" in Ranking(Query("q"))._repr_html_()


def test_pipeline_html() -> None:
    pipeline = Pipeline({"bm25": BM25(k1=1.5)}, rerankers={EVIL: DefinitionFirst()})
    seen = Elements(pipeline._repr_html_())
    assert "script" not in seen.tags
    for text in ("not indexed", "80 hits per leg", "bm25", "BM25(k1=1.5)", "RRF(", EVIL, "DefinitionFirst("):
        assert text in seen.text
    assert "2 documents" in pipeline.index([follow, notes])._repr_html_()
    assert "1 document," in pipeline.index([follow])._repr_html_()


# JSON


def test_result_data() -> None:
    data = result_data(a_result(), explain=True)
    assert data["query"] == {"typed": "where is follow", "text": "follow", "dropped": ["where", "is"]}
    first = data["hits"][0]
    assert first["rank"] == 1
    assert first["components"]["dense"] == {"rank": 1, "score": 0.9}
    assert first["explanation"][0] == {
        "stage": "bm25",
        "kind": "retriever",
        "rank_before": None,
        "rank": 2,
        "score": 1.5,
        "of": 2,
        "contributions": [{"name": "follow", "value": 1.5, "detail": "tf 1"}],
    }
    assert "text" not in first
    assert result_data(a_result(), text=True)["hits"][0]["text"] == follow.text
    assert "explanation" not in result_data(a_result())["hits"][0]


def test_data_hold_no_timings() -> None:
    one = a_result()
    slow = replace(
        one, trace=Trace(one.query, tuple(replace(stage, seconds=9.0) for stage in one.trace.stages))
    )
    assert dumps(result_data(one, text=True, explain=True)) == dumps(
        result_data(slow, text=True, explain=True)
    )


def test_lone_surrogates_survive_json() -> None:
    text = dumps({"path": "a\udcff.py", "text": 'back\\slash "\ud83d" 血糖'})
    assert json.loads(text.encode("utf-8")) == {"path": "a\udcff.py", "text": 'back\\slash "\ud83d" 血糖'}
    assert "血糖" in text


def test_plain_values() -> None:
    import numpy as np

    odd = {
        1: np.float32(0.5),
        "n": np.int64(3),
        "nan": float("nan"),
        "set": frozenset({"b", "a"}),
        "tuple": (True, None),
        "path": PurePosixPath("a/b"),
        "object": object(),
    }
    assert plain(odd) == {
        "1": 0.5,
        "n": 3,
        "nan": "nan",
        "set": ["a", "b"],
        "tuple": [True, None],
        "path": "a/b",
        "object": "<object>",
    }
