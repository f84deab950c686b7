"""What can be reached of model servers: version, models, digests; what cannot, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .errors import HybridRankError, ModelReplyError, ModelUnavailableError
from .http import get_json, without_credentials

OPENAI_BASE_URL, OPENAI_API_KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
KEYS = (OPENAI_API_KEY, "CO_API_KEY", "JINA_API_KEY", "VOYAGE_API_KEY")
"""Environment variables with keys of services that parts can ask."""

_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server has; what it does not tell is empty."""

    name: str
    digest: str = ""
    parameter_size: str = ""
    quantization: str = ""
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A model server.

    Attributes:
        kind: ollama or openai.
        address: `""` where none is known.
        reached: whether it answered as such a server does.
        problem: why not.
        advice: what to do.
    """

    kind: str
    address: str
    reached: bool
    version: str = ""
    models: tuple[ServedModel, ...] = ()
    problem: str = ""
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers."""
        return {**asdict(self), "models": [asdict(model) for model in self.models]}


def ollama_server(host: str | None = None, *, timeout: float = _SECONDS) -> Server:
    """The Ollama server at that address, or where OLLAMA_HOST says.

    Raises:
        InvalidValueError: the address is none.
    """
    from .ollama_client import ask, server_of

    address = without_credentials(server_of(host))
    try:
        version = get_json(f"{server_of(host)}/api/version", timeout=timeout, retries=0)
        if not isinstance(version, dict) or not isinstance(version.get("version"), str):
            raise ModelReplyError(f"{address} has no version at /api/version; is that an Ollama server?")
        listed = ask(lambda client: client.list(), host=host, timeout=timeout, retries=0)
    except HybridRankError as error:
        advice = "start it with: ollama serve; where it runs elsewhere, set OLLAMA_HOST"
        if not isinstance(error, ModelUnavailableError):
            advice = "set OLLAMA_HOST to the address of an Ollama server"
        return Server("ollama", address, False, problem=str(error), advice=advice)
    models = tuple(
        ServedModel(
            one.model or "",
            one.digest or "",
            (one.details and one.details.parameter_size) or "",
            (one.details and one.details.quantization_level) or "",
            None if one.size is None else int(one.size),
        )
        for one in listed.models
    )
    advice = "" if models else "it has no models yet; run e.g.: ollama pull bge-m3"
    return Server("ollama", address, True, version["version"], models, advice=advice)


def openai_server(base_url: str = "", *, timeout: float = _SECONDS) -> Server:
    """The server at that address, or where OPENAI_BASE_URL says, that speaks as OpenAI's does."""
    base = (base_url or os.environ.get(OPENAI_BASE_URL, "")).rstrip("/")
    if not base:
        advice = f"to use one, set {OPENAI_BASE_URL}, e.g. to http://127.0.0.1:8000/v1"
        return Server("openai", "", False, problem=f"{OPENAI_BASE_URL} is not set", advice=advice)
    address = without_credentials(base)
    try:
        listed = get_json(f"{base}/models", key_env=OPENAI_API_KEY, timeout=timeout, retries=0)
        found = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(found, list):
            raise ModelReplyError(f"{address}/models has no list 'data'; does the address end in /v1?")
    except HybridRankError as error:
        advice = f"see that it runs, and set {OPENAI_BASE_URL} to its address up to /v1"
        return Server("openai", address, False, problem=str(error), advice=advice)
    names = [one["id"] for one in found if isinstance(one, dict) and isinstance(one.get("id"), str)]
    return Server("openai", address, True, models=tuple(map(ServedModel, names)))


def keys(names: Sequence[str] = KEYS) -> Mapping[str, bool]:
    """Which of these environment variables are set; never what they hold."""
    return {name: bool(os.environ.get(name, "").strip()) for name in names}
