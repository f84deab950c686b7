"""The inverted index of BM25: for each term the documents that hold it, and what it adds to their scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..types import Contribution

if TYPE_CHECKING:
    from ..text.counts import TermCounts

# Postings are weighted in runs of about this many, so that the float64 temporaries stay in the cache.
_RUN = 1 << 18
# Scores are looked at in blocks of this many to find the best k.
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Postings:
    """Term-major postings with precomputed impacts.

    The postings of the term in row r stand at `starts[r]:starts[r + 1]` of the three arrays that follow, by
    rising document number.

    Attributes:
        rows: row of each term.
        starts: int64, shape (terms + 1,).
        documents: int32, shape (postings,): document numbers.
        counts: unsigned, shape (postings,): how often the term stands in the document.
        impacts: float32, shape (postings,), all > 0: what one occurrence of the term in a query adds.
        lengths: int64, shape (documents,): tokens per document.
    """

    rows: Mapping[str, int]
    starts: NDArray[np.int64]
    documents: NDArray[np.int32]
    counts: NDArray[np.unsignedinteger[Any]]
    impacts: NDArray[np.float32]
    lengths: NDArray[np.int64]

    @classmethod
    def build(cls, terms: TermCounts, *, k1: float, b: float) -> Postings:
        """Turn counts by document into postings by term, weighted by BM25 (Robertson & Zaragoza 2009)."""
        by_term = terms.matrix.tocsc()
        starts = by_term.indptr.astype(np.int64)
        documents = by_term.indices.astype(np.int32, copy=False)
        lengths = terms.lengths.astype(np.int64, copy=False)
        highest = int(by_term.data.max()) if by_term.nnz else 0
        counts = by_term.data.astype(np.min_scalar_type(highest))
        frequencies = np.diff(starts)
        idf = np.log1p((len(lengths) - frequencies + 0.5) / (frequencies + 0.5))
        # Numerator and denominator are divided by k1 + 1, which a huge k1 would otherwise overflow.
        average = _mean(lengths) or 1.0
        norms = k1 / (k1 + 1.0) * (1.0 - b + b * (lengths / average))
        impacts = np.empty(len(documents), np.float32)
        for first, last in _term_runs(starts):
            run = slice(starts[first], starts[last])
            tf = counts[run].astype(np.float64)
            saturated = tf / (tf / (k1 + 1.0) + norms[documents[run]])
            impacts[run] = np.repeat(idf[first:last], frequencies[first:last]) * saturated
        rows = {term: row for row, term in enumerate(terms.terms)}
        return cls(rows, starts, documents, counts, impacts, lengths)

    @property
    def average_length(self) -> float:
        """Mean tokens per document, 0.0 without documents."""
        return _mean(self.lengths)

    def idf(self, term: str) -> float:
        """ln(1 + (N - n + 0.5) / (n + 0.5)) for a term in n of N documents; always > 0."""
        row = self.rows.get(term)
        n = 0 if row is None else int(self.starts[row + 1] - self.starts[row])
        return math.log1p((len(self.lengths) - n + 0.5) / (n + 0.5))

    def scores(self, weights: Mapping[str, int]) -> NDArray[np.float64]:
        """The score of every document, shape (documents,), for known terms and how often each counts.

        float32 impacts are summed as float64, whose 29 further bits keep all but extreme sums exact. So the
        same addends make the same score in whatever order they come; rounded float32 sums would break such
        ties. Values are cast first, since `np.add.at` is 20 times slower on mixed types.
        """
        totals = np.zeros(len(self.lengths))
        for term, weight in weights.items():
            run = self._run(term)
            added = self.impacts[run].astype(np.float64)
            np.add.at(totals, self.documents[run], added if weight == 1 else added * weight)
        return totals

    def contributions(self, weights: Mapping[str, int], document: int) -> tuple[Contribution, ...]:
        """What each of these known terms adds to the score of a document, the most first, ties by term."""
        found = []
        for term, weight in weights.items():
            run = self._run(term)
            at = run.start + int(np.searchsorted(self.documents[run], document))
            if at < run.stop and self.documents[at] == document:
                detail = f"tf {self.counts[at]}, in {run.stop - run.start} of {len(self.lengths)} documents"
                if weight > 1:
                    detail += f", {weight} times in the query"
                found.append(Contribution(term, weight * float(self.impacts[at]), detail))
        return tuple(sorted(found, key=lambda contribution: (-contribution.value, contribution.name)))

    @cached_property
    def digest(self) -> str:
        """Hex digest of terms, counts and lengths; it does not depend on the order of the rows."""
        content = sha256(self.lengths.astype("<i8").tobytes())
        for term in sorted(self.rows):
            run = self._run(term)
            name = term.encode("utf-8", "surrogatepass")
            content.update(b"%d %d " % (len(name), run.stop - run.start) + name)
            content.update(self.documents[run].astype("<i4").tobytes())
            content.update(self.counts[run].astype("<u4").tobytes())
        return content.hexdigest()

    def _run(self, term: str) -> slice:
        row = self.rows[term]
        return slice(int(self.starts[row]), int(self.starts[row + 1]))


def best(scores: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """Positions of the k highest scores above 0, best first, equal ones by rising position.

    All ties at the cut are considered, so the best k are a prefix of the best k + n.
    """
    blocks = len(scores) // _BLOCK
    if 0 < k < blocks:
        # k blocks reach this score, so the k-th best does too, and nothing below it can be among the best k.
        maxima = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        floor = np.partition(maxima, blocks - k)[blocks - k]
    else:
        floor = np.float64(0.0)
    found = np.flatnonzero(scores >= floor if floor > 0 else scores > 0)
    values = scores[found]
    if k < len(found):
        last = np.partition(values, len(found) - k)[len(found) - k] if k else np.inf
        above = found[values > last]
        found = np.concatenate((above, found[values == last][: k - len(above)]))
        values = scores[found]
    return found[np.argsort(-values, kind="stable")]


def _mean(lengths: NDArray[np.int64]) -> float:
    return float(lengths.sum()) / len(lengths) if len(lengths) else 0.0


def _term_runs(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """First and last row (exclusive) of runs that hold about `_RUN` postings each."""
    rows = np.searchsorted(starts, np.arange(0, starts[-1], _RUN))
    return pairwise(np.unique(np.append(rows, len(starts) - 1)).tolist())
