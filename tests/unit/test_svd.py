"""The small and the truncated decomposition, against LAPACK's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array, random_array

from hybridrank.embedders.svd import (
    F32,
    F64,
    gram,
    orthonormalise,
    pivoted_cholesky,
    symmetric_eigen,
    times,
    truncated_svd,
)

RNG = np.random.default_rng(7)


def _symmetric(size: int) -> F64:
    a = RNG.standard_normal((size, size))
    return a + a.T


def _tall(rows: int, columns: int) -> F32:
    return RNG.standard_normal((rows, columns), np.float32)


def _exact(matrix: csr_array, dimensions: int) -> tuple[F64, F64]:
    _, values, vectors = np.linalg.svd(matrix.toarray().astype(np.float64))
    return values[:dimensions], vectors[:dimensions].T


@pytest.mark.parametrize(
    "matrix",
    [
        *(_symmetric(size) for size in (1, 2, 3, 4, 17, 60)),
        np.zeros((0, 0)),
        np.zeros((5, 5)),
        np.eye(6),
        np.ones((7, 7)),
        np.diag([3.0, -1.0, 0.0, 3.0]),
        np.diag(np.full(4, 1.0), 1) + np.diag(np.full(4, 1.0), -1),
    ],
    ids=lambda matrix: f"{len(matrix)}x{len(matrix)}",
)
def test_symmetric_eigen_agrees_with_lapack(matrix: F64) -> None:
    values, vectors = symmetric_eigen(matrix)
    scale = max(1.0, np.abs(matrix).max(initial=0.0))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-12 * scale)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(matrix)), atol=1e-12)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-12 * scale)


def test_gram_and_times_agree_with_plain_products() -> None:
    a, w = _tall(20_000, 12), RNG.standard_normal((12, 5))
    wide = a.astype(np.float64)
    np.testing.assert_allclose(gram(a), wide.T @ wide, atol=20_000 * 2e-6)
    np.testing.assert_allclose(times(a, w), wide @ w, atol=2e-3 * 20_000 / 2**20)


def test_sums_are_exact_so_that_no_order_of_adding_changes_a_bit() -> None:
    # What a BLAS with other threads does to the order of additions, a shuffle of the rows does as well.
    a = _tall(9_000, 40) * np.logspace(-3, 3, 40, dtype=np.float32)
    w = RNG.standard_normal((40, 30))
    shuffled = RNG.permutation(len(a))
    assert gram(a).tobytes() == gram(a[shuffled]).tobytes()
    assert times(a, w)[shuffled].tobytes() == times(a[shuffled], w).tobytes()
    columns = RNG.permutation(40)
    assert times(a, w).tobytes() == times(a[:, columns], w[columns]).tobytes()
    # The test can fail: plain products do differ.
    wide = a.astype(np.float64)
    assert (wide.T @ wide).tobytes() != (wide[shuffled].T @ wide[shuffled]).tobytes()


def test_orthonormal_basis_of_independent_columns() -> None:
    basis = orthonormalise(_tall(500, 20))
    np.testing.assert_allclose(basis.T @ basis, np.eye(20), atol=1e-5)


@pytest.mark.parametrize("rank", [1, 3, 19])
def test_orthonormal_basis_has_the_rank_of_the_columns(rank: int) -> None:
    low = (_tall(500, rank).astype(np.float64) @ _tall(rank, 20)).astype(np.float32)
    basis = orthonormalise(low)
    assert basis.shape == (500, rank)
    np.testing.assert_allclose(basis.T @ basis, np.eye(rank), atol=1e-4)
    np.testing.assert_allclose(basis @ (basis.T @ low), low, atol=1e-4 * np.abs(low).max())


def test_orthonormal_basis_of_nothing() -> None:
    assert orthonormalise(np.zeros((50, 4), np.float32)).shape == (50, 0)
    assert orthonormalise(np.zeros((50, 0), np.float32)).shape == (50, 0)


def test_orthonormal_basis_of_zero_columns_beside_others() -> None:
    a = np.zeros((50, 4), np.float32)
    a[:, 2] = 3.0
    np.testing.assert_allclose(np.abs(orthonormalise(a)), np.full((50, 1), 50**-0.5), atol=1e-6)


@pytest.mark.parametrize(("rows", "columns"), [(9, 40), (40, 9), (12, 12), (1, 30), (30, 1)])
def test_small_matrices_are_decomposed_exactly(rows: int, columns: int) -> None:
    matrix = csr_array(random_array((rows, columns), density=0.6, rng=3, dtype=np.float32))
    values, components = truncated_svd(matrix, 100, power_iterations=0, oversampling=0, seed=0)
    expected, vectors = _exact(matrix, min(rows, columns))
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    np.testing.assert_allclose(components.T @ components, np.eye(len(values)), atol=1e-5)
    np.testing.assert_allclose(components @ components.T, vectors @ vectors.T, atol=1e-5)


def test_sketch_finds_the_leading_subspace() -> None:
    # Ten strong directions over noise: a gap that makes the subspace well defined.
    strong = RNG.standard_normal((300, 10)) @ RNG.standard_normal((10, 200)) / 10
    noise = 0.05 * RNG.standard_normal((300, 200))
    matrix = csr_array((strong + noise).astype(np.float32))
    values, components = truncated_svd(matrix, 10, power_iterations=2, oversampling=10, seed=0)
    expected, vectors = _exact(matrix, 10)
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    np.testing.assert_allclose(components @ components.T, vectors @ vectors.T, atol=1e-4)


def test_sketch_without_a_gap_finds_nearly_all_of_the_energy() -> None:
    matrix = csr_array(random_array((400, 300), density=0.05, rng=5, dtype=np.float32))
    values, _ = truncated_svd(matrix, 20, power_iterations=2, oversampling=20, seed=0)
    expected, _ = _exact(matrix, 20)
    assert (values <= expected * (1 + 1e-6)).all()
    assert (values**2).sum() > 0.95 * (expected**2).sum()
    closer, _ = truncated_svd(matrix, 20, power_iterations=15, oversampling=20, seed=0)
    assert (closer**2).sum() > 0.999 * (expected**2).sum()


def test_rank_below_the_asked_dimensions_with_a_sketch() -> None:
    rows = random_array((6, 200), density=0.2, rng=1, dtype=np.float32).toarray()
    matrix = csr_array(np.tile(rows, (50, 1)))
    values, components = truncated_svd(matrix, 30, power_iterations=2, oversampling=5, seed=0)
    expected, vectors = _exact(matrix, 6)
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    np.testing.assert_allclose(components @ components.T, vectors @ vectors.T, atol=1e-4)


def test_largest_entry_of_each_component_is_positive() -> None:
    matrix = csr_array(random_array((60, 50), density=0.3, rng=2, dtype=np.float32))
    _, components = truncated_svd(matrix, 8, power_iterations=2, oversampling=4, seed=0)
    assert (np.abs(components).max(axis=0) == components.max(axis=0)).all()


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (3, 3)])
def test_a_matrix_without_entries_has_no_components(shape: tuple[int, int]) -> None:
    values, components = truncated_svd(
        csr_array(np.zeros(shape, np.float32)), 5, power_iterations=2, oversampling=5, seed=0
    )
    assert values.shape == (0,)
    assert components.shape == (shape[1], 0)


def test_pivoted_cholesky_is_that_of_lapack() -> None:
    a = np.random.default_rng(3).standard_normal((40, 12))
    a[:, 7] = a[:, 2] + a[:, 5]
    matrix = a.T @ a
    factor, order = pivoted_cholesky(matrix, 1e-10)
    theirs, pivots, rank, _ = dpstrf(matrix, lower=1)
    assert factor.shape == (12, 11)
    assert (order + 1).tolist()[:11] == pivots.tolist()[:11]
    assert rank >= 11
    np.testing.assert_allclose(factor, np.tril(theirs)[:, :11], atol=1e-9)
    np.testing.assert_allclose(factor @ factor.T, matrix[np.ix_(order, order)], atol=1e-9)


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4])
def test_an_orthonormal_basis_spans_the_columns(condition: float) -> None:
    rng = np.random.default_rng(4)
    left, _ = np.linalg.qr(rng.standard_normal((300, 30)))
    right, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    a = (left * np.geomspace(1.0, 1.0 / condition, 30) @ right).astype(np.float32)
    basis = orthonormalise(a).astype(np.float64)
    assert basis.shape == (300, 30)
    np.testing.assert_allclose(basis.T @ basis, np.eye(30), atol=1e-5)
    np.testing.assert_allclose(basis @ (basis.T @ a), a, atol=1e-5)


def test_a_basis_of_nothing_is_empty() -> None:
    assert orthonormalise(np.zeros((5, 3), np.float32)).shape == (5, 0)
    assert orthonormalise(np.zeros((5, 0), np.float32)).shape == (5, 0)
