"""Reranking by a server of `/v1/rerank`, on loopback: each provider's form, unusable replies, time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from hybridrank import Document, Pipeline, Query, Ranking
from hybridrank.errors import (
    InvalidValueError,
    ModelReplyError,
    ModelRequestError,
    ModelUnavailableError,
)
from hybridrank.rerankers.api import FALLBACK, UNFINISHED, ApiReranker
from ollama_server import HANG_UP, PROXY, Answer, OllamaServer, half
from stubs import Table

QUERY = Query("revoke token", original="where is revoke token")
TEXTS = ("parse a date", "a token", "revoke the token", "", "unrelated")
SCORED = ("2", "1", "0", "4")
"""Ids of the texts that are sent, by how many words of the query they share."""


def given(*texts: str) -> Ranking:
    documents = [Document(str(place), text) for place, text in enumerate(texts or TEXTS)]
    return Ranking.from_order(QUERY, documents, source="fusion")


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


def reranker(server: OllamaServer, **options: Any) -> ApiReranker:
    return ApiReranker(base_url=server.url, **{"provider": "jina", "model": "m", "key_env": "", **options})


def results(*pairs: tuple[object, object]) -> Answer:
    return Answer({"results": [{"index": index, "relevance_score": score} for index, score in pairs]})


def test_hits_are_ordered_by_score_and_blank_ones_come_last(server: OllamaServer) -> None:
    found = reranker(server).rerank(given(), k=5)
    assert found.ids == (*SCORED, "3")
    assert not found.events
    assert found.query == QUERY
    (body,) = server.requests_to("/v1/rerank")
    assert body["query"] == QUERY.original
    assert body["documents"] == [text for text in TEXTS if text]


def test_scores_are_the_servers_where_all_have_one(server: OllamaServer) -> None:
    server.script("/v1/rerank", results((1, 0.25), (0, -3.5)))
    found = reranker(server).rerank(given("a", "b"), k=2)
    assert [(hit.id, hit.score) for hit in found] == [("1", 0.25), ("0", -3.5)]


def test_equal_scores_keep_their_order(server: OllamaServer) -> None:
    server.script("/v1/rerank", results((2, 1), (0, 1), (1, 1)))
    assert reranker(server).rerank(given("c", "b", "a"), k=3).ids == ("0", "1", "2")


def test_nothing_is_asked_without_a_query_or_texts_or_k(server: OllamaServer) -> None:
    asked = reranker(server)
    assert asked.rerank(given(" ", "\n"), k=2).ids == ("0", "1")
    assert asked.rerank(Ranking(QUERY), k=2).ids == ()
    assert asked.rerank(given(), k=0).ids == ()
    assert asked.rerank(Ranking.from_order(Query(" "), [Document("a", "text")]), k=2).ids == ("a",)
    assert not server.requests


FORMS = {
    "cohere": (
        "/v2/rerank",
        {"model": "m", "top_n": 2, "documents": ["a", "b"]},
        "results",
        "relevance_score",
    ),
    "jina": (
        "/v1/rerank",
        {"model": "m", "top_n": 2, "documents": ["a", "b"], "return_documents": False},
        "results",
        "relevance_score",
    ),
    "voyage": (
        "/v1/rerank",
        {"model": "m", "top_k": 2, "documents": ["a", "b"], "truncation": False},
        "data",
        "relevance_score",
    ),
    "tei": ("/rerank", {"model": "m", "texts": ["a", "b"], "truncate": False}, "", "score"),
    "vllm": ("/v1/rerank", {"model": "m", "top_n": 2, "documents": ["a", "b"]}, "results", "relevance_score"),
    "llama.cpp": (
        "/v1/rerank",
        {"model": "m", "top_n": 2, "documents": ["a", "b"]},
        "results",
        "relevance_score",
    ),
}


@pytest.mark.parametrize("provider", FORMS)
def test_each_provider_is_spoken_to_in_its_form(provider: str, server: OllamaServer) -> None:
    path, body, field, score = FORMS[provider]
    listed = [{"index": 1, score: 0.75}, {"index": 0, score: 0.5}]
    server.script(path, Answer({field: listed} if field else listed))
    found = reranker(server, provider=provider).rerank(given("a", "b"), k=2)
    assert found.ids == ("1", "0")
    assert server.requests_to(path) == [{"query": QUERY.original, **body}]


def test_key_path_and_further_fields(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1")
    server.script("/serve/rank", results((0, 1)))
    asked = reranker(server, key_env="MY_KEY", path="/serve/rank", extra={"return_documents": True, "x": 1})
    assert asked.rerank(given("a"), k=1).ids == ("0",)
    request = server.requests[0]
    assert request.headers["Authorization"] == "Bearer secret-1"
    assert request.body["return_documents"] is True
    assert request.body["x"] == 1
    assert "secret-1" not in repr(asked) + asked.fingerprint()


def test_a_service_without_its_key_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CO_API_KEY", raising=False)
    with pytest.raises(InvalidValueError, match="CO_API_KEY is not set"):
        ApiReranker(model="m").rerank(given(), k=5)


UNUSABLE: dict[str, Any] = {
    "nothing": {},
    "null": None,
    "list": [{"index": 0, "relevance_score": 1}],
    "no-list": {"results": "0"},
    "missing": [(0, 1.0)],
    "empty": [],
    "twice": [(0, 1.0), (0, 0.5), (1, 0.1)],
    "out-of-range": [(0, 1.0), (2, 0.5)],
    "negative": [(0, 1.0), (-1, 0.5)],
    "bool-index": [(False, 1.0), (True, 0.5)],
    "text-index": [("0", 1.0), ("1", 0.5)],
    "float-index": [(0.0, 1.0), (1.0, 0.5)],
    "nan": [(0, math.nan), (1, 0.5)],
    "infinite": [(0, math.inf), (1, 0.5)],
    "text-score": [(0, "0.9"), (1, 0.5)],
    "bool-score": [(0, True), (1, 0.5)],
    "no-score": [(0, None), (1, 0.5)],
}


@pytest.mark.parametrize("reply", UNUSABLE)
def test_an_unusable_reply_keeps_the_order_and_says_so(reply: str, server: OllamaServer) -> None:
    body = UNUSABLE[reply]
    if isinstance(body, list) and all(isinstance(pair, tuple) for pair in body):
        body = {"results": [{"index": index, "relevance_score": score} for index, score in body]}
    answer = Answer(json.dumps(body).encode())
    server.script("/v1/rerank", answer, answer)
    found = reranker(server).rerank(given("b", "a"), k=2)
    assert found.ids == ("0", "1")
    (event,) = found.events
    assert (event.code, event.level) == (FALLBACK, "warning")
    assert server.url in event.message
    with pytest.raises(ModelReplyError, match="does it speak as 'jina' does"):
        reranker(server, strict=True).rerank(given("b", "a"), k=2)


def test_a_page_of_a_proxy_keeps_the_order_and_says_so(server: OllamaServer) -> None:
    server.script("/v1/rerank", PROXY)
    found = reranker(server).rerank(given("b", "a"), k=2)
    assert found.ids == ("0", "1")
    assert "text/html" in found.events[0].message


def test_batches_are_scored_together_and_in_order(server: OllamaServer) -> None:
    server.on["/v1/rerank"] = lambda body: results(
        *[(place, int(text)) for place, text in enumerate(body["documents"])]
    )
    texts = ["3", "9", "1", "7", "5"]
    found = reranker(server, batch_size=2).rerank(given(*texts), k=5)
    assert [hit.score for hit in found] == [9, 7, 5, 3, 1]
    assert [body["documents"] for body in server.requests_to("/v1/rerank")] == [["3", "9"], ["1", "7"], ["5"]]


def test_tei_takes_no_more_than_32_texts(server: OllamaServer) -> None:
    server.on["/rerank"] = lambda body: Answer(
        [{"index": place, "score": 0} for place in range(len(body["texts"]))]
    )
    reranker(server, provider="tei").rerank(given(*"x" * 40), k=40)
    assert [len(body["texts"]) for body in server.requests_to("/rerank")] == [32, 8]


def test_what_time_does_not_suffice_for_keeps_its_order(server: OllamaServer) -> None:
    server.script("/v1/rerank", results((0, 1), (1, 2)), Answer({}, delay=30))
    found = reranker(server, batch_size=2, deadline=0.3).rerank(given("a", "b", "c", "d"), k=4)
    assert found.ids == ("1", "0", "2", "3")
    (event,) = found.events
    assert (event.code, event.level) == (UNFINISHED, "warning")
    assert event.data == {"scored": 2, "of": 4}
    server.script("/v1/rerank", results((0, 1), (1, 2)), Answer({}, delay=30))
    with pytest.raises(ModelUnavailableError):
        reranker(server, batch_size=2, deadline=0.2, strict=True).rerank(given("a", "b", "c", "d"), k=4)


FAILURES = {
    "silent": (Answer({}, delay=30), ModelUnavailableError, r"within 0\.1 s"),
    "refusal": (Answer({"message": "invalid api token"}, 401), ModelRequestError, "invalid api token"),
    "missing": (Answer({"error": "no such model"}, 404), ModelRequestError, "no such model"),
    "broken": (HANG_UP, ModelUnavailableError, "broke"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_server_that_fails_leaves_the_order_and_is_heard(
    failure: str, server: OllamaServer, caplog: pytest.LogCaptureFixture
) -> None:
    answer, error, told = FAILURES[failure]
    server.script("/v1/rerank", answer, answer)
    found = reranker(server, deadline=0.1).rerank(given("b", "a"), k=2)
    assert found.ids == ("0", "1")
    (event,) = found.events
    assert (event.code, event.data["error"]) == (FALLBACK, error.__name__)
    assert event.message in caplog.text
    with pytest.raises(error, match=told):
        reranker(server, deadline=0.1, strict=True).rerank(given("b", "a"), k=2)


def test_a_connection_that_breaks_is_tried_again(server: OllamaServer) -> None:
    server.script("/v1/rerank", half({"results": [{"index": 0, "relevance_score": 1}]}), results((0, 1)))
    assert reranker(server).rerank(given("a"), k=1).ids == ("0",)
    assert len(server.requests) == 2


def test_a_strict_one_is_left_out_by_a_pipeline_that_may_go_on(server: OllamaServer) -> None:
    server.script("/v1/rerank", Answer({"error": "no"}, 400))
    strict = reranker(server, strict=True)
    pipeline = Pipeline({"table": Table(["a", "b"])}, rerankers={"api": strict}, on_error="degrade")
    result = pipeline.search("q")
    assert result.ids == ("a", "b")
    assert result.events[0].code == "stage-failed"


def test_a_pipeline_shows_scores_and_fallbacks(server: OllamaServer) -> None:
    server.script("/v1/rerank", results((1, 0.75), (0, 0.5)), results((5, 1)))
    pipeline = Pipeline({"table": Table(["a", "b"])}, rerankers={"api": reranker(server)})
    first = pipeline.search("q")
    assert first.ids == ("b", "a")
    assert first[0].components["api"].score == 0.75
    second = pipeline.search("q")
    assert second.ids == ("a", "b")
    assert [event.code for event in second.events] == [FALLBACK]
    assert second.trace["api"].events == second.events


@pytest.mark.parametrize(
    "options",
    [
        {"provider": "acme"},
        {"path": "v1/rerank"},
        {"base_url": "https://me:secret@host"},
        {"depth": -1},
        {"batch_size": 0},
        {"deadline": 0},
        {"deadline": math.nan},
        {"fields": ["code"]},
        {"model": None},
    ],
)
def test_wrong_options_are_refused_by_name(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match=next(iter(options))) as raised:
        ApiReranker(**options)
    assert "secret" not in str(raised.value)
