"""A definition behind the line that imports it and beside the file that holds it."""

from __future__ import annotations

import pytest

from hybridrank.rerankers.definition_first import DefinitionFirst
from hybridrank.types import Document, Query, Ranking

IMPORT = Document(
    "src/rag_chat.py:4-4",
    "from build_index import build_index",
    path="src/rag_chat.py",
    start_line=4,
    end_line=4,
    kind="import",
    name="build_index",
)
FUNCTION = Document(
    "src/build_index.py:42-80",
    "def build_index(): ...",
    path="src/build_index.py",
    start_line=42,
    end_line=80,
    kind="function",
    name="build_index",
)
FILE = Document(
    "src/build_index.py:1-100",
    "...",
    path="src/build_index.py",
    start_line=1,
    end_line=100,
    kind="file",
    name="build_index",
)


@pytest.mark.parametrize("scope", ["always", "named"])
def test_build_index(scope: str) -> None:
    fused = Ranking.from_scores(Query("build_index"), [(IMPORT, 0.032), (FUNCTION, 0.030), (FILE, 0.028)])
    reranked = DefinitionFirst(scope=scope).rerank(fused, k=3)  # type: ignore[arg-type]
    assert [(hit.id, round(hit.score, 3)) for hit in reranked] == [
        ("src/build_index.py:42-80", 0.830),
        ("src/rag_chat.py:4-4", 0.532),
        ("src/build_index.py:1-100", 0.528),
    ]
    assert fused.ids == ("src/rag_chat.py:4-4", "src/build_index.py:42-80", "src/build_index.py:1-100")
    assert [hit.score for hit in fused] == [0.032, 0.030, 0.028]
