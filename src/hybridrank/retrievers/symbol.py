"""Finds definitions by name, and who calls them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError, NotIndexedError
from ..types import Contribution, Document, Event, Filter, Hit, Query, Ranking, check_k
from .corpus import Corpus
from .symbol_index import CALL, COMPACT, ENDING, FOLDED, PART, WHOLE, SymbolIndex
from .symbol_question import Mention, SymbolQuestion

_SOURCE = "symbol"

WHOLE_NAME, NAME, FOLDED_NAME, JOINED_NAME = 1.0, 0.95, 0.85, 0.8
CALLER, PLAIN_CALLER, OTHER_PLACE, PARTS = 0.7, 0.65, 0.6, 0.5
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
        0.65  the same, where the name is a plain word among others
        0.6   its name is, but it stands in something else than was asked for
        0.5   times the share of parts that the names have in common (Dice 1945), if that is half or more:
              `parse_headers` for `parseHeaderLine`; only for one word, and for what is written like a name

    A capitalised word in a sentence counts only as it is written. Of a definition that was cut into pieces
    the first is found. Equal scores go by path, start line, id.

    Args:
        sentences: whether names count in a longer query that does not ask for callers. Someone who writes one
            there often asks for more than its definition.

    Raises:
        InvalidValueError: `sentences` is no bool.
    """

    sentences: bool
    _index: tuple[Corpus, SymbolIndex] | None

    def __init__(self, *, sentences: bool = True) -> None:
        if not isinstance(sentences, bool):
            raise InvalidValueError(f"sentences is {sentences!r}; give True or False")
        self._set(_index=None, sentences=sentences)

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
        question = SymbolQuestion.of(query, sentences=self.sentences)
        if not question.mentions and not question.joined:
            return Ranking(query, (), _SOURCE, (Event("no-symbol", "the query names no symbol"),))
        levels = levels_of(index, question)
        places = np.concatenate([np.zeros(0, np.int32), *(level.places for level in levels)])
        scores = np.concatenate([np.zeros(0), *(level.scores for level in levels)])
        event = Event("no-known-symbol", "nothing of a name in the query is defined")
        mask = corpus.mask(where)
        if mask is not None and len(places):
            event = Event("filtered-out", "only documents outside the filter were found")
            passed = mask[places]
            places, scores = places[passed], scores[passed]
        order = np.lexsort((places, -scores))
        _, first = np.unique(places[order], return_index=True)
        best = order[np.sort(first)[:k]]
        found = zip(places[best].tolist(), scores[best].tolist(), strict=True)
        hits = tuple(Hit(corpus.documents[place], score) for place, score in found)
        return Ranking(query, hits, _SOURCE, () if len(places) else (event,))

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
        told = [
            Contribution(level.name, float(level.scores[level.places == place][0]), level.detail)
            for level in levels_of(index, SymbolQuestion.of(query, sentences=self.sentences))
            if (level.places == place).any()
        ]
        return (max(told, key=lambda one: one.value),) if told else ()

    @property
    def immediate(self) -> bool:
        """Whether a query waits for nobody."""
        return True

    @property
    def documents(self) -> Sequence[Document]:
        """The indexed documents by path, start line, id."""
        return self._indexed()[0].documents

    def fingerprint(self) -> str:
        """Equal where rankings are: made of document ids and names."""
        identity = f"1 {self.sentences}"
        if self._index is not None:
            corpus, index = self._index
            identity += corpus.digest + index.digest
        return f"symbol:{sha256(identity.encode()).hexdigest()[:16]}"

    def __repr__(self) -> str:
        return f"SymbolRetriever({'' if self.sentences else 'sentences=False'})"

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


class Level(NamedTuple):
    """Documents that are found for one reason.

    Attributes:
        name, detail: the reason.
        places: int32, rising, shape (found,).
        scores: float64, one for each.
    """

    name: str
    detail: str
    places: NDArray[np.int32]
    scores: NDArray[np.float64]


def levels_of(index: SymbolIndex, question: SymbolQuestion) -> list[Level]:
    """All that is found; a document may be there more than once, and its best score counts."""
    found: list[Level] = []

    def add(name: str, key: str, score: float, detail: str) -> None:
        places = index.of(key)
        if len(places):
            found.append(Level(name, detail, places, np.full(len(places), score)))

    for mention in question.mentions:
        name, scoped = mention.name, mention.scoped
        add("whole", WHOLE + scoped, WHOLE_NAME, f"the qualified name is {scoped}")
        add("name", ENDING + scoped, NAME, f"the name is {scoped}")
        if mention.loose:
            folded = f"the name is {scoped} in another case"
            add("folded", FOLDED + scoped.casefold(), FOLDED_NAME, folded)
        if name != scoped:
            add("elsewhere", ENDING + name, OTHER_PLACE, f"the name is {name}, in something else")
        if question.callers:
            score = CALLER if mention.loose else PLAIN_CALLER
            add("caller", CALL + name, score, f"calls {name}")
        if mention.loose:
            found.append(_alike(index, mention))
    if question.joined:
        add("joined", COMPACT + question.joined, JOINED_NAME, "the name is the query's words as one")
    return found


def _alike(index: SymbolIndex, mention: Mention) -> Level:
    """Names that share parts with the one asked for."""
    parts = mention.parts
    held = np.concatenate([np.zeros(0, np.int32), *(index.of(PART + part) for part in sorted(parts))])
    places, shared = np.unique(held, return_counts=True)
    alike = 2.0 * shared / (len(parts) + index.sizes[places])
    near = alike >= _ALIKE
    detail = f"shares parts of {mention.name}"
    return Level("parts", detail, places[near], PARTS * alike[near])
