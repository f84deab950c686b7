"""A target's way through the stages of a search, read from its trace."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Literal

from ..request import VALIDATOR
from ..types import FrozenDict, Result


@dataclass(frozen=True, slots=True)
class Way:
    """Where a target stood after each stage, and which of them lost it.

    Attributes:
        stage: None where no leg gave it.
        part: the reranker that lost it, else `""`.
        told: a sentence without a full stop; empty where no leg gave it.
        ranks: its rank after fusion and after each reranker that ran; None where it is gone.
    """

    stage: Literal["fusion", "reranker", "validator"] | None = None
    part: str = ""
    told: str = ""
    ranks: Mapping[str, int | None] = FrozenDict()


def way_of(result: Result | None, ids: Set[str], k: int) -> Way:
    """The way of the best placed of these documents, none of which is among the first k of the result."""
    stages = () if result is None else result.trace.stages
    legs = [stage for stage in stages if stage.kind == "retriever" and not ids.isdisjoint(stage.ids_out)]
    if result is None or not legs:
        return Way()
    order: tuple[str, ...] = ()
    ranks: dict[str, int | None] = {}
    lost, before = "", None
    for stage in stages:
        if stage.kind == "fuser":
            order = stage.ids_out
        elif stage.kind == "reranker":
            # What lies below the reranker's depth keeps its order behind it.
            order = stage.ids_out + order[len(stage.ids_in) :]
        else:
            continue
        rank = _rank(order, ids)
        if before is not None and before <= k and (rank is None or rank > k):
            lost = stage.name
        ranks[stage.name] = before = rank
    told = "ranks: " + ", ".join(
        f"{name} left it out" if place is None else f"{name} {place}" for name, place in ranks.items()
    )
    by_leg = ", ".join(f"{stage.name} {_rank(stage.ids_out, ids)}" for stage in legs)
    verdict = _rejected(result, ids, order, k)
    if verdict:
        return Way("validator", VALIDATOR, f"{verdict}; {told}", FrozenDict(ranks))
    if lost:
        return Way("reranker", lost, f"out of the first {k} by {lost}; {told}", FrozenDict(ranks))
    return Way("fusion", "", f"{told}; legs: {by_leg}", FrozenDict(ranks))


def _rejected(result: Result, ids: Set[str], order: tuple[str, ...], k: int) -> str:
    """What the validator did, if the target would be among the first k but for it."""
    for verdict in result.verdicts:
        if verdict.id in ids and not verdict.accepted:
            reason = f": {verdict.reason}" if verdict.reason else ""
            return f"the validator said {verdict.answer}{reason}"
    rank = _rank(order, ids)
    stage = next((stage for stage in result.trace.stages if stage.kind == "validator"), None)
    if stage is None or rank is None or rank > k:
        return ""
    return f"the validator looked at the first {len(stage.ids_in)} only"


def _rank(order: tuple[str, ...], ids: Set[str]) -> int | None:
    return next((place for place, id in enumerate(order, 1) if id in ids), None)
