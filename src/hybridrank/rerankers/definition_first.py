"""The definition of what was asked for goes before everything that only mentions it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

from ..errors import InvalidValueError
from ..types import Contribution, Document, Event, Hit, Query, Ranking, check_k

DEFINITION_KINDS = frozenset({"function", "class", "method"})
NAME_BONUS = 0.5
DEFINITION_BONUS = 0.3

_SOURCE = "definition"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DefinitionFirst:
    """Adds 0.5 where a document's name equals the query and 0.3 where its kind is a definition.

    Both sides are trimmed and case folded; an empty name equals nothing. Definitions are of kind function,
    class or method. A later piece of a split definition (kind part) bears the name but is no definition.
    Bonuses add up, also when a ranking is reranked twice. They are made for scores that lie close together,
    as those of rank fusion do: an event `score-spread` says so where they do not.

    Args:
        scope: which documents get a bonus.
            `"named"`: only those that bear the name, so that a query which names nothing changes nothing. A
            qualified name (`Client.send`) counts as a name, and a query may end in `()`. Equal scores keep
            their order.
            `"always"`: all. Only `name` counts as the name, and the query is taken as it stands. Equal scores
            are ordered by path, start line, id.
        depth: how many hits a pipeline gives to this reranker, `None` all of them. `rerank` itself takes
            every hit that it gets.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    _keeps_hits: ClassVar[bool] = True

    scope: Literal["named", "always"] = "named"
    depth: int | None = None

    def __post_init__(self) -> None:
        if self.scope not in ("named", "always"):
            raise InvalidValueError(f'scope is {self.scope!r}; give "named" or "always"')
        if self.depth is not None:
            check_k(self.depth, "depth")

    def __repr__(self) -> str:
        options = [f"scope={self.scope!r}"] if self.scope != "named" else []
        if self.depth is not None:
            options.append(f"depth={self.depth}")
        return f"DefinitionFirst({', '.join(options)})"

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        """The k hits with the highest score after bonuses. Events of the given ranking stay with it.

        Raises:
            InvalidValueError: k is negative or no int.
        """
        check_k(k)
        wanted = self._wanted(ranking.query)
        always = self.scope == "always"
        bonuses: list[float] = [
            sum([c.value for c in self._reasons(wanted, hit.document)])
            if always or wanted in (_fold(hit.document.name), _fold(hit.document.qualified_name))
            else 0
            for hit in ranking.hits
        ]
        hits = [
            Hit(hit.document, hit.score + bonus, hit.components) if bonus else hit
            for hit, bonus in zip(ranking.hits, bonuses, strict=True)
        ]
        events = _spread(ranking, max(bonuses, default=0.0))
        if always:
            return Ranking.from_scores(ranking.query, hits, source=_SOURCE, k=k, events=events)
        hits.sort(key=lambda hit: -hit.score)
        return Ranking(ranking.query, tuple(hits[:k]), _SOURCE, events)

    def explain(self, query: Query, document: Document, /) -> tuple[Contribution, ...]:
        """The bonuses of a document, each with its reason."""
        return self._reasons(self._wanted(query), document)

    def _wanted(self, query: Query) -> str:
        text = _fold(query.text)
        return text.removesuffix("()").rstrip() if self.scope == "named" else text

    def _reasons(self, wanted: str, document: Document) -> tuple[Contribution, ...]:
        reasons = []
        if wanted and wanted == _fold(document.name):
            reasons.append(Contribution("name", NAME_BONUS, "name equals the query"))
        elif wanted and self.scope == "named" and wanted == _fold(document.qualified_name):
            reasons.append(Contribution("name", NAME_BONUS, "qualified name equals the query"))
        if document.kind in DEFINITION_KINDS and (reasons or self.scope == "always"):
            reasons.append(Contribution("definition", DEFINITION_BONUS, f"kind is {document.kind}"))
        return tuple(reasons)


@lru_cache(maxsize=1 << 16)
def _fold(text: str) -> str:
    return text.strip().casefold()


def _spread(ranking: Ranking, bonus: float) -> tuple[Event, ...]:
    if not bonus or ranking[0].score - ranking[-1].score <= bonus:
        return ()
    highest, lowest = ranking[0].score, ranking[-1].score
    message = (
        f"scores lie between {lowest:.4g} and {highest:.4g}, further apart than the bonus of {bonus:g}: a "
        "definition may stay behind; rerank after a fusion by ranks (RRF)"
    )
    data = {"highest": highest, "lowest": lowest, "bonus": bonus}
    return (Event("score-spread", message, level="warning", data=data),)
