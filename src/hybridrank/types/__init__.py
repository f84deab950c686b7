"""The values that flow through a pipeline. All are frozen; nothing is ever mutated.

A `Document` is what is retrieved, a `Ranking` is an ordered answer of one part, a `Result` is the answer of
a pipeline with its `Trace`: which stage saw what, in which order, with which scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from .chat import ChatMessage, ChatReply, ChatRequest
from .documents import Document, Filter, Query, SourceFile, check_id, location, tie_key
from .frozen import FrozenDict
from .ranking import Component, Event, Hit, Level, Ranking, check_k
from .result import Answer, Contribution, Quote, Result, Stage, Trace, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """One row per text, float32, shape (number of texts, dimensions)."""

Role: TypeAlias = Literal["query", "document"]

__all__ = [
    "Answer",
    "ChatMessage",
    "ChatReply",
    "ChatRequest",
    "Component",
    "Contribution",
    "Document",
    "Event",
    "Filter",
    "FrozenDict",
    "Hit",
    "Level",
    "Query",
    "Quote",
    "Ranking",
    "Result",
    "Role",
    "SourceFile",
    "Stage",
    "Trace",
    "Verdict",
    "check_id",
    "check_k",
    "location",
    "tie_key",
]
