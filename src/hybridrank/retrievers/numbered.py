"""Documents that are only numbers: made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..text.strings import digest_of, hashes_of
from ..types import Document


class NumberedDocuments(Sequence[Document]):
    """Documents without text and with the ids `"0"`, `"1"`, and so on, sorted by id as strings.

    Attributes:
        order: int64, shape (documents,): the number of each.
    """

    def __init__(self, count: int) -> None:
        numbers = np.arange(count, dtype=np.int64)
        digits = np.ones(count, np.int64)
        for power in range(1, 19):
            if count > 10**power:
                digits[10**power :] += 1
        most = int(digits.max(initial=1))
        # As strings they compare by digits from the left, and a beginning comes first.
        self.order: NDArray[np.int64] = np.lexsort((digits, numbers * 10 ** (most - digits)))

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, place: int) -> Document: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Document, ...]: ...
    def __getitem__(self, place: int | slice) -> Document | tuple[Document, ...]:
        if isinstance(place, slice):
            return tuple(Document(str(number), "") for number in self.order[place].tolist())
        return Document(str(self.order[place]), "")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NumberedDocuments | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(map(Document.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def heads(self) -> Iterator[Document]:
        return iter(self)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The place of each id."""
        return {str(number): place for place, number in enumerate(self.order.tolist())}

    @cached_property
    def digest(self) -> str:
        """Hex digest of the ids in their order."""
        return digest_of(hashes_of([str(number) for number in self.order.tolist()]))

    def __repr__(self) -> str:
        return f"NumberedDocuments({len(self):,})"
