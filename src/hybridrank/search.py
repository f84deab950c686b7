"""One search, step by step: normalise, retrieve, fuse, rerank, validate, cut."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from .calls import Call, Steps
from .errors import ContractError
from .fusers.combine import keeps_components
from .protocols import (
    Explainable,
    Reranker,
    Validator,
)
from .request import (
    FUSION,
    NORMALIZER,
    VALIDATOR,
    Request,
    is_blank,
    normalize,
    retrieve_call,
    reweighted,
)
from .standing import Standing, keeps_hits, of_legs
from .types import (
    Contribution,
    Document,
    Event,
    FrozenDict,
    Hit,
    Query,
    Ranking,
    Result,
    Stage,
    Trace,
    Verdict,
    check_k,
)
from .types.ranking import hit_of, unchecked

logger = logging.getLogger("hybridrank")

FAILED = "stage-failed"
"""Code of the event that tells that a leg or stage was left out under on_error="degrade"."""


@dataclass(slots=True)
class _Log:
    stages: list[Stage] = field(default_factory=list)

    def add(
        self,
        name: str,
        kind: str,
        seconds: float,
        before: Iterable[str],
        after: Ranking,
        events: Iterable[Event],
    ) -> None:
        self.stages.append(
            Stage(
                name,
                kind,
                tuple(before),
                after.ids,
                tuple([hit.score for hit in after.hits]),
                seconds,
                tuple(event if event.stage else replace(event, stage=name) for event in events),
            )
        )

    def result(
        self,
        query: Query,
        hits: Sequence[Hit],
        verdicts: Sequence[Verdict] = (),
        explanations: Mapping[str, Mapping[str, tuple[Contribution, ...]]] | None = None,
        documents: Mapping[str, Document] | None = None,
        tokens: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Result:
        events = tuple(event for stage in self.stages for event in stage.events)
        trace = Trace(query, tuple(self.stages), documents or FrozenDict(), tokens or FrozenDict())
        return Result(query, tuple(hits), tuple(verdicts), events, trace, explanations or FrozenDict())


def steps(request: Request) -> Steps[Result]:
    """The whole search as a generator of calls."""
    log = _Log()
    started = perf_counter()
    query, events = normalize(request.query, request.normalizer)
    if is_blank(query):
        events += (Event("empty-query", "the query has no letter and no digit: nothing to search for"),)
    log.add(NORMALIZER, "normalizer", perf_counter() - started, (), Ranking(query), events)
    if is_blank(query) or request.k == 0:
        return log.result(query, ())
    rankings = yield from _retrieve(request, query, log)
    request = replace(request, fuser=reweighted(request.fuser, rankings))
    standing = Standing()
    ranking = fused = _fuse(request, query, rankings, log, standing)
    reranked: dict[str, Ranking] = {}
    for name, reranker in request.rerankers.items():
        depth = _depth(name, reranker) if request.rerank_depth is None else request.rerank_depth
        if depth == 0 or not ranking:
            continue
        if not keeps_hits(reranker):
            ranking = standing.tell(ranking)
        head = unchecked(ranking.query, ranking.hits[:depth], ranking.source)
        ranking = yield from _rerank(request, name, reranker, ranking, head, log, standing)
        if not any(event.code == FAILED for event in log.stages[-1].events):
            reranked[name] = head
    verdicts: list[Verdict] = []
    if request.validator is not None and ranking:
        ranking = standing.tell(ranking)
        ranking, verdicts = yield from _validate(request, request.validator, ranking, log)
    hits = standing.told(ranking.hits[: request.k])
    if not request.explain:
        return log.result(query, hits, verdicts)
    everything = request.explain == "all"
    of = {hit.id: hit.document for hit in (fused if everything else hits)}
    explanations = _explain(request, query, of, rankings, reranked)
    if not everything:
        return log.result(query, hits, verdicts, explanations)
    return log.result(query, hits, verdicts, explanations, of, _tokens(request, query))


def _retrieve(request: Request, query: Query, log: _Log) -> Steps[dict[str, Ranking]]:
    outcomes = yield [retrieve_call(request, name, query) for name in request.legs]
    rankings: dict[str, Ranking] = {}
    failures: list[Exception] = []
    for name, outcome in zip(request.legs, outcomes, strict=True):
        if outcome.error is not None:
            failures.append(outcome.error)
            event = _failure(request, name, outcome.error)
            log.add(name, "retriever", outcome.seconds, (), Ranking(query), (event,))
            continue
        ranking = _checked_ranking(name, outcome.value)
        if len(ranking) > request.recall:
            raise ContractError(
                name,
                f"returned {len(ranking)} hits, {request.recall} were asked for",
                ranking.ids[request.recall :],
            )
        if request.known is not None:
            _refuse(name, "returned ids that were never indexed", set(ranking.ids) - request.known)
        if request.where:
            passed = request.where.select(hit.document for hit in ranking)
            outside = {hit.id for hit, ok in zip(ranking, passed, strict=True) if not ok}
            _refuse(name, "returned documents that the filter excludes", outside)
        if ranking.query is not query:
            ranking = unchecked(query, ranking.hits, ranking.source, ranking.events)
        log.add(name, "retriever", outcome.seconds, (), ranking, ranking.events)
        rankings[name] = ranking
    if not rankings and failures:
        raise failures[0]
    return rankings


def _fuse(
    request: Request, query: Query, rankings: Mapping[str, Ranking], log: _Log, standing: Standing
) -> Ranking:
    union = {hit.document.id: hit.document for ranking in rankings.values() for hit in ranking.hits}
    started = perf_counter()
    fused = _checked_ranking(FUSION, request.fuser.fuse(rankings, k=len(union)))
    seconds = perf_counter() - started
    _refuse(FUSION, "returned ids that no leg had returned", set(fused.ids) - union.keys())
    hits = fused.hits
    if not (
        keeps_components(request.fuser)
        and all(union[hit.document.id] is hit.document for hit in hits)
        and not any(hit.components for ranking in rankings.values() for hit in ranking.hits)
    ):
        # Fusers of others may have put anything into their hits.
        components = of_legs(rankings.items(), union)
        hits = tuple([Hit(union[hit.id], hit.score, components[hit.id]) for hit in hits])
    ranking = unchecked(query, hits, FUSION, fused.events)
    standing.add(FUSION, ranking)
    log.add(FUSION, "fuser", seconds, union, ranking, fused.events)
    return ranking


def _depth(name: str, reranker: Reranker) -> int | None:
    depth = getattr(reranker, "depth", None)
    return None if depth is None else check_k(depth, f"depth of reranker {name!r}")


def _rerank(
    request: Request,
    name: str,
    reranker: Reranker,
    ranking: Ranking,
    head: Ranking,
    log: _Log,
    standing: Standing,
) -> Steps[Ranking]:
    depth = len(head)
    tail = ranking.hits[depth:]
    # As isinstance with the protocol decides; that takes longer than a reranker may.
    awaitable: Any = reranker if getattr(reranker, "arerank", None) is not None else None
    (outcome,) = yield [
        Call(
            name,
            lambda: reranker.rerank(head, k=depth),
            (lambda: awaitable.arerank(head, k=depth)) if awaitable else None,
        )
    ]
    if outcome.error is not None:
        log.add(name, "reranker", outcome.seconds, head.ids, head, (_failure(request, name, outcome.error),))
        return ranking
    reordered = _checked_ranking(name, outcome.value)
    ours = {hit.document.id: hit for hit in head.hits}
    ids, hits = reordered.ids, reordered.hits
    _refuse(name, "returned ids that it was not given", set(ids) - ours.keys())
    if not keeps_hits(reranker):
        known = [ours[id] for id in ids]
        hits = tuple(
            [hit_of(own.document, hit.score, own.components) for own, hit in zip(known, hits, strict=True)]
        )
    after = unchecked(ranking.query, hits, name, reordered.events)
    standing.add(name, after)
    log.add(name, "reranker", outcome.seconds, head.ids, after, reordered.events)
    if not tail:
        return after
    return Ranking.from_order(ranking.query, hits + tail, source=name)


def _validate(
    request: Request, validator: Validator, ranking: Ranking, log: _Log
) -> Steps[tuple[Ranking, list[Verdict]]]:
    depth = request.k if request.validate_depth is None else request.validate_depth
    verdicts: list[Verdict] = []
    accepted: list[Hit] = []
    seconds, judged = 0.0, 0
    pool = ranking.hits[:depth]
    while judged < len(pool) and len(accepted) < request.k:
        batch = pool[judged : judged + request.k - len(accepted)]
        asked = Ranking.from_order(ranking.query, batch, source=ranking.source)
        (outcome,) = yield [Call(VALIDATOR, lambda asked=asked: validator.validate(asked))]  # type: ignore[misc]
        seconds += outcome.seconds
        if outcome.error is not None:
            event = _failure(request, VALIDATOR, outcome.error)
            # What it rejected before it failed stays out; what it never saw is not judged.
            rejected = {verdict.id for verdict in verdicts if not verdict.accepted}
            kept = replace(ranking, hits=tuple(hit for hit in ranking if hit.id not in rejected), events=())
            log.add(VALIDATOR, "validator", seconds, ranking.ids, kept, (event,))
            return kept, verdicts
        answers = _checked_verdicts(outcome.value)
        if [verdict.id for verdict in answers] != list(asked.ids):
            raise ContractError(
                VALIDATOR, "must return one verdict per hit, in rank order; it was given", asked.ids
            )
        verdicts += answers
        accepted += [hit for hit, verdict in zip(batch, answers, strict=True) if verdict.accepted]
        judged += len(batch)
    after = replace(ranking, hits=tuple(accepted), events=())
    log.add(VALIDATOR, "validator", seconds, [hit.id for hit in pool], after, _judged(verdicts))
    return after, verdicts


def _judged(verdicts: Sequence[Verdict]) -> list[Event]:
    """How many were accepted, rejected and undecided, and a warning if no answer could be had for some."""
    undecided = [verdict for verdict in verdicts if verdict.answer == "undecided"]
    accepted = sum(verdict.accepted for verdict in verdicts if verdict not in undecided)
    rejected = len(verdicts) - len(undecided) - accepted
    counts = {
        "judged": len(verdicts),
        "accepted": accepted,
        "rejected": rejected,
        "undecided": len(undecided),
    }
    told = f"{len(verdicts)} judged: {accepted} accepted"
    told += f", {rejected} rejected" if rejected else ""
    told += f", {len(undecided)} undecided" if undecided else ""
    events = [Event("judged", told, data=counts)]
    if undecided:
        fate = "kept" if undecided[0].accepted else "dropped"
        why = f", the first because {undecided[0].reason}" if undecided[0].reason else ""
        message = f"{len(undecided)} of {len(verdicts)} hits are undecided and {fate}{why}"
        events.append(Event("undecided", message, level="warning", data=counts))
    if not any(verdict.accepted for verdict in verdicts):
        events.append(Event("all-rejected", f"none of the {len(verdicts)} hits judged was accepted"))
    return events


def _explain(
    request: Request,
    query: Query,
    documents: Mapping[str, Document],
    rankings: Mapping[str, Ranking],
    reranked: Mapping[str, Ranking],
) -> Mapping[str, Mapping[str, tuple[Contribution, ...]]]:
    given = {name: frozenset(ranking.ids) for name, ranking in {**rankings, **reranked}.items()}

    def of(document: Document) -> dict[str, tuple[Contribution, ...]]:
        told: dict[str, tuple[Contribution, ...]] = {}
        for name, leg in request.legs.items():
            if document.id in given.get(name, ()) and isinstance(leg, Explainable):
                told[name] = tuple(leg.explain(query, document))
        contributions = getattr(request.fuser, "contributions", None)
        if contributions is not None:
            told[FUSION] = tuple(contributions(rankings, document.id))
        for name, ranking in reranked.items():
            reranker = request.rerankers[name]
            if document.id not in given[name]:
                continue
            contributions = getattr(reranker, "contributions", None)
            if contributions is not None:
                told[name] = tuple(contributions(ranking, document.id))
            elif isinstance(reranker, Explainable):
                told[name] = tuple(reranker.explain(query, document))
        return told

    return FrozenDict({id: FrozenDict(of(document)) for id, document in documents.items()})


def _tokens(request: Request, query: Query) -> dict[str, tuple[str, ...]]:
    """The query's tokens as the legs with a tokenizer see them."""
    found: dict[str, tuple[str, ...]] = {}
    for name, leg in request.legs.items():
        tokenizer = getattr(leg, "tokenizer", None)
        if callable(tokenizer):
            found[name] = tuple(tokenizer(query.text))
    return found


def _failure(request: Request, stage: str, error: Exception) -> Event:
    """An event for a part that failed, or the error itself: on_error decides."""
    if request.on_error == "raise" or isinstance(error, ContractError):
        error.add_note(f"in stage {stage!r} of the pipeline")
        raise error
    message = f"stage {stage!r} failed and was left out: {type(error).__name__}: {error}"
    logger.warning(message)
    return Event(FAILED, message, stage, "warning", {"error": type(error).__name__})


def _checked_ranking(stage: str, value: object) -> Ranking:
    if not isinstance(value, Ranking):
        raise ContractError(stage, f"returned {type(value).__name__}, not a Ranking")
    return value


def _checked_verdicts(value: object) -> list[Verdict]:
    if not isinstance(value, Sequence) or not all(isinstance(verdict, Verdict) for verdict in value):
        raise ContractError(VALIDATOR, f"returned {value!r:.80}, not a sequence of Verdict")
    return list(value)


def _refuse(stage: str, what: str, ids: Iterable[str]) -> None:
    wrong = sorted(ids)
    if wrong:
        raise ContractError(stage, what, wrong)
