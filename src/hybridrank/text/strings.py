"""Sorted strings in two arrays, so that a vocabulary can stay on disk and be searched there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b, sha256
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError

_ENCODING, _ERRORS = "utf-8", "surrogatepass"
_REMEMBERED = 1 << 14


def hash_of(string: str) -> int:
    """64 bits of BLAKE2b."""
    return int.from_bytes(blake2b(string.encode(_ENCODING, _ERRORS), digest_size=8).digest(), "little")


def hashes_of(strings: Sequence[str]) -> NDArray[np.uint64]:
    """`hash_of` each string."""
    return np.fromiter(map(hash_of, strings), np.uint64, len(strings))


def digest_of(hashes: NDArray[np.uint64]) -> str:
    """Hex digest of hashes in their order."""
    return sha256(hashes.astype("<u8", copy=False).tobytes()).hexdigest()


class Blob(Sequence[bytes]):
    """Byte strings, one behind the other in one array.

    Args:
        data: uint8, shape (bytes,).
        ends: int64, shape (items + 1,): item i stands at `data[ends[i]:ends[i + 1]]`.

    Raises:
        IndexFormatError: the arrays do not belong together.
    """

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        if (
            data.dtype != np.uint8
            or ends.dtype != np.int64
            or data.ndim != 1
            or ends.ndim != 1
            or len(ends) == 0
            or ends[0] != 0
            or ends[-1] != len(data)
        ):
            raise IndexFormatError("strings and their ends do not fit together")
        self.data = data
        self.ends = ends
        # Both are many times faster to index than arrays.
        self._bytes = memoryview(np.asarray(data).data) if len(data) else memoryview(b"")
        self._ends = memoryview(np.asarray(ends).data)

    @classmethod
    def of(cls, items: Iterable[bytes]) -> Blob:
        listed = list(items)
        ends = np.zeros(len(listed) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, listed), np.int64, len(listed)), out=ends[1:])
        return cls(np.frombuffer(b"".join(listed), np.uint8), ends)

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Blob:
        """Of texts in UTF-8; lone surrogates are kept."""
        listed = list(texts)
        joined = "".join(listed)
        data = np.frombuffer(joined.encode(_ENCODING, _ERRORS), np.uint8)
        ends = np.zeros(len(listed) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, listed), np.int64, len(listed)), out=ends[1:])
        return cls(data, ends if joined.isascii() else np.append(_starts(data), len(data))[ends])

    def texts(self) -> list[str]:
        """All of them as text.

        Raises:
            IndexFormatError: they are no UTF-8.
        """
        data = np.asarray(self.data)
        try:
            whole = bytes(self._bytes).decode(_ENCODING, _ERRORS)
        except UnicodeDecodeError as error:
            raise IndexFormatError(f"a stored text is damaged ({error.reason}); index again") from error
        ends = np.asarray(self.ends)
        if len(whole) < len(data):
            ends = np.searchsorted(_starts(data), ends)
        return [whole[start:stop] for start, stop in pairwise(ends.tolist())]

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> list[bytes]: ...
    def __getitem__(self, place: int | slice) -> bytes | list[bytes]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError(place)
        return bytes(self._bytes[self._ends[place] : self._ends[place + 1]])

    def text(self, place: int) -> str:
        """The item as text.

        Raises:
            IndexFormatError: it is no UTF-8.
        """
        try:
            return str(self._bytes[self._ends[place] : self._ends[place + 1]], _ENCODING, _ERRORS)
        except UnicodeDecodeError as error:
            raise IndexFormatError(f"a stored text is damaged ({error.reason}); index again") from error

    def chosen(self, places: NDArray[np.int64], other: Blob) -> Blob:
        """The items at these places; -1 stands for the first item of `other`, -2 for its second, and so on.

        Runs of neighbours are copied as one piece.
        """
        steps = np.flatnonzero(np.diff(places) != np.where(places[:-1] < 0, -1, 1)) + 1
        starts = np.concatenate(([0], steps)) if len(places) else np.zeros(0, np.int64)
        stops = np.append(steps, len(places)) if len(places) else starts
        pieces, lengths = [], []
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            first, count = int(places[start]), stop - start
            source, first = (self, first) if first >= 0 else (other, -first - 1)
            ends = source.ends[first : first + count + 1]
            pieces.append(source.data[ends[0] : ends[-1]])
            lengths.append(np.diff(ends))
        ends = np.zeros(len(places) + 1, np.int64)
        if pieces:
            np.cumsum(np.concatenate(lengths), out=ends[1:])
        return Blob(np.concatenate(pieces) if pieces else np.zeros(0, np.uint8), ends)


def _starts(data: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where characters start in UTF-8."""
    return np.flatnonzero((data & 0xC0) != 0x80)


class Strings(Sequence[str]):
    """Sorted, distinct strings: each can be had by its place, and its place by binary search.

    Raises:
        IndexFormatError: the arrays do not belong together.
    """

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self._blob = Blob(data, ends)

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """Of strings that are sorted and distinct."""
        if isinstance(strings, Strings):
            return strings
        if isinstance(strings, _Places):
            return strings.strings
        blob = Blob.of_texts(strings)
        return cls(blob.data, blob.ends)

    @property
    def data(self) -> NDArray[np.uint8]:
        """UTF-8, uint8, shape (bytes,)."""
        return self._blob.data

    @property
    def ends(self) -> NDArray[np.int64]:
        """Where each string ends, with a 0 before, shape (strings + 1,)."""
        return self._blob.ends

    @property
    def places(self) -> Mapping[str, int]:
        """The place of each string."""
        return _Places(self)

    def find(self, string: str) -> int:
        """Its place, or -1."""
        # The bytes of UTF-8 sort as the code points do.
        wanted = string.encode(_ENCODING, _ERRORS)
        low, high = 0, len(self._blob)
        while low < high:
            middle = (low + high) // 2
            if self._blob[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self._blob) and self._blob[low] == wanted else -1

    def __len__(self) -> int:
        return len(self._blob)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(map(self._blob.text, range(*place.indices(len(self)))))
        self._blob[place]
        return self._blob.text(place % len(self))

    def __iter__(self) -> Iterator[str]:
        return iter(self._blob.texts())


class _Places(Mapping[str, int]):
    """Places by string; what was asked for is remembered, since a search asks for a word several times."""

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self._known: dict[str, int] = {}

    def _find(self, string: str) -> int:
        place = self._known.get(string)
        if place is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            place = self._known[string] = self.strings.find(string)
        return place

    def __getitem__(self, string: str) -> int:
        place = self._find(string)
        if place < 0:
            raise KeyError(string)
        return place

    def get(self, string: str, default: Any = None) -> Any:
        place = self._find(string)
        return default if place < 0 else place

    def __contains__(self, string: object) -> bool:
        return isinstance(string, str) and self._find(string) >= 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings)

    def __len__(self) -> int:
        return len(self.strings)
