"""Asking BM25: one query at a time, in batches, and with a whole chunk."""

from __future__ import annotations

from collections.abc import Iterator

from hybridrank import BM25, Query

from . import data
from .harness import Options, Row, check, each, interleaved, once, row
from .peers import Bm25s, Tantivy, ours_answer

_QUERIES = 100


def one_at_a_time(options: Options) -> Iterator[Row]:
    size = options.size(1_000_000, 20_000)
    # Up to 39 tokens tantivy keeps lengths as they are, so that scores can be compared.
    lists = data.token_lists(size, 20, 39)
    ours, bm25s = BM25().index_tokens(lists), Bm25s(lists)
    tantivy = Tantivy([" ".join(tokens) for tokens in lists])
    documents = data.frequencies(lists)
    kinds = {
        "2 to 8 terms, common words among them": (data.common_queries(documents, _QUERIES, size), "2", "2"),
        "2 to 4 selective terms": (data.selective_queries(documents, _QUERIES, size), "2", "1/3"),
    }
    compiling, _ = once(options, lambda: bm25s.answer(["t0"], 10))
    for name, (queries, wanted, of_tantivy) in kinds.items():
        pairs = [(ours_answer(ours, query, 10), bm25s.answer(query, 10)) for query in queries]
        agreement = check(name, pairs)
        check(name, [(ours_answer(ours, query, 10), tantivy.answer(query, 10)) for query in queries])
        times = each(
            options,
            queries,
            {
                "ours": lambda query: ours_answer(ours, query, 10),
                "bm25s": lambda query: bm25s.answer(query, 10),
                "tantivy": lambda query: tantivy.answer(query, 10),
            },
        )
        postings = sum(sum(documents[term] for term in query) for query in queries) / len(queries)
        note = f"{postings:,.0f} postings a query"
        work = f"BM25 top-10, one query at a time, {size:,} documents, {name}"
        compiled = f"{note}; first query {compiling:.1f} s"
        yield row(work, "bm25s (numba)", wanted, times, "bm25s", agreement=agreement, note=compiled)
        yield row(work, "tantivy", of_tantivy, times, "tantivy", agreement=agreement, note=note)
    batch = data.common_queries(documents, 1000, size, seed=4)
    asked = [Query(" ".join(query)) for query in batch]
    by_space = BM25(tokenizer=str.split).index_tokens(lists)
    pairs = [
        ([(hit.id, hit.score) for hit in found], theirs)
        for found, theirs in zip(
            by_space.retrieve_batch(asked, k=10), bm25s.batch(batch, 10, threads=2), strict=True
        )
    ]
    times = interleaved(
        options,
        {
            "ours": lambda: by_space.retrieve_batch(asked, k=10),
            "bm25s": lambda: bm25s.batch(batch, 10, threads=2),
        },
    )
    yield row(
        f"BM25 top-10, a batch of 1,000 such queries, {size:,} documents",
        "bm25s (numba, 2 threads)",
        "2",
        times,
        "bm25s",
        agreement=check("batch", pairs),
    )


def whole_chunks(options: Options) -> Iterator[Row]:
    size = options.size(100_000, 5000)
    lists = data.token_lists(size, 100, 100)
    ours, bm25s = BM25().index_tokens(lists), Bm25s(lists)
    queries = data.chunk_queries(lists, 30)
    pairs = [(ours_answer(ours, query, 80), bm25s.answer(query, 80)) for query in queries]
    times = each(
        options,
        queries,
        {"ours": lambda query: ours_answer(ours, query, 80), "bm25s": lambda query: bm25s.answer(query, 80)},
    )
    yield row(
        f"BM25 top-80 for a whole chunk (200 terms), {size:,} documents",
        "bm25s (numba)",
        "2",
        times,
        "bm25s",
        agreement=check("chunk", pairs),
    )
