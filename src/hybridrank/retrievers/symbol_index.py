"""Keys of names that are defined or called, and the documents that hold each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError
from ..text.numbering import Numbers
from ..text.strings import Strings
from ..types import Document
from .symbol_question import parts_of

WHOLE, ENDING, FOLDED, COMPACT, PART, CALL = "^", "=", "~", "_", "+", "("
"""Before a qualified name, each ending of one, the same in another case, without underscores; before a part
of a name, and before what is called."""

DEFINITIONS = frozenset({"function", "method", "class", "module"})

_CALLED = re.compile(r"\b([^\W\d][\w$]*+[?!]?)\s*+\(")
_WORD = re.compile(r"[^\W\d]\w*+[?!]?")
# Where a call needs no bracket, every word may be one.
_WITHOUT_BRACKETS = frozenset({"bash", "elixir", "haskell", "ruby"})
_PROSE = frozenset({"markdown", "restructuredtext", "html"})
# They stand before brackets everywhere and are called nowhere.
_NO_CALLS = frozenset({"if", "for", "while", "switch", "catch", "return"})
_MOST_ENDINGS = 8
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SymbolIndex:
    """Keys, and the documents that hold each.

    Attributes:
        rows: row of each key; keys are sorted.
        starts: int64, shape (keys + 1,): the documents of row r stand at `starts[r]:starts[r + 1]`.
        items: int32, by rising number within a row.
        sizes: int16, shape (documents,): parts of the name that a document defines, 0 if it defines none.
    """

    rows: Mapping[str, int]
    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    sizes: NDArray[np.int16]

    @classmethod
    def build(cls, documents: Iterable[Document]) -> SymbolIndex:
        """From documents in tie order."""
        numbers = Numbers()
        keys: list[int] = []
        ends = [0]
        sizes: list[int] = []
        for document in documents:
            held, size = keys_of(document)
            keys.extend(map(numbers.__getitem__, held))
            ends.append(len(keys))
            sizes.append(min(size, 32_767))
        items = np.repeat(np.arange(len(sizes), dtype=np.int32), np.diff(ends))
        return cls._sorted(list(numbers), np.array(keys, np.int64), items, np.array(sizes, np.int16))

    def moved(self, places: Ints, fresh: SymbolIndex) -> SymbolIndex:
        """The index of documents that were here before, at these places, and of new ones.

        Args:
            places: one per document; a negative one stands for the next document of `fresh`.
        """
        here = np.full(len(self.sizes), -1, np.int64)
        kept = places >= 0
        here[places[kept]] = np.flatnonzero(kept)
        items = here[self.items]
        keys = np.repeat(np.arange(len(self.rows)), np.diff(self.starts))[items >= 0]
        used = np.flatnonzero(np.bincount(keys, minlength=len(self.rows)))
        ours = _picked(self.rows, used)
        names = {key: number for number, key in enumerate(ours)}
        theirs = np.array([names.setdefault(key, len(names)) for key in fresh.rows], np.int64)
        narrow = np.zeros(len(self.rows), np.int64)
        narrow[used] = np.arange(len(used))
        sizes = np.zeros(len(places), np.int16)
        sizes[kept] = self.sizes[places[kept]]
        sizes[~kept] = fresh.sizes
        new_keys = theirs[np.repeat(np.arange(len(fresh.rows)), np.diff(fresh.starts))]
        new_items = np.flatnonzero(~kept)[fresh.items]
        return self._sorted(
            list(names),
            np.concatenate((narrow[keys], new_keys)),
            np.concatenate((items[items >= 0], new_items)).astype(np.int32),
            sizes,
        )

    @classmethod
    def _sorted(
        cls, names: list[str], keys: Ints, items: NDArray[np.int32], sizes: NDArray[np.int16]
    ) -> SymbolIndex:
        order = sorted(range(len(names)), key=names.__getitem__)
        row_of = np.zeros(len(names), np.int64)
        row_of[order] = np.arange(len(names))
        rows = row_of[keys]
        by_row = np.lexsort((items, rows))
        starts = np.zeros(len(names) + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=len(names)), out=starts[1:])
        table = {names[number]: row for row, number in enumerate(order)}
        return cls(table, starts, np.ascontiguousarray(items[by_row]), sizes)

    def of(self, key: str) -> NDArray[np.int32]:
        """The documents that hold a key."""
        row = self.rows.get(key)
        if row is None:
            return np.zeros(0, np.int32)
        return self.items[int(self.starts[row]) : int(self.starts[row + 1])]

    def state(self) -> dict[str, Any]:
        """Arrays from which `restored` makes the index again."""
        keys = Strings.of(self.rows)
        return {
            "keys": keys.data,
            "key_ends": keys.ends,
            "starts": self.starts,
            "items": self.items,
            "sizes": self.sizes,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any], documents: int) -> SymbolIndex:
        """From a state; the arrays may be memory-mapped.

        Raises:
            IndexFormatError: the arrays do not belong together, or not to that many documents.
        """
        keys = Strings(state["keys"], state["key_ends"])
        starts, items, sizes = state["starts"], state["items"], state["sizes"]
        if not (
            (starts.dtype, items.dtype, sizes.dtype) == (np.int64, np.int32, np.int16)
            and starts.shape == (len(keys) + 1,)
            and starts[0] == 0
            and items.shape == (int(starts[-1]),)
            and sizes.shape == (documents,)
            and not (np.diff(starts) < 0).any()
            and not (len(items) and (items.min() < 0 or items.max() >= documents))
        ):
            raise IndexFormatError("the arrays of the symbols do not fit together")
        return cls(keys.places, starts, items, sizes)

    @cached_property
    def digest(self) -> str:
        """Hex digest of all that a ranking depends on."""
        content = sha256()
        for name, value in sorted(self.state().items()):
            content.update(name.encode() + value.tobytes())
        return content.hexdigest()


def keys_of(document: Document) -> tuple[list[str], int]:
    """The keys that a document holds, each once, and how many parts its name has."""
    found: dict[str, None] = {}
    size = 0
    name = document.name
    if name and document.kind in DEFINITIONS:
        qualified = document.qualified_name or name
        found[WHOLE + qualified] = None
        for ending in endings(qualified, name):
            found[ENDING + ending] = None
            found[FOLDED + ending.casefold()] = None
        found[COMPACT + compact(name)] = None
        parts = sorted(parts_of(name))
        size = len(parts)
        found.update(dict.fromkeys(PART + part for part in parts))
    if document.language in _PROSE:
        return list(found), size
    pattern = _WORD if document.language in _WITHOUT_BRACKETS else _CALLED
    called = dict.fromkeys(pattern.findall(document.text))
    called.pop(name, None)
    found.update(dict.fromkeys(CALL + one for one in called if one not in _NO_CALLS))
    return list(found), size


def endings(qualified: str, name: str) -> Iterable[str]:
    """`send`, `Client.send` and `net.Client.send` of the last."""
    yield name
    rest = qualified.removesuffix(name)
    if rest == qualified:
        return
    above = rest.rstrip(".").split(".") if rest.strip(".") else []
    for count in range(1, min(len(above), _MOST_ENDINGS) + 1):
        yield ".".join(chain(above[-count:], (name,)))


def compact(name: str) -> str:
    """Without underscores and case, as words written as one are."""
    return name.replace("_", "").casefold()


def _picked(rows: Mapping[str, int], numbers: Ints) -> Sequence[str]:
    keys = list(rows)
    return keys if len(keys) == len(numbers) else [keys[number] for number in numbers.tolist()]
