"""The documents of a leg in tie order, and which of them a filter lets through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import DuplicateIdError
from ..text.strings import digest_of, hashes_of
from ..types import Document, Filter, tie_key


class Ordered(Protocol):
    """Documents that are in tie order already, with distinct ids; not all of them need be in memory."""

    @property
    def positions(self) -> Mapping[str, int]: ...

    @property
    def digest(self) -> str: ...

    def heads(self) -> Iterator[Document]:
        """The documents, with or without their texts."""


class Corpus:
    """Documents sorted by path, start line, id: a lower position wins a tie.

    Attributes:
        documents: in tie order.
        order: for each position in `documents`, its position in what was given.

    Raises:
        DuplicateIdError: two documents have one id.
    """

    documents: Sequence[Document]
    order: Sequence[int]

    def __init__(self, documents: Iterable[Document]) -> None:
        self._last: tuple[Filter, NDArray[np.bool_]] | None = None
        ordered = _ordered(documents)
        if ordered is not None:
            self.documents = cast("Sequence[Document]", ordered)
            self.order = range(len(self.documents))
            return
        given = tuple(documents)
        keys = [tie_key(document) for document in given]
        self.order = tuple(sorted(range(len(given)), key=keys.__getitem__))
        self.documents = tuple(given[number] for number in self.order)
        ids = [document.id for document in self.documents]
        if len(set(ids)) < len(ids):
            twice = next(id for id, times in Counter(ids).items() if times > 1)
            raise DuplicateIdError(f"id {twice!r} was given to two documents; give each an id of its own")

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Position of each id in `documents`."""
        if (ordered := _ordered(self.documents)) is not None:
            return ordered.positions
        return {document.id: position for position, document in enumerate(self.documents)}

    @cached_property
    def digest(self) -> str:
        """Hex digest of the ids in the order of `documents`."""
        if (ordered := _ordered(self.documents)) is not None:
            return ordered.digest
        return digest_of(hashes_of([document.id for document in self.documents]))

    def mask(self, where: Filter | None) -> NDArray[np.bool_] | None:
        """Which documents pass, shape (documents,), read-only; None when all do.

        The mask of the last filter is kept, since a session or a batch tends to ask with one filter.
        """
        if not where:
            return None
        last = self._last
        if last is not None and last[0] == where:
            return last[1]
        ordered = _ordered(self.documents)
        documents = self.documents if ordered is None else ordered.heads()
        mask = np.fromiter(where.select(documents), np.bool_, len(self.documents))
        mask.flags.writeable = False
        if _lasting(where):
            self._last = where, mask
        return mask


def _ordered(documents: object) -> Ordered | None:
    """The documents, if they are `Ordered`. Asking with isinstance would compute their digest."""
    is_ordered = all(hasattr(type(documents), name) for name in ("positions", "digest", "heads"))
    return cast("Ordered", documents) if is_ordered else None


def _lasting(where: Filter) -> bool:
    """Whether the filter cannot change: a list among its metadata could."""
    try:
        hash(where.metadata)
    except TypeError:
        return False
    return True
