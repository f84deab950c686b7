"""Chat models of an Ollama server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ..errors import ModelRequestError
from ..types import ChatReply, ChatRequest
from .checking import check_model, check_timeout, messages_of

_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class OllamaChat:
    """Asks a chat model of an Ollama server, through the official client.

    Everything in a `ChatRequest` is sent: the schema as `format`, the context window as `num_ctx`, the token
    limit as `num_predict`, whether to think as `think`. A model that cannot think is asked again without that
    where the server refuses it. What a model thought aloud is no part of its reply: a model that only thought
    gives an empty one, as one does whose prompt was longer than its context window.

    Args:
        model: its name on the server, e.g. `qwen3:0.6b`.
        host: address of the server; the environment variable OLLAMA_HOST when None, else
            http://127.0.0.1:11434.
        timeout: seconds for an answer, retries included, where the request names none. The first one after a
            while also waits until the model is loaded.
        keep_alive: how long the server keeps the model loaded, e.g. "10m", where the request says nothing;
            `""` leaves that to the server.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    model: str
    host: str | None = None
    timeout: float = _TIMEOUT
    keep_alive: str = ""

    def __post_init__(self) -> None:
        check_model(self.model)
        check_timeout(self.timeout)

    def complete(self, request: ChatRequest, /) -> ChatReply:
        """The model's answer.

        Raises:
            ModelUnavailableError: no server, no answer in time, or a passing failure at every attempt.
            ModelRequestError: the server refused: no such model, one that cannot chat, a bad schema.
            ModelReplyError: the reply is not what an Ollama server sends.
        """
        started = perf_counter()
        options = {
            "temperature": request.temperature,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "num_predict": request.max_tokens,
            "num_ctx": request.context_window,
        }
        call: dict[str, Any] = {
            "messages": messages_of(request),
            "format": dict(request.schema) or None,
            "options": {name: value for name, value in options.items() if value is not None},
            "keep_alive": _duration(request.keep_alive or self.keep_alive),
        }
        timeout = self.timeout if request.timeout is None else request.timeout
        try:
            reply = self._ask({**call, "think": request.thinking}, timeout)
        except ModelRequestError as error:
            if "thinking" not in str(error):
                raise
            reply = self._ask(call, max(timeout - (perf_counter() - started), 1e-3))
        return ChatReply(
            text=reply.message.content or "",
            # A reply that says it is not done was cut, by whatever stands between.
            finish_reason=reply.done_reason or ("length" if reply.done is False else ""),
            prompt_tokens=reply.prompt_eval_count,
            reply_tokens=reply.eval_count,
            seconds=perf_counter() - started,
        )

    def _ask(self, call: Mapping[str, Any], timeout: float) -> Any:
        from ..ollama_client import ask

        return ask(
            lambda client: client.chat(self.model, stream=False, **call),
            host=self.host,
            model=self.model,
            timeout=timeout,
        )


def _duration(text: str) -> float | str | None:
    """As the client takes it: a plain number is one of seconds, negative for ever."""
    try:
        return float(text)
    except ValueError:
        return text or None
