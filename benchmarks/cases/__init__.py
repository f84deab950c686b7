"""The cases of `python -m benchmarks`: each a function from options to rows, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from . import bm25_build, bm25_queries, fusion, memory, repositories, starting, vectors
from .harness import Options, Row

CASES: Mapping[str, Callable[[Options], Iterator[Row]]] = {
    "build-tokens": bm25_build.from_tokens,
    "build-text": bm25_build.from_text,
    "queries": bm25_queries.one_at_a_time,
    "chunks": bm25_queries.whole_chunks,
    "repositories": repositories.index_and_ask,
    "update": repositories.one_changed_file,
    "dense": vectors.dense,
    "rrf": fusion.rrf,
    "import": starting.imports,
    "warm-search": starting.warm_search,
    "load": memory.loading,
    "memory": memory.peaks,
}
