"""Term weights: (1 + ln tf) * idf over a vocabulary that was learnt from a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..text.counts import TermCounts
from ..text.strings import Strings


@dataclass(frozen=True, eq=False)
class TfIdf:
    """Vocabulary and inverse document frequencies of a corpus.

    Attributes:
        terms: the vocabulary, sorted, so that the order of the texts it was learnt from leaves no trace.
        idf: ln((1 + N) / (1 + df)) + 1 per term, float64, shape (terms,). Being at least 1, it gives a text
            of terms that all texts share a vector too.
    """

    terms: Sequence[str]
    idf: NDArray[np.float64]

    @classmethod
    def learn(cls, counts: TermCounts) -> Self:
        order = sorted(range(len(counts.terms)), key=counts.terms.__getitem__)
        frequencies = np.bincount(counts.matrix.indices, minlength=len(order))[order]
        idf = np.log((1.0 + counts.matrix.shape[0]) / (1.0 + frequencies)) + 1.0
        idf.setflags(write=False)
        return cls(tuple(counts.terms[column] for column in order), idf)

    @cached_property
    def columns(self) -> Mapping[str, int]:
        """Position of each term in `terms`."""
        if isinstance(self.terms, Strings):
            return self.terms.places
        return {term: column for column, term in enumerate(self.terms)}

    def weigh(self, counts: TermCounts) -> csr_array:
        """Rows of unit length, float32, shape (texts, terms); unknown terms are left out.

        A text without known terms has a row of zeros.
        """
        matrix = counts.matrix
        texts = matrix.shape[0]
        own = np.fromiter((self.columns.get(term, -1) for term in counts.terms), np.int64, len(counts.terms))
        columns = own[matrix.indices]
        known = np.flatnonzero(columns >= 0)
        rows = np.repeat(np.arange(texts), np.diff(matrix.indptr))
        # Squares are summed by rising column: a text weighs the same to the last bit in whatever company.
        order = known[np.lexsort((columns[known], rows[known]))]
        rows, columns = rows[order], columns[order]
        weights = (1.0 + np.log(matrix.data[order].astype(np.float64))) * self.idf[columns]
        lengths = np.sqrt(np.bincount(rows, weights * weights, minlength=texts))
        starts = np.concatenate(([0], np.bincount(rows, minlength=texts).cumsum()))
        data = (weights / lengths[rows]).astype(np.float32)
        return csr_array((data, columns, starts), shape=(texts, len(self.terms)))
