"""One suite for the three ways to search: one by one, as a batch, in an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from hybridrank import BM25, ContractError, DefinitionFirst, Filter, Pipeline, Query, Ranking, Result
from stubs import Accept, Contains, Failing, Reorder, Table, doc

DOCUMENTS = [
    doc("1", path="a.py", name="load", kind="function", text="def load(path): open the file"),
    doc("2", path="a.py", name="save", kind="function", text="def save(path): write the file"),
    doc("3", path="b.py", text="load load load and save"),
]
QUERIES: list[str | Query] = ["load", "save the file", "", "zzz", Query("how is load done", id="q5")]


class AsyncTable(Table):
    awaited = 0

    async def aretrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        type(self).awaited += 1
        await asyncio.sleep(0)
        return self.retrieve(query, k=k, where=where)


class AsyncReorder(Reorder):
    awaited = 0

    async def arerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        type(self).awaited += 1
        return self.rerank(ranking, k=k)


PIPELINES = {
    "indexed": Pipeline({"bm25": BM25(), "contains": Contains()}, rerankers=[DefinitionFirst()]).index(
        DOCUMENTS
    ),
    "async": Pipeline(
        {"a": AsyncTable(["1", "2"]), "b": Table(["2", "3"])},
        rerankers={"r": AsyncReorder(depth=2)},
        validator=Accept(frozenset("13")),
        validate_depth=3,
    ),
    "degraded": Pipeline({"a": Table(["1"]), "bad": Failing()}, on_error="degrade"),
}


def without_times(result: Result) -> Result:
    stages = tuple(replace(stage, seconds=0.0) for stage in result.trace.stages)
    return replace(result, trace=replace(result.trace, stages=stages))


@pytest.mark.parametrize("name", PIPELINES)
def test_batch_and_async_equal_one_by_one(name: str) -> None:
    made = PIPELINES[name]
    single = [without_times(made.search(query, k=3, explain=True)) for query in QUERIES]
    batch = [without_times(result) for result in made.search_batch(QUERIES, k=3, explain=True)]

    async def all_at_once() -> list[Result]:
        return list(await asyncio.gather(*(made.asearch(query, k=3, explain=True) for query in QUERIES)))

    awaited = [without_times(result) for result in asyncio.run(all_at_once())]
    assert batch == single
    assert awaited == single


def test_what_can_be_awaited_is_awaited() -> None:
    before = AsyncTable.awaited, AsyncReorder.awaited
    asyncio.run(PIPELINES["async"].asearch("q"))
    assert (AsyncTable.awaited, AsyncReorder.awaited) == (before[0] + 1, before[1] + 1)


def test_errors_are_the_same() -> None:
    made = Pipeline({"a": Table(["1"]), "bad": Failing()})
    for attempt in (
        lambda: made.search("q"),
        lambda: made.search_batch(["q"]),
        lambda: asyncio.run(made.asearch("q")),
    ):
        with pytest.raises(RuntimeError, match="down"):
            attempt()


def test_legs_run_beside_each_other_and_see_no_event_loop() -> None:
    meeting = threading.Barrier(2, timeout=10)

    class Meeting(Table):
        def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            meeting.wait()
            return super().retrieve(query, k=k, where=where)

    assert Pipeline({"a": Meeting(["1"]), "b": Meeting(["2"])}).search("q").ids == ("1", "2")


def test_a_batch_of_the_wrong_length_is_a_breach() -> None:
    class Short(Table):
        def retrieve_batch(
            self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
        ) -> Sequence[Ranking]:
            return []

    with pytest.raises(ContractError, match="answered 0 of 1"):
        Pipeline({"a": Short(["1"])}).search_batch(["q"])


def test_a_batch_that_fails_is_asked_one_by_one() -> None:
    class Fragile(Table):
        def retrieve_batch(
            self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
        ) -> Sequence[Ranking]:
            raise RuntimeError("one text is poison")

    results = Pipeline({"a": Fragile(["1"])}).search_batch(["q", "r"])
    assert [result.ids for result in results] == [("1",), ("1",)]


def test_an_empty_batch() -> None:
    assert PIPELINES["indexed"].search_batch([]) == []
    assert [r.hits for r in PIPELINES["indexed"].search_batch(["load"], k=0)] == [()]
