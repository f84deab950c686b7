"""The laws of retrievers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ..errors import DuplicateIdError, InvalidValueError, NotIndexedError
from ..protocols import AsyncRetriever, BatchRetriever, Explainable, Fingerprinted, Indexable, Retriever
from ..types import Contribution, Document, Filter, Query, Ranking, tie_key
from .checking import Make, answered, awaited, expect, in_threads, ranking_of, ready, refused, same
from .samples import BLANK_QUERIES, DOCUMENTS, ODD_TEXTS, filters, queries

Documents = Sequence[Document]
Law = Callable[[Make, Documents], None]


def protocol(make: Make, documents: Documents) -> None:
    """It has the method, and refuses a keyword that it does not know."""
    part = ready(make, documents)
    expect(isinstance(part, Retriever), f"{part!r} has no method retrieve")
    asked = "retrieve(query, k=1, no_such_option=1)"
    refused(asked, TypeError, part.retrieve, Query("token"), k=1, no_such_option=1)


def not_indexed(make: Make, documents: Documents) -> None:
    """A part that takes documents says so when it is asked before it has any; `index` leaves it as it was."""
    part = make()
    retrieve = part.retrieve
    if isinstance(part, Indexable):
        refused("retrieve before index", NotIndexedError, retrieve, Query("token"), k=1)
        indexed = part.index(documents)
        expect(indexed is not part, "index returned the same part; it must return a new one")
        refused("the old part after index", NotIndexedError, retrieve, Query("token"), k=1)
        _ask(indexed, Query("token"), 1)


def empty_corpus(make: Make, documents: Documents) -> None:
    """No documents can be indexed and searched."""
    part = make()
    if isinstance(part, Indexable):
        empty = answered("index(())", part.index, ())
        for query in (*queries(documents), *BLANK_QUERIES):
            found = _ask(empty, query, 5)
            expect(len(found) == 0, f"{query!r} found {found.ids} among no documents")


def empty_query(make: Make, documents: Documents) -> None:
    """A query without words finds nothing and an event says why."""
    part = ready(make, documents)
    for query in BLANK_QUERIES:
        found = _ask(part, query, 5)
        expect(len(found) == 0, f"{query!r} found {found.ids}")
        expect(bool(found.events), f'{query!r} gave no event; give e.g. Event("empty-query", "…")')


def at_most_k(make: Make, documents: Documents) -> None:
    """At most k hits, none for 0, fewer where there are fewer; k is an int of 0 or more."""
    part = ready(make, documents)
    for query in queries(documents):
        for k in (0, 1, 2, len(documents) + 7, 10**9):
            found = _ask(part, query, k)
            expect(len(found) <= k, f"{query!r} with k={k} found {len(found)} hits")
    wrong: tuple[Any, ...] = (-1, True, 1.5, "3", None)
    for k in wrong:
        refused(f"retrieve with k={k!r}", InvalidValueError, part.retrieve, Query("token"), k=k)


def prefix(make: Make, documents: Documents) -> None:
    """The first k hits are the first of the first k + n hits, with the same scores."""
    part = ready(make, documents)
    for query in queries(documents):
        whole = _ask(part, query, len(documents) + 7)
        for k in range(min(len(whole) + 1, 15)):
            same(
                _ask(part, query, k), whole.cut(k), f"{query!r} with k={k} and the start of its whole ranking"
            )


def known_documents(make: Make, documents: Documents) -> None:
    """Hits hold the documents that were indexed, unchanged; the ranking holds the query."""
    part = ready(make, documents)
    known = {document.id: document for document in documents}
    for query in queries(documents):
        found = _ask(part, query, len(documents) + 7)
        expect(found.query == query, f"{query!r} was answered for {found.query!r}")
        for hit in found if isinstance(part, Indexable) else ():
            expect(hit.id in known, f"{query!r} found {hit.id!r}, which was not indexed")
            expect(hit.document == known[hit.id], f"{query!r} found a changed document: {hit.document!r}")


def filtered(make: Make, documents: Documents) -> None:
    """A filter is applied before the cut: it leaves out what does not pass and nothing else."""
    part = ready(make, documents)
    every = len(documents) + 7
    for query in queries(documents):
        whole = _ask(part, query, every)
        for where in filters(documents):
            passing = [hit.id for hit in whole if where.matches(hit.document)]
            for k in (every, 2, 1):
                found = list(_ask(part, query, k, where).ids)
                detail = f"{query!r} with k={k} and {where!r} found {found}, not {passing[:k]}"
                expect(found == passing[:k], detail)


def repeatable(make: Make, documents: Documents) -> None:
    """The same query has the same answer: again, after others, from a second part, from several threads."""
    part, twin = ready(make, documents), ready(make, documents)
    asked = queries(documents)
    first = [_ask(part, query, 5) for query in asked]
    for query in asked:
        same(_ask(part, query, 5), _ask(part, query, 5), f"{query!r} twice in a row")
    for query, before, after, other, at_once in zip(
        asked,
        first,
        [_ask(part, query, 5) for query in reversed(asked)][::-1],
        [_ask(twin, query, 5) for query in asked],
        in_threads(lambda query: _ask(part, query, 5), asked),
        strict=True,
    ):
        same(before, after, f"{query!r} first and later")
        same(before, other, f"{query!r} by two equal parts")
        same(before, at_once, f"{query!r} alone and beside others in threads")


def no_mutation(make: Make, documents: Documents) -> None:
    """What was given stays as it was, and what becomes of it later does not matter."""
    part = make()
    if isinstance(part, Indexable):
        given = list(documents)
        indexed = part.index(given)
        expect(given == list(documents), "index changed the sequence that it was given")
        before = [_ask(indexed, query, 5) for query in queries(documents)]
        expect(given == list(documents), "retrieve changed the sequence that index was given")
        given.clear()
        for query, found in zip(queries(documents), before, strict=True):
            same(found, _ask(indexed, query, 5), f"{query!r} before and after the caller's list was emptied")


def ties(make: Make, documents: Documents) -> None:
    """Equal scores are in the order of path, start line and id."""
    for given in (documents, documents[::-1]):
        part = ready(make, given)
        for query in queries(documents):
            hits = _ask(part, query, len(documents) + 7).hits
            for one, other in pairwise(hits):
                tied = one.score == other.score and tie_key(one.document) > tie_key(other.document)
                expect(
                    not tied, f"{query!r} has {one.id!r} before {other.id!r} at the same score {one.score}"
                )


def duplicate_ids(make: Make, documents: Documents) -> None:
    """Two documents of one id are refused, whatever their texts."""
    part = make()
    if isinstance(part, Indexable):
        twice = (*DOCUMENTS[:3], Document(DOCUMENTS[1].id, "another text"))
        refused("index with an id that stands twice", DuplicateIdError, part.index, twice)


def odd_text(make: Make, documents: Documents) -> None:
    """Any str can be indexed and asked for."""
    odd = tuple(Document(f"odd-{place}", text) for place, text in enumerate(ODD_TEXTS))
    part = ready(make, (*documents, *odd))
    for text in ODD_TEXTS:
        _ask(part, Query(text), 3)


def batch(make: Make, documents: Documents) -> None:
    """`retrieve_batch`, where there is one, gives what `retrieve` gives one by one."""
    part = ready(make, documents)
    if not isinstance(part, BatchRetriever):
        return
    some = queries(documents)
    for where in (None, *filters(documents)[:4]):
        for asked in ((), some, (*some[:2], *BLANK_QUERIES, some[0])):
            shown = f"retrieve_batch of {len(asked)} queries with where={where!r}"
            found = answered(shown, part.retrieve_batch, asked, k=5, where=where)
            expect(len(found) == len(asked), f"{shown} gave {len(found)} rankings")
            for query, ranking in zip(asked, found, strict=True):
                same(
                    ranking_of(ranking, shown), _ask(part, query, 5, where), f"{query!r} in a batch and alone"
                )


def asynchronous(make: Make, documents: Documents) -> None:
    """`aretrieve`, where there is one, gives what `retrieve` gives."""
    part = ready(make, documents)
    if isinstance(part, AsyncRetriever):
        where = filters(documents)[-1]
        for query in (*queries(documents), *BLANK_QUERIES):
            shown = f"await aretrieve({query!r})"
            found = answered(shown, awaited, part.aretrieve, query, k=5, where=where)
            same(ranking_of(found, shown), _ask(part, query, 5, where), f"{query!r} awaited and not")


def explained(make: Make, documents: Documents) -> None:
    """`explain`, where there is one, gives finite contributions for each hit, the same each time."""
    part = ready(make, documents)
    if not isinstance(part, Explainable):
        return
    for query in queries(documents):
        for hit in _ask(part, query, 5):
            shown = f"explain({query!r}, {hit.id!r})"
            told = answered(shown, part.explain, query, hit.document)
            expect(
                all(isinstance(one, Contribution) and math.isfinite(one.value) for one in told),
                f"{shown} gave {told!r}",
            )
            again = answered(shown, part.explain, query, hit.document)
            expect(list(told) == list(again), f"{shown} gave {told!r}, then {again!r}")


def fingerprint(make: Make, documents: Documents) -> None:
    """`fingerprint`, where there is one, is a string that two equal parts share."""
    one, other = ready(make, documents), ready(make, documents)
    if isinstance(one, Fingerprinted):
        shown: object = answered("fingerprint()", one.fingerprint)
        expect(isinstance(shown, str) and bool(shown), f"fingerprint() gave {shown!r}")
        expect(shown == other.fingerprint(), f"two equal parts have the fingerprints {shown!r} and another")


LAWS: tuple[Law, ...] = (
    protocol,
    not_indexed,
    empty_corpus,
    empty_query,
    at_most_k,
    prefix,
    known_documents,
    filtered,
    repeatable,
    no_mutation,
    ties,
    duplicate_ids,
    odd_text,
    batch,
    asynchronous,
    explained,
    fingerprint,
)


def _ask(part: Any, query: Query, k: int, where: Filter | None = None) -> Ranking:
    asked = f"retrieve({query!r}, k={k}" + ("" if where is None else f", where={where!r}") + ")"
    return ranking_of(answered(asked, part.retrieve, query, k=k, where=where), asked)
