"""Chat models of any server that answers `/v1/chat/completions`."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from ..errors import InvalidValueError, ModelReplyError, ModelRequestError
from ..http import post_json, without_credentials
from ..types import ChatReply, ChatRequest, FrozenDict
from .checking import check_model, check_timeout, messages_of

logger = logging.getLogger("hybridrank")

BASE_URL = "OPENAI_BASE_URL"
"""Environment variable with the address of the server, where no option gives it."""


@dataclass(frozen=True, slots=True)
class OpenAICompatibleChat:
    """Asks a chat model of a server that speaks as OpenAI's does: vLLM, llama.cpp, LM Studio, hosted ones.

    A schema goes into `response_format`; a server that refuses it is asked again without, with a warning in
    the log. The route knows no context window, no time to keep a model loaded and no switch for thinking, so
    those of a request are not sent; `extra` takes what a server has for them.

    Args:
        model: as the server names it.
        base_url: address of the server up to `/v1`; the environment variable OPENAI_BASE_URL when `""`.
        key_env: environment variable with the key; `""` for none.
        timeout: seconds for an answer, retries included, where the request names none.
        extra: further fields of each request, e.g. `{"chat_template_kwargs": {"enable_thinking": false}}`.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    model: str
    base_url: str = ""
    key_env: str = "OPENAI_API_KEY"
    timeout: float = 120.0
    extra: Mapping[str, Any] = field(default_factory=FrozenDict, hash=False)

    def __post_init__(self) -> None:
        check_model(self.model)
        check_timeout(self.timeout)
        if "@" in self.base_url:
            raise InvalidValueError(
                "base_url holds a user or a key; put the key into the environment, see key_env"
            )
        object.__setattr__(self, "extra", FrozenDict(self.extra))

    def complete(self, request: ChatRequest, /) -> ChatReply:
        """The model's answer.

        Raises:
            InvalidValueError: no option and no environment variable gives the address.
            ModelUnavailableError: no server, no answer in time, or a passing failure at every attempt.
            ModelRequestError: the server refused: no such model, a wrong key, a prompt that is too long.
            ModelReplyError: the reply holds no answer.
        """
        started = perf_counter()
        base = self.base_url or os.environ.get(BASE_URL, "")
        if not base:
            raise InvalidValueError(
                f"there is no address for model {self.model!r}; give base_url, or set {BASE_URL}, "
                "e.g. to http://127.0.0.1:8000/v1"
            )
        url = base.rstrip("/") + "/chat/completions"
        fields = {
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "max_tokens": request.max_tokens,
        }
        body = {
            "model": self.model,
            "messages": messages_of(request),
            "temperature": request.temperature,
            **{name: value for name, value in fields.items() if value is not None},
            "stream": False,
            **self.extra,
        }
        timeout = self.timeout if request.timeout is None else request.timeout
        try:
            form = {"response_format": _form(request.schema), **body} if request.schema else body
            reply = self._post(url, form, timeout)
        except ModelRequestError as error:
            if not request.schema or not any(word in str(error) for word in ("response_format", "schema")):
                raise
            logger.warning(
                f"model {self.model!r} is asked without a schema, which its server refused: {error}"
            )
            reply = self._post(url, body, max(timeout - (perf_counter() - started), 1e-3))
        return self._read(reply, without_credentials(url), perf_counter() - started)

    def _post(self, url: str, body: Mapping[str, Any], timeout: float) -> Any:
        return post_json(url, body, model=self.model, key_env=self.key_env, timeout=timeout)

    def _read(self, reply: Any, server: str, seconds: float) -> ChatReply:
        try:
            choice = reply["choices"][0]
            text = choice["message"].get("content")
            usage = reply.get("usage") or {}
            finish = choice.get("finish_reason") or ""
            counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
            fits = isinstance(text, str | None) and isinstance(finish, str)
        except (KeyError, IndexError, TypeError, AttributeError):
            fits = False
        if not fits:
            raise ModelReplyError(
                f"model {self.model!r}: {server} answered {str(reply)[:120]!r}, without a message; "
                "is that the address of a chat server, up to /v1?",
                server=server,
                model=self.model,
                status=200,
            )
        prompt, told = (count if type(count) is int else None for count in counts)
        return ChatReply(text or "", finish, prompt, told, seconds)


def _form(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
