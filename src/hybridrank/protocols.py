"""What a part must be able to do, and what it may be able to do.

A part implements one of the first eight protocols: one method, synchronous, one query. The others are
optional abilities; the pipeline asks for them with isinstance. Nothing is inherited.
Data come positional-only, options keyword-only, and an unknown option is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .code.symbols import Symbol
    from .types import (
        ChatReply,
        ChatRequest,
        Contribution,
        Document,
        Filter,
        Query,
        Ranking,
        Role,
        SourceFile,
        Vectors,
        Verdict,
    )


@runtime_checkable
class Chunker(Protocol):
    """Cuts a source file into documents with disjoint spans."""

    def chunk(self, source: SourceFile, /) -> Iterable[Document]: ...


@runtime_checkable
class SymbolChunker(Protocol):
    """A chunker that knows the symbols of a file too; for others they are read off its documents."""

    def outline(self, source: SourceFile, /) -> tuple[Sequence[Document], Sequence[Symbol]]:
        """What `chunk` gives, and what is defined in the file, in any order."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors: float32, one row per text, in order, shape (len(texts), dimensions)."""

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Vectors: ...


@runtime_checkable
class Retriever(Protocol):
    """A first-stage leg: at most k hits for one query, among the documents that pass `where`."""

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking: ...


@runtime_checkable
class Fuser(Protocol):
    """Makes one ranking of several, named by leg. Ids are the only identity."""

    def fuse(self, rankings: Mapping[str, Ranking], /, *, k: int) -> Ranking: ...


@runtime_checkable
class Reranker(Protocol):
    """Reorders a ranking: a permutation or a subset of what it got, at most k."""

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking: ...


@runtime_checkable
class Validator(Protocol):
    """Judges hits in rank order: one verdict per hit."""

    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]: ...


@runtime_checkable
class ChatModel(Protocol):
    """Answers one request. Raises where there is no answer; an empty one is an answer."""

    def complete(self, request: ChatRequest, /) -> ChatReply: ...


class Normalizer(Protocol):
    """Takes from a query what only asks and does not describe; says what it dropped."""

    def __call__(self, text: str, /) -> Normalized: ...


class Normalized(NamedTuple):
    """A normalised query text, and the words that were dropped from it, in order."""

    text: str
    dropped: tuple[str, ...] = ()


@runtime_checkable
class Indexable(Protocol):
    """A part that needs the documents, whatever its kind. Returns a new part; the old one is unchanged."""

    def index(self, documents: Sequence[Document], /) -> Self: ...


@runtime_checkable
class Fittable(Protocol):
    """An embedder that learns from the corpus. Returns a new part; the old one is unchanged."""

    def fit(self, texts: Sequence[str], /) -> Self: ...


@runtime_checkable
class FitEmbedder(Protocol):
    """A fittable embedder that gets the document vectors of its texts for nothing while it fits.

    Equal to `fitted = e.fit(texts)` followed by `fitted.embed(texts, role="document")`.
    """

    def fit_embed(self, texts: Sequence[str], /) -> tuple[Self, Vectors]: ...


@runtime_checkable
class Served(Protocol):
    """An embedder whose model lives elsewhere, where another may take its place under the same name."""

    def bound(self) -> Self:
        """The same embedder, held to the model that is there now: with any other it raises MismatchError."""


@runtime_checkable
class Weighted(Protocol):
    """A fuser with weights by leg name; a name that is missing weighs 1.

    `with_weights` replaces all weights: a leg that the new mapping does not name weighs 1 again.
    """

    @property
    def weights(self) -> Mapping[str, float]: ...

    def with_weights(self, weights: Mapping[str, float], /) -> Self: ...


@runtime_checkable
class Explainable(Protocol):
    """Says what a document's score at this part is made of."""

    def explain(self, query: Query, document: Document, /) -> Sequence[Contribution]: ...


@runtime_checkable
class BatchRetriever(Protocol):
    """A leg that answers many queries at once, with the same rankings as one by one."""

    def retrieve_batch(
        self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
    ) -> Sequence[Ranking]: ...


@runtime_checkable
class AsyncRetriever(Protocol):
    """A leg that can be awaited, with the same ranking as `retrieve`."""

    async def aretrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking: ...


@runtime_checkable
class AsyncReranker(Protocol):
    """A reranker that can be awaited, with the same ranking as `rerank`."""

    async def arerank(self, ranking: Ranking, /, *, k: int) -> Ranking: ...


@runtime_checkable
class Closeable(Protocol):
    """A part that holds something open."""

    def close(self) -> None: ...


@runtime_checkable
class Fingerprinted(Protocol):
    """A part whose identity (options, model, fitted state) can be told by a short string."""

    def fingerprint(self) -> str: ...


@runtime_checkable
class Storable(Protocol):
    """An indexed part whose index can be kept on disk. One without it is indexed again when it is loaded.

    `part.restore(part.state(), documents)` ranks as `part` does.
    """

    def state(self) -> Mapping[str, Any] | None:
        """What was learnt from the documents: numpy arrays (no objects), and values that JSON can hold.

        Options have no place here: the configuration keeps them. None says that it cannot be kept, as when
        an embedder inside cannot; then the part is indexed again.
        """

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        """A new part with the options of this one and that state. Arrays are memory-mapped and read-only.

        The documents are those that the state was learnt from, sorted by path, start line, id; each is read
        from disk when it is asked for. A state comes from a file that anyone may have written: check shapes
        and ranges, and raise whatever you like; it is reported as a damaged index.
        """


@runtime_checkable
class Updatable(Protocol):
    """An indexed part that can move on to changed documents without starting over."""

    def update(self, documents: Sequence[Document], places: NDArray[np.int64], /) -> Self:
        """A new part for these documents, as `index` would make it except where the part documents else.

        Args:
            documents: sorted by path, start line, id.
            places: shape (documents,): where each of them stood in the documents of before, negative for
                those that are new or changed.
        """
