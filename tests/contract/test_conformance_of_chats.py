"""The laws of chat models pass sound ones and catch broken ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from hybridrank import ChatReply, ChatRequest
from hybridrank.testing import ConformanceError, check_chat, checks_for


class Echo:
    def complete(self, request: ChatRequest, /) -> ChatReply:
        return ChatReply(request.messages[-1].content, "stop", 1, 0, 0.5)


class NoComplete: ...


class TakesAnything(Echo):
    def complete(self, request: ChatRequest, /, **more: Any) -> ChatReply:
        return super().complete(request)


class PlainText:
    def complete(self, request: ChatRequest, /) -> Any:
        return "yes"


class NoText:
    def complete(self, request: ChatRequest, /) -> ChatReply:
        return ChatReply(None)  # type: ignore[arg-type]


class NoReason:
    def complete(self, request: ChatRequest, /) -> ChatReply:
        return ChatReply("a", None)  # type: ignore[arg-type]


class NegativeCounts:
    def complete(self, request: ChatRequest, /) -> ChatReply:
        return ChatReply("a", prompt_tokens=-1)


class BackInTime:
    def complete(self, request: ChatRequest, /) -> ChatReply:
        return ChatReply("a", seconds=-1)


class AsciiOnly(Echo):
    def complete(self, request: ChatRequest, /) -> ChatReply:
        request.messages[-1].content.encode("ascii")
        return super().complete(request)


class Counts:
    calls = itertools.count()

    def complete(self, request: ChatRequest, /) -> ChatReply:
        return ChatReply(str(next(self.calls)))


BROKEN: dict[str, list[Callable[[], Any]]] = {
    "chat_protocol": [NoComplete, TakesAnything],
    "replies": [PlainText, NoText, NoReason, NegativeCounts, BackInTime, AsciiOnly],
    "replied_again": [Counts],
}


def test_a_sound_model_passes() -> None:
    check_chat(Echo)


def test_every_law_has_parts_that_break_it() -> None:
    assert set(BROKEN) == set(dict(checks_for("chat")))


@pytest.mark.parametrize(("law", "part"), [(law, part) for law, parts in BROKEN.items() for part in parts])
def test_a_broken_part_is_caught(law: str, part: Callable[[], Any]) -> None:
    with pytest.raises(ConformanceError) as caught:
        dict(checks_for("chat"))[law](part)
    assert caught.value.law == law
    with pytest.raises(ConformanceError):
        check_chat(part)
