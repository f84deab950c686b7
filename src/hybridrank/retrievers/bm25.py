"""BM25: ranks documents by the query's words that they hold, rare words first."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from numbers import Real
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..cores import cores
from ..errors import InvalidValueError, NotIndexedError
from ..text.counts import TermCounts, count_terms, each_token
from ..text.fields import check_fields, searchable_text
from ..text.tokenizer import Tokenizer
from ..types import Contribution, Document, Event, Filter, Hit, Query, Ranking, check_k
from .corpus import Corpus
from .numbered import NumberedDocuments
from .postings import Postings, best
from .tokens import Tokenize, check_tokens, tokenizer_id

QueryTerms: TypeAlias = Literal["unique", "count"]

_SOURCE = "bm25"
# A batch is shared among threads if each has so many queries, of so many documents: numpy's loops over fewer
# end before another thread gets its turn.
_SHARE, _MANY = 16, 1 << 16
_DEFAULTS: Mapping[str, Any] = {
    "k1": 1.2,
    "b": 0.75,
    "tokenizer": None,
    "query_terms": "unique",
    "complete": False,
    "fields": ("text",),
}


@dataclass(frozen=True, init=False, repr=False, eq=False)
class BM25:
    """Okapi BM25 (Robertson & Zaragoza 2009, with the idf of Lucene, which is always > 0).

    The score of a document is the sum over the query's terms of

        idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average length))

    with idf = ln(1 + (N - n + 0.5) / (n + 0.5)) for a term in n of N documents, and lengths in tokens. Only
    documents that hold a term of the query are found, so scores are > 0. Equal documents tie exactly; ties
    go by path, start line, id.

    Args:
        k1: how slowly repeated terms saturate; finite, > 0.
        b: how much long documents pay for their length, 0 to 1.
        tokenizer: any callable from text to tokens, for documents and queries alike; `Tokenizer()` if None.
        query_terms: `"unique"` counts a term of the query once, `"count"` as often as it stands there.
        complete: let the documents without a matching term follow at score 0 in tie order.
        fields: the fields of a document that are searched.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    k1: float
    b: float
    tokenizer: Tokenize
    query_terms: QueryTerms
    complete: bool
    fields: tuple[str, ...]
    _index: tuple[Corpus, Postings] | None

    def __init__(
        self,
        *,
        k1: float = 1.2,
        b: float = 0.75,
        tokenizer: Tokenize | None = None,
        query_terms: QueryTerms = "unique",
        complete: bool = False,
        fields: Sequence[str] = ("text",),
    ) -> None:
        if not 0 < _number(k1) < math.inf:
            raise InvalidValueError(f"k1 is {k1!r}; give a finite number above 0")
        if not 0 <= _number(b) <= 1:
            raise InvalidValueError(f"b is {b!r}; give a number from 0 to 1")
        if tokenizer is not None and not callable(tokenizer):
            raise InvalidValueError(f"tokenizer is {tokenizer!r}; give a callable from text to tokens")
        if query_terms not in ("unique", "count"):
            raise InvalidValueError(f"query_terms is {query_terms!r}; give 'unique' or 'count'")
        if not isinstance(complete, bool):
            raise InvalidValueError(f"complete is {complete!r}; give True or False")
        self._set(
            _index=None,
            k1=_number(k1),
            b=_number(b),
            tokenizer=Tokenizer() if tokenizer is None else tokenizer,
            query_terms=query_terms,
            complete=complete,
            fields=check_fields(fields),
        )

    def index(self, documents: Sequence[Document], /) -> Self:
        """A new BM25 over these documents; their order does not matter.

        Raises:
            DuplicateIdError: two documents have one id.
        """
        corpus = Corpus(documents)
        texts = [searchable_text(document, self.fields) for document in corpus.documents]
        return self._with(corpus, count_terms(texts, self.tokenizer))

    def update(self, documents: Sequence[Document], places: NDArray[np.int64], /) -> Self:
        """What `index` makes of these documents, to the bit; only new ones are tokenised.

        Args:
            documents: in tie order.
            places: shape (documents,): where each stood in `documents` of before, negative for new ones.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        corpus = Corpus(documents)
        texts = [searchable_text(documents[at], self.fields) for at in np.flatnonzero(places < 0).tolist()]
        fresh = count_terms(texts, self.tokenizer)
        return self._with(corpus, self._indexed()[1].recounted(places, fresh))

    def state(self) -> dict[str, Any]:
        """The postings as arrays, see `Storable`.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        return self._indexed()[1].state()

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        """A new BM25 with these options and that state.

        Raises:
            IndexFormatError: the state is damaged, or not of these documents.
        """
        corpus = Corpus(documents)
        new = copy.copy(self)
        new._set(_index=(corpus, Postings.restored(state, len(corpus))))
        return new

    def index_tokens(
        self, token_lists: Iterable[Sequence[str]], documents: Sequence[Document] | None = None
    ) -> Self:
        """A new BM25 over documents whose tokens are given; the tokenizer then reads queries only.

        Args:
            documents: one per token list; by default without text and with the ids `"0"`, `"1"`, and so on.

        Raises:
            DuplicateIdError: two documents have one id.
            InvalidValueError: the lengths differ, or tokens are no sequence of str.
        """
        lists = list(token_lists)
        given = NumberedDocuments(len(lists)) if documents is None else documents
        if len(given) != len(lists):
            raise InvalidValueError(f"{len(lists)} token lists for {len(given)} documents; give one for each")
        corpus = Corpus(given)
        order = np.asarray(given.order if isinstance(given, NumberedDocuments) else corpus.order)
        terms = each_token(lists)
        return self._with(corpus, replace(terms, matrix=terms.matrix[order], lengths=terms.lengths[order]))

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        """The k best documents that pass `where` and hold a term of the query.

        Where there are none, an event says why: `empty-query` (no tokens), `no-known-term`, or
        `filtered-out` (only documents that `where` excludes hold one).

        Raises:
            InvalidValueError: k is negative or no int.
            NotIndexedError: there are no documents yet.
        """
        return self._rank(query, check_tokens(self.tokenizer(query.text)), k, where)

    def retrieve_batch(
        self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
    ) -> tuple[Ranking, ...]:
        """The rankings that `retrieve` gives to each query, found on all cores where there is much to do."""
        corpus, _ = self._indexed()
        asked = [(query, check_tokens(self.tokenizer(query.text))) for query in queries]
        threads = min(cores(), len(asked) // _SHARE)
        if threads < 2 or len(corpus) < _MANY:
            return tuple(self._rank(query, tokens, k, where) for query, tokens in asked)
        with ThreadPoolExecutor(threads, "hybridrank-bm25") as pool:
            return tuple(pool.map(lambda one: self._rank(one[0], one[1], k, where), asked))

    def retrieve_tokens(self, tokens: Sequence[str], /, *, k: int, where: Filter | None = None) -> Ranking:
        """What `retrieve` does, for a query whose tokens are given."""
        checked = check_tokens(tokens)
        return self._rank(Query(" ".join(checked)), checked, k, where)

    def scores(self, tokens: Sequence[str], /) -> NDArray[np.float64]:
        """The score of every document, in the order of `documents`; 0 where no term matches."""
        _, postings = self._indexed()
        return postings.scores(self._weights(check_tokens(tokens)))

    def explain(self, query: Query, document: Document, /) -> tuple[Contribution, ...]:
        """What each matching term adds to the document's score, the most first; the values sum to it.

        Raises:
            InvalidValueError: no document of that id is indexed.
            NotIndexedError: there are no documents yet.
        """
        corpus, postings = self._indexed()
        position = corpus.positions.get(document.id)
        if position is None:
            raise InvalidValueError(f"document {document.id!r} is not indexed; give one of `documents`")
        weights = self._weights(check_tokens(self.tokenizer(query.text)))
        return postings.contributions(weights, position)

    def idf(self, term: str) -> float:
        """The idf of a term; one that stands in no document has that of n = 0."""
        return self._indexed()[1].idf(term)

    @property
    def documents(self) -> Sequence[Document]:
        """The indexed documents by path, start line, id."""
        return self._indexed()[0].documents

    @property
    def immediate(self) -> bool:
        """Waits for nobody: a pipeline of few documents needs no thread for it."""
        return True

    @property
    def vocabulary_size(self) -> int:
        """How many different terms the documents hold."""
        return len(self._indexed()[1].rows)

    @property
    def average_length(self) -> float:
        """Mean tokens per document, 0.0 without documents."""
        return self._indexed()[1].average_length

    def fingerprint(self) -> str:
        """Equal where rankings are: made of options, tokenizer id, document ids and term counts."""
        options = {name: getattr(self, name) for name in _DEFAULTS}
        options["tokenizer"] = tokenizer_id(self.tokenizer)
        identity = repr(options)
        if self._index is not None:
            corpus, postings = self._index
            identity += corpus.digest + postings.digest
        return f"bm25:{sha256(identity.encode()).hexdigest()[:16]}"

    def __repr__(self) -> str:
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name, default in _DEFAULTS.items()
            if getattr(self, name) != (Tokenizer() if name == "tokenizer" else default)
        ]
        return f"BM25({', '.join(shown)})"

    def _rank(self, query: Query, tokens: list[str], k: int, where: Filter | None) -> Ranking:
        check_k(k)
        corpus, postings = self._indexed()
        if not tokens:
            event = Event("empty-query", "the query holds no words to search for")
            return Ranking(query, (), _SOURCE, (event,))
        weights = self._weights(tokens)
        mask = corpus.mask(where)
        if mask is None and not self.complete:
            found, scores = postings.top(weights, k)
        else:
            every = postings.scores(weights)
            if mask is not None:
                every[~mask] = 0.0
            found = best(every, k)
            if self.complete:
                rest = every == 0.0 if mask is None else (every == 0.0) & mask
                found = np.concatenate((found, np.flatnonzero(rest)[: k - len(found)]))
            scores = every[found]
        events: tuple[Event, ...] = ()
        if not weights:
            events = (Event("no-known-term", "no document holds a word of the query"),)
        elif k and not (len(scores) and scores[0] > 0.0):
            events = (Event("filtered-out", "only documents outside the filter hold words of the query"),)
        hits = map(Hit, map(corpus.documents.__getitem__, found.tolist()), scores.tolist())
        return Ranking(query, tuple(hits), _SOURCE, events)

    def _weights(self, tokens: list[str]) -> dict[str, int]:
        """How often each known term counts, in an order that depends on the terms alone."""
        rows = self._indexed()[1].rows
        if self.query_terms == "unique":
            return dict.fromkeys(sorted([token for token in set(tokens) if token in rows]), 1)
        times = Counter(token for token in tokens if token in rows)
        return {term: times[term] for term in sorted(times)}

    def _indexed(self) -> tuple[Corpus, Postings]:
        if self._index is None:
            raise NotIndexedError("BM25 has no documents yet; call index(documents) and use what it returns")
        return self._index

    def _with(self, corpus: Corpus, terms: TermCounts) -> Self:
        new = copy.copy(self)
        new._set(_index=(corpus, Postings.build(terms, k1=self.k1, b=self.b)))
        return new

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _number(value: object) -> float:
    """The value as a float; NaN, which lies in no range, for a bool and for what is no number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
