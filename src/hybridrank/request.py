"""What one search is asked for, checked and decided before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .calls import Call, run_calls
from .errors import ConfigError, ContractError, InvalidValueError, UnknownNameError
from .protocols import (
    BatchRetriever,
    Fuser,
    Normalizer,
    Reranker,
    Retriever,
    Validator,
    Weighted,
)
from .types import Event, Filter, Query, Ranking, check_id, check_k

if TYPE_CHECKING:
    from .pipeline import Pipeline

NORMALIZER, FUSION, VALIDATOR = "normalizer", "fusion", "validator"
# Through so many documents a leg that waits for nobody goes before a thread has started.
_IMMEDIATE = 100_000
Explain: TypeAlias = bool | Literal["all"]


@dataclass(frozen=True, slots=True)
class Request:
    """One search, decided: only the legs that run, the fuser with its weights for this call."""

    query: Query
    k: int
    recall: int
    rerank_depth: int | None
    where: Filter | None
    explain: Explain
    legs: Mapping[str, Retriever]
    fuser: Fuser
    rerankers: Mapping[str, Reranker]
    validator: Validator | None
    validate_depth: int | None
    normalizer: Normalizer | None
    on_error: Literal["raise", "degrade"]
    known: AbstractSet[str] | None
    ready: Mapping[str, Ranking] = field(default_factory=dict)


def make_request(
    pipeline: Pipeline,
    query: str | Query,
    k: int,
    recall: int | None,
    weights: Mapping[str, float] | None,
    rerank_depth: int | None,
    where: Filter | None,
    explain: Explain,
) -> Request:
    """The arguments of `Pipeline.search` as a request; raises what it documents."""
    if not isinstance(query, Query | str):
        raise InvalidValueError(f"query is {query!r:.80}; give a str or a Query")
    width = pipeline.recall if recall is None else positive("recall", recall)
    if check_k(k) > width:
        raise InvalidValueError(f"k={k} is above recall={width}: legs give {width} hits each; raise recall")
    if rerank_depth is not None:
        check_k(rerank_depth, "rerank_depth")
    if where is not None and not isinstance(where, Filter):
        raise InvalidValueError(f"where is {where!r}; give a Filter")
    if not isinstance(explain, bool) and explain != "all":
        raise InvalidValueError(f'explain is {explain!r}; give True for the hits, "all" for every candidate')
    legs, fuser = _weighted(pipeline, weights)
    return Request(
        query=query if isinstance(query, Query) else Query(query),
        k=k,
        recall=width,
        rerank_depth=rerank_depth,
        where=where,
        explain=explain,
        legs=legs,
        fuser=fuser,
        rerankers=pipeline.rerankers,
        validator=pipeline.validator,
        validate_depth=pipeline.validate_depth,
        normalizer=pipeline.normalizer,
        on_error=pipeline.on_error,
        known=pipeline.known_ids,
    )


def _weighted(
    pipeline: Pipeline, weights: Mapping[str, float] | None
) -> tuple[Mapping[str, Retriever], Fuser]:
    """The legs that run, and the fuser that weighs just these."""
    if not isinstance(pipeline.fuser, Weighted):
        if weights:
            raise ConfigError(f"weights were given, but {pipeline.fuser!r} takes none")
        return pipeline.retrievers, pipeline.fuser
    check_legs(weights or {}, pipeline.retrievers)
    merged = {**pipeline.fuser.weights, **(weights or {})}
    if not weights and all(merged.values()):
        return pipeline.retrievers, pipeline.fuser
    fuser = pipeline.fuser.with_weights(merged)
    legs = {name: leg for name, leg in pipeline.retrievers.items() if merged.get(name, 1) != 0}
    if not legs:
        raise InvalidValueError(f"all weights are zero: {merged}; give at least one leg a positive weight")
    return legs, reweighted(fuser, legs)


def reweighted(fuser: Fuser, legs: Collection[str]) -> Fuser:
    """The fuser with weights for these legs only."""
    if not isinstance(fuser, Weighted) or all(name in legs for name in fuser.weights):
        return fuser
    return fuser.with_weights({name: weight for name, weight in fuser.weights.items() if name in legs})


def answered_together(requests: Sequence[Request]) -> list[Request]:
    """The requests, with the rankings of each leg that can answer many queries at once already there.

    A leg that fails on the whole batch is asked one by one instead, where the failure shows for its query.
    """
    if not requests or requests[0].k == 0:
        return list(requests)
    first = requests[0]
    texts = [normalize(request.query, request.normalizer)[0] for request in requests]
    places = [place for place, query in enumerate(texts) if not is_blank(query)]
    queries = [texts[place] for place in places]
    ready: list[dict[str, Ranking]] = [{} for _ in requests]
    for name, leg in first.legs.items():
        if not isinstance(leg, BatchRetriever):
            continue
        (outcome,) = run_calls([_batch_call(name, leg, queries, first)])
        if outcome.error is not None:
            continue
        if len(outcome.value) != len(queries):
            raise ContractError(name, f"answered {len(outcome.value)} of {len(queries)} queries in a batch")
        for place, ranking in zip(places, outcome.value, strict=True):
            ready[place][name] = ranking
    return [replace(request, ready=rankings) for request, rankings in zip(requests, ready, strict=True)]


def _batch_call(name: str, leg: BatchRetriever, queries: Sequence[Query], request: Request) -> Call:
    return Call(name, lambda: list(leg.retrieve_batch(queries, k=request.recall, where=request.where)))


def normalize(query: Query, normalizer: Normalizer | None) -> tuple[Query, tuple[Event, ...]]:
    """The query that parts search with, and an event that tells what was dropped from it."""
    if normalizer is None:
        return query, ()
    normalized = normalizer(query.text)
    if normalized.text == query.text:
        return query, ()
    events: tuple[Event, ...] = ()
    if normalized.dropped:
        message = "not searched for: " + ", ".join(normalized.dropped)
        events = (Event("dropped-words", message, NORMALIZER, data={"words": list(normalized.dropped)}),)
    return replace(query, text=normalized.text, original=query.typed), events


def is_blank(query: Query) -> bool:
    """Whether the query has no letter and no digit, so that nothing can be searched for."""
    from unicodedata import normalize as fold

    # Compatibility forms count as what they stand for, as they do for the tokenizer.
    return not any(character.isalnum() for character in fold("NFKC", query.text))


def retrieve_call(request: Request, name: str, query: Query) -> Call:
    """The call that asks this leg, unless its ranking is there already."""
    if name in request.ready:
        return Call(name, lambda: request.ready[name], immediate=True)
    leg, k, where = request.legs[name], request.recall, request.where
    # As isinstance with the protocol decides; that takes longer than a leg may.
    awaitable: Any = leg if getattr(leg, "aretrieve", None) is not None else None
    return Call(
        name,
        lambda: leg.retrieve(query, k=k, where=where),
        (lambda: awaitable.aretrieve(query, k=k, where=where)) if awaitable else None,
        immediate=_is_immediate(leg, request.known),
    )


def _is_immediate(leg: Retriever, known: AbstractSet[str] | None) -> bool:
    """Whether the leg is done in less time than a thread takes to start."""
    if known is None or len(known) > _IMMEDIATE:
        return False
    return getattr(leg, "immediate", None) is True


def check_legs(weights: Mapping[str, float], legs: Mapping[str, Retriever]) -> None:
    for name in weights:
        check_id(name, "leg in weights")
        if name not in legs:
            raise UnknownNameError("leg in weights", name, legs)


def positive(name: str, value: int) -> int:
    if check_k(value, name) == 0:
        raise InvalidValueError(f"{name} is 0; give 1 or more")
    return value
