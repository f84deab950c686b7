"""Answers of parts, remembered, so that pipelines that share a beginning run it once.

What a part answers depends on the part and on what it is asked, and on nothing else: a second pipeline
with the same leg gets the leg's ranking as it was. A failure is not remembered.

Every call is timed alone, so that the seconds of a leg do not depend on the pipeline that asked it first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar

from ..pipeline import Pipeline
from ..protocols import Reranker, Retriever, Validator
from ..request import VALIDATOR
from ..types import Filter, Query, Ranking, Result, Verdict

R = TypeVar("R")


class Memory:
    """What parts have answered, and how long that took."""

    def __init__(self) -> None:
        self.alone = Lock()
        self._answers: dict[tuple[int, object], tuple[Any, float]] = {}
        # An id stands for a part only as long as the part lives.
        self._parts: list[object] = []

    def keep(self, part: object) -> None:
        self._parts.append(part)

    def get(self, part: object, asked: object) -> tuple[Any, float] | None:
        return self._answers.get((id(part), asked))

    def put(self, part: object, asked: object, answer: object, seconds: float) -> None:
        self._answers[id(part), asked] = answer, seconds


class Remembering:
    """A pipeline that asks its legs, rerankers and validator only what the memory does not hold.

    Attributes:
        documents, recall: the pipeline's.
        beyond: by query id, the seconds to add to those of a search (negative ones too): a remembered answer
            counts with the time that it took when it was given, and legs count as running side by side.
    """

    def __init__(self, pipeline: Pipeline, memory: Memory) -> None:
        self._legs = {name: _Leg(leg, memory) for name, leg in pipeline.retrievers.items()}
        self._rerankers = {name: _Reranker(part, memory) for name, part in pipeline.rerankers.items()}
        self._validator = None if pipeline.validator is None else _Validator(pipeline.validator, memory)
        self._pipeline = pipeline.with_(
            retrievers=self._legs, rerankers=self._rerankers, validator=self._validator
        )
        self.documents = pipeline.documents
        self.recall = pipeline.recall
        self.beyond: dict[str, float] = {}

    def search(self, query: Query, /, *, k: int, **options: Any) -> Result:
        """`Pipeline.search`; the seconds of the trace are those of each part alone."""
        legs = {name: part.asker for name, part in self._legs.items()}
        later = {name: part.asker for name, part in self._rerankers.items()}
        if self._validator is not None:
            later[VALIDATOR] = self._validator.asker
        askers = {**legs, **later}
        for asker in askers.values():
            asker.fresh = asker.saved = 0.0
        result = self._pipeline.search(query, k=k, **options)
        side_by_side = max(asker.fresh + asker.saved for asker in legs.values())
        one_by_one = sum(asker.fresh for asker in legs.values())
        self.beyond[query.id] = side_by_side - one_by_one + sum(asker.saved for asker in later.values())
        stages = tuple(
            replace(stage, seconds=askers[stage.name].fresh + askers[stage.name].saved)
            if stage.name in askers
            else stage
            for stage in result.trace.stages
        )
        return replace(result, trace=replace(result.trace, stages=stages))


class _Asker:
    """Asks one part of one pipeline, or the memory; `fresh` and `saved` are the seconds of either."""

    def __init__(self, part: object, memory: Memory) -> None:
        memory.keep(part)
        self._part = part
        self._memory = memory
        self.fresh = self.saved = 0.0

    def ask(self, asked: object, answer: Callable[[], R]) -> R:
        known = self._memory.get(self._part, asked)
        if known is not None:
            self.saved += known[1]
            return known[0]  # type: ignore[no-any-return]
        with self._memory.alone:
            started = perf_counter()
            given = answer()
            seconds = perf_counter() - started
        self.fresh += seconds
        self._memory.put(self._part, asked, given, seconds)
        return given


class _Leg:
    def __init__(self, part: Retriever, memory: Memory) -> None:
        self._part = part
        self.asker = _Asker(part, memory)

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        return self.asker.ask((query, k, where), lambda: self._part.retrieve(query, k=k, where=where))

    def __repr__(self) -> str:
        return repr(self._part)


class _Reranker:
    def __init__(self, part: Reranker, memory: Memory) -> None:
        self._part = part
        self.asker = _Asker(part, memory)
        self.depth = getattr(part, "depth", None)

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        asked = (ranking.query, ranking.hits, k)
        return self.asker.ask(asked, lambda: self._part.rerank(ranking, k=k))

    def __repr__(self) -> str:
        return repr(self._part)


class _Validator:
    def __init__(self, part: Validator, memory: Memory) -> None:
        self._part = part
        self.asker = _Asker(part, memory)

    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
        asked = (ranking.query, ranking.hits)
        return self.asker.ask(asked, lambda: tuple(self._part.validate(ranking)))

    def __repr__(self) -> str:
        return repr(self._part)
