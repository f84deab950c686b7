"""The shortcut to the k-th best product finds what sorting all of them finds."""

from __future__ import annotations

import numpy as np
import pytest

from hybridrank.retrievers.vectors import UnitVectors, _near_the_best


@pytest.mark.parametrize("k", [0, 1, 3, 16, 60])
@pytest.mark.parametrize("size", [61, 100, 1024, 4001])
@pytest.mark.parametrize("levels", [3, 50, 1_000_000])
def test_the_near_ones_are_those_of_a_full_sort(size: int, k: int, levels: int) -> None:
    values = np.random.default_rng(size + k).integers(0, levels, size).astype(np.float32)
    expected = [at for at in range(size) if k and values[at] >= np.float32(sorted(values)[-k]) - 1.0]
    assert _near_the_best(values, k, 1.0).tolist() == expected


@pytest.mark.parametrize("left_out", [0, 5])
def test_the_best_of_many_rows_are_those_of_a_full_sort(left_out: int) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(-3, 4, (3000, 8)).astype(np.float32)
    unit = UnitVectors.of(rows[rows.any(axis=1)], np.flatnonzero(rows.any(axis=1)), len(rows))
    query = np.full(8, 8**-0.5)
    candidates = np.flatnonzero(unit.nonzero)[left_out:]
    found, scores = unit.nearest(query, unit.rows @ query.astype(np.float32), candidates, 20)
    cosines = unit.cosines(query, candidates)
    best = np.lexsort((candidates, -cosines))[:20]
    assert found.tolist() == candidates[best].tolist()
    assert scores.tolist() == cosines[best].tolist()
