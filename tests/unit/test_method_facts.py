"""The facts of methods: what contracts lock of a pipeline."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hybridrank import BM25, RRF, ConfigError, DefinitionFirst, Dense, Document, Pipeline
from hybridrank.evaluation.facts import compare_facts, method_facts, prompt_hashes, same, score_fields, seeds


def test_equality_of_facts() -> None:
    assert same(60, 60.0)
    assert same({"a": [1, "x"]}, {"a": (1.0, "x")})
    for one, other in ((True, 1), (False, 0), ("1", 1), (None, 0), ([1], [1, 2]), ({"a": 1}, {})):
        assert not same(one, other)


def test_facts_of_a_pipeline_with_rerankers() -> None:
    documents = [Document(str(number), f"word{number} text") for number in range(4)]
    pipeline = Pipeline(
        {"dense": Dense(), "bm25": BM25(k1=1.5)}, RRF(weights={"bm25": 2}), {"definition": DefinitionFirst()}
    ).index(documents)
    facts = method_facts(pipeline)
    assert list(facts) == ["dense", "bm25", "hybrid", "pipeline"]
    assert facts["dense"]["model"] == "lsa"
    assert facts["dense"]["dimensions"] == 4
    assert facts["bm25"]["k1"] == 1.5
    assert facts["hybrid"]["weights"] == {"bm25": 2}
    assert facts["hybrid"]["same_candidate_set_required"] is False
    assert facts["pipeline"]["reranker_enabled"] is True
    assert seeds(facts) == {"dense.options.embedder.seed": 0}
    assert score_fields(facts)["dense"] == "cosine_similarity"
    assert len(set(score_fields(facts).values())) == 4
    assert json.loads(json.dumps(facts)) == facts
    assert [breach.where for breach in compare_facts("bm25", {"k1": 1.2, "b": 0.75}, facts["bm25"])] == [
        "methods.bm25.k1"
    ]
    assert list(method_facts(pipeline.without("dense", "definition"))) == ["bm25"]
    assert list(method_facts(Pipeline({"a": BM25(), "b": BM25()}, RRF(weights={"a": 0})))) == ["b"]
    with pytest.raises(ConfigError, match="named 'hybrid'"):
        method_facts(Pipeline({"hybrid": BM25()}))


class Remote:
    """An embedder that tells what it runs, as one behind a server would."""

    model = "qwen3-embedding:4b"
    digest = "sha256:ab"
    parameter_size = "4.0B"
    quantization = "Q4_K_M"
    instruction = "Given a question, retrieve passages."
    truncate = False
    prompt = "Instruct: {}"

    def __init__(self, *, api_key: str = "") -> None:
        self.api_key = api_key

    def embed(self, texts: Any, /, *, role: str) -> Any:
        import numpy as np

        return np.ones((len(texts), 3), np.float32)


def test_facts_of_a_model_and_no_secrets() -> None:
    pipeline = Pipeline({"dense": Dense(Remote(api_key="hush"))}).index([Document("a", "x")])
    facts = method_facts(pipeline)["dense"]
    assert facts["model"] == "qwen3-embedding:4b"
    assert facts["model_digest"] == "sha256:ab"
    assert facts["parameter_size"] == "4.0B"
    assert facts["quantization_level"] == "Q4_K_M"
    assert facts["query_instruction"] == "Given a question, retrieve passages."
    assert facts["truncate"] is False
    assert facts["dimensions"] == 3
    assert "hush" not in json.dumps(facts)
    assert prompt_hashes(pipeline) == {}
