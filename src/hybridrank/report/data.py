"""Results as plain JSON types; equal answers give equal bytes. The fields are documented in docs/cli.md."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any

from ..types import Hit, Result
from .explanation import dropped_words, steps
from .reranked import Move, moves

SEARCH_SCHEMA = 1
"""Raised when a field changes its meaning or goes away; new fields do not raise it."""


def result_data(result: Result, *, text: bool = False, explain: bool = False) -> dict[str, Any]:
    """Query, hits, verdicts and events of a result. Without timings, so that equal answers are equal bytes.

    Args:
        text: with the text of each hit.
        explain: with each hit's `explanation`: one entry per stage that ran.
    """
    searched = result.trace.query if result.trace.stages else result.query
    moved = moves(result)
    return {
        "query": {
            "typed": result.query.typed,
            "text": searched.text,
            "dropped": dropped_words(result),
        },
        "hits": [
            _hit(result, rank, hit, text, explain) | _move(moved, hit)
            for rank, hit in enumerate(result.hits, 1)
        ],
        "verdicts": [
            {
                "id": verdict.id,
                "answer": verdict.answer,
                "accepted": verdict.accepted,
                "reason": verdict.reason,
                "quotes": [quote.text for quote in verdict.quotes],
                "places": [
                    {"in_source": quote.in_source, "in_document": quote.in_document}
                    for quote in verdict.quotes
                ],
            }
            for verdict in result.verdicts
        ],
        "events": [plain(event.to_dict()) for event in result.events],
    }


def dumps(value: Any) -> str:
    """Indented JSON, not ASCII only; lone surrogates become JSON escapes, so that it is valid UTF-8."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain(value: Any) -> Any:
    """The value in JSON's types: sets sorted, numbers of numpy as Python's, non-finite ones as strings."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    # The repr of an object may hold its address, which differs between runs.
    return str(value) if isinstance(value, PurePath) else f"<{type(value).__name__}>"


def _move(moved: Mapping[str, Move], hit: Hit) -> dict[str, Any]:
    """Only where a language model ordered the hits; None for one that it did not see."""
    if not moved:
        return {}
    move = moved.get(hit.id)
    told = None if move is None else {"stage": move.stage, "before": move.before, "after": move.after}
    return {"reranked": told}


def _hit(result: Result, rank: int, hit: Hit, text: bool, explain: bool) -> dict[str, Any]:
    document = hit.document
    data: dict[str, Any] = {
        "rank": rank,
        "score": float(hit.score),
        "id": document.id,
        "path": document.path,
        "start_line": document.start_line,
        "end_line": document.end_line,
        "kind": document.kind,
        "name": document.name,
        "qualified_name": document.qualified_name,
        "language": document.language,
        "components": {name: {"rank": c.rank, "score": float(c.score)} for name, c in hit.components.items()},
    }
    if text:
        data["text"] = document.text
    if explain:
        data["explanation"] = [
            {
                "stage": step.stage,
                "kind": step.kind,
                "rank_before": step.rank_before,
                "rank": step.rank,
                "score": None if step.score is None else float(step.score),
                "of": step.size,
                "contributions": [
                    {"name": one.name, "value": plain(one.value), "detail": one.detail}
                    for one in step.contributions
                ],
            }
            for step in steps(result, hit)
        ]
    return data
