"""How the command line names models."""

from __future__ import annotations

import pytest

from hybridrank import InvalidValueError
from hybridrank.cli.models import ModelSpec, parse_model


@pytest.mark.parametrize(
    ("text", "provider", "name"),
    [
        ("qwen3", "ollama", "qwen3"),
        ("qwen3:0.6b", "ollama", "qwen3:0.6b"),
        ("ollama:bge-m3", "ollama", "bge-m3"),
        ("ollama:qwen3-embedding:0.6b", "ollama", "qwen3-embedding:0.6b"),
        ("openai:voyage-code-3", "openai", "voyage-code-3"),
        ("openai:org/model:free", "openai", "org/model:free"),
        ("hf.co/org/model:Q4", "ollama", "hf.co/org/model:Q4"),
        (" qwen3 ", "ollama", "qwen3"),
        ("OLLAMA:x", "ollama", "OLLAMA:x"),
    ],
)
def test_a_spec_names_a_server_and_a_model(text: str, provider: str, name: str) -> None:
    assert parse_model(text) == ModelSpec(provider, name)


@pytest.mark.parametrize("text", ["", "  ", "ollama:", "openai: ", "two words", "a\nb"])
def test_what_names_no_model_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="ollama:NAME"):
        parse_model(text)


def test_the_table_of_a_configuration() -> None:
    assert parse_model("openai:m").table(base_url="http://x/v1", timeout=None) == {
        "use": "openai-compatible",
        "model": "m",
        "base_url": "http://x/v1",
    }
    assert str(parse_model("m")) == "ollama:m"
