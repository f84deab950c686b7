"""What code priors know of a corpus: its files, the names that they define, and what they say in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from ..errors import DuplicateIdError, IndexFormatError
from ..text.counts import TermCounts, count_terms, count_tokens
from ..text.strings import Strings
from ..types import Document, tie_key
from .priors_paths import ROLES, Tokenize, compact, roles
from .priors_prose import comments, humps

DEFINITIONS = frozenset({"function", "method", "class", "module"})
"""Kinds of documents whose name is one that they define."""

FOLDED, EXACT = "=", "=="
"""Before the compact form of a name, and before the name as it is written; no token begins so."""

# A part is a later piece of a long one of these.
_CODE = frozenset({"function", "method", "part"})
_HEAD_CHARS = 1500
_K1, _B = 2.0, 0.4


@dataclass(frozen=True, eq=False)
class Holders:
    """For each term the items (files, or names) that hold it.

    Attributes:
        rows: row of each term.
        starts: int64, shape (terms + 1,): the items of row r stand at `starts[r]:starts[r + 1]`.
        items: int32, by rising number within a row.
        values: float32, one per item: what the term counts there.
    """

    rows: Mapping[str, int]
    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]

    def of(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
        """The items that hold a term, with its values; None where none does."""
        row = self.rows.get(term)
        if row is None:
            return None
        run = slice(int(self.starts[row]), int(self.starts[row + 1]))
        return self.items[run], self.values[run]

    def state(self) -> dict[str, Any]:
        """Arrays from which `restored` makes them again."""
        terms = Strings.of(self.rows)
        return {
            "terms": terms.data,
            "ends": terms.ends,
            "starts": self.starts,
            "items": self.items,
            "values": self.values,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any], name: str, items: int) -> Holders:
        """From the arrays of that name, over that many items.

        Raises:
            IndexFormatError: the arrays do not belong together.
        """
        terms, ends, starts, held, values = (
            state[f"{name}_{key}"] for key in ("terms", "ends", "starts", "items", "values")
        )
        rows = Strings(terms, ends).places
        if not (
            _fits(starts, np.int64, len(rows) + 1)
            and _fits(held, np.int32, int(starts[-1]))
            and _fits(values, np.float32, len(held))
            and _within(held, items)
            and not (np.diff(starts) < 0).any()
        ):
            raise IndexFormatError(f"the {name} of code priors do not fit together")
        return cls(rows, starts, held, values)

    def count(self, term: str) -> int:
        """How many items hold a term."""
        row = self.rows.get(term)
        return 0 if row is None else int(self.starts[row + 1] - self.starts[row])


@dataclass(frozen=True, eq=False)
class FileIndex:
    """The files of a corpus; a document without a path is a file of its own.

    Attributes:
        files: number of each file by path, or by id for a document without one.
        roles: bool, shape (files, len(ROLES)).
        functions: float64, shape (files,): share of its characters that lie in functions and methods.
        words: which files say a term (in their path, names, first lines and comments), weighted by BM25.
        pairs: int64, sorted: one number per two words that stand side by side in a file, see `pair_files`.
        names: which names hold a term; with `FOLDED` or `EXACT` before, which are that name.
        name_files: int32, rising, shape (names,): the file that defines each name.
        name_sizes: float64, shape (names,): how many terms each name has.
    """

    files: Mapping[str, int]
    roles: NDArray[np.bool_]
    functions: NDArray[np.float64]
    words: Holders
    pairs: NDArray[np.int64]
    names: Holders
    name_files: NDArray[np.int32]
    name_sizes: NDArray[np.float64]

    @classmethod
    def build(cls, documents: Sequence[Document], tokenizer: Tokenize) -> FileIndex:
        """From documents in any order.

        Raises:
            DuplicateIdError: two documents have one id.
        """
        seen: set[str] = set()
        grouped: dict[str, list[Document]] = {}
        for document in sorted(documents, key=tie_key):
            if document.id in seen:
                raise DuplicateIdError(
                    f"two documents have the id {document.id!r}; an id stands for one document"
                )
            seen.add(document.id)
            grouped.setdefault(file_of(document), []).append(document)
        keys = sorted(grouped)
        names = [_names(grouped[key]) for key in keys]
        told = [
            (*humps(grouped[key][0].path), *defined, *_prose(grouped[key]))
            for key, defined in zip(keys, names, strict=True)
        ]
        words = _weighted(count_terms(["\n".join(pieces) for pieces in told], tokenizer))
        flat = [name for defined in names for name in defined]
        tokens = [tuple(dict.fromkeys(tokenizer(name))) for name in flat]
        return cls(
            {key: number for number, key in enumerate(keys)},
            np.array(roles([grouped[key][0].path for key in keys]), np.bool_).reshape(len(keys), len(ROLES)),
            np.array([_functions(grouped[key]) for key in keys], np.float64),
            words,
            _pairs(told, words.rows, tokenizer),
            _named(flat, tokens),
            np.repeat(np.arange(len(keys), dtype=np.int32), [len(defined) for defined in names]),
            np.array([len(found) or 1 for found in tokens], np.float64),
        )

    @cached_property
    def digest(self) -> str:
        """Hex digest of all that a ranking depends on."""
        content = sha256()
        for name, value in sorted(self.state().items()):
            content.update(name.encode() + value.tobytes())
        return content.hexdigest()

    def state(self) -> dict[str, Any]:
        """Arrays from which `restored` makes the index again."""
        keys = Strings.of(sorted(self.files))
        arrays = {
            "files": keys.data,
            "file_ends": keys.ends,
            "roles": self.roles,
            "functions": self.functions,
            "pairs": self.pairs,
            "name_files": self.name_files,
            "name_sizes": self.name_sizes,
        }
        for name, holders in (("words", self.words), ("names", self.names)):
            arrays.update({f"{name}_{key}": value for key, value in holders.state().items()})
        return arrays

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> FileIndex:
        """From a state; the arrays may be memory-mapped.

        Raises:
            IndexFormatError: the arrays do not belong together.
        """
        keys = Strings(state["files"], state["file_ends"])
        made = cls(
            keys.places,
            state["roles"],
            state["functions"],
            Holders.restored(state, "words", len(keys)),
            state["pairs"],
            Holders.restored(state, "names", len(state["name_files"])),
            state["name_files"],
            state["name_sizes"],
        )
        files, names = len(keys), len(made.name_files)
        if not (
            _fits(made.roles, np.bool_, files, len(ROLES))
            and _fits(made.functions, np.float64, files)
            and _fits(made.pairs, np.int64, len(made.pairs))
            and _fits(made.name_files, np.int32, names)
            and _fits(made.name_sizes, np.float64, names)
            and _within(made.name_files, files)
            and not (np.diff(made.pairs) < 0).any()
        ):
            raise IndexFormatError("the arrays of code priors do not fit together")
        return made

    def idf(self, term: str) -> float:
        """ln(1 + (N - n + 0.5) / (n + 0.5)) for a term that n of N files say; always > 0."""
        n = self.words.count(term)
        return float(np.log1p((len(self.files) - n + 0.5) / (n + 0.5)))

    def pair_files(self, first: str, second: str) -> NDArray[np.int64]:
        """The files in which two terms stand side by side."""
        one, two = self.words.rows.get(first), self.words.rows.get(second)
        if one is None or two is None:
            return np.zeros(0, np.int64)
        size = max(len(self.files), 1)
        key = (one * len(self.words.rows) + two) * size
        low, high = np.searchsorted(self.pairs, (key, key + size))
        return self.pairs[low:high] - key


def file_of(document: Document) -> str:
    """What tells the document's file: its path; without one, its id behind a NUL, which no path has."""
    return document.path or f"\0{document.id}"


