"""The report page: what is on it, for each kind of experiment, and that nothing foreign gets in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from hybridrank import (
    Case,
    Document,
    Filter,
    InvalidValueError,
    Pipeline,
    Query,
    Ranking,
    ablate,
    compare,
    diagnose,
    evaluate,
    sweep,
)
from hybridrank.report.experiment_page import experiment_page, write_page
from hybridrank.report.page_sections import recall_at

HOSTILE = "</td></table><script>alert(1)</script><img src=x onerror=alert(1)>&\"'\x1b[31m\u202e\udcff"
VOID = {"meta", "input", "br", "img", "link"}


class Page(HTMLParser):
    """Tags with their attributes, text by tag, ids; tags must close in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def sections(self) -> list[str | None]:
        return [attributes["id"] for attributes in self.of("section")]


@dataclass
class Fixed:
    ids: Sequence[str]

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        if query.text == "fail":
            raise RuntimeError(HOSTILE)
        return Ranking.from_order(query, [DOCUMENTS[id] for id in self.ids][:k])


DOCUMENTS = {id: Document(id, f"text {id}", path="p.py" if id == "p" else "") for id in [*"abcdp", HOSTILE]}
CASES = (
    Case("q1", "one", ["a"], category="easy"),
    Case("q2", "two", ["b", "c"], category="hard"),
    Case("q3", "three", ["d"], category="hard"),
    Case("g1", "gap", expected="disclose_gap", gap_id="none"),
)


def pipeline(ids: Sequence[str]) -> Pipeline:
    return Pipeline({"leg": Fixed(ids)}, normalizer=None).index(DOCUMENTS.values())


def pair() -> Mapping[str, Pipeline]:
    return {"old": pipeline("abcd"), "new": pipeline("dcba")}


def rows(page: str) -> list[tuple[str, str, str]]:
    """Category, state and case of each row that the filters look at."""
    return re.findall(r'<tr data-category="([^"]*)" data-state="([^"]*)"><td class="mono">([^<]*)</td>', page)


def test_an_evaluation_as_a_page() -> None:
    made = experiment_page(evaluate(pipeline("abcd"), CASES, measures=["MRR@3", "Recall@3"], name="m"))
    page = Page(made)
    assert page.sections == ["summary", "recall-and-latency", "categories", "cases", "worst-losses"]
    assert len(page.of("figure")) == 2
    assert rows(made) == [
        ("easy", "", "q1"),
        ("hard", "", "q2"),
        ("hard", "missed", "q3"),
        ("", "gap", "g1"),
    ]
    assert "gap" in page.texts
    assert [page.texts.count(category) for category in ("easy", "hard")] == [5, 6]


def test_a_comparison_as_a_page() -> None:
    made = experiment_page(compare(pair(), CASES, measures=["MRR", "Recall@1"]))
    page = Page(made)
    assert page.sections[:3] == ["summary", "differences", "recall-and-latency"]
    assert [figure for figure in page.texts if figure.endswith("difference from old")] == [
        "MRR: difference from old",
        "Recall@1: difference from old",
    ]
    # By MRR: q1 falls from 1 to a quarter, q2 from a half to a half, q3 rises.
    assert [state for _, state, _ in rows(made)] == ["worse", "", "better", "gap"]
    assert made.count('<td class="n up">') == 1
    assert made.count('<td class="n down">') == 1
    assert "3 cases do not tell these methods apart" in "".join(page.texts)


def test_under_a_policy_the_page_has_no_differences() -> None:
    config = {"retrievers": {"bm25": {"use": "bm25"}, "other": {"use": "bm25", "k1": 2.0}}}
    variants = {"no-other": {"retrievers.other": False}}
    cases = [Case("q", "text a", ["a"])]
    free, bound = (
        experiment_page(
            ablate(config, DOCUMENTS.values(), cases, variants=variants, measures="MRR", policy=policy)
        )
        for policy in ("", "no_selection")
    )
    assert "differences" in Page(free).sections
    page = Page(bound)
    assert "differences" not in page.sections
    assert not any(state in {"better", "worse"} for _, state, _ in rows(bound))
    text = "".join(page.texts)
    assert "above the baseline" not in text
    assert "Holm" not in text
    assert "The contract's policy is 'no_selection'" in text


def test_a_sweep_as_a_page() -> None:
    config = {"retrievers": {"bm25": {"use": "bm25"}, "other": {"use": "bm25", "k1": 2.0}}}
    cases = [Case("q", "text a", ["a"])]
    vary: dict[str, list[Any]] = {"weight.other": [0, 1], "recall": [2, 4]}
    single, grid = (
        Page(experiment_page(sweep(config, DOCUMENTS.values(), cases, vary, measures="MRR@2", grid=grid)))
        for grid in (False, True)
    )
    assert single.sections[:2] == ["summary", "settings"]
    assert {"mean over weight.other", "mean over recall"} <= set(single.texts)
    assert "MRR@2 over weight.other" in grid.texts
    assert {"recall=2", "recall=4"} <= set(grid.texts)


