"""`--embed`: another embedding model for the leg that embeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from .models import ModelSpec, model_option

embed_option = click.option(
    "--embed",
    metavar="MODEL",
    callback=model_option,
    help="Embedding model: NAME of Ollama, or openai:NAME.  [default: the configuration's, else LSA]",
)


def with_embedder(config: str | Path | Mapping[str, Any], model: ModelSpec) -> dict[str, Any]:
    """The configuration with this model in the place of each embedder of its legs.

    A leg that has the model already stays as it is, its other options included.

    Raises:
        ConfigError: no leg has an embedder.
    """
    from ..assembly import unused
    from ..config import load_config
    from ..errors import ConfigError

    loaded = load_config(config)
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
            if not (isinstance(embedder, dict) and model.table().items() <= embedder.items()):
                table["embedder"] = model.table()
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
