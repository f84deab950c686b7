"""Laws of query normalisation."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hybridrank import Normalized, Tokenizer, normalize_query
from hybridrank.text import stopwords

tokens = Tokenizer()
asking = sorted(
    stopwords.ARTICLES
    | stopwords.POLITE
    | stopwords.ASKING
    | stopwords.ALSO_NAMES
    | stopwords.AUXILIARIES
    | stopwords.PRONOUNS
    | stopwords.SHOW_ME
)
others = """
    to foo foo() clause is_valid a.where 'is `the ` " ' What A I WHERE ? foo? _ .py / 。 「 」
    在哪 在哪被调用 吗 的 定义 什么是 如何 处理 是 为 何 有 没有 任 どこ で は ですか 어디서 되나요 호출
"""
pieces = st.sampled_from(asking) | st.sampled_from(others.split())
spaced = st.lists(pieces, max_size=10).map(" ".join)
touching = st.lists(st.tuples(pieces, st.sampled_from(["", " "])), max_size=10).map(
    lambda drawn: "".join(piece + space for piece, space in drawn)
)
queries = spaced | touching | st.text(max_size=20)


@given(queries)
def test_twice_is_once(text: str) -> None:
    kept, _ = normalize_query(text)
    assert normalize_query(kept) == Normalized(kept)


@given(queries)
def test_tokens_are_only_taken_away_and_never_all(text: str) -> None:
    before, after = Counter(tokens(text)), Counter(tokens(normalize_query(text).text))
    assert after <= before
    assert bool(after) == bool(before)


@given(queries)
def test_dropped_words_stand_in_the_text_in_their_order(text: str) -> None:
    kept, dropped = normalize_query(text)
    folded, at = " ".join(text.split()), 0
    for word in dropped:
        assert word.strip()
        at = folded.index(word, at) + len(word)
    if not dropped:
        assert kept in (text, folded)


@given(st.lists(pieces, min_size=1, max_size=10))
def test_what_is_kept_is_a_row_of_the_words(words: list[str]) -> None:
    kept = normalize_query(" ".join(words)).text.split()
    left = iter(words)
    assert all(any(word.startswith(part) or part in word for word in left) for part in kept)


@given(
    st.lists(st.sampled_from(asking), max_size=8),
    st.sampled_from(["raise_for_status", "http.Client", "retry"]),
)
def test_a_name_is_never_dropped(words: list[str], name: str) -> None:
    for place in range(len(words) + 1):
        assert name in normalize_query(" ".join([*words[:place], name, *words[place:]])).text.split()
