"""For whoever tests parts: conformance checks, and Hypothesis strategies for the values.

    from hybridrank.testing import check_reranker

    def test_my_reranker():
        check_reranker(MyReranker)

The strategies are in `hybridrank.testing.strategies` and need the extra `testing`.
"""

from __future__ import annotations

from .checking import ConformanceError
from .conformance import (
    check_chat,
    check_chunker,
    check_embedder,
    check_fuser,
    check_measure,
    check_normalizer,
    check_reranker,
    check_retriever,
    check_tokenizer,
    check_validator,
    checks_for,
)

__all__ = [
    "ConformanceError",
    "check_chat",
    "check_chunker",
    "check_embedder",
    "check_fuser",
    "check_measure",
    "check_normalizer",
    "check_reranker",
    "check_retriever",
    "check_tokenizer",
    "check_validator",
    "checks_for",
]
