"""Numbers for the tokens of documents, in the order in which the terms first stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError

# Tokens that are numbered at a time: of documents that are there, and of such that are made as they are read;
# and those of them that are looked at to choose how.
_BLOCK, _STREAMED = 1 << 20, 1 << 16
_SAMPLE = 4096
# Addresses are 16 bytes apart; a table over them may have so many entries for each token.
_ALIGNED, _ENTRIES = 4, 16


class Numbers(dict[str, int]):
    """Numbers terms in the order in which they come."""

    def __missing__(self, term: object) -> int:
        if not isinstance(term, str):
            raise InvalidValueError(f"token {term!r:.40} is {type(term).__name__}; give tokens as str")
        number = self[str(term)] = len(self)
        return number


class Block(NamedTuple):
    """Tokens as numbers, one document behind the other, and how many each document has."""

    tokens: NDArray[np.int32]
    lengths: NDArray[np.int64]


def numbered(token_lists: Iterable[Sequence[str]], numbers: Numbers) -> Iterator[Block]:
    """The documents in blocks; new terms are added to `numbers`.

    Raises:
        InvalidValueError: a document is a str or no sequence, or a token is no str.
    """
    documents: list[Sequence[str]] = []
    total, most = 0, _BLOCK if isinstance(token_lists, Sequence) else _STREAMED
    for document in token_lists:
        if type(document) is not list:
            document = _checked(document)
        documents.append(document)
        total += len(document)
        if total >= most:
            yield _block(documents, total, numbers)
            documents, total = [], 0
    yield _block(documents, total, numbers)


def _checked(document: object) -> Sequence[str]:
    if not isinstance(document, Iterable):
        raise InvalidValueError(f"tokens are {document!r:.40}; give a list of str")
    if isinstance(document, str | bytes | Mapping):
        kind = type(document).__name__
        raise InvalidValueError(f"tokens are the {kind} {document!r:.40}; give a list of str")
    return list(document)


def _block(documents: list[Sequence[str]], total: int, numbers: Numbers) -> Block:
    lengths = np.fromiter(map(len, documents), np.int64, len(documents))
    tokens = _by_object(documents, total, numbers) if total > _SAMPLE else None
    if tokens is None:
        try:
            tokens = np.fromiter(map(numbers.__getitem__, chain.from_iterable(documents)), np.int32, total)
        except TypeError:
            raise InvalidValueError(
                f"tokens are {_unhashable(documents)!r:.40}; give a list of str"
            ) from None
    return Block(tokens, lengths)


def _unhashable(documents: list[Sequence[str]]) -> Sequence[str]:
    """The document that holds something that cannot be a key."""
    for document in documents:
        try:
            frozenset(document)
        except TypeError:
            return document
    raise AssertionError("all tokens are hashable")


def _by_object(documents: list[Sequence[str]], total: int, numbers: Numbers) -> NDArray[np.int32] | None:
    """Numbers where equal tokens mostly are one object, so that each object is looked up once.

    A dictionary is asked for every token otherwise, which takes five times as long. None where tokens are
    objects of their own, or lie too far apart in memory.
    """
    sample = list(islice(chain.from_iterable(documents), _SAMPLE))
    if len(set(map(id, sample))) > _SAMPLE * 3 // 4:
        return None
    objects = np.fromiter(chain.from_iterable(documents), object, total)
    addresses = _addresses(objects)
    if addresses is None:
        return None
    low = int(addresses.min())
    span = ((int(addresses.max()) - low) >> _ALIGNED) + 1
    if span > _ENTRIES * total:
        return None
    places = ((addresses - low) >> _ALIGNED).astype(np.int32)
    # The last of several values that are given to one entry stays: backwards, that is the first token.
    first = np.empty(span, np.int32)
    first[places[::-1]] = np.arange(total - 1, -1, -1, dtype=np.int32)
    first = first[places]
    heads = np.flatnonzero(first == np.arange(total, dtype=np.int32))
    number_of = np.empty(total, np.int32)
    try:
        number_of[heads] = list(map(numbers.__getitem__, objects[heads].tolist()))
    except TypeError:
        return None
    return np.asarray(number_of[first])


class _Addresses:
    """Lets numpy read the references of an array of objects as integers."""

    def __init__(self, objects: NDArray[np.object_]) -> None:
        self._objects = objects
        self.__array_interface__ = {
            "version": 3,
            "shape": objects.shape,
            "typestr": np.dtype(np.uintp).str,
            "data": (objects.ctypes.data, True),
        }


def _addresses(objects: NDArray[np.object_]) -> NDArray[np.uintp] | None:
    """`id` of each; None where that is no address, as other Pythons than CPython may have it."""
    found = np.asarray(_Addresses(objects))
    return found if found[:8].tolist() == [id(one) for one in objects[:8].tolist()] else None
