"""The embedder of an Ollama server. Ids of reported faults stand beside the tests that hold them down."""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridrank import (
    BM25,
    Dense,
    Document,
    InvalidValueError,
    MismatchError,
    ModelError,
    ModelReplyError,
    ModelRequestError,
    ModelUnavailableError,
    OllamaEmbedder,
    Pipeline,
    Query,
    http,
)
from hybridrank.evaluation.facts import method_facts
from hybridrank.watching import watched
from ollama_server import (
    HANG_UP,
    MINILM,
    NAN_ERROR,
    NEVER,
    OVERLOADED,
    PROXY,
    SMOLLM,
    TOO_LONG,
    Answer,
    Model,
    OllamaServer,
    half,
    recorded,
    vector,
)

EMBED = "/api/embed"


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


def embedder(server: OllamaServer, **options: Any) -> OllamaEmbedder:
    return OllamaEmbedder("all-minilm", server.url, **{"timeout": 5.0, **options})


def refusing(*bad: str, answer: Answer = NAN_ERROR) -> Any:
    """Refuses each request that holds one of the texts."""
    return lambda body: answer if set(bad) & set(body["input"]) else None


def made(*texts: str) -> Any:
    digest = OllamaServer(replay=False).models[MINILM].digest
    return np.array([vector(text, 384, digest) for text in texts], np.float32)


def test_texts_come_back_in_order(server: OllamaServer) -> None:  # EM-06: each as if alone
    texts = [f"text number {n}" for n in range(7)]
    found = embedder(server, batch_size=3).embed(texts, role="document")
    assert found.dtype == np.float32
    assert found.shape == (7, 384)
    assert np.allclose(found, made(*texts), atol=1e-6)
    assert [len(body["input"]) for body in server.requests_to(EMBED)] == [3, 3, 1]
    alone = embedder(server, cache=False).embed(["text number 5"], role="document")
    assert (alone[0] == found[5]).all()


def test_what_a_recorded_server_answered() -> None:
    with OllamaServer() as replaying:
        found = OllamaEmbedder("all-minilm", replaying.url, cache=False).embed(
            ["hello", "world"], role="query"
        )
        assert found[0][:4] == pytest.approx([-0.06284769, 0.05491454, 0.05197675, 0.08576944])


def test_equal_texts_are_sent_once(server: OllamaServer) -> None:
    found = embedder(server).embed(["a", "b", "a"], role="document")
    assert server.sent_texts() == ["a", "b"]
    assert (found[0] == found[2]).all()


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("qwen3-embedding:0.6b", "Instruct: find code\nQuery: x", "x"),
        ("hf.co/Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0", "Instruct: find code\nQuery: x", "x"),
        ("bge-m3", "find codex", "x"),
    ],
)
def test_a_given_instruction(server: OllamaServer, model: str, query: str, document: str) -> None:
    part = OllamaEmbedder(model, server.url, query_instruction="find code", cache=False)
    server.on[EMBED] = lambda body: Answer({"embeddings": [[1.0, 2.0] for _ in body["input"]]})
    part.embed(["x"], role="query")
    part.embed(["x"], role="document")
    assert server.sent_texts() == [query, document]


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        (
            "qwen3-embedding",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: x",
            "x",
        ),
        ("nomic-embed-text:v1.5", "search_query: x", "search_document: x"),
        ("embeddinggemma:300m", "task: search result | query: x", "title: none | text: x"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: x", "x"),
        ("bge-m3", "x", "x"),
        ("all-minilm:l6-v2", "x", "x"),
        ("something-else", "x", "x"),
    ],
)
def test_the_instructions_of_the_families(
    server: OllamaServer, model: str, query: str, document: str
) -> None:
    server.on[EMBED] = lambda body: Answer({"embeddings": [[1.0, 2.0] for _ in body["input"]]})
    part = OllamaEmbedder(model, server.url, cache=False)
    part.embed(["x"], role="query")
    part.embed(["x"], role="document")
    assert server.sent_texts() == [query, document]
    server.requests.clear()
    bare = OllamaEmbedder(model, server.url, query_instruction="", document_instruction="", cache=False)
    bare.embed(["x"], role="query")
    bare.embed(["x"], role="document")
    assert server.sent_texts() == ["x", "x"]


