"""Every part that hybridrank registers keeps the laws of its kind; a new one is covered at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hybridrank import ComponentInfo, components
from hybridrank.chat.scripted import ScriptedChat
from hybridrank.testing import checks_for
from ollama_server import MINILM, SMOLLM, OllamaServer

BUILT_IN = [info for info in components() if info.built_in]
# A real encoder, which takes seconds for a long text; only the first time, since it keeps vectors.
SLOW = {"e5"}
CASES = [
    pytest.param(
        info,
        check,
        id=f"{info.kind}-{info.name}-{law}",
        marks=[pytest.mark.slow] if info.name in SLOW else [],
    )
    for info in BUILT_IN
    for law, check in checks_for(info.kind)
]


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Vectors are not kept where the user's are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HYBRIDRANK_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def needed(info: ComponentInfo, server: OllamaServer) -> dict[str, Any]:
    """The arguments without which a part cannot work: those of parts that ask a model."""
    needs: dict[tuple[str, str], dict[str, Any]] = {
        ("validator", "direct-evidence"): {
            "chat": ScriptedChat('{"answer": "yes", "quotes": ["token", "open_connection"]}')
        },
        ("reranker", "listwise"): {"chat": ScriptedChat("[2, 0, 1]")},
        ("chat", "ollama"): {"model": SMOLLM, "host": server.url},
        ("chat", "openai-compatible"): {"model": SMOLLM, "base_url": f"{server.url}/v1", "key_env": ""},
        ("embedder", "ollama"): {"model": MINILM, "host": server.url, "cache": False},
        ("embedder", "openai-compatible"): {
            "model": MINILM,
            "base_url": f"{server.url}/v1",
            "key_env": "",
            "cache": False,
        },
        ("reranker", "api"): {"base_url": server.url, "provider": "jina", "key_env": ""},
    }
    return needs.get((info.kind, info.name), {})


@pytest.mark.parametrize(("info", "check"), CASES)
def test_a_part_keeps_the_laws_of_its_kind(
    info: ComponentInfo, check: Callable[[Any], None], server: OllamaServer
) -> None:
    make = info.load()
    check(lambda: make(**needed(info, server)))


@pytest.mark.parametrize("info", BUILT_IN, ids=lambda info: f"{info.kind}-{info.name}")
def test_a_part_shows_its_options(info: ComponentInfo, server: OllamaServer) -> None:
    given = needed(info, server)
    part = info.load()(**given)
    for option in info.options():
        assert not option.required or option.name in given, f"{option.name} of {info.name} has no default"
        assert option.annotation, f"{option.name} of {info.name} has no type"
        assert hasattr(part, option.name), f"{info.name} has no attribute {option.name}"
        with pytest.raises((AttributeError, TypeError)):
            setattr(part, option.name, option.default)
    assert repr(part).startswith(info.load().__name__)


def test_there_are_parts_of_each_kind_that_a_search_needs() -> None:
    kinds = {info.kind for info in BUILT_IN}
    assert {"retriever", "fuser", "reranker", "embedder", "chunker", "tokenizer", "normalizer"} <= kinds
