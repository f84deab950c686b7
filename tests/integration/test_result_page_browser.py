"""The page of a search in a real browser: it renders, a click follows a candidate, 160 stay usable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import pytest

from browser import CHROMIUM, Browser, chromium
from hybridrank import (
    Document,
    Filter,
    LexicalEvidence,
    Pipeline,
    Query,
    Ranking,
    Retriever,
    write_result_page,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed; on Debian: apt install chromium"),
]

HOSTILE = (
    "</pre></script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)
WORDS = ["clamp", "velocity", "sprite", "screen", "delta"]
SOURCE = "position.clamp(screen_size)\nvelocity = velocity.normalized() * speed\nAnimatedSprite2D.play()"
DOCUMENTS = [
    Document(
        f"page{number}",
        f"{WORDS[number % 5]} text of page number {number}\n{SOURCE if number < 8 else HOSTILE}",
        f"tutorials/part{number % 12}/page{number}.md",
        1,
        4,
        "section",
        f"section_{number}",
    )
    for number in range(160)
]


@dataclass
class Half:
    """A leg that finds half of the documents, whatever is asked."""

    ids: Sequence[str]

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        by_id = {document.id: document for document in DOCUMENTS}
        return Ranking.from_order(query, [by_id[id] for id in self.ids][:k])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    first = Half([f"page{number}" for number in range(80)])
    second = Half([f"page{number}" for number in range(159, 79, -1)])
    legs: dict[str, Retriever] = {"first": first, "second": second}
    pipeline = Pipeline(legs, validator=LexicalEvidence(), validate_depth=30, normalizer=None)
    source = f"{SOURCE}\n{HOSTILE}"
    result = pipeline.index(DOCUMENTS).search(source, k=5, explain="all")
    file = tmp_path_factory.mktemp("pages") / "search.html"
    assert len(result.trace.documents) == 160
    assert result.hits
    write_result_page(file, result)
    return file


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def test_it_loads_nothing_and_hostile_text_stays_text(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.ask("document.title") != "owned"
    assert browser.ask("document.images.length") == 0
    assert browser.ask("document.scripts.length") == 1
    assert HOSTILE in browser.ask("document.querySelector('#query pre').textContent")
    assert browser.requested == [page.as_uri()]
    assert browser.logged == []


def test_a_script_that_got_in_would_not_run(browser: Browser, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    bad = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    (tmp_path / "bad.html").write_text(text.replace("</main>", f"{bad}</main>"), encoding="utf-8")
    browser.open(tmp_path / "bad.html")
    assert browser.ask("document.title") != "owned"


def test_a_click_follows_a_candidate_through_every_stage(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.ask("document.getElementById('followed').hidden")
    # The last of the union: it is scrolled to in every table.
    number = browser.ask("document.querySelector('#union-by-fusion tbody tr:last-child').dataset.c")
    browser.ask("document.querySelector('#union-by-fusion tbody tr:last-child a').click()")
    marked = "Array.from(document.querySelectorAll('main .on'))"
    assert browser.ask(f"{marked}.every(mark => mark.dataset.c === '{number}')")
    assert browser.ask(f"{marked}.some(mark => mark.classList.contains('way'))")
    assert browser.ask(f"{marked}.filter(mark => mark.tagName === 'TR').length") >= 2
    seen = browser.ask(
        f"{marked}.filter(mark => mark.tagName === 'TR').every(row => {{"
        "const there = row.getBoundingClientRect(), box = row.closest('.box').getBoundingClientRect();"
        "return there.top >= box.top - 1 && there.bottom <= box.bottom + 1 })"
    )
    assert seen
    assert not browser.ask("document.getElementById('followed').hidden")
    path = browser.ask(f"document.querySelector('#c{number} summary .mono').textContent")
    assert path in browser.ask("document.querySelector('#followed .title').textContent")
    assert "fusion" in browser.ask("document.querySelector('#followed .way').textContent")
    # Again, Escape, and the button let go of it.
    browser.ask("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    assert browser.ask(f"{marked}.length") == 0
    assert browser.ask("document.getElementById('followed').hidden")


def test_a_line_can_be_clicked(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.ask(
        "document.querySelector('g.way.hit .reach').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    assert browser.ask("document.querySelectorAll('g.way.on').length") == 1
    browser.ask("document.querySelector('#followed button').click()")
    assert browser.ask("document.querySelectorAll('g.way.on').length") == 0


def test_a_filter_keeps_160_candidates_usable(browser: Browser, page: Path) -> None:
    rows = (
        "Array.from(document.querySelectorAll('#union-by-fusion tbody tr'))"
        ".filter(row => row.offsetHeight > 0)"
    )

    def count() -> int:
        told = browser.ask("document.getElementById('filter-count').textContent")
        assert told.endswith("of 160 candidates")
        shown = browser.ask(f"{rows}.length")
        assert int(told.split()[0]) == shown
        return int(shown)

    browser.open(page)
    assert count() == 160
    started = perf_counter()
    browser.type("#filter-text", "PAGE7 section_7")
    assert count() == 11  # 7 and 70 to 79
    assert perf_counter() - started < 2
    assert browser.ask("document.querySelectorAll('g.way:not(.off)').length") == 11
    browser.type("#filter-text", " nowhere")
    assert count() == 0
    choose = (
        "(function (value) {{ document.getElementById('filter-text').value = '';"
        "const control = document.getElementById('filter-state'); control.value = value;"
        "control.dispatchEvent(new Event('input')); }})('{0}')"
    )
    browser.ask(choose.format("hit"))
    assert count() == browser.ask("document.querySelectorAll('g.way.hit').length") > 0
    browser.ask(choose.format("only:second"))
    assert count() == 80


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_readable_wide_and_narrow_light_and_dark(
    browser: Browser, page: Path, tmp_path: Path, width: int, dark: bool
) -> None:
    browser.open(page, width=width, dark=dark)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    ink, paper = (
        sum(browser.ask(f"getComputedStyle(document.body).{what}.match(/\\d+/g).map(Number)")[:3])
        for what in ("color", "backgroundColor")
    )
    assert (ink > paper) == dark
    assert abs(ink - paper) > 450
    browser.photograph(tmp_path / "search.png")
    assert (tmp_path / "search.png").stat().st_size > 50_000
    # Scores are not pushed out of their tables.
    assert browser.ask(
        "Array.from(document.querySelectorAll('.box > table')).every(table =>"
        " table.scrollWidth <= table.parentElement.clientWidth + 1)"
    )


def test_it_reads_without_its_script(browser: Browser, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    bare = tmp_path / "bare.html"
    bare.write_text(text[: text.index("<script>")] + "</body></html>", encoding="utf-8")
    browser.open(bare)
    assert browser.ask("getComputedStyle(document.querySelector('.tools')).display") == "none"
    assert browser.ask("document.querySelector('#union-by-fusion a').hash") == "#c0" or browser.ask(
        "!!document.querySelector(document.querySelector('#union-by-fusion a').hash)"
    )
