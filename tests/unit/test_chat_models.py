"""Chat models: what is sent, what comes back, and what every kind of failure becomes."""

from __future__ import annotations

import logging
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hybridrank import ChatMessage, ChatReply, ChatRequest, InvalidValueError, ModelError
from hybridrank.chat.ollama import OllamaChat
from hybridrank.chat.openai_compatible import OpenAICompatibleChat
from hybridrank.chat.scripted import ScriptedChat
from hybridrank.errors import ModelReplyError, ModelRequestError, ModelUnavailableError
from hybridrank.protocols import ChatModel
from ollama_server import (
    HANG_UP,
    NEVER,
    OVERLOADED,
    PROXY,
    SMOLLM,
    Answer,
    OllamaServer,
    half,
    recorded,
    recorded_exchanges,
)

CHAT, V1 = "/api/chat", "/v1/chat/completions"
SCHEMA = {"type": "array", "items": {"type": "integer", "enum": [0, 1]}, "minItems": 2, "maxItems": 2}


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _fast_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hybridrank.http.PAUSE", 0.001)


def asked(text: str = "hello", **options: Any) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), **options)


def ollama(server: OllamaServer, **options: Any) -> OllamaChat:
    return OllamaChat(SMOLLM, host=server.url, **options)


def openai(server: OllamaServer, **options: Any) -> OpenAICompatibleChat:
    return OpenAICompatibleChat(SMOLLM, base_url=f"{server.url}/v1", **options)


Make = Callable[[OllamaServer], ChatModel]
both = pytest.mark.parametrize(("make", "path"), [(ollama, CHAT), (openai, V1)], ids=["ollama", "openai"])


def test_everything_in_a_request_is_sent_to_ollama(server: OllamaServer) -> None:
    request = ChatRequest(
        (ChatMessage("system", "be brief"), ChatMessage("user", "hi")),
        temperature=0.5,
        seed=7,
        stop=("]",),
        max_tokens=9,
        context_window=512,
        schema=SCHEMA,
        keep_alive="10m",
    )
    ollama(server).complete(request)
    assert server.requests_to(CHAT) == [
        {
            "model": SMOLLM,
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
            "stream": False,
            "think": False,
            "format": SCHEMA,
            "options": {"temperature": 0.5, "seed": 7, "stop": ["]"], "num_predict": 9, "num_ctx": 512},
            "keep_alive": "10m",
            "tools": [],
        }
    ]


def test_what_a_request_leaves_open_is_left_to_ollama(server: OllamaServer) -> None:
    ollama(server).complete(asked())
    (sent,) = server.requests_to(CHAT)
    assert sent["options"] == {"temperature": 0.0, "seed": 0}
    assert "format" not in sent
    assert "keep_alive" not in sent


@pytest.mark.parametrize(("given", "sent"), [("10m", "10m"), ("0", 0.0), ("-1", -1.0)])
def test_keep_alive_is_written_as_ollama_takes_it(server: OllamaServer, given: str, sent: object) -> None:
    ollama(server, keep_alive=given).complete(asked())
    assert server.requests_to(CHAT)[0]["keep_alive"] == sent


def test_everything_that_the_route_knows_is_sent_to_other_servers(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    chat = openai(server, extra={"chat_template_kwargs": {"enable_thinking": False}})
    reply = chat.complete(
        asked(stop=("]",), max_tokens=9, schema=SCHEMA, context_window=512, keep_alive="1m")
    )
    (sent,) = server.requests_to(V1)
    assert sent == {
        "model": SMOLLM,
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.0,
        "seed": 0,
        "stop": ["]"],
        "max_tokens": 9,
        "stream": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
        },
        "chat_template_kwargs": {"enable_thinking": False},
    }
    assert server.requests[0].headers["Authorization"] == "Bearer sk-secret"
    assert reply == ChatReply("hello", "stop", 1, reply.reply_tokens, reply.seconds)
    assert "sk-secret" not in repr(chat)


