"""One hit of each file first: a list of different places to look, not five pieces of one file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..types import Hit, Ranking, check_k
from ..types.ranking import hit_of
from .asked_callers import asked_for, names_of_legs

_SOURCE = "spread"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpreadFiles:
    """Puts the first hit of each file before the further hits of any; both keep their order.

    Where a query asks who calls something, the definition and the callers stay before all others, of the
    callers again the first of each file.

    Nothing is dropped. Documents without a path are files of their own. The first hits keep their scores;
    the further ones are shifted down together, so that none stands above a first hit.

    The order before it is that of the stage before it: `Component.rank` under that stage's name, and the
    stage's `ids_in` in the trace.

    Args:
        depth: how many hits a pipeline gives to this reranker, `None` all of them.
        name_legs: legs that find by name, which know the callers.

    Raises:
        InvalidValueError: depth is negative or no int, name_legs are no names.
    """

    _keeps_hits: ClassVar[bool] = True

    depth: int | None = None
    name_legs: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.depth is not None:
            check_k(self.depth, "depth")
        object.__setattr__(self, "name_legs", names_of_legs(self.name_legs))

    def __repr__(self) -> str:
        shown = [] if self.depth is None else [f"depth={self.depth}"]
        if self.name_legs:
            shown.append(f"name_legs={list(self.name_legs)!r}")
        return f"SpreadFiles({', '.join(shown)})"

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        """The k first hits after spreading.

        Raises:
            InvalidValueError: k is negative or no int.
        """
        check_k(k)
        definitions, callers = asked_for(ranking.hits, self.name_legs) if self.name_legs else ([], [])
        if callers:
            return Ranking(ranking.query, _callers_first(ranking.hits, definitions, callers)[:k], _SOURCE)
        firsts, others = _spread(ranking.hits, set())
        if firsts and others:
            lowest = firsts[-1].score
            shift = max(others[0].score - lowest, 0.0)
            others = [hit_of(hit.document, min(hit.score - shift, lowest), hit.components) for hit in others]
        return Ranking(ranking.query, (*firsts, *others)[:k], _SOURCE)


def _spread(hits: Iterable[Hit], seen: set[str]) -> tuple[list[Hit], list[Hit]]:
    """The first hit of each file, and the further ones; files that were `seen` have had theirs."""
    firsts: list[Hit] = []
    others: list[Hit] = []
    for hit in hits:
        path = hit.document.path
        if path and path in seen:
            others.append(hit)
        else:
            seen.add(path)
            firsts.append(hit)
    return firsts, others


def _callers_first(
    hits: Sequence[Hit], definitions: Sequence[int], callers: Sequence[int]
) -> tuple[Hit, ...]:
    asked = {*definitions, *callers}
    seen: set[str] = set()
    order = [hits[place] for place in definitions]
    for group in (
        [hits[place] for place in callers],
        [hit for at, hit in enumerate(hits) if at not in asked],
    ):
        firsts, others = _spread(group, seen)
        order += [*firsts, *others]
    falling: list[Hit] = []
    for hit in order:
        score = min(hit.score, falling[-1].score) if falling else hit.score
        falling.append(hit if score == hit.score else hit_of(hit.document, score, hit.components))
    return tuple(falling)
