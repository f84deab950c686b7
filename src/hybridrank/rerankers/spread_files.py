"""One hit of each file first: a list of different places to look, not five pieces of one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..types import Hit, Ranking, check_k
from ..types.ranking import hit_of

_SOURCE = "spread"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpreadFiles:
    """Puts the first hit of each file before the further hits of any; both keep their order.

    Nothing is dropped. Documents without a path are files of their own. The first hits keep their scores;
    the further ones are shifted down together, so that none stands above a first hit.

    The order before it is that of the stage before it: `Component.rank` under that stage's name, and the
    stage's `ids_in` in the trace.

    Args:
        depth: how many hits a pipeline gives to this reranker, `None` all of them.

    Raises:
        InvalidValueError: depth is negative or no int.
    """

    _keeps_hits: ClassVar[bool] = True

    depth: int | None = None

    def __post_init__(self) -> None:
        if self.depth is not None:
            check_k(self.depth, "depth")

    def __repr__(self) -> str:
        return "SpreadFiles()" if self.depth is None else f"SpreadFiles(depth={self.depth})"

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        """The k first hits after spreading.

        Raises:
            InvalidValueError: k is negative or no int.
        """
        check_k(k)
        seen: set[str] = set()
        firsts: list[Hit] = []
        others: list[Hit] = []
        for hit in ranking.hits:
            path = hit.document.path
            if path and path in seen:
                others.append(hit)
            else:
                seen.add(path)
                firsts.append(hit)
        if firsts and others:
            lowest = firsts[-1].score
            shift = max(others[0].score - lowest, 0.0)
            others = [hit_of(hit.document, min(hit.score - shift, lowest), hit.components) for hit in others]
        return Ranking(ranking.query, (*firsts, *others)[:k], _SOURCE)
