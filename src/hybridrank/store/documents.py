"""Documents on disk: each is read when it is asked for."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import DuplicateIdError, IndexFormatError, InvalidValueError
from ..text.strings import Blob, digest_of, hash_of, hashes_of
from ..types import Document, FrozenDict, tie_key

_KEPT = 4096
_PLAIN = (str, int, float, bool, type(None))
Places = NDArray[np.int64]


class StoredDocuments(Sequence[Document]):
    """Documents in tie order, with distinct ids, over arrays that may be memory-mapped.

    Args:
        heads: all of a document but its text, as JSON.
        texts: its text.
        hashes: uint64, rising: digests of the ids.
        places: int64: where the document of each of these digests stands.

    Raises:
        IndexFormatError: the arrays do not belong together.
    """

    def __init__(self, heads: Blob, texts: Blob, hashes: NDArray[np.uint64], places: Places) -> None:
        shape = (len(heads),)
        if (
            len(texts) != len(heads)
            or not hashes.shape == places.shape == shape
            or (hashes.dtype, places.dtype) != (np.dtype(np.uint64), np.dtype(np.int64))
        ):
            raise IndexFormatError("the arrays of the documents do not fit together")
        self._heads, self._texts, self._hashes, self._places = heads, texts, hashes, places
        self._kept: dict[int, Document] = {}

    @classmethod
    def of(cls, documents: Iterable[Document]) -> StoredDocuments:
        """Of documents in any order.

        Raises:
            DuplicateIdError: two have one id.
            InvalidValueError: metadata of a document hold what JSON cannot.
        """
        return cls._packed(sorted(documents, key=tie_key))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> StoredDocuments:
        """Of what `arrays` gave."""
        return cls(
            Blob(arrays["heads"], arrays["head_ends"]),
            Blob(arrays["texts"], arrays["text_ends"]),
            arrays["id_hashes"],
            arrays["id_places"],
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "heads": self._heads.data,
            "head_ends": self._heads.ends,
            "texts": self._texts.data,
            "text_ends": self._texts.ends,
            "id_hashes": self._hashes,
            "id_places": self._places,
        }

    def merged(self, kept: Places, new: Iterable[Document]) -> tuple[StoredDocuments, Places]:
        """Some of these documents, and new ones.

        Args:
            kept: rising places of those that stay.

        Returns:
            The documents, and for each its place here: -1 for the first new one in tie order, -2 for the
            second, and so on.

        Raises:
            DuplicateIdError: a new document has an id that is there.
        """
        added = StoredDocuments.of(new)
        keys = [tie_key(head) for head in added.heads()]
        at = [
            bisect_left(kept, key, key=lambda place: tie_key(self._document(int(place), ""))) for key in keys
        ]
        places = np.insert(kept.astype(np.int64), at, -1 - np.arange(len(added)))
        hashes, old = np.zeros(len(places), np.uint64), places >= 0
        hashes[old] = self._ordered_hashes()[places[old]]
        hashes[~old] = added._ordered_hashes()
        made = StoredDocuments(
            self._heads.chosen(places, added._heads),
            self._texts.chosen(places, added._texts),
            *_by_hash(hashes),
        )
        made._refuse_duplicates()
        return made, places

    @property
    def positions(self) -> Mapping[str, int]:
        """The place of each id."""
        return _Positions(self)

    def find(self, id: str) -> int:
        """The place of the document of that id, or -1."""
        wanted = np.uint64(hash_of(id))
        at = int(np.searchsorted(self._hashes, wanted))
        while at < len(self) and self._hashes[at] == wanted:
            place = int(self._places[at])
            if self._head(place)[0] == id:
                return place
            at += 1
        return -1

    def ids(self) -> Iterator[str]:
        return (self._head(place)[0] for place in range(len(self)))

    @cached_property
    def digest(self) -> str:
        """Hex digest of the ids in their order."""
        return digest_of(self._ordered_hashes())

    @property
    def packed_heads(self) -> Blob:
        """All of each document but its text, as JSON."""
        return self._heads

    def heads(self) -> Iterator[Document]:
        """The documents without their texts."""
        return (self._document(place, "") for place in range(len(self)))

    def __len__(self) -> int:
        return len(self._heads)

    @overload
    def __getitem__(self, place: int) -> Document: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Document, ...]: ...
    def __getitem__(self, place: int | slice) -> Document | tuple[Document, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        found = self._kept.get(place)
        if found is None:
            if not -len(self) <= place < len(self):
                raise IndexError(place)
            found = self._whole(place % len(self))
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[place] = found
        return found

    def __iter__(self) -> Iterator[Document]:
        return map(self._whole, range(len(self)))

    def __contains__(self, value: object) -> bool:
        place = self.find(value.id) if isinstance(value, Document) else -1
        return place >= 0 and self[place] == value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StoredDocuments | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"StoredDocuments({len(self):,})"

    @classmethod
    def _packed(cls, documents: Sequence[Document]) -> StoredDocuments:
        metadata: dict[int, str] = {}
        heads = Blob.of_texts(_packed_head(document, metadata) for document in documents)
        texts = Blob.of_texts(document.text for document in documents)
        hashes = hashes_of([document.id for document in documents])
        made = cls(heads, texts, *_by_hash(hashes))
        made._refuse_duplicates()
        return made

    def _head(self, place: int) -> list[Any]:
        try:
            head = json.loads(self._heads.text(place))
            if len(head) != 9:
                raise ValueError("it has no nine fields")
        except (ValueError, TypeError, RecursionError, IndexError) as error:
            raise IndexFormatError(f"document {place} of the index is damaged: {error}") from error
        return head  # type: ignore[no-any-return]

    def _document(self, place: int, text: str) -> Document:
        id, path, start, end, kind, name, qualified_name, language, metadata = self._head(place)
        try:
            return Document(
                id, text, path, start, end, kind, name, qualified_name, language, FrozenDict(metadata)
            )
        except (InvalidValueError, TypeError, ValueError) as error:
            raise IndexFormatError(f"document {place} of the index is damaged: {error}") from error

    def _whole(self, place: int) -> Document:
        return self._document(place, self._texts.text(place))

    def _ordered_hashes(self) -> NDArray[np.uint64]:
        """The digest of each document's id, in the order of the documents."""
        ordered = np.zeros(len(self), np.uint64)
        ordered[self._places] = self._hashes
        return ordered

    def _refuse_duplicates(self) -> None:
        for at in np.flatnonzero(self._hashes[1:] == self._hashes[:-1]).tolist():
            run = np.flatnonzero(self._hashes == self._hashes[at])
            ids = [self._head(int(self._places[one]))[0] for one in run]
            twice = next((id for id in ids if ids.count(id) > 1), None)
            if twice is not None:
                raise DuplicateIdError(f"two documents have the id {twice!r}; an id stands for one document")


