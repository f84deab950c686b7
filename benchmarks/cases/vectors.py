"""Exact dense search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridrank import Dense, Query
from hybridrank.retrievers.numbered import NumberedDocuments

from .harness import Options, Row, check, each, row


class Given:
    """An embedder that looks the vector of a query up."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str], /, *, role: str) -> Any:
        return self.vectors[[int(text) for text in texts]]


def dense(options: Options) -> Iterator[Row]:
    import faiss

    size, width = options.size(1_000_000, 5000), 256
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((size, width), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    asked = rng.standard_normal((20, width), np.float32)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    embedder: Any = Given(asked)
    documents = NumberedDocuments(size)
    identity = f"{Given.__module__}.{Given.__qualname__}"
    state = {"vectors": rows, "digest": "", "identity": identity, "fitted": size, "changed": 0}
    ours = Dense(embedder).restore(state, documents)
    flat = faiss.IndexFlatIP(width)
    flat.add(rows)
    names = [str(number) for number in documents.order.tolist()]

    def ask_ours(number: int) -> list[tuple[str, float]]:
        return [(hit.id, hit.score) for hit in ours.retrieve(Query(str(number)), k=80)]

    def ask_faiss(number: int) -> list[tuple[str, float]]:
        scores, found = flat.search(asked[number : number + 1], 80)
        return [(names[at], float(score)) for at, score in zip(found[0], scores[0], strict=True)]

    def ask_numpy(number: int) -> list[tuple[str, float]]:
        scores = rows @ asked[number]
        found = np.argpartition(scores, size - 80)[size - 80 :]
        found = found[np.argsort(-scores[found])]
        return [(names[at], float(scores[at])) for at in found.tolist()]

    numbers = list(range(len(asked)))
    agreement = check("dense", [(ask_ours(number), ask_faiss(number)) for number in numbers])
    times = each(options, numbers, {"ours": ask_ours, "faiss": ask_faiss, "numpy": ask_numpy})
    work = f"dense top-80, {size:,} × 256 float32"
    yield row(work, "faiss-cpu flat", "≥ 1", times, "faiss", agreement=agreement)
    yield row(work, "numpy matmul and argpartition", "≥ 1", times, "numpy", agreement=agreement)