def test_a_diagnosis_as_a_page() -> None:
    made = experiment_page(diagnose(pipeline("abcd"), CASES, k=2))
    page = Page(made)
    assert page.sections == [
        "summary",
        "stages",
        "recall-and-latency",
        "categories",
        "missed-targets",
        "cases",
        "worst-losses",
    ]
    assert "ranks: fusion 3; legs: leg 3" in page.texts
    assert [state for _, state, _ in rows(made)] == ["", "missed", "missed", "gap"]


def test_recall_over_k_is_recall() -> None:
    made = evaluate(pipeline("abcd"), CASES, measures=["Recall@1", "Recall@2", "Recall@3", "Recall@4"])
    assert [recall_at(made, k) for k in (1, 2, 3, 4)] == pytest.approx(list(made.means.values()))
    assert [recall_at(made, k) for k in (1, 2, 3, 4)] == pytest.approx([1 / 3, 0.5, 2 / 3, 1])


def test_the_worst_losses_come_with_their_traces() -> None:
    compared = compare(pair(), CASES, measures="MRR")
    page = experiment_page(compared, documents=list(DOCUMENTS.values()))
    worst = page.split('<section id="worst-losses">')[1]
    # Only q1 is below the baseline; its target is the first of the old and the last of the new leg.
    assert re.findall(r"<b>(.*?)</b>", worst) == ["one"]
    cells = re.findall(r"<tr><td>leg</td><td>(\d+)</td>", worst)
    assert cells == ["1", "4"]


def test_targets_given_as_paths_are_found_in_traces_with_the_documents() -> None:
    from hybridrank import Target

    made = evaluate(pipeline("abcp"), [Case("q", "one", [Target(path="p.py")])], measures="MRR@2")
    for documents, place in ((None, "-"), (list(DOCUMENTS.values()), "4")):
        page = experiment_page(made, documents=documents)
        assert re.findall(r"<tr><td>leg</td><td>(.*?)</td>", page) == [place]


# EV-17
def test_failed_searches_are_shown() -> None:
    made = evaluate(pipeline("abcd"), [*CASES, Case("f", "fail", ["a"])], measures="MRR")
    page = experiment_page(made)
    assert rows(page)[-1] == ("", "missed failed", "f")
    assert "the search failed: RuntimeError:" in page


def hostile_pages() -> list[str]:
    cases = [
        Case(HOSTILE, HOSTILE, [HOSTILE], category=HOSTILE),
        Case("f", "fail", [HOSTILE], category="x"),
        Case("g", HOSTILE, expected="disclose_gap", gap_id=HOSTILE),
    ]
    legs = {HOSTILE: Fixed([HOSTILE, "a"]), "b": Fixed(["a", HOSTILE])}
    made = Pipeline(legs, normalizer=None).index(DOCUMENTS.values())
    one = evaluate(made, cases, name=HOSTILE)
    return [
        experiment_page(one, title=HOSTILE),
        experiment_page(compare({HOSTILE: made, "b": pipeline("abcd")}, cases)),
        experiment_page(diagnose(made, cases, k=1)),
    ]


def test_hostile_text_stays_text() -> None:
    for html in hostile_pages():
        page = Page(html)
        assert page.of("img") == []
        assert len(page.of("script")) == 1
        assert not any(character in html for character in "\x1b\u202e\udcff")
        assert html.count("&lt;script&gt;") > 5
        html.encode()


def test_the_page_loads_nothing_and_runs_only_its_script() -> None:
    for html in hostile_pages():
        page = Page(html)
        (policy,) = [meta["content"] for meta in page.of("meta") if "http-equiv" in meta]
        assert policy is not None
        assert policy.startswith("default-src 'none'; ")
        assert "script-src 'sha256-" in policy
        assert page.of("link") == []
        for tag, attributes in page.tags:
            assert not {"src", "srcset", "action", "onload", "onerror", "onclick"} & set(attributes), tag
            assert str(attributes.get("href", "#")).startswith("#")
        assert "url(" not in html
        assert "@import" not in html


def test_equal_experiments_give_equal_pages() -> None:
    one, two = (evaluate(pipeline("abcd"), CASES, measures="MRR") for _ in range(2))
    still = [
        replace(made, outcomes=tuple(replace(o, seconds=1.0, result=None) for o in made.outcomes))
        for made in (one, two)
    ]
    assert experiment_page(still[0]) == experiment_page(still[1])


def test_what_is_no_experiment_is_refused_and_pages_are_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="str is no experiment"):
        experiment_page("page")  # type: ignore[arg-type]
    made = evaluate(pipeline("abcd"), CASES)
    write_page(tmp_path / "page.html", made)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == experiment_page(made)
