"""How times grow with the corpus, with the exponents of fitted power laws."""

from __future__ import annotations

import math
import statistics
from functools import partial
from typing import Any

import numpy as np

from hybridrank import BM25, LSA

from . import data
from .harness import Options, once
from .peers import ours_answer

_SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_CHUNKS = (1_000, 3_000, 10_000, 30_000, 100_000)


def growth(options: Options) -> list[dict[str, Any]]:
    """One curve per kind of work: `sizes`, `seconds`, and `exponent` of seconds = a · size ** exponent."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for full in _SIZES:
        size = options.size(full, 1000)
        lists = data.token_lists(size, 20, 39)
        seconds, bm25 = once(options, partial(BM25().index_tokens, lists))
        curves.setdefault("BM25 build, tokens given", []).append((size, seconds))
        documents = data.frequencies(lists)
        for name, queries in (
            ("BM25 query, common words", data.common_queries(documents, 50, size)),
            ("BM25 query, selective terms", data.selective_queries(documents, 50, size)),
        ):
            for query in queries:
                ours_answer(bm25, query, 10)
            times = [once(options, partial(ours_answer, bm25, query, 10))[0] for query in queries]
            curves.setdefault(name, []).append((size, statistics.median(times)))
    for full in _CHUNKS:
        size = options.size(full, 300)
        texts = [" ".join(tokens) for tokens in data.token_lists(size, 60, 140, seed=5)]
        seconds, _ = once(options, partial(LSA(tokenizer=str.split).fit_embed, texts))
        curves.setdefault("LSA fit and vectors", []).append((size, seconds))
    return [
        {"name": name, "sizes": [s for s, _ in points], "seconds": [t for _, t in points], **_fit(points)}
        for name, points in curves.items()
    ]


def _fit(points: list[tuple[int, float]]) -> dict[str, float]:
    sizes = np.array([math.log(size) for size, _ in points])
    seconds = np.array([math.log(max(second, 1e-9)) for _, second in points])
    exponent, start = np.polyfit(sizes, seconds, 1)
    return {"exponent": round(float(exponent), 3), "factor": float(np.exp(start))}
