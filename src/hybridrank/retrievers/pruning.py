"""The best documents of an inverted index without scoring all: dynamic pruning that loses nothing.

A document reaches a score t only if one of its terms adds at least c, whatever shares c of t are given to the
terms: were each below its share, the sum would be below t. So t is first taken from documents that are good
for one term; then each term gets a share, so that few postings reach theirs; and only their documents are
scored. A term whose share is above all that it can add brings in nobody, which is MaxScore (Turtle & Flood
1995); shares in between make the same idea work for queries of common words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

# The postings of a term that add most are kept sorted: one of so many, and at least so many.
_KEPT_SHARE, _KEPT = 16, 128
_LEVELS = 16
# Scores are compared with what is a little lower, so that no rounding of a sum decides.
_SLACK = 1.0 - 1e-9
# Prices of a share that are tried, by what all postings of the query cost.
_PRICES = np.geomspace(1e-6, 10.0, 24)
# Postings are merged if they are so few, and one for so many documents at most.
_MERGED, _SPARSE = 1 << 16, 16
_TRIED = 1024
# To look up a candidate in one term costs about as much as scoring so many postings and documents.
_CANDIDATE = 48


class Profile(NamedTuple):
    """The postings of a term that add most.

    Attributes:
        top: the most that it adds.
        best: documents to which it adds most, falling.
        levels: float64, falling from above `top` to 0, shape (_LEVELS,).
        counts: int64, shape (_LEVELS,): how many of its postings reach each level; they lead `best`, but for
            the last level, which all reach.
    """

    top: float
    best: I32
    levels: F64
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A term of a query: its postings, how often it counts, and the distribution of its impacts.

    Attributes:
        table: what it adds to each document, 0 to those without it; shape (documents,).
    """

    documents: I32
    impacts: F32
    weight: int
    profile: Profile
    table: F32 | None = None


