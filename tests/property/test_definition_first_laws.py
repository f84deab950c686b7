"""What holds for definition first at any ranking."""

from __future__ import annotations

import copy
import math

from hypothesis import given
from hypothesis import strategies as st

from hybridrank.rerankers.definition_first import DefinitionFirst
from hybridrank.types import Document, Hit, Query, Ranking

NAMED, ALWAYS = DefinitionFirst(), DefinitionFirst(scope="always")
RERANKERS = st.sampled_from([NAMED, ALWAYS])
NAMES = ["", "send", "Send", "Client", "get_all", "straße"]
KINDS = ["function", "method", "class", "class_body", "import", "part", "section", ""]
QUERIES = st.one_of(
    st.sampled_from([*NAMES, " send ", "send()", "Client.send", "STRASSE", "()"]), st.text(max_size=5)
)
# Millesimal, so that a bonus rounds no two of them together.
CLOSE = st.integers(0, 199).map(lambda n: n / 1000)
ANY = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def documents(draw: st.DrawFn, number: int) -> Document:
    name = draw(st.sampled_from(NAMES))
    line = draw(st.integers(1, 3))
    return Document(
        f"d{number}",
        "",
        path=draw(st.sampled_from(["a.py", "b.py"])),
        start_line=line,
        end_line=line,
        kind=draw(st.sampled_from(KINDS)),
        name=name,
        qualified_name=draw(st.sampled_from([name, f"Client.{name}"])),
    )


@st.composite
def rankings(draw: st.DrawFn, scores: st.SearchStrategy[float] = st.one_of(CLOSE, ANY)) -> Ranking:  # noqa: B008
    values = sorted(draw(st.lists(scores, max_size=10)), reverse=True)
    hits = tuple(Hit(draw(documents(number)), score) for number, score in enumerate(values))
    return Ranking(Query(draw(QUERIES)), hits, "fusion")


def bonus(reranker: DefinitionFirst, ranking: Ranking, hit: Hit) -> float:
    return sum(c.value for c in reranker.explain(ranking.query, hit.document))


@given(rankings(), RERANKERS)
def test_a_permutation_with_finite_scores(ranking: Ranking, reranker: DefinitionFirst) -> None:
    reranked = reranker.rerank(ranking, k=99)
    assert sorted(reranked.ids) == sorted(ranking.ids)
    assert all(math.isfinite(hit.score) for hit in reranked)


@given(rankings(), RERANKERS, st.integers(0, 11), st.integers(0, 11))
def test_top_k_is_a_prefix(ranking: Ranking, reranker: DefinitionFirst, k: int, more: int) -> None:
    assert reranker.rerank(ranking, k=k).hits == reranker.rerank(ranking, k=k + more).hits[:k]


@given(rankings(), RERANKERS)
def test_input_stays_as_it_is(ranking: Ranking, reranker: DefinitionFirst) -> None:
    before = copy.deepcopy(ranking)
    reranker.rerank(ranking, k=99)
    assert ranking == before


@given(rankings(), RERANKERS)
def test_every_score_is_the_old_one_and_its_explained_bonuses(
    ranking: Ranking, reranker: DefinitionFirst
) -> None:
    before = {hit.id: hit.score for hit in ranking}
    for hit in reranker.rerank(ranking, k=99):
        added = bonus(reranker, ranking, hit)
        assert added in (0, 0.3, 0.5, 0.8)
        assert hit.score == before[hit.id] + added


@given(rankings())
def test_always_is_its_rule(ranking: Ranking) -> None:
    wanted = ranking.query.text.strip().casefold()

    def final(hit: Hit) -> float:
        document = hit.document
        score = 0.5 if wanted and document.name.strip().casefold() == wanted else 0.0
        score += 0.3 if document.kind in ("function", "class", "method") else 0.0
        return hit.score + score

    expected = sorted(
        ranking, key=lambda h: (-final(h), h.document.path, h.document.start_line, h.document.id)
    )
    reranked = ALWAYS.rerank(ranking, k=99)
    assert [(hit.id, hit.score) for hit in reranked] == [(hit.id, final(hit)) for hit in expected]


@given(rankings())
def test_named_moves_nothing_but_what_is_named(ranking: Ranking) -> None:
    # DF-01, DF-07
    unnamed = [hit for hit in ranking if not bonus(NAMED, ranking, hit)]
    reranked = NAMED.rerank(ranking, k=99)
    assert [hit for hit in reranked if not bonus(NAMED, ranking, hit)] == unnamed
    if len(unnamed) == len(ranking):
        assert reranked.hits == ranking.hits  # DF-05


@given(rankings())
def test_named_keeps_the_order_of_equals(ranking: Ranking) -> None:
    # DF-07
    place = {id: number for number, id in enumerate(ranking.ids)}
    keys = [(-hit.score, place[hit.id]) for hit in NAMED.rerank(ranking, k=99)]
    assert keys == sorted(keys)


@given(rankings(CLOSE), RERANKERS)
def test_bonuses_decide_where_scores_lie_close(ranking: Ranking, reranker: DefinitionFirst) -> None:
    reranked = reranker.rerank(ranking, k=99)
    bonuses = [bonus(reranker, ranking, hit) for hit in reranked]
    assert bonuses == sorted(bonuses, reverse=True)
    assert not reranked.events


@given(rankings(CLOSE), RERANKERS)
def test_a_second_time_adds_up_but_changes_no_order(ranking: Ranking, reranker: DefinitionFirst) -> None:
    """Scores add up, so reranking is not idempotent; the order is, where bonuses decide it."""
    once = reranker.rerank(ranking, k=99)
    assert reranker.rerank(once, k=99).ids == once.ids


@given(rankings(ANY), RERANKERS)
def test_an_event_exactly_where_the_spread_exceeds_the_bonus(
    ranking: Ranking, reranker: DefinitionFirst
) -> None:
    largest = max((bonus(reranker, ranking, hit) for hit in ranking), default=0.0)
    exceeds = largest > 0 and ranking[0].score - ranking[-1].score > largest
    assert [event.code for event in reranker.rerank(ranking, k=99).events] == ["score-spread"] * exceeds
