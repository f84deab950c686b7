"""The tests' own model server: what it makes up agrees with what a real one answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from hybridrank.http import get_json
from ollama_server import OllamaServer, recorded_exchanges

# Long texts were not recorded whole, and no made-up answer cuts a text.
NOT_MADE_UP = {"embed_num_ctx_16", "embed_long_truncate_false"}
EMBEDDINGS = [
    entry
    for entry in recorded_exchanges()
    if entry["path"] == "/api/embed"
    and isinstance(entry["request"], dict)
    and entry["name"] not in NOT_MADE_UP
]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(limits=httpx.Limits(max_keepalive_connections=0)) as client:
        yield client


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[OllamaServer, OllamaServer]]:
    with OllamaServer(replay=False) as made_up, OllamaServer() as replaying:
        yield made_up, replaying


def shape(value: Any) -> Any:
    """What two answers of one kind have in common: keys, types, lengths of vectors."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items() if "duration" not in key}
    if isinstance(value, list):
        return [len(value), shape(value[0])] if value else []
    return "number" if isinstance(value, int | float) else type(value).__name__


@pytest.mark.parametrize("entry", EMBEDDINGS, ids=lambda entry: entry["name"])
def test_made_up_embeddings_look_like_recorded_ones(
    entry: dict[str, Any], servers: tuple[OllamaServer, OllamaServer], client: httpx.Client
) -> None:
    for server in servers:
        reply = client.post(f"{server.url}/api/embed", json=entry["request"])
        assert (reply.status_code, shape(reply.json())) == (entry["status"], shape(entry["response"]))


def test_made_up_models_are_the_recorded_ones() -> None:
    tags = next(entry for entry in recorded_exchanges() if entry["name"] == "tags")
    with OllamaServer(replay=False) as server:
        found = get_json(f"{server.url}/api/tags")["models"]
        wanted = tags["response"]["models"]
        for key in ("name", "digest", "details"):
            assert [one[key] for one in found] == [one[key] for one in wanted]
