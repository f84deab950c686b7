"""Laws of counting."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import Tokenizer
from hybridrank.text.counts import count_terms, count_tokens

words = st.sampled_from(
    ["get", "getUser", "get_user", "user", "血糖", "血糖血", "3.11", "__init__", "Users", "…", "\ud800"]
)
texts = st.lists(st.lists(words, max_size=6).map(" ".join) | st.text(max_size=12), max_size=6)
tokenizers = st.sampled_from([Tokenizer(), Tokenizer(parts=False), Tokenizer(stem="english")])


@given(texts, tokenizers)
def test_by_word_and_by_token_list_count_the_same(texts: list[str], tokenizer: Tokenizer) -> None:
    fast = count_terms(texts, tokenizer)
    slow = count_terms(texts, lambda text: tokenizer(text))
    assert fast.terms == slow.terms
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(fast.matrix, name), getattr(slow.matrix, name))
    assert fast.matrix.dtype == slow.matrix.dtype == np.int32
    assert np.array_equal(fast.lengths, slow.lengths)
    assert fast.lengths.dtype == slow.lengths.dtype == np.int64


@given(st.lists(st.lists(st.text("abc", max_size=2), max_size=8), max_size=8))
def test_counts_are_those_of_a_counter(lists: list[list[str]]) -> None:
    counted = count_tokens(lists)
    assert counted.terms == tuple(dict.fromkeys(token for tokens in lists for token in tokens))
    assert counted.lengths.tolist() == list(map(len, lists))
    for tokens, row in zip(lists, counted.matrix.toarray().tolist(), strict=True):
        assert {term: n for term, n in zip(counted.terms, row, strict=True) if n} == Counter(tokens)