def heads_digest(documents: Sequence[Document]) -> bytes:
    """SHA-256 of all but the texts, in their order: the same for documents in memory and on disk."""
    if isinstance(documents, StoredDocuments):
        heads = documents.packed_heads
    else:
        metadata: dict[int, str] = {}
        heads = Blob.of_texts(_head_in_memory(document, metadata) for document in documents)
    content = sha256(np.ascontiguousarray(heads.data).data)
    content.update(heads.ends.astype("<i8").tobytes())
    return content.digest()


def _head_in_memory(document: Document, metadata: dict[int, str]) -> str:
    try:
        return _packed_head(document, metadata)
    except InvalidValueError:  # metadata that no index keeps, so that there is none to be equal to
        return repr(replace(document, text="", metadata=FrozenDict()))


class _Positions(Mapping[str, int]):
    def __init__(self, documents: StoredDocuments) -> None:
        self._documents = documents

    def __getitem__(self, id: str) -> int:
        place = self._documents.find(id)
        if place < 0:
            raise KeyError(id)
        return place

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._documents.find(id) >= 0

    def __iter__(self) -> Iterator[str]:
        return self._documents.ids()

    def __len__(self) -> int:
        return len(self._documents)


def _by_hash(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Places]:
    order = np.argsort(hashes, kind="stable").astype(np.int64)
    return hashes[order], order


def _packed_head(d: Document, known: dict[int, str]) -> str:
    # Many documents share one mapping.
    metadata = known.get(id(d.metadata))
    if metadata is None:
        _refuse_unplain(d.id, "metadata", d.metadata)
        metadata = known[id(d.metadata)] = json.dumps(d.metadata, ensure_ascii=False)
    fields = [d.id, d.path, d.start_line, d.end_line, d.kind, d.name, d.qualified_name, d.language]
    return f"{json.dumps(fields, ensure_ascii=False)[:-1]}, {metadata}]"


def _refuse_unplain(id: str, where: str, value: object) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if type(key) is not str:
                raise InvalidValueError(f"{where} of document {id!r} has the key {key!r}; an index keeps str")
            _refuse_unplain(id, f"{where}[{key!r}]", item)
    elif type(value) is list:
        for item in value:
            _refuse_unplain(id, where, item)
    elif type(value) not in _PLAIN:
        raise InvalidValueError(
            f"{where} of document {id!r} is {value!r:.80} ({type(value).__name__}); an index keeps what JSON "
            "can: str, int, float, bool, None, lists and mappings of these"
        )
