"""What a chat model is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from ..errors import InvalidValueError
from .frozen import FrozenDict, as_tuples

ChatRole: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of a conversation."""

    role: ChatRole
    content: str

    def __post_init__(self) -> None:
        if self.role not in get_args(ChatRole):
            raise InvalidValueError(f"role is {self.role!r}; give one of {', '.join(get_args(ChatRole))}")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One completion, asked for so that it can be repeated.

    Attributes:
        messages: oldest first, at least one.
        temperature: 0 or more; 0 takes the likeliest token.
        seed: for models that sample.
        stop: texts at which the answer ends.
        max_tokens: the longest answer, in tokens; the model's own limit when None.
        context_window: tokens of prompt and answer together; the model's own when None.
        schema: a JSON Schema that the answer should follow, empty for free text.
        thinking: whether a model that can think aloud may.
        timeout: seconds to wait for the whole answer; the client's own when None.
        keep_alive: how long the server keeps the model loaded, as the server writes it; `""` is its default.

    Raises:
        InvalidValueError: there is no message, or a number is out of range.
    """

    messages: tuple[ChatMessage, ...]
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    context_window: int | None = None
    schema: Mapping[str, Any] = field(default_factory=FrozenDict, hash=False)
    thinking: bool = False
    timeout: float | None = None
    keep_alive: str = ""

    def __post_init__(self) -> None:
        as_tuples(self, "messages", "stop")
        object.__setattr__(self, "schema", FrozenDict(self.schema))
        if not self.messages:
            raise InvalidValueError("messages is empty; give at least one ChatMessage")
        if not self.temperature >= 0:
            raise InvalidValueError(f"temperature is {self.temperature!r}; give 0 or more")
        for name in ("max_tokens", "context_window", "timeout"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidValueError(f"{name} is {value!r}; give more than 0, or None")


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a chat model answered.

    Attributes:
        text: the answer, without what the model thought aloud.
        finish_reason: as the server says it, e.g. `"stop"`, or `"length"` where the token limit cut it.
        prompt_tokens, reply_tokens: as counted by the server; None where it does not say.
        seconds: wall time.
    """

    text: str
    finish_reason: str = ""
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    seconds: float = 0.0
