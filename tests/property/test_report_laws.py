"""Laws of what is shown: whatever text others wrote, it stays text."""

from __future__ import annotations

import json
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from hybridrank import Component, Contribution, Document, Event, Hit, Query, Ranking, Result, Stage, Trace
from hybridrank.report.data import dumps, result_data
from hybridrank.report.escape import clip, code_lines, printable, width
from hybridrank.report.text import WIDTH, explain_hit, explain_text, hit_line, result_text

# Lone surrogates too: undecodable bytes of file names arrive as such.
anything = st.text(st.characters(exclude_categories=()), max_size=40)
snippets = st.lists(
    st.sampled_from(
        ["<b>", "</pre>", "&", '"', "'", "\x1b[2J", "\n", "\r", "\u202e", "\ud800", "血糖", "a b"]
    )
).map("".join)
texts = anything | snippets
TAGS = (
    "div|p|b|small|table|thead|tbody|tr|th|td|span|br|wbr|details|summary|pre|i|ul|li|figure|figcaption|mark"
    "|svg|title|g|line|path|circle|text"
)
# Those of the steps of a search and of their lines.
ATTRIBUTES = {
    "data-c", "open", "style", "viewBox", "width", "height", "role", "aria-label", "text-anchor",
    "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "d",
}  # fmt: skip
UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@st.composite
def results(draw: st.DrawFn) -> Result:
    document = Document(
        draw(texts.filter(bool)),
        draw(texts),
        draw(texts),
        1,
        2,
        draw(texts),
        draw(texts),
        draw(texts),
        draw(texts),
    )
    stage, text = draw(texts), draw(texts)
    query = Query(text, original=draw(texts))
    event = Event(draw(texts), draw(texts), stage, "warning", {"words": [draw(texts)]})
    score = draw(st.floats(allow_nan=False, allow_infinity=False))
    hit = Hit(document, score, {stage: Component(1, score)})
    stages = (Stage(stage, "retriever", (), (document.id,), (score,), 0.0, (event,)),)
    told = {document.id: {stage: (Contribution(draw(texts), draw(st.floats(-9, 9)), draw(texts)),)}}
    return Result(query, (hit,), (), (event,), Trace(query, stages), told)


@given(texts)
def test_printable_text_has_no_controls(text: str) -> None:
    shown = printable(text)
    assert not {unicodedata.category(c) for c in shown} & UNSAFE
    assert printable(shown) == shown


@given(texts, st.integers(1, 30))
def test_clip_keeps_to_its_columns(text: str, columns: int) -> None:
    shown = clip(text, columns)
    assert width(shown) <= columns or shown == text == "" or columns < 2
    assert shown == text or text.startswith(shown[:-1])


@given(results())
def test_a_hit_is_one_line_and_an_explanation_fits(result: Result) -> None:
    line = hit_line(result[0])
    assert line.splitlines() == [line]
    assert all(width(row) <= WIDTH for row in explain_hit(result, result[0]).splitlines())
    for shown in (result_text(result, code=True), explain_text(result)):
        assert not {unicodedata.category(c) for c in re.sub("[\n\t]", "", shown)} & UNSAFE
        shown.encode("utf-8")


@given(results())
def test_html_has_the_same_tags_whatever_the_text(result: Result) -> None:
    for page in (result._repr_html_(), Ranking(result.query, result.hits, "", result.events)._repr_html_()):
        page.encode("utf-8")
        body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
        tags = set(re.findall(r"<[^>]*>", body))
        assert [tag for tag in tags if not re.fullmatch(rf"</?({TAGS})( [^<>]*)?>", tag)] == []
        attributes = {name for tag in tags for name in re.findall(r'([\w-]+)="[^"<>]*"', tag)}
        assert attributes <= {"class", "colspan", "title"} | ATTRIBUTES
        assert "<" not in re.sub(r"<[^>]*>", "", body)


@given(results())
def test_json_is_utf8_and_gives_the_text_back(result: Result) -> None:
    text = dumps(result_data(result, text=True, explain=True))
    (hit,) = json.loads(text.encode("utf-8"))["hits"]
    # Two halves of a surrogate pair side by side are one character in JSON.
    joined = result[0].document.text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert hit["text"] == joined


@given(texts)
def test_code_lines_hold_the_code(text: str) -> None:
    assert all("\n" not in line and "\r" not in line for line in code_lines(text))
    assert len(code_lines(text)) <= len(re.findall(r"\r\n|\r|\n", text)) + 1
