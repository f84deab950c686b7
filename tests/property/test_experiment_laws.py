"""Laws of diagnosis and of shared runs, over random legs, rerankers and validators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hybridrank import Case, Document, Filter, Pipeline, Query, Ranking, diagnose, evaluate
from hybridrank.evaluation.diagnosis import STAGES
from hybridrank.evaluation.measures import MRR, Recall
from hybridrank.evaluation.variants import Variant, run_variants
from stubs import Accept, Reorder

IDS = "abcdefgh"
DOCUMENTS = {id: Document(id, f"text {id}") for id in IDS}
ORDERS = st.permutations(IDS)


@dataclass
class Fixed:
    ids: Sequence[str]

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        # Another order for another query, by turning the list.
        turn = len(query.text) % len(self.ids)
        ids = [*self.ids[turn:], *self.ids[:turn]]
        return Ranking.from_order(query, [DOCUMENTS[id] for id in ids][:k])


@st.composite
def rerankers(draw: st.DrawFn) -> Reorder:
    """A reranker that orders hits by a fixed order of ids, and may drop some."""
    order = draw(ORDERS)
    kept = frozenset(draw(st.sets(st.sampled_from(IDS), min_size=4)))

    def reorder(hits: Any) -> Any:
        return [hit for hit in sorted(hits, key=lambda hit: order.index(hit.id)) if hit.id in kept]

    return Reorder(reorder, depth=draw(st.sampled_from([None, 0, 2, 5])))


@st.composite
def pipelines(draw: st.DrawFn) -> Pipeline:
    legs = {f"leg{n}": Fixed(draw(ORDERS)) for n in range(draw(st.integers(1, 3)))}
    stages = {f"rerank{n}": draw(rerankers()) for n in range(draw(st.integers(0, 2)))}
    accepted = draw(st.none() | st.frozensets(st.sampled_from(IDS)))
    return Pipeline(
        legs,
        rerankers=stages,
        validator=None if accepted is None else Accept(accepted),
        normalizer=None,
        recall=draw(st.integers(4, 8)),
        validate_depth=draw(st.none() | st.integers(0, 8)),
    ).index(DOCUMENTS.values())


CASES = st.lists(
    st.builds(
        lambda text, ids: (text, ids),
        st.sampled_from(["q", "qq", "qqq"]),
        st.lists(st.sampled_from([*IDS, "unknown"]), min_size=1, max_size=4, unique=True),
    ),
    min_size=1,
    max_size=3,
).map(lambda given: [Case(f"c{place}", text, ids) for place, (text, ids) in enumerate(given)])


@given(pipelines(), CASES, st.integers(1, 4))
def test_every_missed_target_is_lost_by_one_stage_that_the_trace_bears_out(
    pipeline: Pipeline, cases: list[Case], k: int
) -> None:
    made = diagnose(pipeline, cases, k=k)
    assert sum(made.summary.values()) == len(made.losses)
    assert made.targets == sum(len(case.relevant) for case in cases)
    results = {outcome.case.id: outcome.result for outcome in made.evaluation.outcomes}
    missed = {
        (case.id, str(target))
        for case in cases
        for target in case.relevant
        if str(target) not in _ids(results[case.id], k)
    }
    assert {(loss.case, loss.target) for loss in made.losses} == missed
    for loss in made.losses:
        assert loss.stage in STAGES
        result = results[loss.case]
        assert result is not None
        legs = [stage.ids_out for stage in result.trace.stages if stage.kind == "retriever"]
        recalled = any(loss.target in ids for ids in legs)
        assert (loss.stage == "corpus") == (loss.target == "unknown")
        assert (loss.stage == "recall") == (loss.target != "unknown" and not recalled)
        ranks = list(loss.way.values())
        if loss.stage == "reranker":
            place = list(loss.way).index(loss.part)
            before, after = ranks[place - 1], ranks[place]
            assert before is not None
            assert before <= k
            assert after is None or after > k
            assert all(rank is None or rank > k for rank in ranks[place:])
        elif loss.stage == "fusion":
            assert all(rank is None or rank > k for rank in ranks)
        elif loss.stage == "validator":
            rejected = {verdict.id for verdict in result.verdicts if not verdict.accepted}
            judged = {verdict.id for verdict in result.verdicts}
            assert loss.target in rejected or loss.target not in judged


def _ids(result: Any, k: int) -> tuple[str, ...]:
    return () if result is None else result.ids[:k]


@given(st.lists(ORDERS, min_size=2, max_size=3), rerankers(), CASES)
def test_what_is_shared_changes_no_result(orders: list[str], reranker: Reorder, cases: list[Case]) -> None:
    legs = {f"leg{n}": Fixed(order) for n, order in enumerate(orders)}
    first = Pipeline(legs, rerankers={"r": reranker}, normalizer=None, recall=6).index(DOCUMENTS.values())
    variants = {
        "baseline": Variant(),
        "no-leg": Variant(),
        "no-reranker": Variant(),
        "narrow": Variant(options={"recall": 5}),
        "weighted": Variant(options={"weights": {"leg0": 3.0}}),
    }
    made = {
        "baseline": first,
        "no-leg": first.without("leg1"),
        "no-reranker": first.without("r"),
        "narrow": first,
        "weighted": first,
    }
    known = [Case(c.id, c.query, [t for t in c.relevant if t.id != "unknown"] or ["a"]) for c in cases]
    measures = (MRR(), Recall(k=2))
    shared = run_variants(made, variants, known, measures=measures, k=5)
    for name, evaluation in shared.items():
        alone = evaluate(made[name], known, measures=measures, k=5, name=name, **variants[name].options)
        assert evaluation.to_dict(timings=False) == alone.to_dict(timings=False)
        assert [outcome.ids for outcome in evaluation.outcomes] == [outcome.ids for outcome in alone.outcomes]
        for outcome in evaluation.outcomes:
            assert outcome.seconds >= 0
