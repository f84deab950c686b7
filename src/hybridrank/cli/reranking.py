"""A chat model as a reranker by flag: `--rerank-llm`, and what became of its replies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import click

from ..report.reranked import PARSED
from .models import ModelSpec, chat_of, model_option
from .output import Notes

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from ..types import Result

STAGE = "llm"
"""Name of the stage that the flag adds."""

rerank_llm_option = click.option(
    "--rerank-llm",
    metavar="MODEL",
    callback=model_option,
    help="Let a chat model order the best hits, last of all: NAME of Ollama, or openai:NAME.",
)


def check_depth(model: ModelSpec | None, depth: int | None) -> None:
    """Raise for a depth that leaves the model, where one is asked for, nothing to put in order.

    Raises:
        click.UsageError: it is so.
    """
    if model is not None and depth is not None and depth < 2:
        raise click.UsageError(
            f"--rerank-depth {depth} leaves --rerank-llm nothing to put in order; give 2 or more"
        )


def with_llm(pipeline: Pipeline, model: ModelSpec | None, depth: int | None) -> Pipeline:
    """The pipeline with this chat model as its last reranker, or itself without a model.

    Args:
        depth: how many hits the model sees; the reranker's own depth when None.

    Raises:
        ConfigError: it has a stage of that name already.
    """
    if model is None:
        return pipeline
    from ..rerankers.listwise import ListwiseReranker

    check_stage(pipeline.parts())
    chat = chat_of(model)
    llm = ListwiseReranker(chat) if depth is None else ListwiseReranker(chat, depth=depth)
    return pipeline.with_(rerankers={**pipeline.rerankers, STAGE: llm})


def llm_patch(config: Mapping[str, Any], model: ModelSpec, depth: int | None) -> dict[str, Any]:
    """What `with_llm` does to a pipeline, as the patch of its configuration.

    Raises:
        ConfigError: it has a stage of that name already.
    """
    table = {"use": "listwise", "chat": model.table(), **({} if depth is None else {"depth": depth})}
    rerankers = config.get("rerankers", {})
    if isinstance(rerankers, Mapping):
        check_stage({*rerankers, *config.get("retrievers", {})})
        return {"rerankers": {**rerankers, STAGE: table}}
    return {"rerankers": [*rerankers, table]}


def check_stage(stages: Collection[str]) -> None:
    """Raise where the name of the stage is taken.

    Raises:
        ConfigError: it is.
    """
    from ..errors import ConfigError

    if STAGE in stages:
        raise ConfigError(
            f"the pipeline has a stage {STAGE!r} already; change its chat model in the configuration, "
            "or leave out --rerank-llm"
        )


def tell_reranking(notes: Notes, result: Result) -> None:
    """One line on stderr for each reply that was used; fallbacks are warnings, and told as such."""
    for event in result.events:
        if event.code == PARSED:
            notes.note(event.message)
