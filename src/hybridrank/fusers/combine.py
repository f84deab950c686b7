"""What all fusers share: several rankings into one, by adding up what each list gives a document."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import eq
from typing import TypeAlias

from ..types import Component, Document, Event, FrozenDict, Ranking, check_k, tie_key
from ..types.ranking import component_of, hit_of
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
    gains: list[dict[str, float]] = []
    missed: list[float] = []
    for leg, weight in legs.weights.items():
        if weight:
            ranking = legs.rankings[leg]
            gains.append(dict(zip(ranking.ids, addends(ranking, weight), strict=True)))
            if absent is not None:
                missed.append(absent(ranking, weight))
    # Numbers in dicts rather than lists by id: the garbage collector does not look at those.
    ids = dict.fromkeys(chain.from_iterable(gains))
    if absent is None:
        scores = {id: total([gain[id] for gain in gains if id in gain]) for id in ids}
    else:
        shares = list(zip(gains, missed, strict=True))
        scores = {id: total([gain.get(id, share) for gain, share in shares]) for id in ids}
    documents = legs.documents
    components = _components(legs.rankings)
    hits = [hit_of(documents[id], scores[id], components[id]) for id in _ordered(scores, documents)[:k]]
    return Ranking(legs.query, tuple(hits), source, tuple(events))


def _ordered(scores: Mapping[str, float], documents: Mapping[str, Document]) -> list[str]:
    """The ids by falling score; ties by path, start line, id."""
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    falling = [scores[id] for id in order]
    if any(map(eq, falling, falling[1:])):
        order.sort(key=lambda id: (-scores[id], *tie_key(documents[id])))
    return order


def keeps_components(fuser: object) -> bool:
    """Whether the components of its hits are what `combine` makes of the rankings that it was given."""
    return bool(vars(type(fuser)).get("_keeps_components"))


def rank_of(id: str, ranking: Ranking) -> int | None:
    """The 1-based rank of an id, None where it does not stand."""
    return next((rank for rank, hit in enumerate(ranking.hits, 1) if hit.document.id == id), None)


def show(part: object, **defaults: object) -> str:
    """`Name(option=value)` with the options that differ from their defaults."""
    changed = [
        f"{name}={getattr(part, name)!r}" for name, value in defaults.items() if getattr(part, name) != value
    ]
    return f"{type(part).__name__}({', '.join(changed)})"


def _components(rankings: Mapping[str, Ranking]) -> dict[str, FrozenDict[str, Component]]:
    """By id, rank and score in each leg, after the components with which the hits came."""
    found: dict[str, FrozenDict[str, Component]] = {}
    # Backwards: among components of one name that came with the hits, the least leg name wins.
    for leg in sorted(rankings, reverse=True):
        for hit in rankings[leg].hits:
            if hit.components:
                dict.update(found.setdefault(hit.document.id, FrozenDict()), hit.components)
    put = dict.__setitem__
    for leg, ranking in rankings.items():
        for rank, hit in enumerate(ranking.hits, 1):
            id = hit.document.id
            if id not in found:
                found[id] = FrozenDict()
            put(found[id], leg, component_of(rank, hit.score))
    return found
