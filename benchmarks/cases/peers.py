"""The peers behind one face: built from token lists, asked with tokens, answering with ids and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hybridrank import BM25

K1, B = 1.2, 0.75
Answer = list[tuple[str, float]]


def ours_answer(bm25: BM25, tokens: Sequence[str], k: int) -> Answer:
    return [(hit.id, hit.score) for hit in bm25.retrieve_tokens(tokens, k=k)]


class Bm25s:
    """bm25s with its compiled backend; its scores are without the factor k1 + 1."""

    def __init__(self, lists: Any) -> None:
        import bm25s

        self.index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
        self.index.index(lists, show_progress=False)

    def answer(self, tokens: Sequence[str], k: int) -> Answer:
        return self.batch([tokens], k)[0]

    def batch(self, queries: Sequence[Sequence[str]], k: int, threads: int = 0) -> list[Answer]:
        ids, scores = self.index.retrieve(
            [list(tokens) for tokens in queries], k=k, show_progress=False, n_threads=threads
        )
        kept = [np.asarray(row) > 0 for row in scores]
        return [
            [
                (str(id), float(score) * (K1 + 1))
                for id, score in zip(ids[at][keep], scores[at][keep], strict=True)
            ]
            for at, keep in enumerate(kept)
        ]


class Tantivy:
    """tantivy with one segment; `answer` makes the query, searches, and reads the ids."""

    def __init__(self, texts: Sequence[str], tokenizer: str = "whitespace") -> None:
        import tantivy

        self._tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name=tokenizer, index_option="freq")
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema)
        writer = self._index.writer(500_000_000, 1)
        for number, text in enumerate(texts):
            writer.add_document(tantivy.Document(text=text, id=str(number)))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def answer(self, tokens: Sequence[str], k: int) -> Answer:
        made = self._tantivy
        clauses = [
            (made.Occur.Should, made.Query.term_query(self._schema, "text", token, "freq"))
            for token in tokens
        ]
        found = self._searcher.search(made.Query.boolean_query(clauses), k, count=False).hits
        return [(self._searcher.doc(address)["id"][0], float(score)) for score, address in found]
