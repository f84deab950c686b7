"""Laws that BM25 obeys on any corpus and query."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import bm25s
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import BM25, Document, Filter, Query, Ranking

WORDS = st.sampled_from(["a", "b", "c", "d", "e", "f"])
TOKENS = st.lists(WORDS, max_size=12)
TOKEN_LISTS = st.lists(TOKENS, max_size=12)
OPTIONS = st.fixed_dictionaries(
    {
        "k1": st.floats(0.01, 10),
        "b": st.floats(0, 1),
        "query_terms": st.sampled_from(["unique", "count"]),
        "complete": st.booleans(),
    }
)


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    """Few distinct texts, so that equal documents and ties are frequent."""
    texts = draw(st.lists(TOKENS.map(" ".join), max_size=12))
    ids = draw(st.permutations([f"d{number}" for number in range(len(texts))]))
    return [
        Document(
            id,
            text,
            path=draw(st.sampled_from(["", "x.py", "y/x.py"])),
            start_line=(line := draw(st.integers(0, 2))),
            end_line=line,
            kind=draw(st.sampled_from(["function", "class"])),
        )
        for id, text in zip(ids, texts, strict=True)
    ]


def pairs(ranking: Ranking) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in ranking]


def place(document: Document) -> tuple[str, int, str]:
    return document.path, document.start_line, document.id


def by_formula(tokens: Sequence[str], lists: Sequence[Sequence[str]], k1: float, b: float) -> list[float]:
    """BM25 as it is written in the books, in float64."""
    average = sum(map(len, lists)) / len(lists)
    scores = []
    for document in lists:
        score = 0.0
        for term in set(tokens):
            n = sum(term in other for other in lists)
            tf = document.count(term)
            idf = math.log(1 + (len(lists) - n + 0.5) / (n + 0.5))
            if tf:
                score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(document) / average))
        scores.append(score)
    return scores


@given(corpora(), TOKENS, OPTIONS)
def test_scores_follow_the_formula(
    documents: list[Document], tokens: list[str], options: dict[str, object]
) -> None:
    bm25 = BM25(tokenizer=str.split, **{**options, "query_terms": "unique"}).index(documents)  # type: ignore[arg-type]
    if documents:
        lists = [document.text.split() for document in bm25.documents]
        np.testing.assert_allclose(bm25.scores(tokens), by_formula(tokens, lists, bm25.k1, bm25.b), rtol=3e-7)


@given(corpora(), TOKENS, OPTIONS, st.integers(0, 14))
def test_a_ranking_is_the_sorted_scores(
    documents: list[Document], tokens: list[str], options: dict[str, object], k: int
) -> None:
    """Finite, > 0 unless complete, ids unique, ties in order, and the best k are a prefix of all."""
    bm25 = BM25(tokenizer=str.split, **options).index(documents)  # type: ignore[arg-type]
    scored = zip(bm25.scores(tokens).tolist(), bm25.documents, strict=True)
    expected = [
        (-score, place(document)) for score, document in scored if score > 0 or (bm25.complete and tokens)
    ]
    ranking = bm25.retrieve(Query(" ".join(tokens)), k=k)
    assert [(-hit.score, place(hit.document)) for hit in ranking] == sorted(expected)[:k]
    assert all(math.isfinite(hit.score) and hit.score >= 0 for hit in ranking)
    assert len(set(ranking.ids)) == len(ranking)


@given(st.lists(st.integers(0, 6), min_size=300, max_size=1500), st.integers(0, 60), st.integers(0, 1500))
def test_the_cut_holds_on_large_corpora(counts: list[int], k: int, more: int) -> None:
    """Selection in blocks equals a full sort, also where most scores tie."""
    width = max(counts)
    bm25 = BM25(b=0).index_tokens([["a"] * count + ["z"] * (width - count) for count in counts])
    scores = bm25.scores(["a"])
    order = [place for place in np.argsort(-scores, kind="stable").tolist() if scores[place] > 0]
    ids = tuple(bm25.documents[position].id for position in order)
    assert bm25.retrieve_tokens(["a"], k=k).ids == ids[:k]
    assert bm25.retrieve_tokens(["a"], k=k + more).ids == ids[: k + more]


@given(corpora(), TOKENS, OPTIONS, st.randoms(use_true_random=False))
def test_the_order_of_documents_and_terms_does_not_matter(
    documents: list[Document], tokens: list[str], options: dict[str, object], rng: random.Random
) -> None:
    bm25 = BM25(tokenizer=str.split, **options).index(documents)  # type: ignore[arg-type]
    shuffled = rng.sample(documents, len(documents))
    again = BM25(tokenizer=str.split, **options).index(shuffled)  # type: ignore[arg-type]
    words = rng.sample(tokens, len(tokens))
    assert again.documents == bm25.documents
    assert again.fingerprint() == bm25.fingerprint()
    assert pairs(again.retrieve(Query(" ".join(words)), k=20)) == pairs(
        bm25.retrieve(Query(" ".join(tokens)), k=20)
    )


@given(corpora(), TOKENS, OPTIONS, st.integers(1, 20))
def test_unknown_words_change_nothing(
    documents: list[Document], tokens: list[str], options: dict[str, object], k: int
) -> None:
    bm25 = BM25(tokenizer=str.split, **options).index(documents)  # type: ignore[arg-type]
    plain = bm25.retrieve(Query(" ".join(tokens)), k=k)
    mixed = bm25.retrieve(Query(" ".join(["zeppelin", *tokens, "zeppelin"])), k=k)
    if tokens:
        assert pairs(mixed) == pairs(plain)
        assert mixed.events == plain.events


@given(
    corpora(), TOKENS, OPTIONS, st.integers(0, 14), st.sampled_from([Filter(kind="class"), Filter(path="y/")])
)
def test_a_filter_equals_filtering_the_whole_ranking(
    documents: list[Document], tokens: list[str], options: dict[str, object], k: int, where: Filter
) -> None:
    bm25 = BM25(tokenizer=str.split, **options).index(documents)  # type: ignore[arg-type]
    query = Query(" ".join(tokens))
    whole = [hit for hit in bm25.retrieve(query, k=len(documents)) if where.matches(hit.document)]
    ranking = bm25.retrieve(query, k=k, where=where)
    assert list(ranking) == whole[:k]
    if bm25.complete and tokens:
        assert {hit.id for hit in whole} == {d.id for d in documents if where.matches(d)}


@given(corpora(), st.lists(TOKENS.map(" ".join), max_size=5), OPTIONS, st.integers(0, 14), st.booleans())
def test_a_batch_equals_one_by_one(
    documents: list[Document], texts: list[str], options: dict[str, object], k: int, filtered: bool
) -> None:
    bm25 = BM25(tokenizer=str.split, **options).index(documents)  # type: ignore[arg-type]
    queries = [Query(text, id=str(number)) for number, text in enumerate(texts)]
    where = Filter(kind="class") if filtered else None
    batch = bm25.retrieve_batch(queries, k=k, where=where)
    assert list(batch) == [bm25.retrieve(query, k=k, where=where) for query in queries]


@given(corpora(), TOKENS, OPTIONS)
def test_explanations_sum_to_the_score(
    documents: list[Document], tokens: list[str], options: dict[str, object]
) -> None:
    bm25 = BM25(tokenizer=str.split, **options).index(documents)  # type: ignore[arg-type]
    query = Query(" ".join(tokens))
    for score, document in zip(bm25.scores(tokens).tolist(), bm25.documents, strict=True):
        parts = bm25.explain(query, document)
        assert math.isclose(sum(part.value for part in parts), score, rel_tol=1e-12)
        assert {part.name for part in parts} == set(tokens) & set(document.text.split())


@given(TOKEN_LISTS, st.lists(st.text(max_size=3), max_size=5))
def test_tokens_and_texts_meet(lists: list[list[str]], strange: list[str]) -> None:
    """Given tokens rank as the tokenizer's would, and any text is a token."""
    as_text = [Document(str(number), " ".join(tokens)) for number, tokens in enumerate(lists)]
    by_text = BM25(tokenizer=str.split).index(as_text)
    by_tokens = BM25().index_tokens(lists)
    for tokens in lists:
        expected = pairs(by_text.retrieve(Query(" ".join(tokens)), k=20))
        assert pairs(by_tokens.retrieve_tokens(tokens, k=20)) == expected
    bm25 = BM25().index_tokens([*lists, strange])
    assert len(bm25.retrieve_tokens(strange, k=20)) >= bool(strange)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=12), TOKENS, st.floats(0.1, 5),
       st.floats(0, 1))  # fmt: skip
def test_scores_agree_with_bm25s(lists: list[list[str]], tokens: list[str], k1: float, b: float) -> None:
    """Its method "lucene" leaves out the factor (k1 + 1) and counts repeated query terms."""
    known = [token for token in tokens if any(token in tokens_ for tokens_ in lists)]
    peer = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float32")
    peer.index(lists, show_progress=False)
    bm25 = BM25(k1=k1, b=b, query_terms="count").index_tokens(lists)
    if known:
        ours = {
            document.id: score for document, score in zip(bm25.documents, bm25.scores(known), strict=True)
        }
        theirs = peer.get_scores(known) * (k1 + 1)
        np.testing.assert_allclose([ours[str(number)] for number in range(len(lists))], theirs, rtol=2e-6)
