"""Dense retrieval: ranks documents by the cosine of their vector and the query's."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError, InvalidValueError, MismatchError, NotIndexedError
from ..protocols import Embedder, FitEmbedder, Fittable, Storable
from ..text.fields import check_fields, searchable_text
from ..types import Contribution, Document, Event, Filter, Hit, Query, Ranking, check_k
from .corpus import Corpus
from .embedding import embed_checked, embed_documents, fit_embed_checked, identity_of
from .vectors import F64, UnitVectors, unit_rows

if TYPE_CHECKING:
    from ..types import Vectors

_SOURCE = "dense"
_FIELDS = ("text",)
_EMBEDDER = "embedder."

REFIT_SHARE = 0.1
"""An embedder that learns is fitted anew when more than this share of the documents have changed since."""

# How many products of queries and documents a batch computes at once: 64 MB of float32.
_PRODUCTS = 1 << 24


@runtime_checkable
class Attributing(Protocol):
    """An embedder that can say what each term of a query adds to its cosine with a document vector."""

    def attribute(self, text: str, vector: Vectors, /) -> Sequence[Contribution]: ...


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Dense:
    """Exact cosine search over the vectors of an embedder.

    Scores lie in [-1, 1] and are rounded to 5 decimals before ordering; ties go by path, start line, id.
    The cosine with a zero vector is 0 and no match: such documents, among them all blank ones, are not
    found. Documents of negative cosine are, last.

    Args:
        embedder: asked with role "document" while indexing and with role "query" while searching; `LSA()`
            if None. One that learns from the corpus is always fitted to the indexed documents, even if it
            was fitted before.
        complete: find every document that passes the filter; those with a zero vector then stand at score 0
            in tie order, before any of negative cosine.
        fields: the fields of a document that are embedded.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    embedder: Embedder
    complete: bool
    fields: tuple[str, ...]
    _index: _Index | None

    def __init__(
        self,
        embedder: Embedder | None = None,
        *,
        complete: bool = False,
        fields: Sequence[str] = _FIELDS,
    ) -> None:
        if embedder is None:
            from ..embedders.lsa import LSA

            embedder = LSA()
        if isinstance(embedder, type) or not isinstance(embedder, Embedder):
            raise InvalidValueError(f"embedder is {embedder!r}; give an object with embed(texts, role=...)")
        if not isinstance(complete, bool):
            raise InvalidValueError(f"complete is {complete!r}; give True or False")
        self._set(embedder=embedder, complete=complete, fields=check_fields(fields), _index=None)

    def index(self, documents: Sequence[Document], /) -> Self:
        """A new Dense over these documents; their order does not matter. Blank ones are not embedded.

        Raises:
            ContractError: the embedder does not give one finite vector per text; the ids are named.
            DuplicateIdError: two documents have one id.
        """
        corpus = Corpus(documents)
        texts = [searchable_text(document, self.fields) for document in corpus.documents]
        filled = np.flatnonzero([bool(text.strip()) for text in texts])
        texts = [texts[position] for position in filled]
        ids = [corpus.documents[int(position)].id for position in filled]
        embedder, vectors = fit_embed_checked(self.embedder, texts, ids, stage=_SOURCE)
        unit = UnitVectors.of(vectors, filled, len(corpus))
        return self._with(embedder, _Index(corpus, unit, identity_of(embedder), len(corpus)))

    def update(self, documents: Sequence[Document], places: NDArray[np.int64], /) -> Self:
        """A new Dense for these documents that embeds only new ones.

        An embedder that learns from the corpus stays as it was fitted, so that rankings may differ a little
        from those of `index`, until more documents than `REFIT_SHARE` of those it was fitted to have
        changed; then everything is indexed anew. `lag` tells how many have. With any other embedder the
        result is that of `index`, if it embeds each text by itself.

        Args:
            documents: in tie order.
            places: shape (documents,): where each stood in `documents` of before, negative for new ones.

        Raises:
            ContractError: as `index`.
            MismatchError: the embedder is not the one that the index was made with.
            NotIndexedError: there are no documents yet.
        """
        before = self._current()
        changed = before.changed
        if isinstance(self.embedder, Fittable | FitEmbedder):
            new, gone = int((places < 0).sum()), len(before.corpus) - int((places >= 0).sum())
            changed += max(new, gone)
            if changed > REFIT_SHARE * before.fitted:
                return self.index(documents)
        texts = [searchable_text(documents[at], self.fields) for at in np.flatnonzero(places < 0).tolist()]
        ids = [documents[at].id for at in np.flatnonzero(places < 0).tolist()]
        filled = np.flatnonzero([bool(text.strip()) for text in texts])
        vectors = embed_documents(
            self.embedder, [texts[at] for at in filled], [ids[at] for at in filled], stage=_SOURCE
        )
        if len(filled) and vectors.shape[1] != before.vectors.rows.shape[1]:
            return self.index(documents)
        added = UnitVectors.of(vectors, filled, len(texts)) if len(filled) else None
        unit = before.vectors.chosen(places, added)
        index = _Index(Corpus(documents), unit, before.identity, before.fitted, changed)
        return self._with(self.embedder, index)

    @property
    def lag(self) -> int:
        """How many documents came, went or changed since the embedder was fitted; 0 for one that is not."""
        return self._indexed.changed

    def state(self) -> dict[str, Any] | None:
        """Vectors, and what the embedder has learnt; None where that cannot be kept. See `Storable`.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        index = self._indexed
        state: dict[str, Any] = {
            "vectors": index.vectors.rows,
            "digest": index.vectors.digest,
            "identity": index.identity,
            "fitted": index.fitted,
            "changed": index.changed,
        }
        if isinstance(self.embedder, Storable):
            learnt = self.embedder.state()
        else:
            learnt = None if isinstance(self.embedder, Fittable | FitEmbedder) else {}
        if learnt is None:
            return None
        return {**state, **{_EMBEDDER + key: value for key, value in learnt.items()}}

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        """A new Dense with these options and that state.

        Raises:
            IndexFormatError: the state is damaged, or not of these documents.
        """
        embedder, corpus, rows = self.embedder, Corpus(documents), state["vectors"]
        if (
            rows.dtype.str != "<f4"
            or rows.ndim != 2
            or len(rows) != len(corpus)
            or not rows.flags.c_contiguous
        ):
            raise IndexFormatError("the vectors do not fit the documents")
        if isinstance(embedder, Storable):
            learnt = {k.removeprefix(_EMBEDDER): v for k, v in state.items() if k.startswith(_EMBEDDER)}
            embedder = cast("Embedder", embedder.restore(learnt, documents))
        unit = UnitVectors(rows, str(state["digest"]))
        counts = int(state["fitted"]), int(state["changed"])
        return self._with(embedder, _Index(corpus, unit, str(state["identity"]), *counts))

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        """The k documents of highest cosine that pass `where`.

        Where there is none an event says why: `empty-query` (no letter or digit), `no-known-term` (the query
        or every document has the zero vector), or `filtered-out`.

        Raises:
            ContractError: the embedder does not give one finite vector.
            InvalidValueError: k is negative or no int.
            MismatchError: the embedder's fingerprint or dimension is not that of the indexed vectors.
            NotIndexedError: there are no documents yet.
        """
        return self.retrieve_batch((query,), k=k, where=where)[0]

    def retrieve_batch(
        self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
    ) -> tuple[Ranking, ...]:
        """The rankings that `retrieve` gives to each query, if the embedder embeds each text by itself."""
        check_k(k)
        index = self._current()
        passing = index.corpus.mask(where)
        scope = index.everything if passing is None else _Scope.of(index.vectors, passing)
        rankings: list[Ranking] = []
        size = max(1, _PRODUCTS // max(1, len(index.corpus)))
        for start in range(0, len(queries), size):
            block = queries[start : start + size]
            units = self._query_units(block, index) if len(scope.candidates) else np.zeros((len(block), 1))
            products = units.astype(np.float32) @ index.vectors.rows.T if units.any() else units
            rankings += map(self._rank, block, units, products, repeat(scope), repeat(k))
        return tuple(rankings)

    def explain(self, query: Query, document: Document, /) -> tuple[Contribution, ...]:
        """What the document's cosine is made of: one addend per term if the embedder can tell, else one.

        Empty where query or document has the zero vector.

        Raises:
            InvalidValueError: no document of that id is indexed.
            NotIndexedError: there are no documents yet.
        """
        index = self._current()
        position = index.corpus.positions.get(document.id)
        if position is None:
            raise InvalidValueError(f"document {document.id!r} is not indexed; explain one of `documents`")
        if not _has_words(query) or not index.vectors.nonzero[position]:
            return ()
        if isinstance(self.embedder, Attributing):
            return tuple(self.embedder.attribute(query.text, index.vectors.rows[position]))
        (unit,) = self._query_units((query,), index)
        (cosine,) = index.vectors.cosines(unit, np.array([position]))
        return (Contribution("cosine", float(cosine)),) if unit.any() else ()

    @property
    def immediate(self) -> bool:
        """Whether a query waits for nobody: an embedder that learns from the corpus asks no server."""
        return isinstance(self.embedder, Fittable | FitEmbedder)

    @property
    def documents(self) -> Sequence[Document]:
        """The indexed documents by path, start line, id."""
        return self._indexed.corpus.documents

    @property
    def vectors(self) -> Vectors:
        """Their vectors in this order, length 1 or 0, float32, read-only, shape (documents, dimensions)."""
        return self._indexed.vectors.rows

    def fingerprint(self) -> str:
        """Tells two Dense apart that may rank differently: by options, embedder, document ids and vectors."""
        identity: list[object] = [self.complete, self.fields, identity_of(self.embedder)]
        if self._index is not None:
            identity += [self._index.corpus.digest, self._index.vectors.digest]
        return "dense:" + sha256(json.dumps(identity).encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        options = [repr(self.embedder)]
        options += ["complete=True"] if self.complete else []
        options += [f"fields={self.fields!r}"] if self.fields != _FIELDS else []
        return f"Dense({', '.join(options)})"

    def _rank(self, query: Query, unit: F64, products: NDArray[Any], scope: _Scope, k: int) -> Ranking:
        if not _has_words(query):
            event = Event("empty-query", "the query holds no letter or digit to search for")
            return Ranking(query, (), _SOURCE, (event,))
        index, events, rest = self._indexed, scope.events, scope.rest
        positions, scores = np.zeros(0, np.intp), np.zeros(0)
        if unit.any():
            positions, scores = index.vectors.nearest(unit, products, scope.candidates, k)
        elif not events:
            events = (Event("no-known-term", "the embedder knows no term of the query: its vector is zero"),)
            rest = np.flatnonzero(scope.passing)
        if self.complete:
            positions = np.concatenate((positions, rest[:k]))
            scores = np.concatenate((scores, np.zeros(len(rest[:k]))))
            best = np.lexsort((positions, -scores))[:k]
            positions, scores = positions[best], scores[best]
        documents = map(index.corpus.documents.__getitem__, positions.tolist())
        return Ranking(query, tuple(map(Hit, documents, scores.tolist())), _SOURCE, events)

    def _query_units(self, queries: Sequence[Query], index: _Index) -> F64:
        """Their vectors brought to length 1, shape (queries, dimensions); zeros for queries without words."""
        asked = [position for position, query in enumerate(queries) if _has_words(query)]
        units = np.zeros((len(queries), index.vectors.rows.shape[1]))
        if not asked:
            return units
        texts = [queries[position].text for position in asked]
        vectors = embed_checked(self.embedder, texts, stage=_SOURCE)
        if vectors.shape[1] != units.shape[1]:
            raise MismatchError(
                f"{type(self.embedder).__name__} gives queries {vectors.shape[1]} dimensions, but the "
                f"index has {units.shape[1]}; index again, or use the embedder that the index was made with"
            )
        units[asked] = unit_rows(vectors)
        return units

    @property
    def _indexed(self) -> _Index:
        if self._index is None:
            raise NotIndexedError("Dense has no documents yet; call index(documents) and use what it returns")
        return self._index

    def _current(self) -> _Index:
        """The index, if the embedder still is the one that it was made with."""
        index, identity = self._indexed, identity_of(self.embedder)
        if identity != index.identity:
            raise MismatchError(
                f"the embedder is {identity!r} now, but the index was made with {index.identity!r}; "
                "index again, or use the embedder that the index was made with"
            )
        return index

    def _with(self, embedder: Embedder, index: _Index) -> Self:
        new = copy.copy(self)
        new._set(embedder=embedder, _index=index)
        return new

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class _Index:
    """Also how many documents the embedder was fitted to, and how many changed since."""

    corpus: Corpus
    vectors: UnitVectors
    identity: str
    fitted: int
    changed: int = 0

    @cached_property
    def everything(self) -> _Scope:
        """What may be found without a filter."""
        return _Scope.of(self.vectors, np.ones(len(self.corpus), np.bool_))


class _Scope(NamedTuple):
    """What may be found: the passing documents with a direction, those without, and why there is nothing."""

    passing: NDArray[np.bool_]
    candidates: NDArray[np.intp]
    rest: NDArray[np.intp]
    events: tuple[Event, ...]

    @classmethod
    def of(cls, vectors: UnitVectors, passing: NDArray[np.bool_]) -> Self:
        nonzero = vectors.nonzero
        candidates = np.flatnonzero(nonzero & passing)
        events: tuple[Event, ...] = ()
        if not nonzero.any():
            events = (Event("no-known-term", "no document has a vector to compare the query with"),)
        elif not len(candidates):
            events = (Event("filtered-out", "only documents that the filter excludes have a vector"),)
        return cls(passing, candidates, np.flatnonzero(~nonzero & passing), events)


def _has_words(query: Query) -> bool:
    return any(map(str.isalnum, query.text))
