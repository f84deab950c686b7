"""What all fusers share: several rankings into one, by adding up what each list gives a document."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import TypeAlias

from ..types import Component, Event, Hit, Ranking, check_k, tie_key
from .legs import Legs

Addends: TypeAlias = Callable[[Ranking, float], Sequence[float]]
"""A ranking and its weight to the addend of each of its hits, in their order."""

Total: TypeAlias = Callable[[Sequence[float]], float]
"""The addends of one document to its score; does not depend on their order."""

Absent: TypeAlias = Callable[[Ranking, float], float]
"""A ranking and its weight to the addend of a document that does not stand in it."""


def counted_sum(addends: Sequence[float]) -> float:
    """The sum times the number of addends."""
    return len(addends) * math.fsum(addends)


def combine(
    legs: Legs,
    *,
    k: int,
    source: str,
    addends: Addends,
    total: Total = math.fsum,
    absent: Absent | None = None,
    events: Iterable[Event] = (),
) -> Ranking:
    """The k documents with the highest totals; ties by path, start line, id.

    A document that stands only in legs that weigh 0 is left out. Every hit keeps its rank and score in each
    leg, and the components with which it came. Without `absent`, a leg adds nothing for what it did not find.
    """
    check_k(k)
    ranks = {leg: dict(zip(ranking.ids, count(1), strict=False)) for leg, ranking in legs.rankings.items()}
    gains: dict[str, list[float]] = {}
    for leg, weight in legs.weights.items():
        if weight:
            for id, addend in zip(ranks[leg], addends(legs.rankings[leg], weight), strict=True):
                gains.setdefault(id, []).append(addend)
    if absent is not None:
        for leg, weight in legs.weights.items():
            share = absent(legs.rankings[leg], weight) if weight else 0.0
            for id, gain in gains.items():
                if weight and id not in ranks[leg]:
                    gain.append(share)
    order = sorted((-total(gain), *tie_key(legs.documents[id])) for id, gain in gains.items())
    hits = (
        Hit(legs.documents[id], -negated, _components(legs.rankings, ranks, id))
        for negated, _path, _line, id in order[:k]
    )
    return Ranking(legs.query, tuple(hits), source, tuple(events))


def rank_of(id: str, ranking: Ranking) -> int | None:
    """The 1-based rank of an id, None where it does not stand."""
    return next((rank for rank, hit in enumerate(ranking.hits, 1) if hit.document.id == id), None)


def show(part: object, **defaults: object) -> str:
    """`Name(option=value)` with the options that differ from their defaults."""
    changed = [
        f"{name}={getattr(part, name)!r}" for name, value in defaults.items() if getattr(part, name) != value
    ]
    return f"{type(part).__name__}({', '.join(changed)})"


def _components(
    rankings: Mapping[str, Ranking], ranks: Mapping[str, Mapping[str, int]], id: str
) -> dict[str, Component]:
    found = {leg: (at[id], rankings[leg].hits[at[id] - 1]) for leg, at in ranks.items() if id in at}
    merged: dict[str, Component] = {}
    if any(hit.components for _, hit in found.values()):
        # Backwards: among components of one name that came with the hits, the least leg name wins.
        for leg in sorted(found, reverse=True):
            merged.update(found[leg][1].components)
    for leg, (rank, hit) in found.items():
        merged[leg] = Component(rank, hit.score)
    return merged
