"""Laws of dense retrieval and of latent semantic analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import LSA, Dense, Document, Filter, Query, Ranking
from hybridrank.types import Role, tie_key


@dataclass(frozen=True)
class Table:
    """An embedder that looks its vectors up."""

    vectors: Mapping[str, Sequence[float]]
    scale: float = 1.0

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Any:
        return self.scale * np.array([self.vectors[text] for text in texts], np.float64)


DIMENSIONS = 3
vectors = st.lists(st.integers(-3, 3), min_size=DIMENSIONS, max_size=DIMENSIONS)
counts = st.integers(0, 12)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[dict[str, list[int]], list[Document]]:
    """Documents with many ties, zero vectors and blank texts, and the vector of each text."""
    drawn = draw(st.lists(st.tuples(vectors, st.sampled_from("ab"), st.integers(0, 2)), max_size=10))
    table = {f"text {n}": vector for n, (vector, _, _) in enumerate(drawn)}
    documents = [
        Document(f"id{n}", f"text {n}", path=path, start_line=line, end_line=line, language=path)
        for n, (_, path, line) in enumerate(drawn)
    ]
    blank = draw(st.lists(st.sampled_from("ab"), max_size=2))
    documents += [Document(f"blank{n}", " ", path=path, language=path) for n, path in enumerate(blank)]
    table |= {f"query {n}": draw(vectors) for n in range(3)}
    return table, draw(st.permutations(documents))


QUERIES = [Query(f"query {n}") for n in range(3)]
filters = st.sampled_from([None, Filter(language="a"), Filter(path="b"), Filter(kind="none")])


def scored(ranking: Ranking) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in ranking]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    dot = fsum(x * y for x, y in zip(a, b, strict=True))
    return dot / sqrt(fsum(x * x for x in a) * fsum(x * x for x in b)) if any(a) and any(b) else 0.0


@given(corpora(), filters, st.booleans())
def test_a_ranking_is_the_sorted_list_of_rounded_cosines(
    corpus: tuple[dict[str, list[int]], list[Document]], where: Filter | None, complete: bool
) -> None:
    table, documents = corpus
    dense = Dense(Table(table), complete=complete).index(documents)
    for query in QUERIES:
        target = table[query.text]
        expected = []
        for document in documents:
            vector = table.get(document.text, [0] * DIMENSIONS)
            if (where is None or where.matches(document)) and (complete or (any(vector) and any(target))):
                expected.append((document, round(cosine(vector, target), 5) + 0.0))
        expected.sort(key=lambda pair: (-pair[1], tie_key(pair[0])))
        found = dense.retrieve(query, k=99, where=where)
        assert scored(found) == [(document.id, score) for document, score in expected]
        if not found:
            assert found.events


@given(corpora(), filters, st.booleans(), counts, counts)
def test_top_k_is_a_prefix_of_top_k_plus_n(
    corpus: tuple[dict[str, list[int]], list[Document]],
    where: Filter | None,
    complete: bool,
    k: int,
    n: int,
) -> None:
    table, documents = corpus
    dense = Dense(Table(table), complete=complete).index(documents)
    for query in QUERIES:
        longer = dense.retrieve(query, k=k + n, where=where)
        assert dense.retrieve(query, k=k, where=where).hits == longer.hits[:k]


@given(corpora(), filters, counts)
def test_a_filter_ranks_as_if_the_other_documents_were_not_there(
    corpus: tuple[dict[str, list[int]], list[Document]], where: Filter | None, k: int
) -> None:
    table, documents = corpus
    passing = [document for document in documents if where is None or where.matches(document)]
    for complete in (False, True):
        dense = Dense(Table(table), complete=complete)
        for query in QUERIES:
            filtered = dense.index(documents).retrieve(query, k=k, where=where)
            assert filtered.hits == dense.index(passing).retrieve(query, k=k).hits


@given(corpora(), st.randoms(use_true_random=False))
def test_the_order_of_the_documents_is_of_no_consequence(
    corpus: tuple[dict[str, list[int]], list[Document]], random: Any
) -> None:
    table, documents = corpus
    shuffled = random.sample(documents, len(documents))
    one, other = (Dense(Table(table)).index(each) for each in (documents, shuffled))
    assert one.fingerprint() == other.fingerprint()
    assert one.retrieve_batch(QUERIES, k=5) == other.retrieve_batch(QUERIES, k=5)


@given(corpora(), st.integers(-60, 60), st.floats(1e-30, 1e30))
def test_the_length_of_the_vectors_is_of_no_consequence(
    corpus: tuple[dict[str, list[int]], list[Document]], power: int, factor: float
) -> None:
    table, documents = corpus
    plain, exact, other = (
        Dense(Table(table, scale)).index(documents).retrieve(QUERIES[0], k=20)
        for scale in (1.0, 2.0**power, factor)
    )
    assert plain == exact
    # A factor that is no power of two rounds the vectors themselves.
    assert sorted(plain.ids) == sorted(other.ids)
    assert [hit.score for hit in other] == pytest.approx([hit.score for hit in plain], abs=1.1e-5)


@given(corpora(), filters, counts, st.lists(st.sampled_from([*QUERIES, Query(""), Query("?")]), max_size=6))
def test_a_batch_gives_the_rankings_of_one_by_one(
    corpus: tuple[dict[str, list[int]], list[Document]], where: Filter | None, k: int, queries: list[Query]
) -> None:
    table, documents = corpus
    dense = Dense(Table(table)).index(documents)
    batch = dense.retrieve_batch(queries, k=k, where=where)
    assert list(batch) == [dense.retrieve(query, k=k, where=where) for query in queries]


@given(corpora(), filters)
def test_a_complete_ranking_holds_what_passes_and_the_same_matches_in_the_same_order(
    corpus: tuple[dict[str, list[int]], list[Document]], where: Filter | None
) -> None:
    table, documents = corpus
    dense = Dense(Table(table)).index(documents)
    complete = Dense(Table(table), complete=True).index(documents)
    for query in QUERIES:
        matches = scored(dense.retrieve(query, k=99, where=where))
        everything = scored(complete.retrieve(query, k=99, where=where))
        passing = {document.id for document in documents if where is None or where.matches(document)}
        assert {id for id, _ in everything} == passing
        added = {id for id, _ in everything} - {id for id, _ in matches}
        assert [pair for pair in everything if pair[0] not in added] == matches
        assert all(score == 0.0 for id, score in everything if id in added)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([2, 8, 700]))
def test_near_ties_among_many_documents_are_cut_exactly(seed: int, k: int, dimensions: int) -> None:
    # Clusters whose scores differ by about one rounding step, and less than a float32 sum can tell.
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((6, dimensions))
    rows = np.repeat(centres, 50, axis=0) + 1e-6 * rng.standard_normal((300, dimensions))
    table = {f"d{n:03}": row for n, row in enumerate(rows)} | {"q": rng.standard_normal(dimensions)}
    dense = Dense(Table(table)).index([Document(f"d{n:03}", f"d{n:03}") for n in range(300)])
    everything = dense.retrieve(Query("q"), k=300)
    assert dense.retrieve(Query("q"), k=k).hits == everything.hits[:k]
    reference = rows @ table["q"] / np.sqrt((rows**2).sum(axis=1) * (table["q"] ** 2).sum())
    assert [hit.score for hit in everything] == pytest.approx(sorted(reference, reverse=True), abs=6e-6)


words = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "血糖", "x_y", ""])
texts = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=12)


@given(texts, st.integers(1, 12), st.integers(0, 3), st.integers(0, 3))
def test_lsa_of_any_corpus_is_finite_and_of_unit_length(
    corpus: list[str], dimensions: int, power_iterations: int, oversampling: int
) -> None:
    lsa = LSA(
        tokenizer=str.split,
        dimensions=dimensions,
        power_iterations=power_iterations,
        oversampling=oversampling,
    )
    fitted, found = lsa.fit_embed(corpus)
    width = fitted.fitted_dimensions
    assert found.shape == (len(corpus), width)
    assert 1 <= width <= max(1, min(dimensions, len(corpus), len(fitted.vocabulary)))
    lengths = np.sqrt((found.astype(np.float64) ** 2).sum(axis=1))
    assert all(abs(length - 1) < 1e-6 or length == 0 for length in lengths)
    assert found.tobytes() == fitted.embed(corpus, role="document").tobytes()
    if fitted.vocabulary:
        np.testing.assert_allclose(fitted.components.T @ fitted.components, np.eye(width), atol=1e-4)


@given(texts)
def test_lsa_at_full_rank_keeps_every_cosine_between_texts(corpus: list[str]) -> None:
    lsa = LSA(tokenizer=str.split)
    fitted, found = lsa.fit_embed(corpus)
    n = len(corpus)
    rows = np.zeros((n, len(fitted.vocabulary)))
    for row, text in zip(rows, corpus, strict=True):
        tokens = text.split()
        for column, term in enumerate(fitted.vocabulary):
            if tf := tokens.count(term):
                df = sum(term in other.split() for other in corpus)
                row[column] = (1 + np.log(tf)) * (np.log((1 + n) / (1 + df)) + 1)
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    rows /= np.where(lengths > 0, lengths, 1)
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=1e-5)


@given(texts, texts, st.integers(1, 6))
def test_contributions_sum_to_the_cosine(corpus: list[str], asked: list[str], dimensions: int) -> None:
    fitted, found = LSA(tokenizer=str.split, dimensions=dimensions).fit_embed(corpus)
    units = fitted.embed(asked, role="query")
    for text, unit in zip(asked, units, strict=True):
        for row in found:
            contributions = fitted.attribute(text, row)
            assert sum(c.value for c in contributions) == pytest.approx(float(row @ unit), abs=1e-5)


@given(texts, st.randoms(use_true_random=False))
def test_dense_over_lsa_does_not_know_the_order_of_the_documents(corpus: list[str], random: Any) -> None:
    documents = [Document(str(n), text) for n, text in enumerate(corpus)]
    shuffled = random.sample(documents, len(documents))
    dense = Dense(LSA(dimensions=4))
    one, other = dense.index(documents), dense.index(shuffled)
    assert one.fingerprint() == other.fingerprint()
    queries = [Query(text) for text in ("a b", "血糖", "x y", "zebra")]
    assert one.retrieve_batch(queries, k=5) == other.retrieve_batch(queries, k=5)
