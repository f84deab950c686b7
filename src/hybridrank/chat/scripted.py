"""A chat model that replays what it is given: for tests, demonstrations and recorded answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..errors import InvalidValueError, ModelError
from ..types import ChatReply, ChatRequest, FrozenDict

Scripted: TypeAlias = str | ChatReply | Exception


class ScriptedChat:
    """Gives replies that were written down before.

    Only the replies of a sequence depend on what was asked before. It can be used from several threads.

    Args:
        replies: a text for every request; several, for one request each, and an error for one more; by texts
            that a request may hold, of which the first that its last message holds counts; or a function of
            the request. Instead of a text a `ChatReply` may stand, or an exception, which is raised.
        model: a name for it, shown where the name of a model is.

    Raises:
        InvalidValueError: a reply is none of these.
    """

    def __init__(
        self,
        replies: str
        | ChatReply
        | Sequence[Scripted]
        | Mapping[str, Scripted]
        | Callable[[ChatRequest], Scripted] = "",
        model: str = "scripted",
    ) -> None:
        self._turn = -1
        self._lock = threading.Lock()
        self._requests: list[ChatRequest] = []
        if isinstance(replies, Mapping):
            self._replies: object = FrozenDict(replies)
        elif isinstance(replies, Sequence) and not isinstance(replies, str):
            self._replies = tuple(replies)
        else:
            self._replies = replies
        self._model = model
        given = self._replies
        every = (
            given.values() if isinstance(given, Mapping) else given if isinstance(given, tuple) else (given,)
        )
        for reply in every:
            if not isinstance(reply, str | ChatReply | Exception) and not callable(reply):
                raise InvalidValueError(f"reply is {reply!r:.80}; give a str, a ChatReply or an exception")

    @property
    def replies(self) -> object:
        """What was given."""
        return self._replies

    @property
    def model(self) -> str:
        """Its name."""
        return self._model

    @property
    def requests(self) -> tuple[ChatRequest, ...]:
        """Every request so far, in order."""
        with self._lock:
            return tuple(self._requests)

    def complete(self, request: ChatRequest, /) -> ChatReply:
        """The reply that was written down for this request.

        Raises:
            ModelError: there is none.
            Exception: where one stands for the reply.
        """
        with self._lock:
            self._requests.append(request)
            self._turn += 1
            turn = self._turn
        reply = self._reply(request, turn)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ChatReply):
            return reply
        if not isinstance(reply, str):
            raise InvalidValueError(f"reply is {reply!r:.80}; give a str, a ChatReply or an exception")
        return ChatReply(reply, "stop")

    def _reply(self, request: ChatRequest, turn: int) -> object:
        given = self._replies
        if isinstance(given, tuple):
            if turn < len(given):
                return given[turn]
            raise ModelError(f"all {len(given)} scripted replies were given; write more", model=self._model)
        if isinstance(given, Mapping):
            asked = request.messages[-1].content
            for part, reply in given.items():
                if part in asked:
                    return reply
            raise ModelError(f"no scripted reply for {asked[:80]!r}; write one", model=self._model)
        return given(request) if callable(given) else given

    def __repr__(self) -> str:
        return f"ScriptedChat(model={self._model!r})"
