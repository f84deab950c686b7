"""Truncated singular value decomposition of a sparse matrix, the same bits under any number of threads.

Randomised range finder with power iterations (Halko, Martinsson & Tropp 2011). A threaded BLAS adds in an
order that depends on the thread count, so its last bits do too. Here that order is of no consequence:

- products with the sparse matrix run in scipy's loops, which sum each row by itself;
- dense products run in BLAS, but on integers so small that every partial sum is exact;
- the small eigenproblem is reduced with elementwise arithmetic and solved by a LAPACK routine without BLAS.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .products import product

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

# Singular values below this share of the largest are float32 noise of a matrix of lower rank.
RANK_TOLERANCE = 1e-5

# Columns are scaled to a norm of at most 2^26 before they are rounded to integers. By Cauchy-Schwarz no
# partial sum of a product of two such columns can then exceed 2^52, which a double holds exactly.
_BITS = 26
_ROWS = 8192


class TruncatedSVD(NamedTuple):
    """X ≈ (X V) Vᵀ. `singular_values` (r,) fall; `components` is V, float32, shape (columns of X, r)."""

    singular_values: F64
    components: F32


def truncated_svd(
    matrix: csr_array, dimensions: int, *, power_iterations: int, oversampling: int, seed: int
) -> TruncatedSVD:
    """The leading singular triplets of `matrix` (float32, m × n), at most `dimensions` of them.

    There are min(`dimensions`, rank) of them. Each column of V has its largest component positive. When the
    sketch would be as wide as the matrix, nothing is left to chance and the result is exact.
    """
    rows, columns = matrix.shape
    width = min(dimensions + oversampling, rows, columns)
    if width == 0 or matrix.nnz == 0:
        return TruncatedSVD(np.zeros(0), np.zeros((columns, 0), np.float32))
    transposed = csr_array(matrix.T)
    if width == rows:
        basis = np.eye(rows, dtype=np.float32)
    elif width == columns:
        basis = orthonormalise(matrix.toarray())
    else:
        # Normal numbers, not random signs, which can cancel each other exactly in a short row.
        sketch = np.random.default_rng(seed).standard_normal((columns, width), np.float32)
        basis = orthonormalise(product(matrix, sketch))
        for _ in range(power_iterations):
            basis = orthonormalise(product(matrix, product(transposed, basis)))
    squares, vectors = symmetric_eigen(gram(product(transposed, basis)))
    kept = np.flatnonzero(squares > squares.max(initial=0.0) * RANK_TOLERANCE**2)[::-1][:dimensions]
    singular_values = np.sqrt(squares[kept])
    # V = Xᵀ U S⁻¹ by a sparse product: cheaper than a dense one as tall as the vocabulary.
    components = product(transposed, times(basis, vectors[:, kept] / singular_values))
    components *= np.where(components.max(axis=0) >= -components.min(axis=0), 1, -1).astype(np.float32)
    return TruncatedSVD(singular_values, components)


def orthonormalise(a: F32) -> F32:
    """An orthonormal basis of the columns of `a`, fewer of them where `a` is short of rank.

    By the Cholesky factor L of the Gram matrix, A L⁻ᵀ (Golub & Van Loan 5.2), with pivots, since a singular
    matrix has no other.
    """
    factor, order = pivoted_cholesky(gram(a), RANK_TOLERANCE**2)
    rank = factor.shape[1]
    inverse = np.zeros((rank, rank))
    for i in range(rank):
        inverse[i, :i] = np.einsum("j,jk->k", factor[i, :i], inverse[:i, :i]) / -factor[i, i]
        inverse[i, i] = 1.0 / factor[i, i]
    weights = np.zeros((a.shape[1], rank))
    weights[order[:rank]] = inverse.T
    return times(a, weights)


def pivoted_cholesky(matrix: F64, tolerance: float) -> tuple[F64, NDArray[np.intp]]:
    """L, shape (n, rank), and an order p of rows and columns with matrix[p][:, p] ≈ L Lᵀ.

    Of a symmetric matrix without negative eigenvalues (Higham 2002, 10.3). Ends where what is left of the
    diagonal is below a share of its largest entry. Each step is elementwise.
    """
    size = len(matrix)
    order = np.arange(size)
    left = np.diagonal(matrix).copy()
    factor = np.zeros((size, size))
    least = left.max(initial=0.0) * tolerance
    for k in range(size):
        best = k + int(left[k:].argmax())
        if not left[best] > least:
            return factor[:, :k], order
        for array in (order, left, factor):
            array[[k, best]] = array[[best, k]]
        pivot = np.sqrt(left[k])
        below = matrix[order[k + 1 :], order[k]] - np.einsum("ij,j->i", factor[k + 1 :, :k], factor[k, :k])
        factor[k, k] = pivot
        factor[k + 1 :, k] = below / pivot
        left[k + 1 :] -= factor[k + 1 :, k] ** 2
    return factor, order


def gram(a: F32) -> F64:
    """aᵀ a of the columns of `a` rounded to their grid, exactly."""
    exponents = _exponents(a)
    total = np.zeros((a.shape[1], a.shape[1]))
    for _, block in _integers(a, exponents):
        total += block.T @ block
    return np.asarray(np.ldexp(total, -(exponents[:, None] + exponents)))


def times(a: F32, w: F64) -> F32:
    """The columns of `a`, rounded to their grid, times the small matrix `w`; relative error about 2⁻⁴⁰."""
    exponents = _exponents(a)
    # A row of integers has a norm of at most 2^26 √l: what is left to a column of w is that much less.
    width = (max(a.shape[1], 1) - 1).bit_length()
    bits = _BITS - (width + 1) // 2
    scaled = np.ldexp(w, -exponents[:, None])
    shift = bits - np.frexp(np.sqrt(np.einsum("ij,ij->j", scaled, scaled)))[1]
    high = np.rint(np.ldexp(scaled, shift))
    finer = _BITS - width
    low = np.rint(np.ldexp(np.ldexp(scaled, shift) - high, finer))
    result = np.empty((a.shape[0], w.shape[1]), np.float32)
    for rows, block in _integers(a, exponents):
        result[rows] = np.ldexp(block @ high + np.ldexp(block @ low, -finer), -shift)
    return result


def _exponents(a: F32) -> NDArray[np.int32]:
    """Per column the power of two that brings its norm between 2^25 and 2^26."""
    squares = np.zeros(a.shape[1])
    for start in range(0, len(a), _ROWS):
        block = a[start : start + _ROWS].astype(np.float64)
        squares += np.einsum("ij,ij->j", block, block)
    return np.asarray(_BITS - np.frexp(np.sqrt(squares))[1], np.int32)


def _integers(a: F32, exponents: NDArray[np.int32]) -> Iterator[tuple[slice, F64]]:
    scale = np.ldexp(1.0, exponents)
    for start in range(0, len(a), _ROWS):
        rows = slice(start, start + _ROWS)
        yield rows, np.rint(a[rows] * scale)


def symmetric_eigen(matrix: F64) -> tuple[F64, F64]:
    """Eigenvalues, rising, and eigenvectors (columns) of a symmetric matrix.

    Householder reduction to tridiagonal form (Golub & Van Loan, 8.3.1), each step elementwise.
    """
    from scipy.linalg import eigh_tridiagonal  # takes longer to import than a search on a stored index

    a = matrix.copy()
    size = len(a)
    if size == 0:
        return np.zeros(0), np.zeros((0, 0))
    reflectors: list[F64] = []
    for k in range(size - 2):
        v = a[k + 1 :, k].copy()
        norm = np.sqrt(np.sum(v * v))
        if norm > 0.0:
            alpha = -np.copysign(norm, v[0])
            v[0] -= alpha
            v /= np.sqrt(np.sum(v * v))
            rest = a[k + 1 :, k + 1 :]
            p = 2.0 * np.einsum("ij,j->i", rest, v)
            w = p - np.sum(p * v) * v
            rest -= v[:, None] * w + w[:, None] * v
            a[k + 1, k] = alpha
        reflectors.append(v)
    values: F64
    vectors: F64
    values, vectors = eigh_tridiagonal(np.diagonal(a), np.diagonal(a, -1), lapack_driver="stev")  # type: ignore[assignment]
    for k in reversed(range(len(reflectors))):
        v, rest = reflectors[k], vectors[k + 1 :]
        rest -= v[:, None] * (2.0 * np.einsum("i,ij->j", v, rest))
    return values, vectors
