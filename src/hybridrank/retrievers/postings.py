"""The inverted index of BM25: for each term the documents that hold it, and what it adds to their scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, vstack

from ..errors import IndexFormatError
from ..text.counts import TermCounts
from ..text.strings import Strings
from ..types import Contribution
from .pruning import Profile, Term, best_among, best_of, profile_of
from .scatter import check_within, scatter

# Postings are weighted in runs of about this many, so that the float64 temporaries stay in the cache.
_RUN = 1 << 18
# Scores are looked at in blocks of this many to find the best k.
_BLOCK = 256
# Of up to so many terms, and while so few documents may be among the best, scores are not all summed exactly.
_FEW, _TIES = 16, 1 << 13
# In smaller corpora scoring all documents takes no longer than to look for a way around it.
_SMALL = 1 << 16
# Runs below this length are short.
_SHORT = 1 << 14
# Terms in one of so many documents get a table by document, 4 bytes a document each, but so many at most.
_DENSE, _TABLES = 8, 24
# Adding a table is faster than adding the postings of a term that stands in one of so many documents.
_FULL = 3
# What terms may add together, of all, to be left out at first.
_LITTLE = 0.06


@dataclass(frozen=True, eq=False)
class Postings:
    """Term-major postings with precomputed impacts.

    The postings of the term in row r stand at `starts[r]:starts[r + 1]` of the three arrays that follow, by
    rising document number.

    Attributes:
        rows: row of each term, by sorted terms.
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
    known_digest: str = ""

    @classmethod
    def build(cls, terms: TermCounts, *, k1: float, b: float) -> Postings:
        """Turn counts by document into postings by term, weighted by BM25 (Robertson & Zaragoza 2009).

        Args:
            terms: what `count_tokens` or `each_token` makes.
        """
        matrix = terms.matrix
        rows = dict(zip(sorted(terms.terms), range(len(terms.terms)), strict=True))
        rank = np.fromiter(map(rows.__getitem__, terms.terms), matrix.indices.dtype, len(rows))
        by_term = csr_array((matrix.data, rank[matrix.indices], matrix.indptr), shape=matrix.shape).tocsc()
        by_term.sum_duplicates()
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
        ties.
        """
        totals = np.zeros(len(self.lengths))
        waiting: list[slice] = []
        few = 0
        rows = np.fromiter(map(self.rows.__getitem__, weights), np.intp, len(weights))
        runs = map(slice, self.starts[rows].tolist(), self.starts[rows + 1].tolist())
        for row, run, weight in zip(rows.tolist(), runs, weights.values(), strict=True):
            length = run.stop - run.start
            if weight == 1 and length * _FULL >= len(totals) and (table := self._table(row)) is not None:
                totals += table
                continue
            if weight == 1 and length < _SHORT:
                # Short runs are summed together: a call for each would take longer than its sum.
                waiting.append(run)
                few += length
                if few < _RUN:
                    continue
            self._add(totals, waiting)
            waiting, few = [], 0
            if weight != 1 or length >= _SHORT:
                check_within(self.documents[run], len(totals))
                scatter(totals, self.documents[run], self.impacts[run], weight)
        self._add(totals, waiting)
        return totals

    def _add(self, totals: NDArray[np.float64], runs: Sequence[slice]) -> None:
        if runs:
            documents = np.concatenate([self.documents[run] for run in runs])
            check_within(documents, len(totals))
            scatter(totals, documents, np.concatenate([self.impacts[run] for run in runs]), 1)

    def top(self, weights: Mapping[str, int], k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """What `best` finds among `scores`, and the scores of that, by the cheapest way to it."""
        size = len(self.lengths)
        if 0 < len(weights) <= _FEW and size >= _SMALL:
            terms = [self._term(term, weight) for term, weight in weights.items()]
            found = best_of(terms, k, size)
            if found is None and 4 * k < size // _BLOCK:
                found = _summed_roughly(terms, k, size)
            if found is not None:
                return found
        scores = self.scores(weights)
        places = best(scores, k)
        return places, scores[places]

    def _term(self, term: str, weight: int) -> Term:
        row = self.rows[term]
        run = slice(int(self.starts[row]), int(self.starts[row + 1]))
        documents, impacts = self.documents[run], self.impacts[run]
        profile = self._profiles.get(row)
        if profile is None:
            check_within(documents, len(self.lengths))
            profile = profile_of(documents, impacts)
            self._profiles[row] = profile
        table = self._table(row) if len(documents) * _DENSE >= len(self.lengths) else None
        return Term(documents, impacts, weight, profile, table)

    @cached_property
    def _profiles(self) -> dict[int, Profile]:
        """Of the terms that were asked for: they take as long as a query does."""
        return {}

    def _table(self, row: int) -> NDArray[np.float32] | None:
        """What a term adds to each document; None where there are enough tables of other terms."""
        table = self._tables.get(row)
        if table is None and len(self._tables) < _TABLES:
            run = slice(int(self.starts[row]), int(self.starts[row + 1]))
            check_within(self.documents[run], len(self.lengths))
            table = np.zeros(len(self.lengths), np.float32)
            table[self.documents[run]] = self.impacts[run]
            self._tables[row] = table
        return table

    @cached_property
    def _tables(self) -> dict[int, NDArray[np.float32]]:
        """Of common terms that were asked for."""
        return {}

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
        """Hex digest of terms, counts and lengths."""
        if self.known_digest:
            return self.known_digest
        terms = self._terms
        content = sha256()
        for array, kind in (
            (self.lengths, "<i8"),
            (self.starts, "<i8"),
            (self.documents, "<i4"),
            (self.counts, "<u4"),
            (terms.ends, "<i8"),
            (terms.data, "u1"),
        ):
            content.update(array.astype(kind, copy=False).tobytes())
        return content.hexdigest()

    def state(self) -> dict[str, Any]:
        """Arrays and the digest, from which `restored` makes them again."""
        terms = self._terms
        return {
            "terms": terms.data,
            "term_ends": terms.ends,
            "starts": self.starts,
            "documents": self.documents,
            "counts": self.counts,
            "impacts": self.impacts,
            "lengths": self.lengths,
            "digest": self.digest,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any], documents: int) -> Postings:
        """From a state over that many documents; the arrays may be memory-mapped.

        Raises:
            IndexFormatError: the arrays do not belong together.
        """
        rows = Strings(state["terms"], state["term_ends"]).places
        starts, numbers, counts = state["starts"], state["documents"], state["counts"]
        impacts, lengths = state["impacts"], state["lengths"]
        kinds = (starts.dtype.str, numbers.dtype.str, counts.dtype.kind, impacts.dtype.str, lengths.dtype.str)
        if (
            kinds != (np.dtype(np.int64).str, np.dtype(np.int32).str, "u", np.dtype(np.float32).str, "<i8")
            or starts.shape != (len(rows) + 1,)
            or not numbers.shape == counts.shape == impacts.shape == (int(starts[-1]),)
            or lengths.shape != (documents,)
        ):
            raise IndexFormatError("the arrays of BM25 do not fit together")
        return cls(rows, starts, numbers, counts, impacts, lengths, str(state["digest"]))

    def recounted(self, places: NDArray[np.int64], fresh: TermCounts) -> TermCounts:
        """The counts of documents that were here before, at these places, and of new ones.

        Args:
            places: one per document; a negative one stands for the next document of `fresh`.

        Raises:
            IndexFormatError: the postings are damaged.
        """
        size = len(self.lengths)
        within = self.documents
        if len(within) and not (
            within.min() >= 0 and within.max() < size and (np.diff(self.starts) >= 0).all()
        ):
            raise IndexFormatError("the postings of BM25 are damaged; index again")
        terms = list(self.rows)
        known = len(terms)
        columns = np.empty(len(fresh.terms), np.int64)
        for column, term in enumerate(fresh.terms):
            row = self.rows.get(term)
            if row is None:
                row = len(terms)
                terms.append(term)
            columns[column] = row
        old = csc_array((self.counts, within, self.starts), shape=(size, known)).tocsr()
        old = csr_array((old.data.astype(np.int32), old.indices, old.indptr), shape=(size, len(terms)))
        new = csr_array(
            (fresh.matrix.data, columns[fresh.matrix.indices], fresh.matrix.indptr),
            shape=(fresh.matrix.shape[0], len(terms)),
        )
        rows = places.copy()
        rows[places < 0] = size + np.arange(fresh.matrix.shape[0])
        matrix = vstack([old, new], format="csr")[rows]
        used = np.flatnonzero(np.bincount(matrix.indices, minlength=len(terms)))
        narrow = np.zeros(len(terms), matrix.indices.dtype)
        narrow[used] = np.arange(len(used), dtype=narrow.dtype)
        kept = csr_array((matrix.data, narrow[matrix.indices], matrix.indptr), shape=(len(rows), len(used)))
        lengths = np.concatenate((self.lengths, fresh.lengths))[rows]
        return TermCounts(tuple(terms[number] for number in used.tolist()), kept, lengths)

    @cached_property
    def _terms(self) -> Strings:
        return Strings.of(self.rows)

    def _run(self, term: str) -> slice:
        row = self.rows[term]
        return slice(int(self.starts[row]), int(self.starts[row + 1]))


def _summed_roughly(
    terms: Sequence[Term], k: int, size: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]] | None:
    """The best by float32 sums, of which only those near the k-th are summed exactly; None if many are.

    Terms that add next to nothing are first left out: nobody near the top is lost if as much is allowed for.
    """
    rising = sorted(terms, key=lambda term: term.profile.top * term.weight)
    tops = np.cumsum([term.profile.top * term.weight for term in rising])
    least = int(np.searchsorted(tops, _LITTLE * tops[-1], side="right"))
    # A float32 sum of n addends above 0 is off by less than this (Higham 2002, 4.2).
    share = 1.0 - 2.0**-23 * (len(terms) + 1)
    rough = np.zeros(size, np.float32)
    for some, allowed in ((rising[least:], tops[least - 1] if least else 0.0), (rising[:least], 0.0)):
        for term in some:
            if term.table is None:
                scatter(rough, term.documents, term.impacts, term.weight)
            else:
                rough += term.table if term.weight == 1 else term.table * np.float32(term.weight)
        near = reaching(rough, k, share, float(allowed))
        if near is not None and len(near) <= _TIES:
            return best_among(terms, near, k)
    return None


def best(scores: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """Positions of the k highest scores above 0, best first, equal ones by rising position.

    All ties at the cut are considered, so the best k are a prefix of the best k + n.
    """
    reached = reaching(scores, k)
    found = np.flatnonzero(scores > 0) if reached is None else reached
    values = scores[found]
    if k < len(found):
        last = np.partition(values, len(found) - k)[len(found) - k] if k else np.inf
        above = found[values > last]
        found = np.concatenate((above, found[values == last][: k - len(above)]))
        values = scores[found]
    return found[np.argsort(-values, kind="stable")]


def reaching(
    scores: NDArray[np.float64] | NDArray[np.float32], k: int, share: float = 1.0, less: float = 0.0
) -> NDArray[np.intp] | None:
    """Rising positions of scores that reach a floor: this share of the k-th highest or so, less that.

    None where that is not above 0.
    """
    blocks = len(scores) // _BLOCK
    if not 0 < k < blocks:
        return None
    # k blocks reach this score, so the k-th best does too.
    table = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK)
    maxima = table.max(axis=1)
    floor = float(np.partition(maxima, blocks - k)[blocks - k]) * share - less
    if not floor > 0:
        return None
    high = np.flatnonzero(maxima >= floor)
    rows, columns = np.nonzero(table[high] >= floor)
    rest = np.flatnonzero(scores[blocks * _BLOCK :] >= floor) + blocks * _BLOCK
    return np.concatenate((high[rows] * _BLOCK + columns, rest))


def _mean(lengths: NDArray[np.int64]) -> float:
    return float(lengths.sum()) / len(lengths) if len(lengths) else 0.0


def _term_runs(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """First and last row (exclusive) of runs that hold about `_RUN` postings each."""
    rows = np.searchsorted(starts, np.arange(0, starts[-1], _RUN))
    return pairwise(np.unique(np.append(rows, len(starts) - 1)).tolist())
