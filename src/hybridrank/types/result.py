"""A pipeline's answer, and how it came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args, overload

from ..errors import InvalidValueError
from .documents import Document, Query, check_id
from .frozen import FrozenDict, as_tuples
from .ranking import Event, Hit, table

Answer: TypeAlias = Literal["yes", "no", "undecided"]


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage that a validator relies on, with its (start, end) character offsets where it stands."""

    text: str
    in_source: tuple[int, int] | None = None
    in_document: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A validator's word on one document. `undecided` is never yes."""

    id: str
    answer: Answer
    accepted: bool
    quotes: tuple[Quote, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        check_id(self.id)
        as_tuples(self, "quotes")
        if self.answer not in get_args(Answer):
            raise InvalidValueError(
                f"answer of the verdict on {self.id!r} is {self.answer!r}; give yes, no or undecided"
            )


@dataclass(frozen=True, slots=True)
class Contribution:
    """One addend of a score, or one reason for a place: a term, a rule, a feature."""

    name: str
    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """What went into one stage of a search and what came out.

    Attributes:
        kind: normalizer, retriever, fuser, reranker or validator.
        ids_in, ids_out: document ids in order; a retriever has none coming in.
        scores: one per id of `ids_out`.
        seconds: wall time.
    """

    name: str
    kind: str
    ids_in: tuple[str, ...] = ()
    ids_out: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    seconds: float = 0.0
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        as_tuples(self, "ids_in", "ids_out", "scores", "events")

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "ids_in": list(self.ids_in),
            "ids_out": list(self.ids_out),
            "scores": list(self.scores),
            "seconds": self.seconds,
            "events": [event.to_dict() for event in self.events],
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """Every stage of one search, in the order in which they ran.

    Attributes:
        documents: every candidate by id, and `tokens`, those of the query by the leg that makes them; both
            filled by `search(..., explain="all")`.
    """

    query: Query
    stages: tuple[Stage, ...] = ()
    documents: Mapping[str, Document] = field(default_factory=FrozenDict, hash=False)
    tokens: Mapping[str, tuple[str, ...]] = field(default_factory=FrozenDict, hash=False)

    def __post_init__(self) -> None:
        as_tuples(self, "stages")
        for name in ("documents", "tokens"):
            if not isinstance(getattr(self, name), FrozenDict):
                object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def __getitem__(self, name: str) -> Stage:
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(f"no stage {name!r}; there are: {', '.join(s.name for s in self.stages)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers; the base of every report."""
        return {
            "query": {"id": self.query.id, "text": self.query.text, "typed": self.query.typed},
            "stages": [stage.to_dict() for stage in self.stages],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Result(Sequence[Hit]):
    """A pipeline's answer to one query.

    Attributes:
        hits: best first, at most k.
        verdicts: the validator's, in the order in which it judged.
        events: those of all stages, in order.
        explanations: per document id and stage name the contributions to its score there; those of the hits
            are filled by `search(..., explain=True)`, those of every candidate by `explain="all"`.
    """

    query: Query
    hits: tuple[Hit, ...]
    verdicts: tuple[Verdict, ...] = ()
    events: tuple[Event, ...] = ()
    trace: Trace = field(default_factory=lambda: Trace(Query("")))
    explanations: Mapping[str, Mapping[str, tuple[Contribution, ...]]] = field(
        default_factory=FrozenDict, hash=False
    )

    def __post_init__(self) -> None:
        as_tuples(self, "hits", "verdicts", "events")
        if not isinstance(self.explanations, FrozenDict):
            told = {id: FrozenDict(stages) for id, stages in self.explanations.items()}
            object.__setattr__(self, "explanations", FrozenDict(told))

    @property
    def ids(self) -> tuple[str, ...]:
        """Document ids, best first."""
        return tuple(hit.document.id for hit in self.hits)

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
        return table("Result", self.query, self.hits)

    def _repr_html_(self) -> str:
        from ..report.html import result_html

        return result_html(self)
