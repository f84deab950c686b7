"""An ordered answer of one part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from operator import ge
from typing import Any, Literal, TypeAlias, overload

from ..errors import DuplicateIdError, InvalidValueError
from .documents import Document, Query, location, tie_key
from .frozen import FrozenDict, as_tuples

Level: TypeAlias = Literal["info", "warning"]


@dataclass(frozen=True, slots=True)
class Component:
    """What one leg or stage made of a document: its 1-based rank and its score there."""

    rank: int
    score: float


_NO_COMPONENTS: FrozenDict[str, Component] = FrozenDict()


@dataclass(frozen=True, slots=True, init=False)
class Hit:
    """A document in a ranking.

    Attributes:
        score: comparable inside one ranking only; it is no probability.
        components: rank and score per leg and stage that knows the document, by the stage's name.
    """

    document: Document
    score: float
    components: Mapping[str, Component] = field(default=_NO_COMPONENTS, hash=False)

    def __init__(
        self, document: Document, score: float, components: Mapping[str, Component] = _NO_COMPONENTS
    ) -> None:
        _set_document(self, document)
        _set_score(self, score)
        _set_components(self, components if isinstance(components, FrozenDict) else FrozenDict(components))

    @property
    def id(self) -> str:
        return self.document.id


# A search makes hundreds of these; through the slots it takes half of what `object.__setattr__` takes.
_new = object.__new__
_set_document, _set_score, _set_components = (
    vars(Hit)[name].__set__ for name in ("document", "score", "components")
)
_set_rank, _set_value = (vars(Component)[name].__set__ for name in ("rank", "score"))


def component_of(rank: int, score: float) -> Component:
    """`Component(rank, score)`."""
    made = _new(Component)
    _set_rank(made, rank)
    _set_value(made, score)
    return made


def hit_of(document: Document, score: float, components: Mapping[str, Component] = _NO_COMPONENTS) -> Hit:
    """`Hit(document, score, components)` of components that are frozen already."""
    made = _new(Hit)
    _set_document(made, document)
    _set_score(made, score)
    _set_components(made, components)
    return made


@dataclass(frozen=True, slots=True)
class Event:
    """Something a user should be able to see: a fallback, a dropped word, a guardrail.

    Attributes:
        stage: name of the stage that reports it, `""` until the pipeline fills it in.
        code: stable, machine-readable, e.g. `"empty-query"`.
        message: one line for people.
    """

    code: str
    message: str
    stage: str = ""
    level: Level = "info"
    data: Mapping[str, Any] = field(default_factory=FrozenDict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.data, FrozenDict):
            object.__setattr__(self, "data", FrozenDict(self.data))

    def to_dict(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "code": self.code,
            "level": self.level,
            "message": self.message,
            "data": deepcopy(dict(self.data)),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Sequence[Hit]):
    """An immutable, ordered answer to one query.

    Scores never rise along it, are finite, and no id stands twice.

    Attributes:
        query: the query it answers.
        hits: best first.
        source: name of the part that made it.
        events: what the part wants to tell.

    Raises:
        DuplicateIdError: an id stands twice.
        InvalidValueError: a score is not finite, or is higher than the one before it.
    """

    query: Query
    hits: tuple[Hit, ...] = ()
    source: str = ""
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.query, Query):
            raise InvalidValueError(f"query of ranking {self.source!r} is {self.query!r:.80}; give a Query")
        as_tuples(self, "hits", "events")
        scores = [hit.score for hit in self.hits]
        # Where none rises all lie between the ends, and a NaN compares with nothing.
        falling = all(map(ge, scores, scores[1:])) and all(map(math.isfinite, (*scores[:1], *scores[-1:])))
        if not falling or len({hit.document.id for hit in self.hits}) < len(scores):
            self._refuse()

    def _refuse(self) -> None:
        seen: set[str] = set()
        before = math.inf
        for hit in self.hits:
            if not math.isfinite(hit.score):
                raise InvalidValueError(f"score of {hit.id!r} in ranking {self.source!r} is {hit.score}")
            if hit.score > before:
                raise InvalidValueError(
                    f"score of {hit.id!r} in ranking {self.source!r} rises from {before} to {hit.score}; "
                    "sort by score, or use Ranking.from_scores or Ranking.from_order"
                )
            if hit.id in seen:
                raise DuplicateIdError(f"id {hit.id!r} stands twice in ranking {self.source!r}")
            seen.add(hit.id)
            before = hit.score

    @classmethod
    def from_scores(
        cls,
        query: Query,
        scored: Iterable[tuple[Document, float] | Hit],
        *,
        source: str = "",
        k: int | None = None,
        events: Iterable[Event] = (),
    ) -> Ranking:
        """Sort by falling score; ties by path, start line, id. `k` cuts after sorting."""
        hits = [item if isinstance(item, Hit) else Hit(item[0], float(item[1])) for item in scored]
        for hit in hits:
            if not math.isfinite(hit.score):
                raise InvalidValueError(f"score of {hit.id!r} in ranking {source!r} is {hit.score}")
        hits.sort(key=lambda hit: (-hit.score, *tie_key(hit.document)))
        return cls(query, tuple(hits if k is None else hits[: check_k(k)]), source, tuple(events))

    @classmethod
    def from_order(
        cls,
        query: Query,
        ordered: Iterable[Document | Hit],
        *,
        source: str = "",
        events: Iterable[Event] = (),
    ) -> Ranking:
        """Keep the given order; the score of rank r is 1/r. For parts that only know an order."""
        hits = tuple(
            [
                Hit(item.document, 1.0 / rank, item.components)
                if isinstance(item, Hit)
                else hit_of(item, 1.0 / rank)
                for rank, item in enumerate(ordered, 1)
            ]
        )
        return cls(query, hits, source, tuple(events))

    @property
    def ids(self) -> tuple[str, ...]:
        """Document ids, best first."""
        return tuple([hit.document.id for hit in self.hits])

    def cut(self, k: int) -> Ranking:
        """The first k hits as a ranking."""
        return unchecked(self.query, self.hits[: check_k(k)], self.source, self.events)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __repr__(self) -> str:
        return table(f"Ranking {self.source!r}", self.query, self.hits)

    def _repr_html_(self) -> str:
        from ..report.html import ranking_html

        return ranking_html(self)


_set_query, _set_hits, _set_source, _set_events = (
    vars(Ranking)[name].__set__ for name in ("query", "hits", "source", "events")
)


def unchecked(
    query: Query, hits: tuple[Hit, ...], source: str = "", events: tuple[Event, ...] = ()
) -> Ranking:
    """`Ranking(query, hits, source, events)` of hits whose ids and order have been checked before."""
    made = _new(Ranking)
    _set_query(made, query)
    _set_hits(made, hits)
    _set_source(made, source)
    _set_events(made, events)
    return made


def check_k(k: int, name: str = "k") -> int:
    """How many hits are wanted: an int of 0 or more.

    Raises:
        InvalidValueError: it is negative or no int.
    """
    if not _is_count(k):
        raise InvalidValueError(f"{name} is {k!r}; give an int of 0 or more")
    return k


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def table(title: str, query: Query, hits: Sequence[Hit], limit: int = 10) -> str:
    text = " ".join(query.typed.split())
    lines = [f"{title}, {len(hits)} hits for {text[:60] + '…' if len(text) > 60 else text!r}"]
    for rank, hit in enumerate(hits[:limit], 1):
        symbol = hit.document.qualified_name or hit.document.name
        kind = f" ({hit.document.kind})" if hit.document.kind else ""
        line = f"{rank:>3}  {hit.score:.4f}  {location(hit.document)}  {symbol}{kind}".rstrip()
        # A path or a name comes from strangers: it may not steer the terminal, nor break the line.
        lines.append("".join(c if c.isprintable() else repr(c)[1:-1] for c in line))
    if len(hits) > limit:
        lines.append(f"     … {len(hits) - limit} more")
    return "\n".join(lines)
