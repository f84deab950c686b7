"""The laws of chat models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..protocols import ChatModel
from ..types import ChatMessage, ChatReply, ChatRequest
from .checking import Make, answered, expect, in_threads, refused, shortened

Law = Callable[[Make], None]

_SCHEMA = {"type": "array", "items": {"type": "integer", "enum": [0, 1]}, "minItems": 2, "maxItems": 2}


def _request(text: str, **options: Any) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), max_tokens=16, **options)


_REQUESTS = (
    _request("Is Python a programming language? Answer yes or no."),
    ChatRequest((ChatMessage("system", "Be brief."), ChatMessage("user", "你好")), seed=3, max_tokens=16),
    _request("Order the IDs 0 and 1.", schema=_SCHEMA, stop=("\n\n",), context_window=512),
    _request("a lone surrogate \ud800, a NUL \0, an emoji \U0001f600"),
)


def chat_protocol(make: Make) -> None:
    """It has the method, and refuses a keyword that it does not know."""
    part = make()
    expect(isinstance(part, ChatModel), f"{part!r} has no method complete")
    request = _REQUESTS[0]
    refused("complete(request, no_such_option=1)", TypeError, part.complete, request, no_such_option=1)


def replies(make: Make) -> None:
    """Each request gets a reply with a text; what is not known of it is None or "", never made up."""
    part = make()
    for request in _REQUESTS:
        reply = _reply(part, request)
        asked = f"reply to {shortened(request.messages[-1].content)}"
        expect(type(reply.text) is str, f"{asked} has the text {shortened(reply.text)}")
        expect(type(reply.finish_reason) is str, f"{asked} has the finish reason {reply.finish_reason!r}")
        for name in ("prompt_tokens", "reply_tokens"):
            count = getattr(reply, name)
            expect(count is None or (type(count) is int and count >= 0), f"{asked} has {name} {count!r}")
        expect(reply.seconds >= 0, f"{asked} took {reply.seconds!r} seconds")


def replied_again(make: Make) -> None:
    """At temperature 0 the same request gets the same text: again, from a second part, in several threads."""
    part, twin = make(), make()
    first = [_reply(part, request).text for request in _REQUESTS]
    for ask, how in ((part, "the second time"), (twin, "from an equal part")):
        again = [_reply(ask, request).text for request in _REQUESTS]
        expect(again == first, f"other replies {how}: {shortened(again)} and {shortened(first)}")
    beside = in_threads(lambda request: _reply(part, request).text, _REQUESTS)
    expect(beside == first, f"other replies in threads: {shortened(beside)} and {shortened(first)}")


def _reply(part: ChatModel, request: ChatRequest) -> ChatReply:
    asked = f"complete({shortened(request.messages[-1].content)})"
    reply = answered(asked, part.complete, request)
    expect(isinstance(reply, ChatReply), f"{asked} gave {shortened(reply)}, no ChatReply")
    return reply  # type: ignore[no-any-return]


CHAT_LAWS: tuple[Law, ...] = (chat_protocol, replies, replied_again)
