"""What holds for code priors, and for spreading, at any corpus and query."""

from __future__ import annotations

import copy
import math
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import CodePriors, Document, Filter, Query, Ranking, SpreadFiles
from hybridrank.testing import strategies

WEIGHTS = st.sampled_from([{}, {"told": 0.0, "test": -9.0}, {"best_match": -1.0, "chunk_match": 0.0}])
PATHS = st.sampled_from(
    [
        "",
        "a.py",
        "src/a.py",
        "src/v1/a.py",
        "src/v2/a.py",
        "tests/test_a.py",
        "a/index.ts",
        "é/連線.md",
        "/",
        "a//b",
    ]
)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Document, ...]:
    """Corpora as they come, in more kinds of places."""
    return tuple(replace(document, path=draw(PATHS)) for document in draw(strategies.corpora()))


@st.composite
def searches(draw: st.DrawFn) -> tuple[CodePriors, Ranking]:
    documents = draw(corpora())
    part = CodePriors(weights=draw(WEIGHTS)).index(documents)
    return part, draw(strategies.rankings(corpus=documents, query=strategies.queries(surrogates=True)))


@given(searches())
def test_a_permutation_with_finite_falling_scores(search: tuple[CodePriors, Ranking]) -> None:
    part, ranking = search
    found = part.rerank(ranking, k=99)
    assert sorted(found.ids) == sorted(ranking.ids)
    scores = [hit.score for hit in found]
    assert all(map(math.isfinite, scores))
    assert scores == sorted(scores, reverse=True)


@given(searches(), st.integers(0, 9), st.integers(0, 9))
def test_top_k_is_a_prefix(search: tuple[CodePriors, Ranking], k: int, more: int) -> None:
    part, ranking = search
    assert part.rerank(ranking, k=k).hits == part.rerank(ranking, k=k + more).hits[:k]


@given(searches())
def test_the_same_again_and_input_stays_as_it_is(search: tuple[CodePriors, Ranking]) -> None:
    part, ranking = search
    before = copy.deepcopy(ranking)
    assert part.rerank(ranking, k=99) == part.rerank(ranking, k=99)
    assert ranking == before


@given(corpora(), st.data())
def test_the_order_of_the_documents_leaves_no_trace(
    documents: tuple[Document, ...], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(documents))
    ranking = data.draw(strategies.rankings(corpus=documents))
    one, other = CodePriors().index(documents), CodePriors().index(shuffled)
    assert one.rerank(ranking, k=99) == other.rerank(ranking, k=99)
    assert one.fingerprint() == other.fingerprint()


@given(searches())
def test_ties_keep_their_order(search: tuple[CodePriors, Ranking]) -> None:
    # DF-07
    part, ranking = search
    place = {id: at for at, id in enumerate(ranking.ids)}
    keys = [(-hit.score, place[hit.id]) for hit in part.rerank(ranking, k=99)]
    assert keys == sorted(keys)


@given(searches())
def test_contributions_sum_to_scores(search: tuple[CodePriors, Ranking]) -> None:
    part, ranking = search
    for hit in part.rerank(ranking, k=99):
        told = part.contributions(ranking, hit.id)
        assert math.fsum(c.value for c in told) == pytest.approx(hit.score, abs=1e-9)


@given(searches())
def test_features_lie_in_their_ranges(search: tuple[CodePriors, Ranking]) -> None:
    part, ranking = search
    files, table = part.features(ranking)
    assert len(files) == len(table)
    assert (table >= -1).all()
    names = ["best_match", "told", "phrases", "name_match", "word_names", "defined", "stem_words", "folder"]
    all_names = [field.name for field in fields(part.all_weights)]
    assert (table[:, [all_names.index(name) for name in names]] <= 1 + 1e-9).all()


@given(searches())
def test_a_stored_index_is_the_same(search: tuple[CodePriors, Ranking]) -> None:
    part, ranking = search
    again = part.restore(part.state(), ())
    assert again.rerank(ranking, k=99) == part.rerank(ranking, k=99)
    assert again.fingerprint() == part.fingerprint()


@given(searches())
def test_spreading_keeps_all_and_puts_every_file_first(search: tuple[CodePriors, Ranking]) -> None:
    _, ranking = search
    found = SpreadFiles().rerank(ranking, k=99)
    assert sorted(found.ids) == sorted(ranking.ids)
    files = [hit.document.path or hit.id for hit in found]
    count = len(set(files))
    assert len(set(files[:count])) == count
    order = {id: at for at, id in enumerate(ranking.ids)}
    for part in (found.ids[:count], found.ids[count:]):
        assert [order[id] for id in part] == sorted(order[id] for id in part)
    again = SpreadFiles().rerank(found, k=99)
    assert again.ids == found.ids


@given(searches(), st.integers(0, 9), st.integers(0, 9))
def test_spreading_has_prefixes(search: tuple[CodePriors, Ranking], k: int, more: int) -> None:
    _, ranking = search
    assert SpreadFiles().rerank(ranking, k=k).hits == SpreadFiles().rerank(ranking, k=k + more).hits[:k]


def test_any_text_is_a_query_and_a_path() -> None:
    odd = ["\ud800", "\0", "a" * 5000, "?!…", "/" * 50, "v" + "9" * 400 + "/x", "/*" * 5000]
    documents = [
        Document(str(at), text, path=text, name=text, kind="function") for at, text in enumerate(odd)
    ]
    part = CodePriors().index(documents)
    for text in odd:
        found = part.rerank(Ranking.from_order(Query(text), documents), k=99)
        assert len(found) == len(odd)
    assert Filter(path="a*").matches(documents[2])
