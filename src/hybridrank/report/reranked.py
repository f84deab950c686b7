"""Where a language model moved the hits: their ranks before and after it."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Result

PARSED = "rerank-parsed"
"""Code of the event by which a reranker tells that a model's reply was used."""


@dataclass(frozen=True, slots=True)
class Move:
    """The 1-based ranks of a hit before and after a stage, among what the stage saw."""

    stage: str
    before: int
    after: int

    def __str__(self) -> str:
        was = "as before" if self.before == self.after else f"was #{self.before}"
        return f"(Reranked #{self.after}, {was})"


def moves(result: Result) -> dict[str, Move]:
    """By document id what the last stage made of it whose ranks a model's reply decided.

    Empty where there was none: a stage that fell back moved nothing.
    """
    for stage in reversed(result.trace.stages):
        if any(event.code == PARSED for event in stage.events):
            before = {id: rank for rank, id in enumerate(stage.ids_in, 1)}
            return {id: Move(stage.name, before[id], rank) for rank, id in enumerate(stage.ids_out, 1)}
    return {}
