"""Replies that are JSON, or almost, and no answers: each ends in its error, for every client."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hybridrank import (
    ApiReranker,
    Document,
    ModelError,
    ModelReplyError,
    ModelRequestError,
    OllamaChat,
    OllamaEmbedder,
    OpenAICompatibleChat,
    OpenAICompatibleEmbedder,
    Query,
    Ranking,
)
from hybridrank.types import ChatMessage, ChatRequest
from ollama_server import Answer, OllamaServer

PATHS = ("/api/embed", "/api/chat", "/v1/embeddings", "/v1/chat/completions", "/v1/rerank")
REQUEST = ChatRequest((ChatMessage("user", "hi"),))
CLIENTS: dict[str, Callable[[str], object]] = {
    "ollama embed": lambda url: OllamaEmbedder("all-minilm", url, cache=False).embed(["a"], role="query"),
    "ollama chat": lambda url: OllamaChat("smollm2:135m", url).complete(REQUEST),
    "embed": lambda url: OpenAICompatibleEmbedder("m", f"{url}/v1", cache=False).embed(["a"], role="query"),
    "chat": lambda url: OpenAICompatibleChat("m", f"{url}/v1").complete(REQUEST),
    "rerank": lambda url: ApiReranker(provider="vllm", base_url=url, strict=True).rerank(
        Ranking.from_order(Query("q"), [Document("x", "x"), Document("y", "y")]), k=2
    ),
}


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


def answer(server: OllamaServer, body: bytes | dict[str, object], status: int = 200) -> None:
    for path in PATHS:
        server.on[path] = lambda _: Answer(body, status)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000], ids=["arrays", "objects"])
def test_json_that_is_nested_too_deeply(server: OllamaServer, client: str, body: bytes) -> None:
    answer(server, body)
    with pytest.raises(ModelReplyError, match="something else than JSON"):
        CLIENTS[client](server.url)
    answer(server, body, 400)
    with pytest.raises(ModelRequestError, match="400"):
        CLIENTS[client](server.url)


HUGE = 10**400
NUMBERS: dict[str, object] = {
    "huge": HUGE,
    "true": True,
    "text": "0.5",
    "null": None,
    "array": [1.0],
    "object": {},
}


@pytest.mark.parametrize("client", ["ollama embed", "embed", "rerank"])
@pytest.mark.parametrize("number", NUMBERS)
def test_what_is_no_number(server: OllamaServer, client: str, number: str) -> None:
    bad = NUMBERS[number]
    results = [{"index": 0, "relevance_score": bad}, {"index": 1, "relevance_score": 0.5}]
    data = [{"index": 0, "embedding": [bad, 1.0]}]
    answer(server, {"embeddings": [[bad, 1.0]], "data": data, "results": results})
    if client == "ollama embed" and number in ("true", "text"):
        return  # the official client makes numbers of these
    with pytest.raises(ModelError):
        CLIENTS[client](server.url)


@pytest.mark.parametrize("place", [True, "0", None, -1, 1])
def test_what_is_no_index(server: OllamaServer, place: object) -> None:
    answer(server, {"data": [{"index": place, "embedding": [1.0, 2.0]}]})
    with pytest.raises(ModelReplyError, match="numbered its 1 vectors"):
        CLIENTS["embed"](server.url)
    answer(server, {"results": [{"index": place, "relevance_score": 1}] * 2})
    with pytest.raises(ModelReplyError, match="index"):
        CLIENTS["rerank"](server.url)


def test_false_is_no_index(server: OllamaServer) -> None:
    answer(server, {"data": [{"index": False, "embedding": [1.0, 2.0]}]})
    with pytest.raises(ModelReplyError, match="numbered its 1 vectors"):
        CLIENTS["embed"](server.url)


def test_counts_of_tokens_that_are_none_are_left_out(server: OllamaServer) -> None:
    answer(server, {"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": True}})
    assert OpenAICompatibleChat("m", f"{server.url}/v1").complete(REQUEST).prompt_tokens is None