@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\u3000"])
def test_blank_texts_are_never_sent(server: OllamaServer, blank: str) -> None:  # EM-05
    found = embedder(server).embed(["a", blank, "b"], role="document")
    assert server.sent_texts() == ["a", "b"]
    assert not found[1].any()
    assert (found[[0, 2]] == embedder(server, cache=False).embed(["a", "b"], role="document")).all()


def test_only_blank_texts(server: OllamaServer) -> None:
    assert embedder(server).embed(["", " "], role="query").shape == (2, 384)
    assert not {"", " "} & set(server.sent_texts())
    assert embedder(server).embed([], role="query").shape == (0, 384)


def test_a_lone_surrogate_is_sent_as_a_replacement(server: OllamaServer) -> None:
    embedder(server).embed(["a\ud800b", "\ud83d\ude00"], role="document")
    assert server.sent_texts() == ["a\ufffdb", "\U0001f600"]


@pytest.mark.parametrize("at", range(5))
def test_only_the_bad_text_is_reported(server: OllamaServer, at: int) -> None:  # EM-01
    texts = ["a", "b", "c", "d"]
    texts.insert(at, "poison")
    server.on[EMBED] = refusing("poison")
    with pytest.raises(ModelRequestError, match=rf"1 of 5 texts.*text {at} \('poison'\).*NaN") as caught:
        embedder(server).embed(texts, role="document")
    assert (caught.value.positions, caught.value.status) == ((at,), 500)
    # The others are not asked for again.
    server.requests.clear()
    texts.remove("poison")
    assert np.allclose(embedder(server).embed(texts, role="document"), made(*texts), atol=1e-6)
    assert server.sent_texts() == []


def test_several_bad_texts(server: OllamaServer) -> None:
    texts = [str(n) for n in range(20)]
    server.on[EMBED] = refusing("3", "11", "12")
    with pytest.raises(ModelRequestError) as caught:
        embedder(server, batch_size=8).embed(texts, role="document")
    assert caught.value.positions == (3, 11, 12)


def test_a_bad_text_can_be_left_out(server: OllamaServer, caplog: pytest.LogCaptureFixture) -> None:
    server.on[EMBED] = refusing("poison")
    found = embedder(server, bad_texts="skip").embed(["a", "poison", "b"], role="document")
    assert found.any(axis=1).tolist() == [True, False, True]
    assert "text 1 ('poison')" in caplog.text
    with pytest.raises(ModelRequestError):
        embedder(server, bad_texts="skip").embed(["poison"], role="query")


def test_a_server_that_refuses_everything_is_not_asked_for_each_text(server: OllamaServer) -> None:
    server.on[EMBED] = lambda body: NAN_ERROR
    with pytest.raises(ModelRequestError):
        embedder(server, batch_size=200).embed([str(n) for n in range(200)], role="document")
    assert len(server.requests_to(EMBED)) < 40


def test_a_text_that_broke_the_server_once_is_sent_again(server: OllamaServer) -> None:
    server.script(EMBED, Answer({"error": "llama runner process has terminated"}, 500))
    assert embedder(server).embed(["a"], role="query").any()


BAD_VECTORS = {
    "NaN": ([float("nan"), 1.0], "NaN or infinity"),  # EM-02
    "infinity": ([1.0, float("inf")], "NaN or infinity"),
    "too large": ([1.0, 1e300], "NaN or infinity"),
    "empty": ([], "an empty vector"),  # EM-15
    "zeros": ([0.0, -0.0], "a vector of zeros"),  # EM-14
    "longer": ([1.0, 2.0, 3.0], "3 dimensions where 2 are due"),
}


