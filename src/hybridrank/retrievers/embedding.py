"""What a leg asks of an embedder, and the checks that a broken one does not get past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import ContractError, ModelError
from ..protocols import Embedder, Fingerprinted, FitEmbedder, Fittable, Served


def fit_embed_checked(
    embedder: Embedder, texts: Sequence[str], ids: Sequence[str], *, stage: str
) -> tuple[Embedder, NDArray[Any]]:
    """The embedder, fitted to the texts or held to its model, and their vectors, shape (texts, dimensions).

    For no texts nothing is embedded, and the vectors have shape (0, 1).

    Raises:
        ContractError: the vectors are not one row of finite numbers per text; `ids` names the documents.
    """
    # What fits is an embedder again, which the protocols cannot express.
    if isinstance(embedder, FitEmbedder):
        embedder, vectors = cast("tuple[Embedder, object]", embedder.fit_embed(texts))
        return embedder, _checked_documents(vectors, embedder, ids, stage)
    if isinstance(embedder, Fittable):
        embedder = cast("Embedder", embedder.fit(texts))
    if isinstance(embedder, Served) and texts:
        embedder = cast("Embedder", embedder.bound())
    return embedder, embed_documents(embedder, texts, ids, stage=stage)


def embed_documents(
    embedder: Embedder, texts: Sequence[str], ids: Sequence[str], *, stage: str
) -> NDArray[Any]:
    """The document vectors of the texts by the embedder as it is, as `fit_embed_checked` gives them."""
    try:
        vectors = embedder.embed(texts, role="document") if texts else ()
    except ModelError as error:
        if error.positions:
            shown = ", ".join(repr(ids[position]) for position in error.positions[:5])
            more = ", …" if len(error.positions) > 5 else ""
            error.args = (f"{error}; documents: {shown}{more}",)
        raise
    return _checked_documents(vectors, embedder, ids, stage)


def _checked_documents(vectors: object, embedder: Embedder, ids: Sequence[str], stage: str) -> NDArray[Any]:
    if not ids:
        return np.zeros((0, 1))
    checked = _matrix(vectors, embedder, len(ids), stage)
    if bad := _not_finite(checked):
        name = type(embedder).__name__
        raise ContractError(
            stage, f"got NaN or infinity from {name} for documents", [ids[row] for row in bad]
        )
    return checked


def embed_checked(embedder: Embedder, queries: Sequence[str], *, stage: str) -> NDArray[Any]:
    """The query vectors of the texts, shape (queries, dimensions).

    Raises:
        ContractError: they are not one row of finite numbers per text.
    """
    vectors = _matrix(embedder.embed(queries, role="query"), embedder, len(queries), stage)
    if bad := _not_finite(vectors):
        name = type(embedder).__name__
        raise ContractError(stage, f"got NaN or infinity from {name} for the query {queries[bad[0]][:80]!r}")
    return vectors


def identity_of(embedder: Embedder) -> str:
    """Its fingerprint; without one the name of its class, which is all that is known."""
    if isinstance(embedder, Fingerprinted):
        return embedder.fingerprint()
    return f"{type(embedder).__module__}.{type(embedder).__qualname__}"


def _matrix(raw: object, embedder: Embedder, texts: int, stage: str) -> NDArray[Any]:
    due = f"for {texts} texts from {type(embedder).__name__}; due is one row of numbers for each, in order"
    try:
        vectors = np.asarray(raw)
    except ValueError as error:
        raise ContractError(stage, f"got vectors of unlike lengths {due}") from error
    if vectors.ndim != 2:
        raise ContractError(stage, f"got an array of shape {vectors.shape} {due}")
    if len(vectors) != texts:
        raise ContractError(stage, f"got {len(vectors)} vectors {due}")
    if not vectors.shape[1]:
        raise ContractError(stage, f"got empty vectors {due}")
    if vectors.dtype.kind not in "fiu":
        raise ContractError(stage, f"got vectors of {vectors.dtype} {due}")
    return vectors


def _not_finite(vectors: NDArray[Any]) -> list[int]:
    rows: list[int] = np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()
    return rows
