"""Finds definitions by name, and who calls them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError, NotIndexedError
from ..types import Contribution, Document, Event, Filter, Hit, Query, Ranking, check_k
from .corpus import Corpus
from .symbol_index import CALL, COMPACT, ENDING, FOLDED, PART, WHOLE, SymbolIndex
from .symbol_question import Mention, SymbolQuestion

_SOURCE = "symbol"

WHOLE_NAME, NAME, FOLDED_NAME, JOINED_NAME, CALLER, OTHER_PLACE, PARTS = 1.0, 0.95, 0.85, 0.8, 0.7, 0.6, 0.5
"""Scores, see `SymbolRetriever`."""

_ALIKE = 0.5


@dataclass(frozen=True, init=False, repr=False, eq=False)
class SymbolRetriever:
    """Finds the documents that define what a query names: functions, methods, classes, named modules.

    A query that names nothing finds nothing. A name is a query of one word; in a longer query what is written
    like a name (`parse_header`, `parseHeader`, `Client.send`, `Client::send`, `load()`, in backquotes), and
    a capitalised word. The score of a document is the best of

        1.0   its qualified name is the one asked for
        0.95  its name is, or the end of its qualified name
        0.85  the same in another case
        0.8   its name is all words of a query of two to six, written as one
        0.7   it calls what is asked for, where the query asks who calls it ("where is load called",
              在哪被调用): its text has the name before a bracket, in Bash, Elixir, Haskell and Ruby anywhere
        0.6   its name is, but it stands in something else than was asked for
        0.5   times the share of parts that the names have in common (Dice 1945), if that is half or more:
              `parse_headers` for `parseHeaderLine`; only for one word, and for what is written like a name

    A capitalised word in a sentence counts only as it is written. Of a definition that was cut into pieces
    the first is found. Equal scores go by path, start line, id.
    """

    _index: tuple[Corpus, SymbolIndex] | None

    def __init__(self) -> None:
        self._set(_index=None)

    def index(self, documents: Sequence[Document], /) -> Self:
        """A new retriever over these documents; their order does not matter.

        Raises:
            DuplicateIdError: two documents have one id.
        """
        corpus = Corpus(documents)
        return self._with(corpus, SymbolIndex.build(corpus.documents))

    def update(self, documents: Sequence[Document], places: NDArray[np.int64], /) -> Self:
        """What `index` makes of these documents, to the bit; only new ones are read. See `Updatable`.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        fresh = SymbolIndex.build(documents[at] for at in np.flatnonzero(places < 0).tolist())
        return self._with(Corpus(documents), self._indexed()[1].moved(places, fresh))

    def state(self) -> dict[str, Any]:
        """The keys and who holds them, as arrays. See `Storable`.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        return self._indexed()[1].state()

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        """A new retriever with that state.

        Raises:
            IndexFormatError: the state is damaged, or not of these documents.
        """
        corpus = Corpus(documents)
        return self._with(corpus, SymbolIndex.restored(state, len(corpus)))

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        """The k best documents that pass `where`.

        Where there are none, an event says why: `no-symbol` (the query names none), `no-known-symbol`, or
        `filtered-out` (only documents that `where` excludes were found).

        Raises:
            InvalidValueError: k is negative or no int.
            NotIndexedError: there are no documents yet.
        """
        check_k(k)
        corpus, index = self._indexed()
        question = SymbolQuestion.of(query)
        if not question.mentions and not question.joined:
            return Ranking(query, (), _SOURCE, (Event("no-symbol", "the query names no symbol"),))
        found = _Found(index, question).scores
        event = Event("no-known-symbol", "nothing of a name in the query is defined") if not found else None
        places = np.fromiter(found, np.int64, len(found))
        mask = corpus.mask(where)
        if mask is not None and len(places):
            places = places[mask[places]]
            if not len(places):
                event = Event("filtered-out", "only documents outside the filter were found")
        best = sorted(places.tolist(), key=lambda place: (-found[place][0], place))[:k]
        hits = tuple(Hit(corpus.documents[place], found[place][0]) for place in best)
        return Ranking(query, hits, _SOURCE, () if event is None else (event,))

    def explain(self, query: Query, document: Document, /) -> tuple[Contribution, ...]:
        """Why a document is found; the value is its score.

        Raises:
            InvalidValueError: no document of that id is indexed.
            NotIndexedError: there are no documents yet.
        """
        corpus, index = self._indexed()
        place = corpus.positions.get(document.id)
        if place is None:
            raise InvalidValueError(f"document {document.id!r} is not indexed; give one of `documents`")
        found = _Found(index, SymbolQuestion.of(query)).scores.get(place)
        return () if found is None else (Contribution(found[1], found[0], found[2]),)

    @property
    def documents(self) -> Sequence[Document]:
        """The indexed documents by path, start line, id."""
        return self._indexed()[0].documents

    def fingerprint(self) -> str:
        """Equal where rankings are: made of document ids and names."""
        identity = "1"
        if self._index is not None:
            corpus, index = self._index
            identity += corpus.digest + index.digest
        return f"symbol:{sha256(identity.encode()).hexdigest()[:16]}"

    def __repr__(self) -> str:
        return "SymbolRetriever()"

    def _indexed(self) -> tuple[Corpus, SymbolIndex]:
        if self._index is None:
            raise NotIndexedError(
                "SymbolRetriever has no documents yet; call index(documents) and use what it returns"
            )
        return self._index

    def _with(self, corpus: Corpus, index: SymbolIndex) -> Self:
        new = copy.copy(self)
        new._set(_index=(corpus, index))
        return new

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


class _Found:
    """The best score of each document that is found, by its place, with its level and the reason."""

    def __init__(self, index: SymbolIndex, question: SymbolQuestion) -> None:
        self.index = index
        self.scores: dict[int, tuple[float, str, str]] = {}
        for mention in question.mentions:
            self.definitions(mention)
            if question.callers:
                self.add(CALL + mention.name, CALLER, "caller", f"calls {mention.name}")
            if mention.loose:
                self.alike(mention)
        if question.joined:
            self.add(COMPACT + question.joined, JOINED_NAME, "joined", "the name is the query's words as one")

    def definitions(self, mention: Mention) -> None:
        name, scoped = mention.name, mention.scoped
        self.add(WHOLE + scoped, WHOLE_NAME, "whole", f"the qualified name is {scoped}")
        self.add(ENDING + scoped, NAME, "name", f"the name is {scoped}")
        if mention.loose:
            folded = f"the name is {scoped} in another case"
            self.add(FOLDED + scoped.casefold(), FOLDED_NAME, "folded", folded)
        if name != scoped:
            other = f"the name is {name}, in another place than {scoped}"
            self.add(ENDING + name, OTHER_PLACE, "elsewhere", other)

    def alike(self, mention: Mention) -> None:
        """Names that share parts with the one asked for."""
        parts = mention.parts
        shared: dict[int, int] = {}
        for part in parts:
            for place in self.index.of(PART + part).tolist():
                shared[place] = shared.get(place, 0) + 1
        for place, count in shared.items():
            alike = 2 * count / (len(parts) + int(self.index.sizes[place]))
            if alike >= _ALIKE:
                detail = f"{count} of the parts of {mention.name} are in the name"
                self.put(place, PARTS * alike, "parts", detail)

    def add(self, key: str, score: float, level: str, detail: str) -> None:
        for place in self.index.of(key).tolist():
            self.put(place, score, level, detail)

    def put(self, place: int, score: float, level: str, detail: str) -> None:
        before = self.scores.get(place)
        if before is None or before[0] < score:
            self.scores[place] = score, level, detail
