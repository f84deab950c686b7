"""The report page in a real browser: charts draw, filters filter, hostile text stays text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from browser import CHROMIUM, Browser, chromium
from hybridrank import Case, Document, Filter, Pipeline, Query, Ranking, compare, diagnose, sweep
from hybridrank.report.experiment_page import write_page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed; on Debian: apt install chromium"),
]

HOSTILE = "</td></table><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
WORDS = ("alpha", "beta", "gamma", "delta")
DOCUMENTS = [Document(word, f"the text of {word}") for word in WORDS]
CASES = [
    *(
        Case(f"q{place}", f"find {word}", [word], category="even" if place % 2 == 0 else "odd")
        for place, word in enumerate(WORDS)
    ),
    Case("hostile", HOSTILE, ["alpha"], category=HOSTILE),
    Case("gap", "nothing", expected="disclose_gap", gap_id=HOSTILE),
]
SHOWN = "Array.from(document.querySelectorAll('#queries tbody tr')).filter(row => row.offsetHeight > 0)"


@dataclass
class Fixed:
    ids: Sequence[str]

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        by_id = {document.id: document for document in DOCUMENTS}
        return Ranking.from_order(query, [by_id[id] for id in self.ids][:k])


def pipeline(ids: Sequence[str]) -> Pipeline:
    return Pipeline({"leg": Fixed(ids)}, normalizer=None).index(DOCUMENTS)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    pair = {HOSTILE: pipeline(WORDS), "turned": pipeline(WORDS[::-1])}
    write_page(folder / "compare.html", compare(pair, CASES, measures=["MRR", "Recall@2"]))
    write_page(folder / "diagnose.html", diagnose(pipeline(WORDS), CASES, k=2))
    config = {"retrievers": {"bm25": {"use": "bm25"}, "other": {"use": "bm25", "k1": 2.0}}}
    swept = sweep(config, DOCUMENTS, CASES, {"weight.other": [0, 1, 2], "recall": [2, 4]}, measures="MRR@2")
    write_page(folder / "sweep.html", swept)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize("name", ["compare", "diagnose", "sweep"])
def test_hostile_text_stays_text_and_nothing_is_loaded(browser: Browser, pages: Path, name: str) -> None:
    file = pages / f"{name}.html"
    browser.open(file)
    assert "owned" not in browser.ask("document.title").split("<script>")[0]
    assert browser.ask("document.images.length") == 0
    assert browser.ask("document.scripts.length") == 1
    assert HOSTILE in browser.ask("document.querySelector('#queries').textContent")
    assert browser.requested == [file.as_uri()]
    assert browser.logged == []


def test_a_script_that_got_in_would_not_run(browser: Browser, pages: Path, tmp_path: Path) -> None:
    page = (pages / "compare.html").read_text(encoding="utf-8")
    bad = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    (tmp_path / "bad.html").write_text(page.replace("</main>", f"{bad}</main>"), encoding="utf-8")
    browser.open(tmp_path / "bad.html")
    assert browser.ask("document.scripts.length") == 2
    assert browser.ask("document.title") != "owned"
    assert any("Content Security Policy" in line for line in browser.logged)


@pytest.mark.parametrize(
    ("name", "charts", "shapes"),
    [
        ("compare", 4, {"polyline.line": 2, "circle.mean": 2, "line.bar": 2}),
        ("diagnose", 2, {"polyline.line": 1, "rect.fill": 7}),
        ("sweep", 4, {"circle.dot": 3 + 2}),
    ],
)
def test_charts_draw(browser: Browser, pages: Path, name: str, charts: int, shapes: dict[str, int]) -> None:
    browser.open(pages / f"{name}.html")
    heights = browser.ask(
        "Array.from(document.querySelectorAll('figure > svg')).map(svg => svg.getBoundingClientRect().height)"
    )
    assert len(heights) == charts
    assert min(heights) > 50
    for selector, count in shapes.items():
        found = browser.ask(f"document.querySelectorAll('figure > svg {selector}').length")
        assert found >= count, selector
    # Every line and dot has a colour of its own, and lies inside its chart.
    colours = browser.ask(
        "Array.from(document.querySelectorAll('svg .line')).map(line => getComputedStyle(line).stroke)"
    )
    assert colours
    assert "none" not in colours
    outside = browser.ask(
        "Array.from(document.querySelectorAll('figure > svg circle')).filter(dot => {"
        "const box = dot.getBoundingClientRect(), all = dot.ownerSVGElement.getBoundingClientRect();"
        "return box.left < all.left || box.right > all.right || box.top < all.top || box.bottom > all.bottom"
        "}).length"
    )
    assert outside == 0


def test_filters_filter(browser: Browser, pages: Path) -> None:
    def shown() -> list[str]:
        ids = browser.ask(f"{SHOWN}.map(row => row.cells[0].textContent)")
        count = browser.ask("document.getElementById('filter-count').textContent")
        assert count == f"{len(ids)} of 6 shown"
        return list(ids)

    def choose(filter: str, value: str) -> None:
        browser.ask(
            f"(function () {{ const control = document.getElementById('filter-{filter}');"
            f"control.value = {value!r}; control.dispatchEvent(new Event('input')); }})()"
        )

    browser.open(pages / "compare.html")
    assert shown() == ["q0", "q1", "q2", "q3", "hostile", "gap"]
    browser.type("#filter-text", "GAMMA find")
    assert shown() == ["q2"]
    browser.type("#filter-text", " nope")
    assert shown() == []
    choose("text", "")
    choose("category", ":even")
    assert shown() == ["q0", "q2"]
    choose("category", ":")
    assert shown() == ["gap"]
    # The option of the category that holds markup.
    choose("category", "")
    browser.ask(
        "(function () { const control = document.getElementById('filter-category'); control.selectedIndex = "
        "Array.from(control.options).findIndex(option => option.value.includes('script'));"
        "control.dispatchEvent(new Event('input')); })()"
    )
    assert shown() == ["hostile"]
    choose("category", "")
    choose("state", "worse")
    assert shown() == ["q0", "q1", "hostile"]
    choose("state", "gap")
    assert shown() == ["gap"]


@pytest.mark.parametrize("width", [1280, 600])
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_readable_at_any_width_light_and_dark(
    browser: Browser, pages: Path, tmp_path: Path, width: int, dark: bool
) -> None:
    for name in ("compare", "diagnose", "sweep"):
        browser.open(pages / f"{name}.html", width=width, dark=dark)
        assert browser.ask("document.documentElement.scrollWidth") <= width
        ink, paper = (
            sum(browser.ask(f"getComputedStyle(document.body).{what}.match(/\\d+/g).map(Number)")[:3])
            for what in ("color", "backgroundColor")
        )
        assert (ink > paper) == dark
        assert abs(ink - paper) > 450
        browser.photograph(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 20_000
