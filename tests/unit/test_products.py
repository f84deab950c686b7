"""Sparse products on several threads are those on one, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from hybridrank.embedders import products


@pytest.mark.parametrize("cores", [1, 2, 3, 8])
@pytest.mark.parametrize("rows", [1, 2, 500])
def test_any_number_of_threads_gives_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, cores: int, rows: int
) -> None:
    monkeypatch.setattr(products, "_LEAST", 1)
    monkeypatch.setattr(products, "cores", lambda: cores)
    rng = np.random.default_rng(rows)
    matrix = csr_array(random_array((rows, 300), density=0.1, rng=rng, dtype=np.float32))
    dense = rng.standard_normal((300, 17)).astype(np.float32)
    np.testing.assert_array_equal(products.product(matrix, dense), matrix @ dense)


def test_rows_without_entries_are_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_LEAST", 1)
    monkeypatch.setattr(products, "cores", lambda: 4)
    matrix = csr_array((np.array([2.0], np.float32), ([7], [3])), shape=(20, 5))
    found = products.product(matrix, np.ones((5, 2), np.float32))
    assert found.sum() == 4.0
    assert found[7].tolist() == [2.0, 2.0]
