"""A batch found on several threads is what the single queries find."""

from __future__ import annotations

import numpy as np
import pytest

from hybridrank import BM25, InvalidValueError, Query
from hybridrank.retrievers import bm25


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_any_number_of_threads_gives_the_rankings_of_single_queries(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    monkeypatch.setattr(bm25, "_MANY", 0)
    monkeypatch.setattr(bm25, "_SHARE", 1)
    monkeypatch.setattr(bm25, "cores", lambda: cores)
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.3, 20) % 50) for _ in range(300)]
    index = BM25(tokenizer=str.split).index_tokens([text.split() for text in texts])
    queries = [Query(" ".join(f"w{n}" for n in rng.integers(0, 60, 4))) for _ in range(40)] + [Query("")]
    together = index.retrieve_batch(queries, k=7)
    assert together == tuple(index.retrieve(query, k=7) for query in queries)
    assert [ranking.query for ranking in together] == queries


def test_an_error_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "_MANY", 0)
    monkeypatch.setattr(bm25, "_SHARE", 1)
    monkeypatch.setattr(bm25, "cores", lambda: 2)
    index = BM25().index_tokens([["a"], ["b"]])
    with pytest.raises(InvalidValueError, match="k is -1"):
        index.retrieve_batch([Query("a"), Query("b")], k=-1)
