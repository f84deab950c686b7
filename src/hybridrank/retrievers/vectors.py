"""Exact cosine search over unit vectors, with the same result under any number of BLAS threads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

DECIMALS = 5
_BLOCK = 4096
_GROUP = 32


@dataclass(frozen=True, eq=False)
class UnitVectors:
    """Document vectors of length 1, and zero vectors, which resemble nothing.

    Attributes:
        rows: float32, C-contiguous, shape (documents, dimensions).
    """

    rows: F32
    known_digest: str = ""

    @classmethod
    def of(cls, vectors: NDArray[Any], positions: Rows, documents: int) -> Self:
        """Bring vectors of finite numbers to length 1; documents at other positions have the zero vector."""
        rows = np.zeros((documents, vectors.shape[1]), np.float32)
        for start in range(0, len(vectors), _BLOCK):
            block = slice(start, start + _BLOCK)
            rows[positions[block]] = unit_rows(vectors[block])
        rows.setflags(write=False)
        return cls(rows)

    def chosen(self, places: NDArray[np.int64], added: UnitVectors | None) -> UnitVectors:
        """The rows at these places; a negative one stands for the next row of `added`, None for zeros."""
        rows = np.zeros((len(places), self.rows.shape[1]), np.float32)
        kept = places >= 0
        rows[kept] = self.rows[places[kept]]
        if added is not None:
            rows[~kept] = added.rows
        rows.setflags(write=False)
        return UnitVectors(rows)

    @cached_property
    def nonzero(self) -> Mask:
        """Which documents have a direction, shape (documents,)."""
        return np.asarray(self.rows.any(axis=1))

    @cached_property
    def digest(self) -> str:
        """Hex digest of the vectors."""
        return self.known_digest or sha256(self.rows.data).hexdigest()

    def cosines(self, query: F64, rows: Rows) -> F64:
        """Cosines of some rows with a query of length 1, rounded to 5 decimals, shape (len(rows),).

        Summed row by row in float64 and without BLAS: a score depends on nothing but its two vectors.
        """
        scores = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            block = self.rows[rows[start : start + _BLOCK]].astype(np.float64)
            lengths = np.sqrt((block * block).sum(axis=1))
            lengths[lengths == 0.0] = 1.0
            scores[start : start + _BLOCK] = (block * query).sum(axis=1) / lengths
        return np.round(scores, DECIMALS) + 0.0

    def nearest(self, query: F64, approximate: F32, candidates: Rows, k: int) -> tuple[Rows, F64]:
        """The k candidates of highest cosine, best first, equal ones by rising row; and their cosines.

        Args:
            query: float64, length 1, shape (dimensions,).
            approximate: float32 products of all rows with the query, shape (documents,); they only decide
                what is worth computing exactly.
            candidates: rising row numbers.
        """
        if k < len(candidates):
            # Candidates rise: where there are as many as rows, they are the rows.
            fast = approximate if len(candidates) == len(approximate) else approximate[candidates]
            candidates = candidates[_near_the_best(fast, k, self._margin)]
        scores = self.cosines(query, candidates)
        best = np.argsort(-scores, kind="stable")[:k]
        return candidates[best], scores[best]

    @property
    def _margin(self) -> float:
        """How far below the k-th best product a document of the best k can be.

        Twice the bound on a float32 dot product's error, n 2⁻²⁴ (Higham 2002, 3.1), and one rounding step.
        """
        return float((self.rows.shape[1] + 4) * 2.0**-23 + 10.0**-DECIMALS)


def _near_the_best(values: NDArray[Any], k: int, margin: float) -> Rows:
    """Places of the values that are at most `margin` below the k-th largest; k is less than their number."""
    if not k:
        return np.zeros(0, np.intp)
    # Of disjoint groups the k-th largest maximum is no more than the k-th largest value, and cheaper to find.
    groups = len(values) // _GROUP
    if groups < 2 * k:
        near = np.arange(len(values))
    else:
        highest = values[: groups * _GROUP].reshape(_GROUP, groups).max(axis=0)
        near = np.flatnonzero(values >= np.partition(highest, groups - k)[groups - k] - margin)
    left = values[near]
    floor = np.partition(left, len(left) - k)[len(left) - k]
    found: Rows = near[left >= floor - margin]
    return found


def unit_rows(vectors: NDArray[Any]) -> F64:
    """Rows of finite numbers brought to length 1, float64; zero rows stay zero. Never overflows."""
    rows = vectors.astype(np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    rows /= np.where(largest > 0.0, largest, 1.0)
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    rows /= np.where(lengths > 0.0, lengths, 1.0)
    return rows
