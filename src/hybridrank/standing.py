"""Where hits stood in the stages of a search: told to hits as late as can be, since most are cut off."""

from __future__ import annotations

from collections.abc import Collection

from .types import Component, Hit, Ranking
from .types.frozen import with_item
from .types.ranking import component_of, hit_of, unchecked


class Standing:
    """Stages whose hits do not bear their components yet, in order."""

    def __init__(self) -> None:
        self._untold: list[tuple[str, Ranking]] = []

    def add(self, stage: str, ranking: Ranking) -> None:
        """Rank and score in this ranking are this stage's component of each of its hits."""
        self._untold.append((stage, ranking))

    def told(self, hits: Collection[Hit]) -> tuple[Hit, ...]:
        """The hits, with all components."""
        if not self._untold:
            return tuple(hits)
        components = {hit.document.id: hit.components for hit in hits}
        for stage, ranking in self._untold:
            for rank, hit in enumerate(ranking.hits, 1):
                id = hit.document.id
                if id in components:
                    components[id] = with_item(components[id], stage, component_of(rank, hit.score))
        return tuple([hit_of(hit.document, hit.score, components[hit.document.id]) for hit in hits])

    def tell(self, ranking: Ranking) -> Ranking:
        """The ranking with all components; from here on its hits bear them."""
        if not self._untold:
            return ranking
        hits = self.told(ranking.hits)
        self._untold = []
        return unchecked(ranking.query, hits, ranking.source, ranking.events)


def keeps_hits(reranker: object) -> bool:
    """Whether it gives back the hits that it gets, and reads no component but those of the legs.

    Of its class itself, not of one that inherits: that may do anything.
    """
    return bool(vars(type(reranker)).get("_keeps_hits"))


def of_legs(
    rankings: Collection[tuple[str, Ranking]], ids: Collection[str]
) -> dict[str, dict[str, Component]]:
    """By id, rank and score in each leg."""
    found: dict[str, dict[str, Component]] = {id: {} for id in ids}
    for name, ranking in rankings:
        for rank, hit in enumerate(ranking.hits, 1):
            found[hit.document.id][name] = component_of(rank, hit.score)
    return found
