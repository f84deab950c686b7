"""A reranker that likes short documents."""

from __future__ import annotations

from dataclasses import dataclass

from hybridrank import Ranking


@dataclass(frozen=True, kw_only=True)
class Shortest:
    """Short texts first; equally long ones keep their order.

    Args:
        depth: how many hits a pipeline gives to this reranker, None all of them.
    """

    depth: int | None = None

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        hits = sorted(ranking, key=lambda hit: len(hit.document.text))
        return Ranking.from_order(ranking.query, hits, source="shortest").cut(k)
