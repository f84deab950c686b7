"""The benchmark suite: what it compares, how it tells, and a quick run."""

from __future__ import annotations

import importlib.util
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PAGE: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "performance_page.py"))


@pytest.fixture(scope="module")
def harness() -> Any:
    place = ROOT / "benchmarks" / "cases" / "harness.py"
    spec = importlib.util.spec_from_file_location("benchmark_harness", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_results_agree_up_to_ties(harness: Any) -> None:
    ours = [("a", 3.0), ("b", 2.0), ("c", 1.0)]
    assert harness.agree(ours, ours)
    assert harness.agree(ours, [("a", 3.0), ("b", 2.0), ("d", 1.0)])  # another of those that tie at the cut
    assert harness.agree(ours, [("a", 3.00001), ("b", 2.0), ("c", 1.0)])
    assert not harness.agree(ours, [("a", 3.0), ("d", 2.0), ("c", 1.0)])
    assert not harness.agree(ours, [("a", 3.0), ("b", 2.1), ("c", 1.0)])
    assert not harness.agree(ours, ours[:2])
    assert harness.agree([], [])
    with pytest.raises(AssertionError, match="name: results differ"):
        harness.check("name", [(ours, ours[:2])])


def test_calls_take_turns(harness: Any) -> None:
    called: list[str] = []
    calls = {"a": lambda: called.append("a"), "b": lambda: called.append("b")}
    times = harness.interleaved(harness.Options(rounds=3), calls)
    assert called == ["a", "b", "b", "a", "a", "b"]
    assert {name: len(one) for name, one in times.items()} == {"a": 3, "b": 3}
    row = harness.row("w", "p", "2", {"ours": [3.0, 1.0, 2.0], "p": [8.0, 6.0, 4.0]}, "p")
    assert (row.ours, row.theirs, row.ratio) == (2.0, 6.0, 3.0)


FOUND = {
    "surroundings": {
        "python": "3.11.7",
        "system": "Linux",
        "machine": "x86_64",
        "processor": "P",
        "cores": 2,
        "packages": {"numpy": "2.4"},
    },
    "options": {"scale": 0.5, "rounds": 3, "clock": "cpu"},
    "rows": [
        {"work": "w", "beside": "p", "wanted": "2", "ours": 0.002, "theirs": 3.0, "ratio": 1500.0,
         "unit": "s", "agreement": "same ids", "note": ""}
    ],
    "growth": [{"name": "a <b>", "sizes": [10, 1000], "seconds": [0.01, 1.0], "exponent": 1.0}],
}  # fmt: skip


def test_the_page_is_made_from_what_was_measured(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"above\n{PAGE['BEGIN']}\nold\n{PAGE['END']}\nbelow\n", encoding="utf-8")
    (tmp_path / "found.json").write_text(json.dumps(FOUND), encoding="utf-8")
    PAGE["main"]([str(tmp_path / "found.json"), "--page", str(page)])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("above\n")
    assert text.endswith("\nbelow\n")
    assert "old" not in text
    assert "| w | p | 2 ms | 3.00 s | 1500.00 | 2 | same ids |" in text
    assert "Medians of 3 interleaved rounds, CPU seconds, at scale 0.5" in text
    drawing = ElementTree.fromstring((tmp_path / "growth.svg").read_text(encoding="utf-8"))
    (line,) = drawing.iter("{http://www.w3.org/2000/svg}polyline")
    assert line.attrib["points"].split()[0] == "70.0,310.0"
    assert "a <b>, exponent 1.00" in "".join(drawing.itertext())


@pytest.mark.slow
def test_the_suite_runs(tmp_path: Path) -> None:
    """Those cases whose peers every developer has; a tiny scale."""
    found = tmp_path / "found.json"
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "--scale", "0.002", "--rounds", "1"]
    subprocess.run(
        [*command, "--only", "build-tokens", "chunks", "rrf", "memory", "growth", "--json", str(found)],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    told = json.loads(found.read_text(encoding="utf-8"))
    assert len(told["rows"]) == 4
    assert all(row["ours"] > 0 and row["theirs"] > 0 for row in told["rows"])
    assert {curve["name"] for curve in told["growth"]} >= {"BM25 build, tokens given", "LSA fit and vectors"}