@pytest.mark.parametrize(("bad", "told"), BAD_VECTORS.values(), ids=BAD_VECTORS)
def test_a_bad_vector_is_an_error(server: OllamaServer, bad: list[float], told: str) -> None:
    server.script(EMBED, Answer({"embeddings": [[1.0, 2.0], bad]}))
    with pytest.raises(
        ModelReplyError, match=rf"'all-minilm' on {server.url}.*text 1 \('b'\).*{told}"
    ) as caught:
        embedder(server).embed(["a", "b"], role="document")
    assert caught.value.positions == (1,)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_count_is_an_error(server: OllamaServer, count: int) -> None:  # EM-06
    server.on[EMBED] = lambda body: Answer({"embeddings": [[1.0, 2.0]] * count})
    with pytest.raises(ModelReplyError, match=f"gave {count} vectors for 2 texts"):
        embedder(server).embed(["a", "b"], role="document")


def test_the_old_field_is_an_error(server: OllamaServer) -> None:  # EM-15
    server.script(EMBED, Answer({"embedding": [1.0, 2.0]}))
    with pytest.raises(ModelReplyError, match="wrong fields: embeddings"):
        embedder(server).embed(["a"], role="query")


def test_shorter_vectors(server: OllamaServer) -> None:
    assert embedder(server, dimensions=8).embed(["a"], role="query").shape == (1, 8)
    assert embedder(server).embed(["a"], role="query").shape == (1, 384)
    with pytest.raises(ModelReplyError, match="384 dimensions where 1000 are due"):
        embedder(server, dimensions=1000).embed(["a"], role="query")


# Texts that are too long


def longest(size: int) -> Any:
    return lambda body: TOO_LONG if any(len(text) > size for text in body["input"]) else None


def test_a_text_that_is_too_long_is_an_error(server: OllamaServer) -> None:
    with pytest.raises(ModelRequestError, match=r"text 1 \('word word.*too long for the model \(3000 char"):
        embedder(server).embed(["ok", "word " * 600], role="document")
    assert all(body["truncate"] is False for body in server.requests_to(EMBED))


def test_a_text_is_cut_where_that_is_asked_for(
    server: OllamaServer, caplog: pytest.LogCaptureFixture
) -> None:  # EM-03
    server.on[EMBED] = longest(1000)
    found = embedder(server, truncate=True).embed(["x" * 4000, "ok"], role="document")
    assert np.allclose(found, made("x" * 1000, "ok"), atol=1e-6)
    assert len(server.requests_to(EMBED)) <= 5
    assert caplog.text.count("were cut") == 1
    assert "1000 of 4000 characters of 'xxx" in caplog.text
    # Kept vectors are told as cut too.
    server.requests.clear()
    embedder(server, truncate=True).embed(["x" * 4000], role="document")
    assert (server.sent_texts(), caplog.text.count("were cut")) == ([], 2)
    with pytest.raises(ModelRequestError, match="too long"):
        embedder(server).embed(["x" * 4000], role="document")


def test_a_limit_of_characters(server: OllamaServer, caplog: pytest.LogCaptureFixture) -> None:  # EM-04
    with pytest.raises(ModelRequestError, match="5000 characters, over max_chars=2000") as caught:
        embedder(server, max_chars=2000).embed(["a", "x" * 5000], role="document")
    assert caught.value.positions == (1,)
    assert max(map(len, server.sent_texts())) == 1
    options: dict[str, Any] = {"document_instruction": "text: ", "truncate": True, "max_chars": 2000}
    embedder(server, **options).embed(["x" * 5000, "y" * 1994], role="document")
    assert sorted(map(len, server.sent_texts()))[-2:] == [2000, 2000]
    assert "1 texts are too long" in caplog.text


# Failures


