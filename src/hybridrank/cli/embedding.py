"""`--embed`: another embedding model for the leg that embeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click

from .models import ModelSpec, model_option

Config: TypeAlias = str | Path | Mapping[str, Any]
Patch: TypeAlias = Callable[[Config], dict[str, Any]]

embed_option = click.option(
    "--embed",
    metavar="MODEL",
    callback=model_option,
    help="Embedding model: NAME of Ollama, or openai:NAME.  [default: the configuration's, else LSA]",
)
truncate_option = click.option(
    "--embed-truncate",
    is_flag=True,
    help="Cut texts that are too long for the embedding model, and say so; else they are an error.",
)


def embed_patch(model: ModelSpec | None, truncate: bool) -> Patch | None:
    """What the flags do to a configuration; None if they are not given.

    Raises:
        UsageError: one is given without the other.
    """
    if truncate and model is None:
        raise click.UsageError("--embed-truncate goes with --embed")
    return None if model is None else partial(with_embedder, model=model, truncate=truncate)


def with_embedder(config: Config, model: ModelSpec, *, truncate: bool = False) -> dict[str, Any]:
    """The configuration with this model in the place of each embedder of its legs.

    A leg that has the model already stays as it is, its other options included.

    Raises:
        ConfigError: no leg has an embedder.
    """
    from ..assembly import unused
    from ..config import load_config
    from ..errors import ConfigError

    loaded, wanted = load_config(config), model.table(truncate=truncate or None)
    resources = loaded.get("resources", {})
    needless = set(unused(resources, _rest(loaded)))
    found = False
    legs = loaded.get("retrievers", {})
    for leg in legs.values() if isinstance(legs, dict) else legs:
        table = resources.get(leg[1:]) if isinstance(leg, str) else leg
        if isinstance(table, dict) and (table.get("use") == "dense" or "embedder" in table):
            found = True
            embedder = table.get("embedder")
            if isinstance(embedder, str):
                embedder = resources.get(embedder[1:])
            if not (isinstance(embedder, dict) and wanted.items() <= embedder.items()):
                table["embedder"] = wanted
    if not found:
        message = f'no leg embeds texts, so --embed {model} has no place; add one with use = "dense"'
        raise ConfigError(message, where="retrievers")
    # What only the old embedder needed would be refused as unused.
    for name in unused(resources, _rest(loaded)):
        if name not in needless:
            del resources[name]
    return loaded


def _rest(config: Mapping[str, Any]) -> list[Any]:
    return [value for key, value in config.items() if key != "resources"]