def profile_of(documents: I32, impacts: F32) -> Profile:
    """Of the postings of a term, at least one."""
    size = len(impacts)
    most = min(size, max(_KEPT, size // _KEPT_SHARE))
    at = np.argpartition(impacts, size - most)[size - most :] if most < size else np.arange(size)
    at = at[np.argsort(-impacts[at], kind="stable")]
    falling = impacts[at].astype(np.float64)
    levels = falling[np.geomspace(1, most, _LEVELS - 2).astype(np.intp) - 1]
    # Where not all postings are kept, others may be as high as the last that is.
    least = 0.0 if most == size else falling[-1]
    levels[levels <= least] = falling[0] if least == 0.0 else np.nextafter(least, np.inf)
    levels = np.concatenate(([np.nextafter(falling[0], np.inf)], levels, [0.0]))
    counts = np.searchsorted(-falling, -levels, side="right")
    counts[-1] = size
    return Profile(float(falling[0]), documents[at], levels, counts)


def best_of(terms: Sequence[Term], k: int, documents: int) -> tuple[NDArray[np.intp], F64] | None:
    """Documents of the k highest scores and these, best first, equal ones by rising document.

    Scores are summed in the order of the terms. None where pruning would not pay: then all of that many
    documents are to be scored.
    """
    if not terms or k < 1:
        return None
    postings = sum(len(term.documents) for term in terms)
    if postings <= min(documents // _SPARSE, _MERGED):
        return best_among(terms, _merged(terms, k), k)
    most = (documents + postings) // (_CANDIDATE * len(terms))
    first = max(16, 2 * k)
    found = _distinct([term.profile.best[:first] for term in terms])
    if not k <= len(found) <= most:
        return None
    shares = _Shares(terms)
    reached = _kth(_scores(terms, found), k)
    counts = shares.of(reached, most)
    if counts is None:
        # What can be had for little tells better what is reached.
        tried = _distinct([found, *_leading(terms, shares.within(_TRIED))])
        reached = max(reached, _kth(_scores(terms, tried), k))
        counts = shares.of(reached, most)
        if counts is None:
            return None
    candidates = _distinct([found, *_leading(terms, counts)])
    return best_among(terms, _surviving(terms, candidates, reached), k)


def best_among(
    terms: Sequence[Term], candidates: I32 | NDArray[np.intp], k: int
) -> tuple[NDArray[np.intp], F64]:
    """The same of these documents, which are sorted."""
    candidates = candidates.astype(np.int32, copy=False)
    scores = _scores(terms, candidates)
    # Ties keep their order, since the sort is stable.
    best = np.argsort(-scores, kind="stable")[:k]
    return candidates[best].astype(np.intp), scores[best]


class _Shares:
    """Ways to share a score among terms, from those that few postings reach to those that all do.

    By Lagrange's method: a price is put on shares, and each term takes the one that is cheapest for it.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        levels = np.array([term.profile.levels * term.weight for term in terms])
        counts = np.array([term.profile.counts for term in terms])
        prices = _PRICES * (counts[:, -1].sum() / levels[:, 0].sum())
        taken = (counts[:, None, :] + prices[:, None] * levels[:, None, :]).argmin(axis=2)
        rows = np.arange(len(terms))[:, None]
        self._counts = counts[rows, taken]
        self._totals = self._counts.sum(axis=0)
        self._sums = levels[rows, taken].sum(axis=0)

    def of(self, score: float, most: int) -> list[int] | None:
        """How many postings of each term reach its share of a score; None if together more than `most`."""
        fits = self._sums <= score
        at = int(fits.argmax())
        return self._counts[:, at].tolist() if fits[at] and self._totals[at] <= most else None

    def within(self, most: int) -> list[int]:
        """The same for the lowest score that not more than so many postings can reach."""
        at = max(int(np.searchsorted(self._totals, most, side="right")) - 1, 0)
        counts: list[int] = self._counts[:, at].tolist()
        return counts


def _leading(terms: Sequence[Term], counts: Sequence[int]) -> list[I32]:
    """That many documents of each term, those to which it adds most, or all."""
    return [
        term.documents if count == len(term.documents) else term.profile.best[:count]
        for term, count in zip(terms, counts, strict=True)
    ]


def _kth(scores: F64, k: int) -> float:
    """A little less than the k-th highest."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) * _SLACK


def _merged(terms: Sequence[Term], k: int) -> I32:
    """All documents of the terms that may be among the k best, by merging postings that are few."""
    joined = np.concatenate([term.documents for term in terms])
    order = np.argsort(joined, kind="stable")
    joined = joined[order]
    values = np.concatenate([term.impacts * np.float32(term.weight) for term in terms])[order]
    starts = np.flatnonzero(np.concatenate(([True], joined[1:] != joined[:-1])))
    found, scores = joined[starts], np.add.reduceat(values, starts, dtype=np.float64)
    return found[scores >= _kth(scores, k) * (1.0 - 1e-6)] if k < len(found) else found


def _surviving(terms: Sequence[Term], candidates: I32, reached: float) -> I32:
    """The candidates that reach a score; their terms are looked up from the one that adds most on."""
    ordered = sorted(terms, key=lambda term: term.profile.top * term.weight, reverse=True)
    left = sum(term.profile.top * term.weight for term in ordered)
    partial = np.zeros(len(candidates))
    for term in ordered:
        partial += _added(term, candidates)
        left -= term.profile.top * term.weight
        kept = partial + (left + 1e-9) >= reached
        if np.count_nonzero(kept) < 0.75 * len(candidates):
            candidates, partial = candidates[kept], partial[kept]
    return candidates[partial >= reached]


def _scores(terms: Sequence[Term], candidates: I32) -> F64:
    scores = np.zeros(len(candidates))
    for term in terms:
        scores += _added(term, candidates)
    return scores


def _added(term: Term, candidates: I32) -> F64:
    """What a term adds to each of these documents, float64."""
    if term.table is not None:
        added = term.table[candidates].astype(np.float64)
    else:
        at = term.documents.searchsorted(candidates)
        at[at == len(term.documents)] = 0
        added = term.impacts[at].astype(np.float64)
        added[term.documents[at] != candidates] = 0.0
    return added if term.weight == 1 else added * term.weight


def _distinct(parts: Sequence[I32]) -> I32:
    """The documents of all parts, sorted, each once."""
    joined = np.concatenate(parts)
    joined.sort()
    if len(joined) < 2:
        return joined
    new = np.empty(len(joined), np.bool_)
    new[0] = True
    np.not_equal(joined[1:], joined[:-1], out=new[1:])
    return joined[new]
