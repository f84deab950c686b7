"""Validators as flags of a search: which one judges, and what it made of the hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .models import ModelSpec, chat_of
from .output import Notes

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from ..types import Result

JUDGED = "judged"
"""Code of the event that counts a validator's verdicts."""


def with_validator(
    pipeline: Pipeline, *, validate: bool, model: ModelSpec | None, rerank_model: ModelSpec | None = None
) -> Pipeline:
    """The pipeline with the validator that the flags ask for, in place of its own; itself without flags.

    Args:
        validate: without a model, rare strings that query and hit share decide (`LexicalEvidence`).
        model: this chat model decides (`DirectEvidence`); so does `rerank_model` where `validate` is set.
    """
    chosen = model or (rerank_model if validate else None)
    if chosen is not None:
        from ..validators.direct_evidence import DirectEvidence

        return pipeline.with_(validator=DirectEvidence(chat_of(chosen)))
    if validate:
        from ..validators.lexical_evidence import LexicalEvidence

        return pipeline.with_(validator=LexicalEvidence())
    return pipeline


def tell_verdicts(notes: Notes, pipeline: Pipeline, result: Result) -> None:
    """One line on stderr: which validator judged, and how many were accepted, rejected and undecided."""
    from ..registry import name_of

    for event in result.events:
        if event.code == JUDGED and pipeline.validator is not None:
            name = name_of("validator", pipeline.validator)
            model = getattr(pipeline.validator, "model", "")
            notes.note(f"validator {name}{f' ({model})' if model else ''}: {event.message}")
