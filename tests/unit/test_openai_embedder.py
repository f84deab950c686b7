"""The embedder of servers with the route /v1/embeddings."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridrank import (
    Dense,
    Document,
    InvalidValueError,
    MismatchError,
    ModelError,
    ModelReplyError,
    ModelRequestError,
    ModelUnavailableError,
    OpenAICompatibleEmbedder,
    Pipeline,
    http,
)
from ollama_server import HANG_UP, MINILM, NEVER, OVERLOADED, PROXY, Answer, OllamaServer, vector

EMBED = "/v1/embeddings"
PROBE = "The quick brown fox jumps over the lazy dog."


@pytest.fixture(scope="module")
def running() -> Iterator[OllamaServer]:
    with OllamaServer(replay=False) as server:
        yield server


@pytest.fixture
def server(running: OllamaServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OllamaServer:
    monkeypatch.setattr(http, "PAUSE", 0.005)
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    running.reset()
    return running


def embedder(server: OllamaServer, **options: Any) -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder("all-minilm", f"{server.url}/v1", **{"timeout": 5.0, **options})


def data(*vectors: Any, order: list[int] | None = None) -> Answer:
    places = list(range(len(vectors))) if order is None else order
    entries = [{"embedding": v, "index": place} for v, place in zip(vectors, places, strict=True)]
    return Answer({"object": "list", "data": entries})


def warm(part: OpenAICompatibleEmbedder, server: OllamaServer) -> OpenAICompatibleEmbedder:
    """The embedder after it has asked for the probe."""
    part.embed([], role="query")
    server.requests.clear()
    return part


def test_texts_come_back_in_order(server: OllamaServer) -> None:
    found = embedder(server, batch_size=2).embed(["a", "b", "c"], role="document")
    digest = server.models[MINILM].digest
    assert np.allclose(found, [vector(text, 384, digest) for text in "abc"], atol=1e-6)
    assert server.sent_texts() == [PROBE, "a", "b", "c"]


def test_vectors_are_put_in_the_order_of_their_index(server: OllamaServer) -> None:
    part = warm(embedder(server, dimensions=2), server)
    server.script(EMBED, data([2.0, 0.0], [1.0, 0.0], order=[1, 0]))
    assert part.embed(["a", "b"], role="query")[:, 0].tolist() == [1.0, 2.0]


def test_fields_by_role(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "k-123")
    part = embedder(
        server,
        key_env="VOYAGE_API_KEY",
        query_fields={"input_type": "query"},
        document_fields={"input_type": "document", "truncation": False},
        dimensions=8,
    )
    part = warm(part, server)
    part.embed(["a"], role="query")
    part.embed(["a"], role="document")
    query, document = server.requests_to(EMBED)
    base = {"model": "all-minilm", "input": ["a"], "dimensions": 8}
    assert query == {**base, "input_type": "query"}
    assert document == {**base, "input_type": "document", "truncation": False}
    assert {request.headers["Authorization"] for request in server.requests} == {"Bearer k-123"}
    assert "k-123" not in repr(part) + str(vars(part)) + str(part.state())


def test_a_second_build_sends_no_text(server: OllamaServer) -> None:
    first = embedder(server).embed(["a", "b"], role="document")
    server.requests.clear()
    assert (embedder(server).embed(["b", "a"], role="document") == first[::-1]).all()
    assert server.sent_texts() == [PROBE]
    embedder(server, document_fields={"x": 1}).embed(["a"], role="document")
    assert server.sent_texts()[1:] == [PROBE, "a"]


def test_only_the_bad_text_is_reported(server: OllamaServer) -> None:
    error = Answer({"error": {"message": "bad input"}}, 400)
    server.on[EMBED] = lambda body: error if "poison" in body["input"] else None
    with pytest.raises(ModelRequestError, match=r"1 of 4 texts.*text 2 \('poison'\).*bad input") as caught:
        embedder(server).embed(["a", "b", "poison", "d"], role="document")
    assert caught.value.positions == (2,)


FAULTS = {
    "silence": (NEVER, ModelUnavailableError, "did not answer"),
    "hanging up": (HANG_UP, ModelUnavailableError, "the connection to"),
    "an overload": (OVERLOADED, ModelUnavailableError, "server busy"),
    "a proxy": (PROXY, ModelReplyError, "something else than JSON"),
    "a chat answer": (Answer({"choices": []}), ModelReplyError, "without data[].embedding"),
    "fewer vectors": (data([1.0, 2.0]), ModelReplyError, "gave 1 vectors for 2 texts"),
    "no vectors": (data(), ModelReplyError, "gave 0 vectors for 2 texts"),
    "an empty vector": (data([1.0, 2.0], []), ModelReplyError, "an empty vector"),
    "NaN": (data([1.0, 2.0], [float("nan"), 1.0]), ModelReplyError, "NaN or infinity"),
    "base64": (data("AACAPw==", "AACAPw=="), ModelReplyError, "than a list of numbers"),
    "zeros": (data([1.0, 2.0], [0.0, 0.0]), ModelReplyError, "a vector of zeros"),
    "another length": (data([1.0, 2.0], [1.0]), ModelReplyError, "1 dimensions where 2 are due"),
    "one index twice": (
        data([1.0, 2.0], [1.0, 3.0], order=[0, 0]),
        ModelReplyError,
        "numbered its 2 vectors",
    ),
    "a bad key": (Answer({"error": {"message": "no"}}, 401), ModelRequestError, "is the key right"),
    "no such model": (Answer({"error": {"message": "no zz"}}, 404), ModelRequestError, "no zz"),
}


@pytest.mark.parametrize(("answer", "kind", "told"), FAULTS.values(), ids=FAULTS)
def test_each_fault_ends_in_its_error(
    server: OllamaServer, answer: Answer, kind: type[ModelError], told: str
) -> None:
    part = warm(embedder(server, dimensions=2, timeout=0.4, cache=False), server)
    server.script(EMBED, *[answer] * 3)
    with pytest.raises(ModelError) as caught:
        part.embed(["a", "b"], role="document")
    assert type(caught.value) is kind
    assert told in str(caught.value)


def test_a_fault_of_the_probe_is_none_of_a_text(server: OllamaServer) -> None:
    server.script(EMBED, Answer({"error": "no"}, 422))
    with pytest.raises(ModelRequestError) as caught:
        embedder(server).embed(["a"], role="document")
    assert caught.value.positions == ()


def test_blank_texts_are_never_sent(server: OllamaServer) -> None:
    found = embedder(server).embed(["a", "", " \n"], role="document")
    assert found.any(axis=1).tolist() == [True, False, False]
    assert server.sent_texts() == [PROBE, "a"]


def test_an_index_holds_to_its_model(
    server: OllamaServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    documents = [Document("d1", "close the open connection"), Document("d2", "bake bread")]
    made = Pipeline({"dense": Dense(embedder(server))}).index(documents)
    made.save(tmp_path / "saved")
    assert Pipeline.load(tmp_path / "saved").search("bread").hits == made.search("bread").hits
    server.script(EMBED, OVERLOADED)
    Pipeline.load(tmp_path / "saved")
    assert "cannot be told now" in caplog.text
    server.change_digest()
    with pytest.raises(MismatchError, match="gives another vector for the same text than when the index was"):
        Pipeline.load(tmp_path / "saved")
    other = OpenAICompatibleEmbedder("m2", f"{server.url}/v1")
    with pytest.raises(MismatchError, match="made with the model 'all-minilm', and this is 'm2'"):
        other.restore(embedder(server).bound().state())


def test_vectors_of_another_model_of_the_same_name_are_not_used(
    server: OllamaServer, caplog: pytest.LogCaptureFixture
) -> None:
    before = embedder(server).embed(["a"], role="document")
    server.change_digest()
    after = embedder(server).embed(["a"], role="document")
    assert not np.allclose(before, after)
    assert "gives other vectors now; it is put aside" in caplog.text


def test_the_address(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1/")
    part = OpenAICompatibleEmbedder("all-minilm")
    assert part.embed(["a"], role="query").shape == (1, 384)
    assert part.state()["server"] == f"{server.url}/v1"
    for options, told in (
        ({"base_url": "host/v1"}, "base_url is 'host/v1'"),
        ({"query_fields": {"a": {1}}}, "query_fields is"),
        ({"document_fields": ["a"]}, "document_fields is"),
        ({"batch_size": 0}, "batch_size is 0"),
    ):
        with pytest.raises(InvalidValueError, match=told):
            OpenAICompatibleEmbedder("m", **options)


def test_it_is_pickled(server: OllamaServer) -> None:
    bound = embedder(server).bound()
    again = pickle.loads(pickle.dumps(bound))  # noqa: S301
    assert again.fingerprint() == bound.fingerprint() != embedder(server).fingerprint()
    assert repr(again) == "OpenAICompatibleEmbedder('all-minilm')"
