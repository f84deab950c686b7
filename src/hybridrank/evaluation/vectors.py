"""Document and query vectors of a run as records, each with a hash of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..pipeline import Pipeline
from ..request import is_blank
from ..retrievers.embedding import embed_checked
from ..text.fields import searchable_text
from ..types import Query
from .facts import text_sha256

_KEPT = ("model", "model_digest", "dimensions")


def vector_sha256(vector: ArrayLike) -> str:
    """SHA-256 of the numbers as little-endian float32, in order."""
    return sha256(np.ascontiguousarray(vector, "<f4").tobytes()).hexdigest()


def vector_legs(pipeline: Pipeline) -> tuple[str, ...]:
    """The legs that have an embedder and tell the vectors of their documents."""
    return tuple(
        name
        for name, leg in pipeline.retrievers.items()
        if hasattr(leg, "embedder") and hasattr(leg, "vectors") and hasattr(leg, "documents")
    )


def document_vectors(pipeline: Pipeline, facts: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One record for each document and leg with vectors: of length 1, or 0 where there is none."""
    for name in vector_legs(pipeline):
        leg: Any = pipeline.retrievers[name]
        if name not in facts:
            continue
        told = {key: facts[name].get(key) for key in _KEPT}
        fields = getattr(leg, "fields", ("text",))
        for document, vector in zip(leg.documents, leg.vectors, strict=True):
            yield {
                "leg": name,
                "id": document.id,
                "text_sha256": text_sha256(searchable_text(document, fields)),
                **told,
                "vector_sha256": vector_sha256(vector),
                "vector": [float(number) for number in vector],
            }


def query_vectors(
    pipeline: Pipeline, facts: Mapping[str, Mapping[str, Any]], searched: Mapping[str, str]
) -> list[dict[str, Any]]:
    """One record for each case and leg with vectors: what the embedder gives for the text searched with.

    Queries without a letter or digit have none.

    Args:
        searched: the text that parts searched with, by case id.

    Raises:
        ContractError: the embedder does not give one finite vector per text.
    """
    records = []
    asked = [case for case, text in searched.items() if not is_blank(Query(text))]
    for name in vector_legs(pipeline):
        leg: Any = pipeline.retrievers[name]
        if name not in facts or not asked:
            continue
        told = {key: facts[name].get(key) for key in _KEPT}
        vectors = embed_checked(leg.embedder, [searched[case] for case in asked], stage=name)
        for case, vector in zip(asked, vectors, strict=True):
            records.append(
                {
                    "leg": name,
                    "case_id": case,
                    "query_input": searched[case],
                    "query_input_sha256": text_sha256(searched[case]),
                    **told,
                    "vector_sha256": vector_sha256(vector),
                    "vector": [float(number) for number in np.asarray(vector, "<f4")],
                }
            )
    return records
