"""Models as the command line names them: `NAME`, `ollama:NAME` of Ollama, `openai:NAME` of other servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ..errors import InvalidValueError

if TYPE_CHECKING:
    from ..protocols import ChatModel

_PARTS = {"ollama": "ollama", "openai": "openai-compatible"}


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model by the server that it runs on.

    Attributes:
        provider: `ollama`, or `openai` for any server that speaks as OpenAI's does.
        name: the model's name there, its tag included: `qwen3:0.6b`.
    """

    provider: str
    name: str

    def table(self, **options: Any) -> dict[str, Any]:
        """The table that stands for it in a configuration; options that are None are left out."""
        given = {key: value for key, value in options.items() if value is not None}
        return {"use": _PARTS[self.provider], "model": self.name, **given}

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


def parse_model(text: str) -> ModelSpec:
    """The model that a text names. A colon in the name of a model is no prefix: `bge-m3:latest` is Ollama's.

    Raises:
        InvalidValueError: it names none.
    """
    prefix, colon, rest = text.strip().partition(":")
    spec = (
        ModelSpec(prefix, rest.strip()) if colon and prefix in _PARTS else ModelSpec("ollama", text.strip())
    )
    if not spec.name or not spec.name.isprintable() or " " in spec.name:
        raise InvalidValueError(
            f"model is {text!r}; give NAME or ollama:NAME for Ollama, openai:NAME for a server at "
            "OPENAI_BASE_URL"
        )
    return spec


def model_option(context: click.Context, param: click.Parameter, given: str | None) -> ModelSpec | None:
    """Callback of options that take a model."""
    if given is None:
        return None
    try:
        return parse_model(given)
    except InvalidValueError as error:
        raise click.BadParameter(str(error), context, param) from error


def chat_of(spec: ModelSpec) -> ChatModel:
    """The chat model of that name; whether its server has it shows when it is asked."""
    if spec.provider == "openai":
        from ..chat.openai_compatible import OpenAICompatibleChat

        return OpenAICompatibleChat(spec.name)
    from ..chat.ollama import OllamaChat

    return OllamaChat(spec.name)
