"""BM25 on judged collections, which are not part of the repository; skipped where they are not there."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import pytest

from hybridrank import BM25, Tokenizer

ROOT = Path(__file__).resolve().parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "retrieval_quality.py"))


def read(name: str) -> Any:
    folder = SCRIPT["find_collections"]()
    if folder is None or not (folder / name).is_dir():
        pytest.skip(f"collection {name} is not there; set HYBRIDRANK_COLLECTIONS to the folder that holds it")
    return SCRIPT["read_collection"](folder / name)


def table() -> dict[tuple[str, str, str], tuple[str, str]]:
    """Collection, setting and normaliser of each row of the documented table, with MAP and nDCG@10."""
    rows = {}
    for line in (ROOT / "docs" / "retrieval-quality.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[2] in ("on", "off"):
            rows[cells[0], cells[1], cells[2]] = cells[3], cells[4]
    return rows


@pytest.mark.parametrize("name", ["cranfield", pytest.param("stard-gold-zh", marks=pytest.mark.slow)])
def test_rankings_equal_those_of_bm25s(name: str) -> None:
    """Its method "lucene" leaves out the factor (k1 + 1), counts repeated query terms, and sums float32."""
    collection = read(name)
    tokenize = Tokenizer(parts=False)
    bm25 = BM25(query_terms="count", tokenizer=tokenize).index(collection.documents)
    peer = bm25s.BM25(k1=1.2, b=0.75, method="lucene", dtype="float32")
    peer.index([tokenize(document.text) for document in bm25.documents], show_progress=False)
    positions = {document.id: position for position, document in enumerate(bm25.documents)}
    known = set(peer.vocab_dict)
    for query in collection.queries:
        theirs = peer.get_scores([token for token in tokenize(query.text) if token in known]) * 2.2
        ranking = bm25.retrieve(query, k=len(positions))
        aligned = theirs[[positions[id] for id in ranking.ids]]
        assert len(ranking) == np.count_nonzero(theirs)
        np.testing.assert_allclose([hit.score for hit in ranking], aligned, rtol=2e-6)
        # Sorted by their scores as well, but for differences that float32 cannot tell from a tie.
        assert np.all(np.diff(aligned) <= 2e-6 * aligned[:-1])


def measured(name: str, setting: str, normalize: bool) -> tuple[str, str]:
    precision, gain = SCRIPT["measure"](read(name), SCRIPT["SETTINGS"][setting], normalize)
    return f"{precision:.3f}", f"{gain:.3f}"


def test_the_documented_default_is_what_is_measured() -> None:
    setting = next(name for name in SCRIPT["SETTINGS"] if "default" in name)
    assert measured("cranfield", setting, False) == table()["cranfield", setting, "off"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "normalizer"), [("cranfield", ("off", "on")), ("stard-gold-zh", ("on",))])
def test_the_documented_table_is_what_is_measured(name: str, normalizer: tuple[str, ...]) -> None:
    rows = {row: values for row, values in table().items() if row[0] == name and row[2] in normalizer}
    assert len(rows) == len(SCRIPT["SETTINGS"]) * len(normalizer)
    for row, values in rows.items():
        assert measured(name, row[1], row[2] == "on") == values, row


def test_the_measures_of_the_script() -> None:
    """Worked out by hand: precisions 1/1 and 2/3 of three relevant; gains 1 and 1/log2(4)."""
    ids, grades = ["a", "x", "b"], {"a": 1, "b": 1, "c": 1}
    assert SCRIPT["average_precision"](ids, grades) == pytest.approx((1 + 2 / 3) / 3)
    ideal = 1 + 1 / np.log2(3) + 1 / 2
    assert SCRIPT["ndcg"](ids, grades) == pytest.approx(1.5 / ideal)
    assert SCRIPT["ndcg"](ids, {"b": 3, "c": 2}, k=3) == pytest.approx(1.5 / (3 + 2 / np.log2(3)))
    assert SCRIPT["average_precision"]([], grades) == SCRIPT["ndcg"]([], grades) == 0
