"""Laws of documents, filters and rankings."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import (
    Component,
    Document,
    DuplicateIdError,
    Event,
    Filter,
    Hit,
    InvalidValueError,
    Query,
    Ranking,
)
from hybridrank.testing import strategies as values
from hybridrank.types import tie_key

SCORES = st.floats(-1e9, 1e9) | st.sampled_from((0.0, -0.0, 0.5, 1.0))

COMPONENTS = st.builds(Component, st.integers(1), SCORES)


@st.composite
def scored(draw: st.DrawFn) -> list[tuple[Document, float]]:
    return [(document, draw(SCORES)) for document in draw(values.corpora(max_size=6))]


CORPUS = tuple(
    Document(id, text, path=path, start_line=line, end_line=line)
    for id, text, path, line in (
        ("d", "same text", "a.py", 9),
        ("c", "same text", "a.py", 10),
        ("b", "", "", 0),
        ("a", "血糖", "b.py", 1),
        ("a b", "\x00", "b.py", 1),
    )
)
RANKINGS = values.rankings(corpus=CORPUS)
SOME_HITS = values.rankings(corpus=CORPUS, min_size=1)
ANY_VALUE = st.one_of(
    values.documents(),
    values.queries(surrogates=True),
    values.filters(),
    RANKINGS,
    st.builds(
        Hit,
        values.documents(),
        SCORES,
        st.dictionaries(st.text(), st.builds(Component, st.integers(1), SCORES)),
    ),
    st.builds(Event, st.text(), st.text(), data=st.dictionaries(st.text(), st.integers())),
)


CHANGES: dict[str, tuple[Any, ...]] = {
    "update": ({"x": 1},),
    "clear": (),
    "pop": ("x", None),
    "popitem": (),
    "setdefault": ("x", 1),
    "__setitem__": ("x", 1),
    "__delitem__": ("x",),
    "__ior__": ({"x": 1},),
}


@given(ANY_VALUE)
def test_values_cannot_be_changed(value: Any) -> None:
    before = repr(value)
    for field in fields(value):
        with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
            setattr(value, field.name, getattr(value, field.name))
        mapping = getattr(value, field.name)
        if isinstance(mapping, dict):
            for name, arguments in CHANGES.items():
                with pytest.raises(TypeError, match="immutable"):
                    getattr(mapping, name)(*arguments)
    with pytest.raises((AttributeError, TypeError)):
        value.something_new = 1
    assert repr(value) == before


@given(ANY_VALUE)
def test_values_are_equal_to_their_copies_and_hash_alike(value: Any) -> None:
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), replace(value)):  # noqa: S301
        assert twin == value
        assert type(twin) is type(value)
        assert hash(twin) == hash(value)


@given(values.documents(), st.dictionaries(st.text(), st.integers(), min_size=1))
def test_what_becomes_of_a_caller_s_dict_does_not_matter(
    document: Document, metadata: dict[str, int]
) -> None:
    made = replace(document, metadata=metadata)
    before = dict(metadata)
    metadata.clear()
    assert made.metadata == before
    assert json.loads(json.dumps(made.metadata)) == before


@given(st.sampled_from(("", None, 0, 1, b"a", True, 1.5, ())))
def test_an_id_is_a_non_empty_string(id: Any) -> None:  # FU-05
    with pytest.raises(InvalidValueError, match="non-empty str"):
        Document(id, "text")


@given(st.integers(-5, 5), st.integers(-5, 5))
def test_lines_are_in_order(start: int, end: int) -> None:
    if 0 <= start <= end:
        assert Document("a", "", start_line=start, end_line=end).end_line == end
    else:
        with pytest.raises(InvalidValueError, match=f"{start}-{end}"):
            Document("a", "", start_line=start, end_line=end)


# Filters


def on(name: str, value: Any) -> Filter:
    return replace(Filter(), **{name: value})


@given(values.corpora(), values.filters())
def test_a_filter_selects_what_it_matches_in_order(corpus: tuple[Document, ...], where: Filter) -> None:
    selected = list(where.select(corpus))
    assert selected == [where.matches(document) for document in corpus]
    assert all(isinstance(passes, bool) for passes in selected)


@given(values.corpora(), values.filters())
def test_all_conditions_of_a_filter_must_hold(corpus: tuple[Document, ...], where: Filter) -> None:
    parts = (
        Filter(path=where.path),
        Filter(language=where.language),
        Filter(kind=where.kind),
        *(Filter(metadata={key: value}) for key, value in where.metadata.items()),
    )
    apart = [all(part.matches(document) for part in parts) for document in corpus]
    assert list(where.select(corpus)) == apart


@given(values.corpora(), values.filters())
def test_a_filter_on_plain_fields_is_what_it_says(corpus: tuple[Document, ...], where: Filter) -> None:
    rule = replace(where, path=())
    for document, passes in zip(corpus, rule.select(corpus), strict=True):
        assert passes == (
            (not where.language or document.language in where.language)
            and (not where.kind or document.kind in where.kind)
            and where.metadata.items() <= document.metadata.items()
        )


@given(values.documents(), values.filters())
def test_a_filter_without_conditions_passes_everything(document: Document, where: Filter) -> None:
    assert Filter().matches(document)
    assert bool(where) == (where != Filter())


@given(
    values.documents(),
    st.sampled_from(("path", "language", "kind")),
    st.sampled_from(("*.py", "python", "src/")),
)
def test_one_value_or_a_list_of_one_are_the_same(document: Document, name: str, value: str) -> None:
    one, listed = Filter(**{name: value}), Filter(**{name: [value]})  # type: ignore[arg-type]
    assert one == listed
    assert hash(one) == hash(listed)
    assert one.matches(document) == listed.matches(document)


@given(values.documents(), values.filters(), values.filters())
def test_more_globs_or_values_pass_more(document: Document, one: Filter, other: Filter) -> None:
    for name in ("path", "language", "kind"):
        few, more = getattr(one, name), getattr(other, name)
        if few and on(name, few).matches(document):
            assert on(name, (*few, *more)).matches(document)


# Rankings


@given(values.queries(), scored(), st.randoms())
def test_from_scores_sorts_and_breaks_ties_whatever_the_order_it_is_given(
    query: Query, pairs: list[tuple[Document, float]], random: Any
) -> None:
    expected = sorted(pairs, key=lambda pair: (-pair[1], pair[0].path, pair[0].start_line, pair[0].id))
    shuffled = random.sample(pairs, len(pairs))
    ranking = Ranking.from_scores(query, shuffled)
    assert [(hit.document, hit.score) for hit in ranking] == expected
    assert ranking == Ranking.from_scores(query, pairs)
    assert ranking == Ranking.from_scores(query, ranking)


@given(values.queries(), scored(), st.integers(0, 15))
def test_a_cut_is_a_prefix(query: Query, pairs: list[tuple[Document, float]], k: int) -> None:
    whole = Ranking.from_scores(query, pairs, source="s", events=[Event("e", "m")])
    cut = Ranking.from_scores(query, pairs, source="s", k=k, events=[Event("e", "m")])
    assert cut == whole.cut(k)
    assert cut.hits == whole.hits[:k]
    assert len(cut) == min(k, len(pairs))
    assert whole.cut(k + 3).cut(k) == cut


@given(RANKINGS, st.sampled_from((-1, True, False, 1.0, "1", None, math.nan)))
def test_k_is_an_int_of_zero_or_more(ranking: Ranking, k: Any) -> None:
    with pytest.raises(InvalidValueError, match="int of 0 or more"):
        ranking.cut(k)
    if k is not None:
        with pytest.raises(InvalidValueError, match="int of 0 or more"):
            Ranking.from_scores(ranking.query, ranking, k=k)


@given(values.queries(), values.corpora())
def test_from_order_keeps_the_order_with_reciprocal_ranks(query: Query, corpus: tuple[Document, ...]) -> None:
    ranking = Ranking.from_order(query, corpus)
    assert ranking.ids == tuple(document.id for document in corpus)
    assert [hit.score for hit in ranking] == [1 / rank for rank in range(1, len(corpus) + 1)]
    assert Ranking.from_order(query, ranking) == ranking
    assert Ranking.from_scores(query, ranking) == ranking


@given(RANKINGS)
def test_a_ranking_is_a_sequence_without_ups_or_repeats(ranking: Ranking) -> None:
    hits = list(ranking)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(map(math.isfinite, scores))
    assert len(set(ranking.ids)) == len(ranking) == len(hits)
    assert ranking[:] == ranking.hits == tuple(hits)
    assert list(reversed(ranking)) == hits[::-1]
    for place, hit in enumerate(hits):
        assert ranking[place] == ranking[place - len(hits)] == hit
        assert hit in ranking
        assert ranking.index(hit) == place
    with pytest.raises(IndexError):
        ranking[len(hits)]


@given(RANKINGS)
def test_equal_scores_of_a_ranking_by_scores_are_in_tie_order(ranking: Ranking) -> None:
    again = Ranking.from_scores(ranking.query, ranking)
    for one, other in pairwise(again):
        assert (-one.score, tie_key(one.document)) < (-other.score, tie_key(other.document))


@given(SOME_HITS, st.sampled_from((math.nan, math.inf, -math.inf)), st.data())
def test_a_score_that_is_not_finite_is_refused(ranking: Ranking, score: float, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(ranking) - 1))
    hits = [*ranking[:place], replace(ranking[place], score=score), *ranking[place + 1 :]]
    with pytest.raises(InvalidValueError, match=f"is {score}"):
        replace(ranking, hits=tuple(hits))
    with pytest.raises(InvalidValueError, match=f"is {score}"):
        Ranking.from_scores(ranking.query, hits)


@given(SOME_HITS, st.data())
def test_an_id_that_stands_twice_is_refused(ranking: Ranking, data: st.DataObject) -> None:
    hit = data.draw(st.sampled_from(ranking.hits))
    # The same id, whatever else the document says.
    other = replace(hit, document=replace(hit.document, text="another text"), score=ranking[-1].score)
    with pytest.raises(DuplicateIdError, match="stands twice"):
        replace(ranking, hits=(*ranking.hits, other))
    with pytest.raises(DuplicateIdError, match="stands twice"):
        Ranking.from_order(ranking.query, [*ranking, other])


@given(values.rankings(corpus=CORPUS, min_size=2))
def test_a_rise_is_refused(ranking: Ranking) -> None:
    turned = ranking.hits[::-1]
    if turned[0].score == turned[-1].score:
        return
    with pytest.raises(InvalidValueError, match="rises from"):
        replace(ranking, hits=turned)


@given(values.queries(), values.documents(), st.text(min_size=1, max_size=5))
def test_equal_texts_are_two_documents(query: Query, document: Document, suffix: str) -> None:  # FU-07
    twin = replace(document, id=document.id + suffix)
    ranking = Ranking.from_scores(query, [(document, 1.0), (twin, 1.0)])
    assert set(ranking.ids) == {document.id, twin.id}


@given(RANKINGS)
def test_a_repr_has_a_line_for_each_hit(ranking: Ranking) -> None:
    shown = repr(ranking)
    assert shown.startswith(f"Ranking {ranking.source!r}, {len(ranking)} hits for ")
    assert len(shown) < 10_000