def test_the_address_of_other_servers_comes_from_the_environment(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    chat = OpenAICompatibleChat(SMOLLM)
    with pytest.raises(InvalidValueError, match="OPENAI_BASE_URL"):
        chat.complete(asked())
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1/")
    assert chat.complete(asked()).text == "hello"


REPLAYED = [
    entry["name"]
    for entry in recorded_exchanges()
    if entry["path"] == CHAT and entry["status"] == 200 and "ndjson" not in entry["content_type"]
]


@pytest.mark.parametrize("name", REPLAYED)
def test_a_recorded_reply_is_read(server: OllamaServer, name: str) -> None:
    answer = recorded(name)
    server.script(CHAT, answer)
    reply = ollama(server).complete(asked())
    assert reply.text == answer.body["message"]["content"]
    assert reply.finish_reason == answer.body["done_reason"]
    assert reply.prompt_tokens == answer.body.get("prompt_eval_count")
    assert reply.reply_tokens == answer.body.get("eval_count")
    assert reply.seconds > 0


def test_a_model_that_only_thinks_gives_an_empty_reply(server: OllamaServer) -> None:  # LR-11
    message = {"role": "assistant", "content": "", "thinking": "[1, 0]"}
    server.script(CHAT, Answer({"model": SMOLLM, "message": message, "done": True, "done_reason": "stop"}))
    assert ollama(server).complete(asked()).text == ""


def test_a_reply_that_is_not_done_was_cut(server: OllamaServer) -> None:
    message = {"role": "assistant", "content": "[1, 0"}
    server.script(CHAT, Answer({"model": SMOLLM, "message": message, "done": False}))
    assert ollama(server).complete(asked()).finish_reason == "length"
    server.script(CHAT, Answer({"model": SMOLLM, "message": message, "done": True}))
    assert ollama(server).complete(asked()).finish_reason == ""


def test_a_model_that_cannot_think_is_asked_again_without(server: OllamaServer) -> None:  # LR-13
    server.script(CHAT, recorded("chat_think_true_unsupported"))
    assert ollama(server).complete(asked(thinking=True)).text == "hello"
    first, second = server.requests_to(CHAT)
    assert first["think"] is True
    assert "think" not in second
    server.script(CHAT, *2 * [recorded("chat_think_true_unsupported")])
    with pytest.raises(ModelRequestError, match="does not support thinking"):
        ollama(server).complete(asked(thinking=True))


def test_a_server_that_knows_no_schema_is_asked_without_and_it_is_told(
    server: OllamaServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(V1, Answer({"error": {"message": "response_format is not supported"}}, 400))
    assert openai(server).complete(asked(schema=SCHEMA)).text == "hello"
    assert "response_format" not in server.requests_to(V1)[1]
    assert "without a schema" in caplog.text
    server.script(V1, Answer({"error": {"message": "response_format is not supported"}}, 400))
    with pytest.raises(ModelRequestError):
        openai(server).complete(asked())


@both
@pytest.mark.parametrize(
    ("answers", "error", "told"),
    [
        ([PROXY], ModelReplyError, "else than JSON"),
        ([Answer([1, 2])], ModelReplyError, "server"),
        ([Answer({"error": "no"}, 400)], ModelRequestError, "no"),
        ([recorded("chat_missing_model")], ModelRequestError, "not found"),
        ([OVERLOADED] * 3, ModelUnavailableError, "busy"),
        ([HANG_UP] * 3, ModelUnavailableError, "connection"),
        ([NEVER], ModelUnavailableError, "within 0.2 s"),
        ([half({"message": {"content": "x" * 500}})] * 3, ModelUnavailableError, "connection"),
    ],
)
def test_a_failure_is_one_of_our_errors(
    server: OllamaServer, make: Any, path: str, answers: list[Answer], error: type[ModelError], told: str
) -> None:
    server.script(path, *answers)
    with pytest.raises(error, match=told) as caught:
        make(server, timeout=0.2).complete(asked())
    assert caught.value.model == SMOLLM


@both
def test_what_fails_by_chance_is_tried_again(server: OllamaServer, make: Make, path: str) -> None:
    server.script(path, HANG_UP, OVERLOADED)
    assert make(server).complete(asked()).text == "hello"
    assert len(server.requests) == 3


@both
def test_a_request_s_timeout_goes_before_the_model_s(server: OllamaServer, make: Make, path: str) -> None:
    server.script(path, NEVER)
    with pytest.raises(ModelUnavailableError, match=r"within 0\.05 s"):
        make(server).complete(asked(timeout=0.05))


@both
def test_a_text_that_is_no_unicode_is_sent_all_the_same(server: OllamaServer, make: Make, path: str) -> None:
    assert make(server).complete(asked("a\ud800b")).text == "a?b"


@both
def test_models_are_values(server: OllamaServer, make: Make, path: str) -> None:
    chat = make(server)
    assert pickle.loads(pickle.dumps(chat)) == chat  # noqa: S301 - our own
    assert isinstance(chat, ChatModel)
    assert hash(chat) == hash(make(server))


@pytest.mark.parametrize(
    "body", [{}, {"choices": []}, {"choices": [{"message": {"content": [1]}}]}, None, "x"]
)
def test_a_reply_without_a_message_is_an_error(server: OllamaServer, body: object) -> None:
    server.script(V1, Answer(body))
    with pytest.raises(ModelReplyError, match="without a message"):
        openai(server).complete(asked())


def test_a_reply_may_be_empty(server: OllamaServer) -> None:
    server.script(V1, Answer({"choices": [{"message": {"content": None}, "finish_reason": "length"}]}))
    reply = openai(server).complete(asked())
    assert (reply.text, reply.finish_reason, reply.prompt_tokens) == ("", "length", None)


@pytest.mark.parametrize("kind", [OllamaChat, OpenAICompatibleChat])
@pytest.mark.parametrize(
    ("option", "value"), [("model", ""), ("model", 3), ("timeout", 0), ("timeout", True)]
)
def test_wrong_options_are_refused_by_name(kind: Any, option: str, value: object) -> None:
    with pytest.raises(InvalidValueError, match=option):
        kind(**{"model": "m", option: value})


def test_an_address_with_a_key_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="environment") as caught:
        OpenAICompatibleChat("m", base_url="http://user:secret@host/v1")
    assert "secret" not in str(caught.value)


# Scripted


def test_one_scripted_reply_stands_for_all() -> None:
    chat = ScriptedChat("yes")
    assert [chat.complete(asked(text)).text for text in "ab"] == ["yes", "yes"]
    assert [request.messages[0].content for request in chat.requests] == ["a", "b"]


def test_scripted_replies_in_turn() -> None:
    chat = ScriptedChat(["one", ChatReply("two", "length"), ModelReplyError("three")])
    assert chat.complete(asked()).text == "one"
    assert chat.complete(asked()).finish_reason == "length"
    with pytest.raises(ModelReplyError, match="three"):
        chat.complete(asked())
    with pytest.raises(ModelError, match="all 3 scripted replies"):
        chat.complete(asked())


def test_scripted_replies_by_what_is_asked() -> None:
    chat = ScriptedChat({"red": "1", "green": "2"})
    assert chat.complete(asked("a green leaf")).text == "2"
    with pytest.raises(ModelError, match="blue"):
        chat.complete(asked("blue"))


def test_a_function_scripts_replies() -> None:
    chat = ScriptedChat(lambda request: request.messages[-1].content.upper())
    assert chat.complete(asked("a")).text == "A"
    with pytest.raises(InvalidValueError, match="reply is 3"):
        ScriptedChat(lambda request: 3).complete(asked())  # type: ignore[arg-type,return-value]


def test_scripted_replies_are_given_once_across_threads() -> None:
    chat = ScriptedChat([str(number) for number in range(40)])
    found: list[str] = []

    def ask() -> None:
        found.extend(chat.complete(asked()).text for _ in range(10))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=int) == [str(number) for number in range(40)]


@pytest.mark.parametrize("replies", [3, ["a", 3], {"a": None}])
def test_what_is_no_reply_is_refused(replies: Any) -> None:
    with pytest.raises(InvalidValueError, match="reply is"):
        ScriptedChat(replies)


def test_nothing_is_logged_where_all_is_well(server: OllamaServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        openai(server).complete(asked(schema=SCHEMA))
    assert not caplog.records