def _fits(array: NDArray[Any], kind: type[np.generic], *shape: int) -> bool:
    return array.shape == shape and array.dtype == np.dtype(kind)


def _within(numbers: NDArray[np.int32], count: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < count)


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


def _weighted(counts: TermCounts) -> Holders:
    terms, by_term = _sorted(counts)
    frequencies = np.diff(by_term.indptr)
    files = counts.matrix.shape[0]
    idf = np.log1p((files - frequencies + 0.5) / (frequencies + 0.5))
    lengths = counts.lengths / (counts.lengths.mean() if counts.lengths.any() else 1.0)
    tf = by_term.data.astype(np.float64)
    norms = _K1 * (1.0 - _B + _B * lengths[by_term.indices])
    values = np.repeat(idf, frequencies) * tf * (_K1 + 1.0) / (tf + norms)
    rows = {term: row for row, term in enumerate(terms)}
    return Holders(
        rows, by_term.indptr.astype(np.int64), by_term.indices.astype(np.int32), values.astype(np.float32)
    )


def _named(names: Sequence[str], tokens: Sequence[Sequence[str]]) -> Holders:
    """Which names hold which terms and are which."""
    pairs = zip(names, tokens, strict=True)
    terms, by_term = _sorted(
        count_tokens([(*found, FOLDED + compact(name), EXACT + name) for name, found in pairs])
    )
    rows = {term: row for row, term in enumerate(terms)}
    items = by_term.indices.astype(np.int32)
    return Holders(rows, by_term.indptr.astype(np.int64), items, np.ones(len(items), np.float32))


def _pairs(told: Sequence[Sequence[str]], rows: Mapping[str, int], tokenizer: Tokenize) -> NDArray[np.int64]:
    """See `FileIndex.pairs`. Neighbours stand in one piece of what a file tells."""
    known = _Rows(rows, tokenizer)
    files = max(len(told), 1)
    found: list[NDArray[np.int64]] = []
    for file, pieces in enumerate(told):
        numbers: list[int] = []
        for piece in pieces:
            numbers.extend(map(known.__getitem__, humps(piece)))
            numbers.append(-1)
        places = np.array(numbers, np.int64)
        first, second = places[:-1], places[1:]
        keys = np.unique((first * len(rows) + second)[(first >= 0) & (second >= 0)])
        found.append(keys * files + file)
    joined = np.concatenate(found) if found else np.zeros(0, np.int64)
    joined.sort()
    return joined


class _Rows(dict[str, int]):
    """The row of a word's term, -1 where it has none."""

    def __init__(self, rows: Mapping[str, int], tokenizer: Tokenize) -> None:
        self._rows, self._tokenizer = rows, tokenizer

    def __missing__(self, word: str) -> int:
        term = term_of(word, self._tokenizer)
        row = self[word] = self._rows.get(term, -1)
        return row


def term_of(word: str, tokenizer: Tokenize) -> str:
    """The term that a word without parts stands for, `""` if for none."""
    tokens = tokenizer(word.lower())
    return tokens[-1] if tokens else ""