FAULTS = {
    "silence": (NEVER, ModelUnavailableError, "did not answer within 0.4 s"),
    "a drip": (Answer({"embeddings": [[1.0] * 9]}, drip=0.02), ModelUnavailableError, "did not answer"),
    "half an answer": (half({"embeddings": [[1.0] * 99]}), ModelUnavailableError, "the connection to"),
    "hanging up": (HANG_UP, ModelUnavailableError, "the connection to"),
    "an overload": (OVERLOADED, ModelUnavailableError, "server busy"),
    "a proxy": (PROXY, ModelReplyError, "something else than JSON"),
    "a missing model": (recorded("embed_missing_model"), ModelRequestError, "run: ollama pull all-minilm"),
}


@pytest.mark.parametrize(("answer", "kind", "told"), FAULTS.values(), ids=FAULTS)
def test_each_fault_ends_in_its_error_in_time(
    server: OllamaServer, answer: Answer, kind: type[ModelError], told: str
) -> None:  # EM-08, EM-18
    server.script(EMBED, *[answer] * 3)
    started = time.monotonic()
    with pytest.raises(ModelError) as caught:
        embedder(server, timeout=0.4).embed(["a", "b"], role="document")
    assert time.monotonic() - started < 2.0
    assert type(caught.value) is kind
    assert told in str(caught.value)
    assert server.url in str(caught.value)


def test_what_fails_by_chance_is_sent_again(server: OllamaServer) -> None:
    server.script(EMBED, HANG_UP, OVERLOADED)
    assert embedder(server).embed(["a"], role="query").any()


def test_a_slow_first_load(server: OllamaServer) -> None:
    server.script(EMBED, Answer({"embeddings": [[1.0, 2.0]]}, delay=0.05))
    assert embedder(server).embed(["a"], role="query").tolist() == [[1.0, 2.0]]


def test_a_missing_model_says_what_to_do(server: OllamaServer) -> None:  # EM-18
    with pytest.raises(ModelRequestError, match=r"model 'zz' is not on .*run: ollama pull zz") as caught:
        OllamaEmbedder("zz", server.url).embed(["a"], role="query")
    assert caught.value.status == 404
    with pytest.raises(ModelRequestError, match=f"which has: {MINILM}, {SMOLLM}; run: ollama pull zz"):
        OllamaEmbedder("zz", server.url).bound()


# Which model it is


def test_the_model_is_read_from_the_server(server: OllamaServer) -> None:
    part = embedder(server)
    assert (part.digest, part.parameter_size, part.quantization_level) == (None, None, None)
    bound = part.bound()
    assert bound.digest == server.models[MINILM].digest
    assert (bound.parameter_size, bound.quantization_level) == ("22.57M", "F16")
    assert bound.fingerprint() != part.fingerprint()
    assert part.restore(bound.state()).fingerprint() == bound.fingerprint()


def test_another_model_is_an_error_that_says_what_changed(server: OllamaServer) -> None:
    bound = embedder(server).bound()
    server.change_digest(quantization="Q4_0")
    told = r"digest ffffffffffff \(22\.57M, Q4_0\) now.*made with 48f94a357ee9 \(22\.57M, F16\).*--refit"
    with pytest.raises(MismatchError, match=told):
        bound.embed(["a"], role="query")
    with pytest.raises(MismatchError, match=told):
        embedder(server).restore(bound.state())
    with pytest.raises(MismatchError, match=told):
        bound.bound()


def test_another_name_is_an_error(server: OllamaServer) -> None:  # EM-12
    server.add_model(Model("m2:latest", "a" * 64, 384))
    with pytest.raises(MismatchError, match="made with the model 'all-minilm', and this is 'm2'"):
        OllamaEmbedder("m2", server.url).restore(embedder(server).bound().state())


@pytest.mark.parametrize("due", ["48f94a357ee9", "sha256:48f94a357ee9a276", "48F94A357EE9"])
def test_the_expected_digest(server: OllamaServer, due: str) -> None:
    part = embedder(server, expected_digest=due)
    assert part.embed(["a"], role="query").any()
    server.change_digest()
    with pytest.raises(MismatchError, match=r"has the digest ffffffffffff .*but 48f94a357ee9 is expected"):
        part.embed(["a"], role="query")


