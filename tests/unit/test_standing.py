"""Components are told to hits late; what anybody sees of them may not depend on it."""

from __future__ import annotations

import threading
from collections import UserDict
from dataclasses import dataclass, field
from typing import Any

from hybridrank import RRF, DefinitionFirst, Document, Hit, Pipeline, Query, Ranking, SpreadFiles
from hybridrank.calls import Call, run_calls
from hybridrank.stages import ids_of
from hybridrank.types import Component, FrozenDict
from hybridrank.types.ranking import component_of, hit_of, unchecked

A, B, C = (Document(id, id, path="f.py", start_line=line, end_line=9) for line, id in enumerate("abc", 1))


@dataclass(frozen=True)
class Leg:
    found: tuple[Document, ...]

    def retrieve(self, query: Query, /, *, k: int, where: Any = None) -> Ranking:
        return Ranking.from_order(query, self.found[:k])


@dataclass
class Watching:
    """A reranker that keeps the order and remembers what it was given."""

    seen: list[dict[str, dict[str, Component]]] = field(default_factory=list)

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        self.seen.append({hit.id: dict(hit.components) for hit in ranking})
        return Ranking.from_order(ranking.query, ranking.hits[:k])


class Wrapped:
    """Fuses as RRF does, under another class."""

    def fuse(self, rankings: Any, /, *, k: int) -> Ranking:
        return RRF().fuse(rankings, k=k)


class Inheriting(SpreadFiles):
    """Gives back hits of its own making."""

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        hits = [Hit(hit.document, 5.0, {"made-up": Component(1, 1.0)}) for hit in ranking.hits[:k]]
        return Ranking(ranking.query, tuple(hits), "own")


LEGS = {"one": Leg((A, B)), "two": Leg((C, A))}


def test_a_reranker_of_others_sees_all_stages_before_it() -> None:
    watching = Watching()
    Pipeline(LEGS, rerankers={"spread": SpreadFiles(), "watching": watching}).search("q", k=3)
    # a: 1/61 + 1/62; c: 1/61; b: 1/62. Of one file: the further hits stay where they are.
    a, b, c = 1 / 61 + 1 / 62, 1 / 62, 1 / 61
    assert watching.seen == [
        {
            "a": {
                "one": Component(1, 1.0),
                "two": Component(2, 0.5),
                "fusion": Component(1, a),
                "spread": Component(1, a),
            },
            "c": {
                "two": Component(1, 1.0),
                "fusion": Component(2, c),
                "spread": Component(2, c),
            },
            "b": {
                "one": Component(2, 0.5),
                "fusion": Component(3, b),
                "spread": Component(3, b),
            },
        }
    ]


def test_hits_bear_the_stages_in_their_order_and_nothing_else() -> None:
    stages: dict[str, Any] = {
        "spread": SpreadFiles(),
        "watching": Watching(),
        "definition": DefinitionFirst(),
    }
    hit = Pipeline(LEGS, rerankers=stages).search("q", k=1)[0]
    assert list(hit.components) == ["one", "two", "fusion", "spread", "watching", "definition"]
    assert type(hit.components) is FrozenDict


def test_components_do_not_depend_on_who_fuses() -> None:
    ours, theirs = (
        Pipeline(LEGS, fuser, {"spread": SpreadFiles()}).search("q", k=3) for fuser in (RRF(), Wrapped())
    )
    assert ours.hits == theirs.hits
    assert [list(hit.components) for hit in ours] == [list(hit.components) for hit in theirs]


def test_what_a_class_that_inherits_puts_into_its_hits_does_not_stay() -> None:
    hits = Pipeline(LEGS, rerankers={"own": Inheriting()}).search("q", k=3).hits
    assert list(hits[0].components) == ["one", "two", "fusion", "own"]


def test_a_hit_out_of_the_reach_of_a_reranker_has_no_component_of_it() -> None:
    hits = Pipeline(LEGS, rerankers={"spread": SpreadFiles(depth=1)}).search("q", k=3).hits
    assert ["spread" in hit.components for hit in hits] == [True, False, False]


def test_the_short_ways_make_equal_values() -> None:
    component, query = component_of(2, 0.5), Query("q")
    assert component == Component(2, 0.5)
    hit = hit_of(A, 0.5, FrozenDict({"one": component}))
    assert hit == Hit(A, 0.5, {"one": Component(2, 0.5)})
    assert repr(hit) == repr(Hit(A, 0.5, {"one": Component(2, 0.5)}))
    assert unchecked(query, (hit,), "s") == Ranking(query, (hit,), "s")


def test_ids_on_disk_are_looked_up_once() -> None:
    asked: list[object] = []

    class OnDisk(UserDict[str, int]):
        def __contains__(self, id: object) -> bool:
            asked.append(id)
            return super().__contains__(id)

    class Documents(tuple[Document, ...]):
        positions = OnDisk(a=0, b=1)

    known = ids_of(Documents((A, B)))
    assert {"a", "x"} - known == {"x"}
    assert {"a", "b", "x"} - known == {"x"}
    assert sorted(map(str, asked)) == ["a", "b", "x", "x"]
    assert (set(known), len(known), "b" in known, "y" in known) == ({"a", "b"}, 2, True, False)


def test_immediate_calls_need_no_thread() -> None:
    def where() -> str:
        return threading.current_thread().name

    here = where()
    prompt = [Call("a", where, immediate=True), Call("b", where, immediate=True)]
    assert [outcome.value for outcome in run_calls(prompt)] == [here, here]
    mixed = [Call("a", where, immediate=True), Call("b", where), Call("c", where)]
    assert [outcome.value for outcome in run_calls(mixed)] == [here, "b", "c"]
    assert [outcome.value for outcome in run_calls(mixed[1:])] == ["b", here]
    assert run_calls([]) == []
