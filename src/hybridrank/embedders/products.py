"""Sparse times dense by rows, on all cores, the same bits under any number of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..cores import cores

# Multiplications that a thread must have to do, or starting it takes longer.
_LEAST = 4_000_000
# Parts for each thread: rows differ in what they cost.
_PARTS = 4


def product(matrix: csr_array, dense: NDArray[np.float32]) -> NDArray[np.float32]:
    """`matrix @ dense`, each row summed by itself in scipy's compiled loop, which frees the interpreter.

    Args:
        matrix: float32, shape (m, n).
        dense: float32, shape (n, r).
    """
    rows, width = matrix.shape[0], dense.shape[1]
    threads = min(cores(), matrix.nnz * width // _LEAST, rows)
    if threads < 2:
        return np.asarray(matrix @ dense)
    shares = np.linspace(0, matrix.nnz, threads * _PARTS + 1)[1:-1]
    cuts = [0, *np.searchsorted(matrix.indptr, shares).tolist(), rows]
    found = np.empty((rows, width), np.float32)

    def fill(first: int, last: int) -> None:
        found[first:last] = matrix[first:last] @ dense

    with ThreadPoolExecutor(threads, "hybridrank-products") as pool:
        for done in [pool.submit(fill, *pair) for pair in pairwise(cuts)]:
            done.result()
    return found