def test_a_model_that_is_pulled_anew_during_a_long_run(server: OllamaServer) -> None:
    def swap(body: Any) -> None:
        if body["input"] == ["b"]:
            server.change_digest()

    server.on[EMBED] = swap
    with pytest.raises(MismatchError):
        embedder(server, batch_size=1).embed(["a", "b"], role="document")


# Vectors on disk


def test_a_second_build_sends_nothing(server: OllamaServer) -> None:
    texts = ["a", "b", "c"]
    first = embedder(server).embed(texts, role="document")
    server.requests.clear()
    assert (embedder(server).embed(texts, role="document") == first).all()
    assert server.sent_texts() == []
    # By role, instruction, dimensions, model.
    embedder(server).embed(["a"], role="query")
    embedder(server, document_instruction="d: ").embed(["a"], role="document")
    embedder(server, dimensions=4).embed(["a"], role="document")
    server.change_digest()
    embedder(server).embed(["a"], role="document")
    assert server.sent_texts() == ["a", "d: a", "a", "a"]


def test_a_build_that_died_goes_on(server: OllamaServer) -> None:
    texts = [str(n) for n in range(10)]
    server.on[EMBED] = lambda body: HANG_UP if "6" in body["input"] else None
    with pytest.raises(ModelUnavailableError):
        embedder(server, batch_size=2).embed(texts, role="document")
    server.on.clear()
    server.requests.clear()
    assert np.allclose(embedder(server).embed(texts, role="document"), made(*texts), atol=1e-6)
    assert server.sent_texts() == ["6", "7", "8", "9"]


def test_progress_is_told(server: OllamaServer) -> None:
    told: list[tuple[str, int, int | None]] = []
    with watched(lambda *step: told.append(step)):
        embedder(server, batch_size=2).embed(["a", "b", "c"], role="document")
    assert told == [("embed with all-minilm", done, 3) for done in (0, 2, 3)]


# In a leg, and on disk


DOCUMENTS = [
    Document("d1", "close the open connection"),
    Document("d2", "bake bread with flour"),
    Document("d3", ""),
    Document("d4", "poison"),
]


def pipeline(server: OllamaServer, **options: Any) -> Pipeline:
    return Pipeline({"bm25": BM25(), "dense": Dense(embedder(server, **options))})


def test_dense_names_the_document(server: OllamaServer) -> None:
    server.on[EMBED] = refusing("poison")
    with pytest.raises(ModelRequestError, match="documents: 'd4'"):
        pipeline(server).index(DOCUMENTS)
    made = pipeline(server, bad_texts="skip").index(DOCUMENTS)
    assert made.search("poison", k=1, weights={"dense": 0}).hits[0].id == "d4"
    found = made.retrievers["dense"].retrieve(Query("bread and flour"), k=4)
    assert found.ids[0] == "d2"
    assert not {"d3", "d4"} & set(found.ids)


