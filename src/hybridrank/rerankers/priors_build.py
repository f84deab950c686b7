"""Making the index of code priors, from all documents or from what changed: both give the same arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from ..errors import DuplicateIdError
from ..text.counts import TermCounts, count_terms, count_tokens
from ..text.numbering import Numbers
from ..types import Document, tie_key
from .priors_index import DEFINITIONS, EXACT, FOLDED, FileIndex, Holders, file_of, term_of
from .priors_paths import ROLES, Tokenize, compact, roles
from .priors_prose import comments, humps

I64 = NDArray[np.int64]

# A part is a later piece of a long one of these.
_CODE = frozenset({"function", "method", "part"})
_HEAD_CHARS = 1500
_K1, _B = 2.0, 0.4


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of some files, in the order of their keys.

    Attributes:
        keys: see `file_of`; sorted.
        functions: float64, shape (files,): see `FileIndex`.
        words: term counts, a row per file.
        names: term counts, a row per name that a file defines.
        name_files: int64, rising, shape (names,): the place of each name's file in `keys`.
        name_sizes: float64, shape (names,).
        pair_terms: terms of neighbours, in any order.
        pairs: int64, shape (3, pairs): place in `pair_terms` of a term and of the next, place of their file.
    """

    keys: Sequence[str]
    functions: NDArray[np.float64]
    words: TermCounts
    names: TermCounts
    name_files: I64
    name_sizes: NDArray[np.float64]
    pair_terms: Sequence[str]
    pairs: I64


def build(documents: Sequence[Document], tokenizer: Tokenize) -> FileIndex:
    """From documents in any order.

    Raises:
        DuplicateIdError: two documents have one id.
    """
    ordered = sorted(documents, key=tie_key)
    seen: set[str] = set()
    for document in ordered:
        if document.id in seen:
            raise DuplicateIdError(
                f"two documents have the id {document.id!r}; an id stands for one document"
            )
        seen.add(document.id)
    facts = _facts(ordered, tokenizer)
    numbers = {key: number for number, key in enumerate(facts.keys)}
    return _index(facts, np.array([numbers[file_of(document)] for document in ordered], np.int32))


def updated(index: FileIndex, documents: Sequence[Document], places: I64, tokenizer: Tokenize) -> FileIndex:
    """What `build` makes of the documents; only files of which a document came or went are read.

    Args:
        documents: in tie order.
        places: where each stood before, negative for new ones.
    """
    before = list(index.files)
    new = {place: file_of(documents[place]) for place in np.flatnonzero(places < 0).tolist()}
    kept = places >= 0
    owners = np.full(len(places), -1, np.int64)
    owners[kept] = index.owners[places[kept]]
    size = len(before)
    same = np.bincount(owners[kept], minlength=size) == np.bincount(index.owners, minlength=size)
    number_of = {key: number for number, key in enumerate(before)}
    for key in new.values():
        if key in number_of:
            same[number_of[key]] = False
    # The last entry is for documents that were not there, whose owner is -1.
    changed = kept & ~np.append(same, False)[owners]
    read = np.flatnonzero(~kept | changed).tolist()
    fresh = _facts([documents[place] for place in read], tokenizer)
    old = [before[number] for number in np.flatnonzero(same).tolist()]
    keys = sorted([*old, *fresh.keys])
    at = {key: number for number, key in enumerate(keys)}
    moved = np.full(size, -1, np.int64)
    moved[same] = [at[key] for key in old]
    added = np.array([at[key] for key in fresh.keys], np.int64)
    now = np.append(moved, -1)[owners]
    for place in read:
        now[place] = at[new[place] if place in new else before[owners[place]]]
    return _index(_merged(index, moved, fresh, added, keys), now.astype(np.int32))


def _facts(documents: Sequence[Document], tokenizer: Tokenize) -> Facts:
    """Of documents in tie order."""
    grouped: dict[str, list[Document]] = {}
    for document in documents:
        grouped.setdefault(file_of(document), []).append(document)
    keys = sorted(grouped)
    names = [_names(grouped[key]) for key in keys]
    told = [
        (*humps(grouped[key][0].path), *defined, *_prose(grouped[key]))
        for key, defined in zip(keys, names, strict=True)
    ]
    flat = list(chain.from_iterable(names))
    tokens = [tuple(dict.fromkeys(tokenizer(name))) for name in flat]
    known = [(*found, FOLDED + compact(name), EXACT + name) for name, found in zip(flat, tokens, strict=True)]
    terms, pairs = _pairs(told, tokenizer)
    return Facts(
        keys,
        np.array([_functions(grouped[key]) for key in keys], np.float64),
        count_terms(["\n".join(pieces) for pieces in told], tokenizer),
        count_tokens(known),
        np.repeat(np.arange(len(keys)), [len(defined) for defined in names]),
        np.array([len(found) or 1 for found in tokens], np.float64),
        terms,
        pairs,
    )


