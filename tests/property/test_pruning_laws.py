"""Each way to the best documents of a query finds what scoring all of them finds, to the bit."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import BM25, Query
from hybridrank.errors import IndexFormatError
from hybridrank.retrievers import postings as postings_module
from hybridrank.retrievers import pruning, scatter
from hybridrank.retrievers.postings import Postings, best

# What makes a corpus of some hundred documents large enough for each way.
WAYS: dict[str, dict[str, Any]] = {
    "merged": {"_MERGED": 1 << 30, "_SPARSE": 1e-9},
    "pruned": {"_MERGED": 0, "_CANDIDATE": 1e-9, "_KEPT": 4},
    "pruned or summed roughly": {"_MERGED": 0, "_CANDIDATE": 4.0, "_KEPT": 4, "_TRIED": 8},
    "summed roughly": {"_MERGED": 0, "_CANDIDATE": 1 << 60},
}
corpora = st.builds(
    lambda seed, size, spread, shape: _lists(np.random.default_rng(seed), size, spread, shape),
    st.integers(0, 2**32 - 1),
    st.integers(1, 400),
    st.integers(1, 30),
    st.floats(0.1, 3.0),
)


def _lists(rng: np.random.Generator, size: int, spread: int, shape: float) -> list[list[str]]:
    """Documents of a few words, of which some are common; equal documents are frequent."""
    chances = 1.0 / np.arange(1, spread + 1) ** shape
    words = [str(number) for number in range(spread)]
    lengths = rng.integers(0, 7, size)
    return [rng.choice(words, length, p=chances / chances.sum()).tolist() for length in lengths]


@pytest.mark.parametrize("way", WAYS)
@given(
    corpora,
    st.lists(st.integers(0, 30).map(str), min_size=1, max_size=8),
    st.integers(0, 40),
    st.sampled_from(["unique", "count"]),
    st.sampled_from([0, 1, 24]),
)
def test_every_way_finds_the_best_of_all(
    way: str, lists: list[list[str]], query: list[str], k: int, terms: str, tables: int
) -> None:
    large: dict[str, Any] = {"_BLOCK": 2, "_SMALL": 0, "_TABLES": tables}
    with patch.multiple(pruning, **WAYS[way]), patch.multiple(postings_module, **large):
        bm25 = BM25(query_terms=terms).index_tokens(lists)  # type: ignore[arg-type]
        found = bm25.retrieve_tokens(query, k=k)
    with patch.multiple(postings_module, _TABLES=0):
        scores = BM25(query_terms=terms).index_tokens(lists).scores(query)  # type: ignore[arg-type]
    assert bm25.scores(query).tolist() == scores.tolist()
    expected = best(scores, k)
    assert found.ids == tuple(bm25.documents[place].id for place in expected.tolist())
    assert [hit.score for hit in found] == scores[expected].tolist()


def _corpus(size: int = 70_000) -> BM25:
    rng = np.random.default_rng(0)
    chances = 1.0 / np.arange(1, 2001)
    tokens = rng.choice(2000, (size, 6), p=chances / chances.sum())
    return BM25().index_tokens([list(map(str, row)) for row in tokens.tolist()])


def test_real_sizes_take_every_way_and_agree() -> None:
    bm25 = _corpus()
    rng = np.random.default_rng(1)
    taken: set[str] = set()
    assert bm25._index is not None
    postings = bm25._index[1]
    for _ in range(120):
        words = sorted(set(map(str, rng.integers(0, rng.choice([6, 100, 2000]), rng.integers(1, 7)))))
        weights = {word: 1 for word in words if word in postings.rows}
        with ExitStack() as stack:
            spies = {
                name: stack.enter_context(patch.object(module, name, wraps=getattr(module, name)))
                for module, name in SPIED
            }
            places, scores = postings.top(weights, 10)
        taken.update(name for name, spy in spies.items() if spy.called)
        every = postings.scores(weights)
        assert places.tolist() == best(every, 10).tolist()
        assert scores.tolist() == every[places].tolist()
    assert taken == {name for _, name in SPIED}


SPIED = ((pruning, "_merged"), (pruning, "_surviving"), (postings_module, "_summed_roughly"))


@given(st.lists(st.integers(0, 5), max_size=30), st.sampled_from([np.float32, np.float64]), st.integers(1, 3))
def test_the_compiled_sum_is_numpys(places: list[int], kind: type[np.floating], weight: int) -> None:
    values = np.linspace(0.1, 2.0, len(places)).astype(np.float32)
    ours, numpys = np.zeros(6, kind), np.zeros(6, kind)
    where = np.array(places, np.int32)
    scatter.scatter(ours, where, values, weight)
    with patch.object(scatter, "_ADD", scatter.add_at):
        scatter.scatter(numpys, where, values, weight)
    assert ours.tolist() == numpys.tolist()


def test_without_the_compiled_sum_nothing_changes() -> None:
    bm25 = _corpus(2000)
    query = Query("0 1 5")
    with patch.object(scatter, "_ADD", scatter.add_at):
        plain = bm25.retrieve(query, k=10)
    assert list(bm25.retrieve(query, k=10)) == list(plain)


@pytest.mark.parametrize("wrong", [-1, 2000, 2**31 - 1])
def test_damaged_postings_are_an_error_and_write_nowhere(wrong: int) -> None:
    bm25 = _corpus(2000)
    assert bm25._index is not None
    state = bm25._index[1].state()
    state["documents"] = state["documents"].copy()
    state["documents"][5] = wrong
    damaged = Postings.restored(state, 2000)
    for look in (damaged.scores, lambda weights: damaged.top(weights, 5)):
        with pytest.raises((IndexError, IndexFormatError), match="damaged"):
            look({"0": 1})
