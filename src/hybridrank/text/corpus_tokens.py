"""How many documents of a corpus hold each API token, and so how much it tells that two texts share it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError
from ..types import Document
from .api_tokens import api_token_set, word_set
from .strings import Strings

WORD = " "
"""Stands before the words of prose, which are counted beside API tokens; none of these begins so."""


@dataclass(frozen=True, eq=False)
class CorpusTokens:
    """In how many documents of a corpus each API token stands, and each word of prose.

    Attributes:
        documents: how many documents there are.
        places: place of each token; words have a space before them.
        holders: int32, shape (tokens,): how many documents hold each, 1 or more.
        recent: the last sources that were compared with it, by text; they go when it goes.
    """

    documents: int
    places: Mapping[str, int]
    holders: NDArray[np.int32]
    recent: dict[str, Any] = field(default_factory=dict, repr=False)
    _counted: Sequence[Document] = field(default=(), repr=False)

    @classmethod
    def of(cls, documents: Sequence[Document]) -> CorpusTokens:
        """Of these documents. Parts that are given one tuple of them, or one index's, share what is made."""
        made = _MADE.get(id(documents))
        if made is not None and made._counted is documents:
            return made
        # Those on disk have positions; a list could be another one by the next time.
        lasting = isinstance(documents, tuple) or hasattr(documents, "positions")
        counts: Counter[str] = Counter()
        spoken: Counter[str] = Counter()
        for document in documents:
            counts.update(api_token_set(document.text))
            spoken.update(word_set(document.text))
        counts.update({WORD + word: count for word, count in spoken.items()})
        tokens = sorted(counts)
        holders = np.fromiter(map(counts.__getitem__, tokens), np.int32, len(tokens))
        places = {token: place for place, token in enumerate(tokens)}
        made = cls(len(documents), places, holders, _counted=documents if lasting else ())
        if lasting:
            _MADE[id(documents)] = made
        return made

    def __reduce__(self) -> tuple[type[CorpusTokens], tuple[int, dict[str, int], NDArray[np.int32]]]:
        return CorpusTokens, (self.documents, dict(self.places), np.array(self.holders))

    def held(self, token: str) -> int:
        """How many documents hold the token."""
        place = self.places.get(token)
        return 0 if place is None else int(self.holders[place])

    def weight(self, token: str) -> float:
        """The square of ln((N - n + 1) / n) for a token that n of N documents hold; 0 if more than half do.

        The logarithm of the odds against a document having it (Robertson & Sparck Jones 1976, smoothed by one
        more document without it), once for each of the two texts that share it, as in a product of vectors.
        What no document holds weighs what is in one.
        """
        held = max(self.held(token), 1)
        return math.log((self.documents - held + 1) / held) ** 2 if 2 * held <= self.documents else 0.0

    @property
    def highest(self) -> float:
        """The weight of a token that one document holds."""
        return math.log(self.documents) ** 2 if self.documents else 0.0

    @cached_property
    def digest(self) -> str:
        """Hex digest of all of it."""
        strings = Strings.of(self.places)
        digest = sha256(f"{self.documents} {len(strings)} ".encode())
        for array in (strings.ends.astype("<i8"), strings.data, self.holders.astype("<i4")):
            digest.update(array.tobytes())
        return digest.hexdigest()

    def state(self) -> dict[str, Any]:
        """Arrays from which `restored` makes it again."""
        tokens = Strings.of(self.places)
        return {
            "documents": self.documents,
            "tokens": tokens.data,
            "ends": tokens.ends,
            "holders": self.holders,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> CorpusTokens:
        """From what `state` gave.

        Raises:
            IndexFormatError: the arrays do not belong together.
        """
        count, holders = int(state["documents"]), state["holders"]
        places = Strings(state["tokens"], state["ends"]).places
        if holders.dtype != np.int32 or holders.shape != (len(places),) or count < 0:
            raise IndexFormatError("the tokens of evidence and how often they are held do not fit together")
        if len(holders) and not (holders.min() >= 1 and holders.max() <= count):
            raise IndexFormatError("a token of evidence stands in more documents than there are, or in none")
        return cls(count, places, holders)


# What was made holds its documents, so their id is theirs for as long as the entry lives.
_MADE: WeakValueDictionary[int, CorpusTokens] = WeakValueDictionary()