def _merged(index: FileIndex, moved: I64, fresh: Facts, added: I64, keys: Sequence[str]) -> Facts:
    """Facts of files that stay, at their places now (negative for others), and of those that were read."""
    functions = np.zeros(len(keys))
    functions[moved[moved >= 0]] = index.functions[moved >= 0]
    functions[added] = fresh.functions
    words = _together(
        index.words, index.word_counts, index.word_lengths, moved, fresh.words, added, len(keys)
    )
    of_old = moved[index.name_files]
    files = np.concatenate((of_old[of_old >= 0], added[fresh.name_files]))
    sizes = np.concatenate((index.name_sizes[of_old >= 0], fresh.name_sizes))
    order = np.argsort(files, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    kept = np.count_nonzero(of_old >= 0)
    places = np.full(len(of_old), -1, np.int64)
    places[of_old >= 0] = rank[:kept]
    ones = np.ones(len(index.names.items), np.int32)
    held = np.bincount(index.names.items, minlength=len(of_old))
    names = _together(index.names, ones, held, places, fresh.names, rank[kept:], len(order))
    terms, pairs = _pairs_together(index, moved, fresh, added)
    return Facts(keys, functions, words, names, files[order], sizes[order], terms, pairs)


def _together(
    old: Holders,
    counts: NDArray[np.signedinteger],
    lengths: I64,
    moved: I64,
    fresh: TermCounts,
    added: I64,
    size: int,
) -> TermCounts:
    """Counts of items that stay, at their places now, and of fresh ones; terms in any order."""
    terms = Numbers()
    for term in old.rows:
        terms[term]
    columns = np.array([terms[term] for term in fresh.terms], np.int64)
    items = moved[old.items]
    rows = np.repeat(np.arange(len(old.starts) - 1), np.diff(old.starts))
    new = fresh.matrix.tocoo()
    where = (
        np.concatenate((items[items >= 0], added[new.coords[0]])),
        np.concatenate((rows[items >= 0], columns[new.coords[1]])),
    )
    data = np.concatenate((counts[items >= 0], new.data)).astype(np.int32)
    used = np.flatnonzero(np.bincount(where[1], minlength=len(terms)))
    narrow = np.zeros(len(terms), np.int64)
    narrow[used] = np.arange(len(used))
    matrix = coo_array((data, (where[0], narrow[where[1]])), shape=(size, len(used))).tocsr()
    matrix.sort_indices()
    total = np.zeros(size, np.int64)
    total[moved[moved >= 0]] = lengths[moved >= 0]
    total[added] = fresh.lengths
    listed = list(terms)
    return TermCounts(tuple(listed[number] for number in used.tolist()), matrix, total)


def _pairs_together(index: FileIndex, moved: I64, fresh: Facts, added: I64) -> tuple[list[str], I64]:
    files, width = max(len(index.files), 1), max(len(index.pair_rows), 1)
    words, of_file = np.divmod(index.pairs, files)
    old = np.stack((*np.divmod(words, width), moved[of_file]))
    terms = Numbers()
    for term in index.pair_rows:
        terms[term]
    renumbered = np.array([terms[term] for term in fresh.pair_terms], np.int64)
    new = np.stack((renumbered[fresh.pairs[0]], renumbered[fresh.pairs[1]], added[fresh.pairs[2]]))
    joined = np.concatenate((old[:, old[2] >= 0], new), axis=1)
    used = np.flatnonzero(np.bincount(joined[:2].ravel(), minlength=len(terms)))
    narrow = np.zeros(len(terms), np.int64)
    narrow[used] = np.arange(len(used))
    listed = list(terms)
    return [listed[number] for number in used.tolist()], np.stack((*narrow[joined[:2]], joined[2]))


def _index(facts: Facts, owners: NDArray[np.int32]) -> FileIndex:
    keys = facts.keys
    paths = ["" if key.startswith("\0") else key for key in keys]
    words, counts = _weighted(facts.words)
    order = sorted(range(len(facts.pair_terms)), key=facts.pair_terms.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    pairs = (rank[facts.pairs[0]] * len(order) + rank[facts.pairs[1]]) * max(len(keys), 1) + facts.pairs[2]
    pairs.sort()
    return FileIndex(
        {key: number for number, key in enumerate(keys)},
        np.array(roles(paths), np.bool_).reshape(len(keys), len(ROLES)),
        facts.functions,
        words,
        counts,
        facts.words.lengths,
        {facts.pair_terms[number]: row for row, number in enumerate(order)},
        pairs,
        _named(facts.names),
        facts.name_files.astype(np.int32),
        facts.name_sizes,
        owners,
    )


def _names(documents: Sequence[Document]) -> list[str]:
    """The names that a file defines, each once."""
    return list(dict.fromkeys(d.name for d in documents if d.name and d.kind in DEFINITIONS))


def _functions(documents: Sequence[Document]) -> float:
    inside = sum(len(document.text) for document in documents if document.kind in _CODE)
    return inside / max(sum(len(document.text) for document in documents), 1)


def _prose(documents: Sequence[Document]) -> list[str]:
    """The first characters of a file, and the comments of each of its documents."""
    head: list[str] = []
    left = _HEAD_CHARS
    for document in documents:
        if left <= 0:
            break
        head.append(document.text[:left])
        left -= len(document.text)
    return ["\n".join(head), *(comments(document.text) for document in documents)]


def _sorted(counts: TermCounts) -> tuple[list[str], csc_array]:
    """The terms in order, and the counts by term."""
    order = sorted(range(len(counts.terms)), key=counts.terms.__getitem__)
    rank = np.empty(len(order), counts.matrix.indices.dtype)
    rank[order] = np.arange(len(order), dtype=rank.dtype)
    matrix = counts.matrix
    moved = csr_array((matrix.data, rank[matrix.indices], matrix.indptr), shape=matrix.shape)
    return [counts.terms[number] for number in order], moved.tocsc()


def _weighted(counts: TermCounts) -> tuple[Holders, NDArray[np.int32]]:
    terms, by_term = _sorted(counts)
    frequencies = np.diff(by_term.indptr)
    files = counts.matrix.shape[0]
    idf = np.log1p((files - frequencies + 0.5) / (frequencies + 0.5))
    lengths = counts.lengths / (counts.lengths.mean() if counts.lengths.any() else 1.0)
    tf = by_term.data.astype(np.float64)
    norms = _K1 * (1.0 - _B + _B * lengths[by_term.indices])
    values = np.repeat(idf, frequencies) * tf * (_K1 + 1.0) / (tf + norms)
    rows = {term: row for row, term in enumerate(terms)}
    starts, items = by_term.indptr.astype(np.int64), by_term.indices.astype(np.int32)
    return Holders(rows, starts, items, values.astype(np.float32)), by_term.data.astype(np.int32)


def _named(counts: TermCounts) -> Holders:
    """Which names hold which terms and are which."""
    terms, by_term = _sorted(counts)
    rows = {term: row for row, term in enumerate(terms)}
    items = by_term.indices.astype(np.int32)
    return Holders(rows, by_term.indptr.astype(np.int64), items, np.ones(len(items), np.float32))


def _pairs(told: Sequence[Sequence[str]], tokenizer: Tokenize) -> tuple[list[str], I64]:
    """The terms of words that have one, and which stand side by side in one piece of what a file tells."""
    known = _Terms(tokenizer)
    found: list[I64] = [np.zeros((3, 0), np.int64)]
    for file, pieces in enumerate(told):
        numbers: list[int] = []
        for piece in pieces:
            numbers.extend(map(known.__getitem__, humps(piece)))
            numbers.append(-1)
        places = np.array(numbers, np.int64)
        first, second = places[:-1], places[1:]
        beside = (first >= 0) & (second >= 0)
        keys = np.unique((first[beside] << 32) | second[beside])
        found.append(np.stack((keys >> 32, keys & 0xFFFFFFFF, np.full(len(keys), file))))
    pairs = np.concatenate(found, axis=1)
    used = np.flatnonzero(np.bincount(pairs[:2].ravel(), minlength=len(known.terms)))
    narrow = np.zeros(len(known.terms), np.int64)
    narrow[used] = np.arange(len(used))
    listed = list(known.terms)
    return [listed[number] for number in used.tolist()], np.stack((*narrow[pairs[:2]], pairs[2]))


class _Terms(dict[str, int]):
    """The number of a word's term, -1 where it has none."""

    def __init__(self, tokenizer: Tokenize) -> None:
        self.terms = Numbers()
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> int:
        term = term_of(word, self._tokenizer)
        number = self[word] = self.terms[term] if term else -1
        return number
