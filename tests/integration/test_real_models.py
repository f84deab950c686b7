"""A real chat model end to end. It is too small to judge anything, which the guardrails have to find out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import hybridrank
from hybridrank import ChatMessage, ChatRequest, DirectEvidence, Document, Pipeline, Query, Ranking
from hybridrank.chat.ollama import OllamaChat
from hybridrank.chat.openai_compatible import OpenAICompatibleChat
from hybridrank.errors import ModelReplyError
from hybridrank.rerankers.listwise import FALLBACK, PARSED, ListwiseReranker
from hybridrank.testing.samples import DOCUMENTS
from ollama_server import SMOLLM, OllamaServer, recorded_exchanges
from real_ollama import RealOllama, needs_the_model

pytestmark = [pytest.mark.slow, needs_the_model()]

# Streams, and the routes that nothing here asks for.
_LEFT_OUT = ("/api/ps", "/api/generate", "/api/embed", "/api/embeddings", "/v1/embeddings")
EXCHANGES = [
    pytest.param(entry, id=entry["name"])
    for entry in recorded_exchanges()
    if entry["path"] not in _LEFT_OUT and "ndjson" not in entry["content_type"]
]


@pytest.fixture(scope="module")
def server() -> Iterator[RealOllama]:
    with RealOllama() as running:
        yield running


@pytest.mark.parametrize("entry", EXCHANGES)
def test_answers_look_as_those_of_a_real_ollama(entry: dict[str, Any], server: RealOllama) -> None:
    body = entry["request"]
    if entry["name"] == "chat_num_predict_0":
        # Without a limit it goes on for long.
        body = {**body, "options": {**body["options"], "num_predict": 64}}
    if "over_ctx" in entry["name"]:
        # The recorded prompt is written down in short.
        body = {**body, "messages": [{"role": "user", "content": "word " * 9000}]}
    content = None if body is None else json.dumps(body)
    reply = httpx.request(entry["method"], server.url + entry["path"], content=content, timeout=600)
    assert reply.status_code == entry["status"]
    assert reply.headers["content-type"].split(";")[0] == entry["content_type"].split(";")[0]
    if "json" not in entry["content_type"]:
        assert reply.text == entry["response"]
    elif "error" in entry["response"]:
        assert reply.json() == entry["response"]
    else:
        assert_alike(reply.json(), entry["response"], entry["path"])


def assert_alike(ours: Any, recorded: Any, where: str) -> None:
    """The same fields of the same types; of /api/show only those that are read."""
    assert type(ours) is type(recorded), where
    if isinstance(ours, dict) and "model_info" not in where:
        assert set(ours) <= set(recorded), where
        if "show" not in where and "/v1/" not in where:
            assert set(ours) == set(recorded), where
        for key in ours:
            assert_alike(ours[key], recorded[key], f"{where}.{key}")
    elif isinstance(ours, list) and ours:
        assert_alike(ours[0], recorded[0], f"{where}[0]")


def chats(server: OllamaServer) -> list[OllamaChat | OpenAICompatibleChat]:
    return [
        OllamaChat(SMOLLM, host=server.url, timeout=600),
        OpenAICompatibleChat(SMOLLM, base_url=f"{server.url}/v1", timeout=600),
    ]


def test_both_clients_get_the_same_answer_again_and_again(server: RealOllama) -> None:
    request = ChatRequest((ChatMessage("user", "Is Python a language? Answer yes or no."),), max_tokens=8)
    replies = [chat.complete(request) for chat in (*chats(server), *chats(server))]
    assert len({reply.text for reply in replies}) == 1
    assert replies[0].text
    assert {reply.finish_reason for reply in replies} == {"length"}
    assert {reply.reply_tokens for reply in replies} == {8}


@pytest.mark.parametrize("schema", [True, False])
def test_a_listwise_rerank_is_a_permutation_or_a_visible_fallback(schema: bool, server: RealOllama) -> None:
    given = Ranking.from_order(Query("open_connection"), [d for d in DOCUMENTS if d.text.strip()][:6])
    for chat in chats(server) if schema else chats(server)[:1]:
        found = ListwiseReranker(chat, schema=schema).rerank(given, k=6)
        assert sorted(found.ids) == sorted(given.ids)
        (event,) = found.events
        assert event.code in (PARSED, FALLBACK)
        if event.code == FALLBACK:
            assert found.ids == given.ids
        if schema:
            # The grammar allows no other labels and no other length.
            assert event.data["out_of_bounds"] == 0


def corpus() -> list[Document]:
    root = Path(hybridrank.__file__).parent / "text"
    return list(Pipeline.for_code(root).documents or ())


@pytest.mark.parametrize("schema", [True, False])
def test_the_canary_refuses_the_model(schema: bool, server: RealOllama) -> None:
    documents = corpus()
    for chat in chats(server) if schema else chats(server)[:1]:
        part = DirectEvidence(chat, schema=schema, canary=True).index(documents)
        found = part.check()
        assert not found.passed
        assert str(found).startswith(f"model {SMOLLM!r} is refused: it says ")
        with pytest.raises(ModelReplyError, match="is refused"):
            part.validate(Ranking.from_order(Query("def tokenize"), documents[:1]))


def test_no_yes_of_the_model_is_taken_without_a_true_quote(server: RealOllama) -> None:
    documents = corpus()
    source = documents[3].text
    part = DirectEvidence(chats(server)[0]).index(documents)
    for verdict in part.validate(Ranking.from_order(Query(source), documents[:3])):
        assert verdict.accepted == (verdict.answer == "yes")
        assert bool(verdict.quotes) == (verdict.answer == "yes")
        assert bool(verdict.reason) == (verdict.answer == "undecided")