def test_a_saved_pipeline_holds_to_its_model(
    server: OllamaServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = pipeline(server).index(DOCUMENTS[:2])
    before = made.search("open a connection").hits
    made.save(tmp_path / "saved")
    again = Pipeline.load(tmp_path / "saved")
    assert again.search("open a connection").hits == before
    assert again.fingerprint() == made.fingerprint()
    dense = again.retrievers["dense"]
    assert isinstance(dense, Dense)
    assert dense.embedder.digest == server.models[MINILM].digest  # type: ignore[attr-defined]
    server.change_digest()
    with pytest.raises(MismatchError, match="digest ffffffffffff"):
        again.search("another question")
    with pytest.raises(MismatchError, match="digest ffffffffffff"):
        Pipeline.load(tmp_path / "saved")
    # A server that is gone is told, and BM25 goes on alone.
    server.script("/api/tags", OVERLOADED)
    with caplog.at_level(logging.WARNING):
        alone = Pipeline.load(tmp_path / "saved")
    assert "cannot be told now" in caplog.text
    assert alone.search("bread", weights={"dense": 0}).hits[0].id == "d2"
    with pytest.raises(MismatchError, match="digest ffffffffffff"):
        alone.search("bread")


def test_a_configuration_and_the_facts_that_contracts_lock(server: OllamaServer) -> None:
    table = {"use": "ollama", "model": "all-minilm", "host": server.url, "truncate": True}
    config = {"retrievers": {"dense": {"use": "dense", "embedder": table}}}
    facts = method_facts(Pipeline.from_config(config).index(DOCUMENTS[:2]))["dense"]
    due = {
        "model": "all-minilm",
        "model_digest": server.models[MINILM].digest,
        "parameter_size": "22.57M",
        "quantization_level": "F16",
        "query_instruction": None,
        "document_instruction": None,
        "truncate": True,
        "dimensions": 384,
    }
    assert {name: facts[name] for name in due} == due


def test_an_empty_corpus_needs_no_server() -> None:
    part = OllamaEmbedder("all-minilm", "http://127.0.0.1:1", timeout=1.0)
    assert not Pipeline({"dense": Dense(part)}).index([]).search("anything").hits


# Options


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": ""}, "model is ''"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"dimensions": 0}, "dimensions is 0"),
        ({"truncate": 1}, "truncate is 1"),
        ({"max_chars": 0}, "max_chars is 0"),
        ({"bad_texts": "drop"}, "bad_texts is 'drop'"),
        ({"keep_alive": True}, "keep_alive is True"),
        ({"expected_digest": ""}, "expected_digest is ''"),
        ({"query_instruction": 5}, "query_instruction is 5"),
        ({"host": ""}, "host is ''"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValueError, match=told):
        OllamaEmbedder(**{"model": "m", **options})


def test_texts_that_are_none(server: OllamaServer) -> None:
    with pytest.raises(InvalidValueError, match="texts is the str 'abc'"):
        embedder(server).embed("abc", role="query")
    with pytest.raises(InvalidValueError, match="text 1 is int"):
        embedder(server).embed(["a", 5], role="query")  # type: ignore[list-item]
    with pytest.raises(InvalidValueError, match="role is 'passage'"):
        embedder(server).embed(["a"], role="passage")  # type: ignore[arg-type]
    assert not server.requests


def test_it_is_copied_and_pickled(server: OllamaServer) -> None:
    bound = embedder(server, keep_alive="5m").bound()
    again = pickle.loads(pickle.dumps(bound))  # noqa: S301
    assert again.fingerprint() == bound.fingerprint()
    again.embed(["a"], role="query")
    assert server.requests_to(EMBED)[-1]["keep_alive"] == "5m"
    assert repr(bound) == "OllamaEmbedder('all-minilm')"


@settings(max_examples=15)
@given(
    texts=st.lists(st.sampled_from(["a", "b", "c d", "", " ", "bad", "worse"]), max_size=9),
    size=st.integers(1, 4),
)
def test_rows_belong_to_their_texts_whatever_fails(texts: list[str], size: int) -> None:
    """Sent in batches of any size: each good text has its own vector, and just the bad ones are reported."""
    server = _shared[0]
    server.reset()
    server.on[EMBED] = refusing("bad", "worse")
    part = OllamaEmbedder("all-minilm", server.url, batch_size=size, cache=False)
    bad = tuple(row for row, text in enumerate(texts) if text in ("bad", "worse"))
    if bad:
        with pytest.raises(ModelRequestError) as caught:
            part.embed(texts, role="document")
        assert caught.value.positions == bad
    else:
        found = part.embed(texts, role="document")
        due = [made(text)[0] if text.strip() else np.zeros(384) for text in texts]
        assert found.shape == (len(texts), 384)
        assert not texts or np.allclose(found, due, atol=1e-6)


_shared: list[OllamaServer] = []


@pytest.fixture(autouse=True)
def _share(running: OllamaServer) -> None:
    """Hypothesis takes no fixtures of a function."""
    _shared[:] = [running]
