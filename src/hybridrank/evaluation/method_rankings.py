"""The rankings of every method of a pipeline, all from one search a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeAlias

from ..errors import HybridRankError
from ..pipeline import Pipeline
from ..request import FUSION
from ..search import FAILED
from ..types import Query, Result, Stage
from .breaches import Breach, ContractMismatchError
from .cases import Case
from .facts import HYBRID, WHOLE, score_fields
from .field_checks import places_shown

Progress = Callable[[str, int, int | None], None]

Hits: TypeAlias = Sequence[Mapping[str, Any]]
"""A ranking, best first: `rank`, `id`, a score named by its kind; of the fusion also `component_ranks`."""


_DROPPED = ("duplicates", "out_of_bounds")


@dataclass(slots=True)
class MethodRankings:
    """What each method made of each case.

    Attributes:
        rankings: by case id and method.
        errors: by case id and method, what went wrong; such a ranking is empty.
        searched: by case id the text that parts searched with.
        events: how often parts told each event, by level and code.
        dropped: how many items of models' replies were dropped, by why: `duplicates`, `out_of_bounds`.
        seconds: wall time of each search that did not fail.
        stages: seconds by stage, over all searches.
    """

    rankings: dict[str, dict[str, Hits]] = field(default_factory=dict)
    errors: dict[str, dict[str, str]] = field(default_factory=dict)
    searched: dict[str, str] = field(default_factory=dict)
    events: Counter[tuple[str, str]] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    stages: Counter[str] = field(default_factory=Counter)


def rank_methods(
    pipeline: Pipeline,
    cases: Iterable[Case],
    facts: Mapping[str, Mapping[str, Any]],
    *,
    depth: int,
    same_candidates: bool = False,
    progress: Progress | None = None,
) -> MethodRankings:
    """Search every case once and take the ranking of each method from the trace.

    A leg that raises leaves an empty ranking and its error, and so do the methods that build on it, unless
    the pipeline's `on_error` lets them go on without it.

    Args:
        facts: of the methods, as `method_facts` gives them.
        depth: the hits that a validator is asked for; without one there are as many as the legs give.
        same_candidates: every leg must rank every document, and so must the fusion.

    Raises:
        ContractMismatchError: a method did not rank all candidates, though it must.
        HybridRankError: every search that could be scored failed; the first error is its cause.
    """
    made, given, fields = MethodRankings(), tuple(cases), score_fields(facts)
    documents = frozenset(document.id for document in pipeline.documents or ())
    width = max(1, len(documents)) if same_candidates else pipeline.recall
    k = width if pipeline.validator is None else min(depth, width)
    # One leg that fails must not take the ranking of the other with it.
    searching = pipeline.with_(on_error="degrade")
    strict = pipeline.on_error == "raise"
    failures: dict[str, Exception] = {}
    for done, case in enumerate(given):
        if progress is not None:
            progress("evaluate", done, len(given))
        started = perf_counter()
        try:
            result = searching.search(Query(case.query, id=case.id), k=k, recall=width)
        except Exception as error:
            failures[case.id] = error
            made.errors[case.id] = dict.fromkeys(facts, f"{type(error).__name__}: {error}")
            made.rankings[case.id] = dict.fromkeys(facts, ())
            continue
        made.seconds.append(perf_counter() - started)
        _add(made, case.id, result, fields, strict)
    if progress is not None:
        progress("evaluate", len(given), len(given))
    if failures and all(case.id in failures for case in given if not case.is_gap):
        first = next(iter(failures.values()))
        raise HybridRankError(
            f"the searches of all cases to score failed; the first: {type(first).__name__}: {first}"
        ) from first
    if same_candidates:
        refuse_other_candidates(made.rankings, documents, facts)
    return made


def refuse_other_candidates(
    rankings: Mapping[str, Mapping[str, Hits]], documents: frozenset[str], facts: Iterable[str]
) -> None:
    """Check that legs and fusion ranked every document for every case.

    Raises:
        ContractMismatchError: one did not.
    """
    wrong = other_candidates(rankings, documents, facts)
    if wrong:
        raise ContractMismatchError(wrong)


def other_candidates(
    rankings: Mapping[str, Mapping[str, Hits]], documents: frozenset[str], methods: Iterable[str]
) -> list[Breach]:
    """Where a leg or the fusion did not rank every document."""
    wrong = []
    for method in methods:
        if method == WHOLE:
            continue
        for case, of_case in rankings.items():
            held = {hit["id"] for hit in of_case.get(method, ())}
            if held != documents:
                lacking = sorted(documents - held) or sorted(held - documents)
                expected = f"all {len(documents)} documents in the ranking of case {case!r}"
                found = f"{len(held)}; not in both: {places_shown(lacking)}"
                wrong.append(Breach(f"methods.{method}.same_candidate_set_required", expected, found))
    return wrong


def _add(made: MethodRankings, case: str, result: Result, fields: Mapping[str, str], strict: bool) -> None:
    stages = {stage.name: stage for stage in result.trace.stages}
    made.searched[case] = result.trace.query.text if result.trace.stages else result.query.text
    failed = {name: message for name, stage in stages.items() if (message := _failure(stage))}
    legs = [name for name in fields if name not in (HYBRID, WHOLE)]
    rankings: dict[str, Hits] = {}
    for method, score in fields.items():
        needed = [method] if method in legs else legs if method == HYBRID else list(failed)
        wrong = [failed[name] for name in needed if name in failed]
        if wrong and (strict or method in legs):
            made.errors.setdefault(case, {})[method] = "; ".join(wrong)
            rankings[method] = ()
            continue
        if method == WHOLE:
            rankings[method] = _hits([(hit.id, hit.score) for hit in result.hits], score)
            continue
        stage = stages.get(FUSION if method == HYBRID else method)
        rankings[method] = _hits(
            () if stage is None else zip(stage.ids_out, stage.scores, strict=True), score
        )
    if HYBRID in rankings:
        of_legs = {name: rankings[name] for name in legs}
        rankings[HYBRID] = _with_components(rankings[HYBRID], of_legs)
    made.rankings[case] = rankings
    made.events.update((event.level, event.code) for event in result.events)
    for event in result.events:
        made.dropped.update({why: event.data[why] for why in _DROPPED if type(event.data.get(why)) is int})
    for name, stage in stages.items():
        made.stages[name] += stage.seconds  # type: ignore[assignment]


def _hits(ranked: Iterable[tuple[str, float]], score: str) -> Hits:
    return tuple({"rank": rank, "id": id, score: float(value)} for rank, (id, value) in enumerate(ranked, 1))


def _with_components(hits: Hits, legs: Mapping[str, Hits]) -> Hits:
    ranks = {name: {hit["id"]: hit["rank"] for hit in of_leg} for name, of_leg in legs.items()}
    return tuple(
        {**hit, "component_ranks": {name: of[hit["id"]] for name, of in ranks.items() if hit["id"] in of}}
        for hit in hits
    )


def _failure(stage: Stage) -> str:
    return next((event.message for event in stage.events if event.code == FAILED), "")
