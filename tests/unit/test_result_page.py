"""The page of a search: its sections, its lines, and that nothing in it is markup of others."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hybridrank import (
    BM25,
    LSA,
    Dense,
    Document,
    EvidenceOverlap,
    InvalidValueError,
    LexicalEvidence,
    Pipeline,
    Query,
    Quote,
    Result,
    Verdict,
    result_page,
    write_result_page,
)
from hybridrank.report.trace_view import View, marked_text

EVIL = "</pre></script><script>document.title='owned'</script><img src=x onerror=alert(1)>\x1b[2J\u202e"
DOCUMENTS = [
    Document("a", "position.clamp(Vector2.ZERO, screen_size)", "2d/clamp.md", 3, 3, "section", "clamp"),
    Document("b", "Input.is_action_pressed('move_left')\nposition.clamp()", "2d/move.md", 1, 2, "section"),
    Document("c", "labels and buttons", "ui/labels.md", 1, 1, "section", "labels"),
    Document("d", EVIL, f"{EVIL}.md", 1, 1, EVIL, EVIL),
]
SOURCE = "position = position.clamp(Vector2.ZERO, screen_size)\nlabels"


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture(scope="module")
def result() -> Result:
    pipeline = Pipeline(
        {"bm25": BM25(), "dense": Dense(LSA(dimensions=2))},
        rerankers={"overlap": EvidenceOverlap()},
        validator=LexicalEvidence(),
        validate_depth=4,
        normalizer=None,
    ).index(DOCUMENTS)
    return pipeline.search(SOURCE, k=2, recall=4, explain="all")


def section(page: str, title: str) -> str:
    found = re.search(rf'<section id="{title}">.*?</section>', page, re.DOTALL)
    assert found is not None, title
    return found[0]


def test_every_step_has_its_section(result: Result) -> None:
    page = result_page(result)
    titles = re.findall(r'<h2><span class="no">(\d+)</span>(.*?)</h2>', page)
    assert [number for number, _ in titles] == [str(n) for n in range(1, len(titles) + 1)]
    assert [title.split(":")[0] for _, title in titles] == [
        "Query",
        "bm25",
        "dense",
        "Union by fusion",
        "Rank movement",
        "Reranker overlap",
        "Verdicts",
        "Accepted and rejected",
        "Every candidate",
    ]


def test_the_query_stands_with_its_tokens(result: Result) -> None:
    shown = section(result_page(result), "query")
    assert "position = position.clamp(Vector2.ZERO, screen_size)" in shown
    chips = re.findall(r'<span class="chip( none)?">(.*?)</span>', shown)
    assert ("", "screen_size") in chips
    # In no document.
    assert (" none", "nothing") not in chips
    assert [name for none, name in chips if none] == []


def test_tokens_that_no_candidate_holds_are_dashed() -> None:
    result = Pipeline({"bm25": BM25()}, normalizer=None).index(DOCUMENTS).search("clamp zebra", explain="all")
    shown = section(result_page(result), "query")
    assert '<span class="chip none">zebra</span>' in shown
    assert '<span class="chip">clamp</span>' in shown
    assert "2 different tokens for bm25, 1 of them (dashed) in none of its candidates" in shown


def test_a_leg_shows_terms_with_what_they_add(result: Result) -> None:
    page = result_page(result)
    rows = re.findall(r"<tr .*?</tr>", section(page, f"bm25--{len(result.trace['bm25'].ids_out)}-candidates"))
    assert len(rows) == len(result.trace["bm25"].ids_out)
    first = result.trace["bm25"].ids_out[0]
    told = max(result.explanations[first]["bm25"], key=lambda one: one.value)
    assert f"{told.name} <small>{told.value:+.3g}</small>" in rows[0]


def test_the_union_says_who_found_what(result: Result) -> None:
    shown = section(result_page(result), "union-by-fusion")
    legs = {name: set(result.trace[name].ids_out) for name in ("bm25", "dense")}
    both = len(legs["bm25"] & legs["dense"])
    assert f"{len(legs['bm25'] | legs['dense'])} candidates: " in shown
    assert f"{both} by bm25 and dense" in shown


def test_verdicts_mark_their_quotes_in_both_texts(result: Result) -> None:
    shown = section(result_page(result), "verdicts")
    assert shown.count('<details class="verdict"') == len(result.verdicts)
    first = shown.split('<details class="verdict"')[1]
    assert result.verdicts[0].accepted
    source, candidate = first.split("<figcaption>candidate")
    for part in (source, candidate):
        assert "<mark>position.clamp</mark>" in part
    assert "yes, accepted" in first


def test_what_was_accepted_and_rejected_is_listed(result: Result) -> None:
    shown = section(result_page(result), "accepted-and-rejected")
    rejected = [verdict for verdict in result.verdicts if not verdict.accepted]
    assert rejected
    assert shown.count(">accepted</span>") == len(result.hits)
    assert shown.count(">rejected</span>") == len(rejected)


def test_every_candidate_has_a_line_from_stage_to_stage(result: Result) -> None:
    page = section(result_page(result), "rank-movement")
    groups = re.findall(r'<g class="way (\w+)[^"]*" data-c="(\d+)">(.*?)</g>', page)
    assert len(groups) == len(View(result).candidates)
    for state, number, body in groups:
        one = list(View(result).candidates.values())[int(number)]
        assert one.state == state
        columns = [s for s in View(result).stages if s.ids_out]
        seen = sum(one.id in stage.ids_out for stage in columns) + (one.rank is not None)
        assert body.count("<circle") == seen
        assert body.count("<path") == max(0, seen - 1) + 1


def test_hostile_content_stays_text(result: Result) -> None:
    page = result_page(result, title=EVIL)
    seen = Elements(page)
    assert seen.tags.count("script") == 1
    assert "img" not in seen.tags
    assert not {name for name in seen.attributes if name.startswith("on") or name == "src"}
    assert not {"\x1b", "\u202e"} & set(page)
    assert "default-src 'none'" in page
    assert "http" not in re.sub(r"<script>.*</script>", "", page, flags=re.DOTALL).replace("http-equiv", "")


def test_a_result_without_every_candidate_still_makes_a_page() -> None:
    result = Pipeline({"bm25": BM25()}).index(DOCUMENTS).search("clamp", k=1)
    page = result_page(result)
    assert "Its text is not in this result." in page
    assert "1 further candidates were not taken" in page


def test_a_gap_is_said() -> None:
    result = Pipeline({"bm25": BM25()}).index(DOCUMENTS).search("zebra", explain="all")
    page = result_page(result)
    assert "Nothing was found." in page
    assert "It found nothing." in page
    assert '<section id="candidates">' not in page
    assert "<details open><summary>" in page


def test_warnings_stand_openly_and_a_failed_stage_is_marked() -> None:
    class Broken:
        def rerank(self, ranking: object, /, *, k: int) -> None:
            raise RuntimeError("the server is down")

    pipeline = Pipeline({"bm25": BM25()}, rerankers={"broken": Broken()}, on_error="degrade")  # type: ignore[dict-item]
    page = result_page(pipeline.index(DOCUMENTS).search("clamp", explain="all"))
    assert re.search(r'<p class="note"><b>broken</b> stage .*the server is down', page)
    assert '<li class="warn"' in page


def test_it_is_the_same_every_time(result: Result) -> None:
    assert result_page(result) == result_page(result)


def test_the_notebook_shows_every_step_without_script_or_links(result: Result) -> None:
    seen = Elements(result._repr_html_())
    assert not {"script", "a", "input"} & set(seen.tags)
    assert "svg" in seen.tags
    assert not {"id", "href"} & seen.attributes


def test_a_result_is_wanted() -> None:
    with pytest.raises(InvalidValueError, match="result is str"):
        result_page("x")  # type: ignore[arg-type]


def test_write_result_page(result: Result, tmp_path: Path) -> None:
    write_result_page(tmp_path / "page.html", result, title="A title")
    assert "<title>A title</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")


# Marked text


def test_marks_stand_at_their_characters_and_lines_are_numbered() -> None:
    shown = marked_text("a <b>\nsecond\nthird", [(2, 5), (7, 9), (11, 14)], first=9)
    assert shown == (
        "<i> 9  </i>a <mark>&lt;b&gt;</mark>\n<i>10  </i>s<mark>ec</mark>on<mark>d</mark>\n"
        "<i>11  </i><mark>t</mark>hird"
    )


def test_only_lines_around_marks_are_shown_where_that_is_asked_for() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 30))
    at = text.index("line 12")
    shown = marked_text(text, [(at, at + 4)], first=0, around=1)
    assert shown == "<i>…</i>\nline 11\n<mark>line</mark> 12\nline 13\n<i>… 16 more lines</i>"
    assert marked_text(text, first=0, around=1).count("\n") == 28


def test_long_texts_are_cut_and_counted() -> None:
    assert marked_text("a\n" * 100, first=0, limit=2) == "a\na\n<i>… 98 more lines</i>"
    assert marked_text("x" * 5000, first=0) == "x" * 2000 + "…"


def test_overlapping_marks_and_odd_line_ends() -> None:
    assert marked_text("abcdef\r\ngh\ri", [(0, 4), (2, 6), (8, 9)], first=0) == (
        "<mark>abcd</mark><mark>ef</mark>\n<mark>g</mark>h\ni"
    )


def test_quotes_without_places_are_shown_without_marks() -> None:
    verdict = Verdict("x", "yes", True, (Quote("shared"),), "because")
    hits = Pipeline({"bm25": BM25()}).index([Document("x", "shared")]).search("shared").hits
    page = result_page(Result(Query("shared"), hits, (verdict,)))
    assert '<span class="chip quote">shared</span>' in page


def test_a_notebook_shows_the_first_rows_and_counts_the_others() -> None:
    documents = [Document(f"d{number}", f"word {number}") for number in range(50)]
    result = Pipeline({"bm25": BM25()}).index(documents).search("word", k=1, explain="all")
    shown = result._repr_html_()
    assert shown.count("<p><small>30 more</small></p>") == 2  # the leg, the union
    assert "30 more" not in result_page(result)
