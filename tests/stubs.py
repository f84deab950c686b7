"""Parts with known answers, for tests of what composes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from hybridrank.types import Document, Filter, Hit, Query, Ranking, Verdict


def doc(id: str, *, name: str = "", kind: str = "", path: str = "", text: str = "") -> Document:
    return Document(id, text or id, path=path, name=name, kind=kind)


def ranking(*ids: str, query: str = "q", source: str = "") -> Ranking:
    return Ranking.from_order(Query(query), [doc(id) for id in ids], source=source)


@dataclass
class Table:
    """A leg that gives the same ids for every query, best first."""

    ids: Sequence[str]
    calls: list[tuple[str, int]] = field(default_factory=list)

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        self.calls.append((query.text, k))
        found = [doc(id) for id in self.ids]
        if where:
            found = [document for document in found if where.matches(document)]
        return Ranking.from_order(query, found[:k], source="table")


@dataclass
class Contains:
    """A leg that indexes: documents whose text contains the query, in tie order."""

    documents: tuple[Document, ...] | None = None
    option: int = 0

    def index(self, documents: Sequence[Document], /) -> Self:
        return type(self)(tuple(documents), self.option)

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        assert self.documents is not None
        found = [d for d in self.documents if query.text in d.text and (where is None or where.matches(d))]
        return Ranking.from_order(query, found[:k], source="contains")


@dataclass
class Failing:
    """A leg, reranker and validator that always fails."""

    error: Exception = field(default_factory=lambda: RuntimeError("the server is down"))

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        raise self.error

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        raise self.error

    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
        raise self.error


@dataclass
class Reorder:
    """A reranker made of a function over hits."""

    order: Callable[[tuple[Hit, ...]], Sequence[Hit]] = lambda hits: hits[::-1]
    depth: int | None = None
    seen: list[tuple[str, ...]] = field(default_factory=list)

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        self.seen.append(ranking.ids)
        return Ranking.from_order(ranking.query, self.order(ranking.hits)[:k], source="reorder")


@dataclass
class Accept:
    """A validator that accepts these ids."""

    ids: frozenset[str]
    seen: list[tuple[str, ...]] = field(default_factory=list)

    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
        self.seen.append(ranking.ids)
        return [Verdict(id, "yes" if id in self.ids else "no", id in self.ids) for id in ranking.ids]


@dataclass
class Only:
    """A fuser that takes no weights: the first leg's ranking."""

    def fuse(self, rankings: Mapping[str, Ranking], /, *, k: int) -> Ranking:
        return next(iter(rankings.values())).cut(k)
