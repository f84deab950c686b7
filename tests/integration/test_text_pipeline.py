"""The default text pipeline on judged collections; skipped where they are not there."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "retrieval_quality.py"))


def table() -> dict[tuple[str, str], tuple[str, str]]:
    """Collection and pipeline of each row of the documented table, with MAP and nDCG@10."""
    rows = {}
    for line in (ROOT / "docs" / "quality.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[1] in SCRIPT["text_pipelines"]():
            rows[cells[0], cells[1]] = cells[2], cells[3]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cranfield", "stard-gold-zh"])
def test_both_legs_together_are_no_worse_than_the_better_one(name: str) -> None:
    folder = SCRIPT["find_collections"]()
    if folder is None or not (folder / name).is_dir():
        pytest.skip(f"collection {name} is not there; set HYBRIDRANK_COLLECTIONS to the folder that holds it")
    collection = SCRIPT["read_collection"](folder / name)
    measured = {
        pipeline: SCRIPT["measure_pipeline"](collection, part)
        for pipeline, part in SCRIPT["text_pipelines"]().items()
    }
    *legs, whole = measured.values()
    assert all(whole[place] >= max(leg[place] for leg in legs) for place in (0, 1))
    shown = {
        (name, pipeline): tuple(f"{value:.3f}" for value in values) for pipeline, values in measured.items()
    }
    assert shown == {row: values for row, values in table().items() if row[0] == name}
