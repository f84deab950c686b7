"""Requests to model servers: what fails, how it is told, and when it ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from hybridrank import (
    InvalidValueError,
    ModelError,
    ModelReplyError,
    ModelRequestError,
    ModelUnavailableError,
    http,
    ollama_client,
)
from hybridrank.http import post_json, shortened, without_credentials
from hybridrank.ollama_client import ask, server_of
from ollama_server import HANG_UP, NEVER, OVERLOADED, PROXY, Answer, OllamaServer, half, recorded

KEY = "sk-secret-123"


@pytest.fixture(scope="module")
def running() -> Iterator[OllamaServer]:
    with OllamaServer() as server:
        yield server


@pytest.fixture
def server(running: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> OllamaServer:
    monkeypatch.setattr(http, "PAUSE", 0.005)
    running.reset()
    return running


def post(server: OllamaServer, timeout: float = 5.0, **options: Any) -> Any:
    return post_json(f"{server.url}/x", {"a": 1}, model="m", timeout=timeout, **options)


def test_what_passes_is_tried_again(server: OllamaServer) -> None:
    server.script("/x", OVERLOADED, HANG_UP, Answer({"ok": True}))
    assert post(server) == {"ok": True}
    assert len(server.requests_to("/x")) == 3


@pytest.mark.parametrize(
    ("answer", "kind", "status", "requests", "told"),
    [
        (OVERLOADED, ModelUnavailableError, 503, 3, "answered 503: server busy, please try again"),
        (HANG_UP, ModelUnavailableError, None, 3, "the connection to"),
        (half({"a": "b" * 100}), ModelUnavailableError, None, 3, "the connection to"),
        (PROXY, ModelReplyError, 200, 1, "something else than JSON (text/html): <html>"),
        (Answer({"error": "bad format"}, 500), ModelRequestError, 500, 1, "answered 500: bad format"),
        (Answer({"error": {"message": "no"}}, 401), ModelRequestError, 401, 1, "is the key right"),
        (Answer({"detail": "too big"}, 413), ModelRequestError, 413, 1, "too big"),
        (Answer(b"nothing here", 404, "text/plain"), ModelRequestError, 404, 1, "nothing here"),
        (Answer(b"", 302, headers=(("Location", "/y"),)), ModelRequestError, 302, 1, "(nothing)"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_each_failure_has_its_error(
    server: OllamaServer, answer: Answer, kind: type[ModelError], status: int | None, requests: int, told: str
) -> None:
    server.script("/x", *[answer] * requests)
    with pytest.raises(ModelError) as caught:
        post(server)
    error = caught.value
    assert (type(error), error.status, error.model) == (kind, status, "m")
    assert told in str(error)
    assert server.url in str(error)
    assert error.server.startswith(server.url)
    assert len(server.requests_to("/x")) == requests


@pytest.mark.parametrize("answer", [NEVER, Answer({"a": "b" * 50}, drip=0.02)], ids=["silent", "dripping"])
def test_the_deadline_holds_for_all_of_it(server: OllamaServer, answer: Answer) -> None:  # EM-08
    server.script("/x", answer, answer)
    started = time.monotonic()
    with pytest.raises(ModelUnavailableError, match=r"did not answer within 0\.2 s; raise timeout"):
        post(server, timeout=0.2)
    assert time.monotonic() - started < 2.0


def test_a_server_that_wants_more_time_than_there_is_ends_at_once(server: OllamaServer) -> None:
    server.script("/x", Answer({"error": "later"}, 429, headers=(("Retry-After", "60"),)))
    with pytest.raises(ModelUnavailableError, match="answered 429: later"):
        post(server)
    assert len(server.requests_to("/x")) == 1


def test_no_server(server: OllamaServer) -> None:
    with pytest.raises(
        ModelUnavailableError, match=r"cannot connect to http://127\.0\.0\.1:1/x: .*start the"
    ):
        post_json("http://127.0.0.1:1/x", {}, timeout=2.0)


def test_the_key_comes_from_the_environment_and_stays_there(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    server.script("/x", Answer({"error": {"message": f"Incorrect key {KEY}, see our page"}}, 401))
    with pytest.raises(ModelRequestError) as caught:
        post(server, key_env="SOME_KEY")
    assert "Incorrect key ***" in str(caught.value)
    assert KEY not in repr(caught.value) + str(vars(caught.value))
    assert server.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
    monkeypatch.delenv("SOME_KEY")
    server.script("/x", Answer({}))
    post(server, key_env="SOME_KEY")
    assert "Authorization" not in server.requests[-1].headers
    monkeypatch.setenv("SOME_KEY", "schlüssel")
    with pytest.raises(InvalidValueError, match="the key in SOME_KEY cannot be used"):
        post(server, key_env="SOME_KEY")


def test_an_address_that_is_none() -> None:
    for url in ("ftp://host/x", "host", "http://"):
        with pytest.raises((InvalidValueError, ModelUnavailableError)):
            post_json(url, {}, timeout=1.0, retries=0)


def test_addresses_are_shown_without_credentials() -> None:
    assert without_credentials("https://me:secret@host:1/v1?key=k#f") == "https://host:1/v1"
    assert without_credentials("me:secret@host/v1") == "host/v1"


def test_what_a_server_says_cannot_steer_a_terminal() -> None:
    assert shortened("a\x1b[2J\n b\u202e") == "a\\x1b[2J b\\u202e"
    assert len(shortened("x" * 1000)) == 200


# The official client


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        (NEVER, ModelUnavailableError, "did not answer within 0.3 s"),
        (HANG_UP, ModelUnavailableError, "the connection to"),
        (half({"embeddings": [[1.0] * 50]}), ModelUnavailableError, "the connection to"),
        (PROXY, ModelReplyError, "something else than JSON: <html>"),
        (Answer({"model": "m"}), ModelReplyError, "wrong fields: embeddings"),
        (Answer([1, 2]), ModelReplyError, "no JSON object"),
        (Answer({"embeddings": [["x"]]}), ModelReplyError, "wrong fields: embeddings"),
        (Answer([1], 500), ModelReplyError, "no JSON object"),
        (recorded("embed_missing_model"), ModelRequestError, "run: ollama pull m"),
        (recorded("show_missing"), ModelRequestError, "run: ollama pull m"),
        (recorded("unknown_path"), ModelRequestError, "answered 404: 404 page not found"),
        (recorded("chat_format_bad_string"), ModelRequestError, "answered 500: invalid format"),
        (Answer(b"\xff\xfe", 200), ModelReplyError, "JSON"),
    ],
)
def test_all_failures_of_the_client_are_ours(  # EM-18 among them
    server: OllamaServer, answer: Answer, kind: type[ModelError], told: str
) -> None:
    server.script("/api/embed", *[answer] * 3)
    with pytest.raises(ModelError) as caught:
        ask(lambda client: client.embed("m", ["x"]), host=server.url, model="m", timeout=0.3)
    assert type(caught.value) is kind
    assert told in str(caught.value)
    assert server.url in str(caught.value)


def test_no_ollama_server() -> None:
    with pytest.raises(ModelUnavailableError, match=r"cannot connect to http://127\.0\.0\.1:1: .*refused"):
        ask(lambda client: client.list(), host="http://127.0.0.1:1", timeout=2.0)


def test_the_host_that_is_given_comes_before_the_environment(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:  # EM-09
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    assert server_of() == "http://127.0.0.1:11434"
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    assert server_of() == server.url
    assert len(ask(lambda client: client.list()).models) == 2
    assert server_of("http://127.0.0.1:8") == "http://127.0.0.1:8"
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:8"):
        ask(lambda client: client.list(), host="http://127.0.0.1:8", timeout=2.0)
    with pytest.raises(InvalidValueError, match="host is 'http://\\[', which is no address"):
        server_of("http://[")


def test_a_client_for_each_host_is_made_once(server: OllamaServer) -> None:
    assert ollama_client.client_for(server.url) is ollama_client.client_for(server.url)
