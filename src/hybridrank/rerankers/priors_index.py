"""What code priors know of a corpus: its files, the names that they define, and what they say in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError
from ..text.strings import Strings
from ..types import Document
from .priors_paths import ROLES, Tokenize

DEFINITIONS = frozenset({"function", "method", "class", "module"})
"""Kinds of documents whose name is one that they define."""

FOLDED, EXACT = "=", "=="
"""Before the compact form of a name, and before the name as it is written; no token begins so."""


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
        word_counts: int32, as long as `words.items`: how often; and word_lengths, int64, shape (files,): how
            many words a file says. Both are there for updates.
        pair_rows: row of each term that stands beside another.
        pairs: int64, sorted: one number per two words that stand side by side in a file, see `pair_files`.
        names: which names hold a term; with `FOLDED` or `EXACT` before, which are that name.
        name_files: int32, rising, shape (names,): the file that defines each name.
        name_sizes: float64, shape (names,): how many terms each name has.
        owners: int32: the file of each document, in tie order.
    """

    files: Mapping[str, int]
    roles: NDArray[np.bool_]
    functions: NDArray[np.float64]
    words: Holders
    word_counts: NDArray[np.int32]
    word_lengths: NDArray[np.int64]
    pair_rows: Mapping[str, int]
    pairs: NDArray[np.int64]
    names: Holders
    name_files: NDArray[np.int32]
    name_sizes: NDArray[np.float64]
    owners: NDArray[np.int32]

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
        beside = Strings.of(self.pair_rows)
        arrays = {
            "files": keys.data,
            "file_ends": keys.ends,
            "roles": self.roles,
            "functions": self.functions,
            "word_counts": self.word_counts,
            "word_lengths": self.word_lengths,
            "pair_terms": beside.data,
            "pair_term_ends": beside.ends,
            "pairs": self.pairs,
            "owners": self.owners,
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
            state["word_counts"],
            state["word_lengths"],
            Strings(state["pair_terms"], state["pair_term_ends"]).places,
            state["pairs"],
            Holders.restored(state, "names", len(state["name_files"])),
            state["name_files"],
            state["name_sizes"],
            state["owners"],
        )
        files, names = len(keys), len(made.name_files)
        if not (
            _fits(made.roles, np.bool_, files, len(ROLES))
            and _fits(made.functions, np.float64, files)
            and _fits(made.word_counts, np.int32, len(made.words.items))
            and _fits(made.word_lengths, np.int64, files)
            and _fits(made.owners, np.int32, len(made.owners))
            and _within(made.owners, files)
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
        one, two = self.pair_rows.get(first), self.pair_rows.get(second)
        if one is None or two is None or first not in self.words.rows or second not in self.words.rows:
            return np.zeros(0, np.int64)
        size = max(len(self.files), 1)
        key = (one * len(self.pair_rows) + two) * size
        low, high = np.searchsorted(self.pairs, (key, key + size))
        return self.pairs[low:high] - key


def file_of(document: Document) -> str:
    """What tells the document's file: its path; without one, its id behind a NUL, which no path has."""
    return document.path or f"\0{document.id}"


def _fits(array: NDArray[Any], kind: type[np.generic], *shape: int) -> bool:
    return array.shape == shape and array.dtype == np.dtype(kind)


def _within(numbers: NDArray[np.int32], count: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < count)


def term_of(word: str, tokenizer: Tokenize) -> str:
    """The term that a word without parts stands for, `""` if for none."""
    tokens = tokenizer(word.lower())
    return tokens[-1] if tokens else ""
