"""A pipeline as a configuration: from the one it was built from, else from the attributes of its parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..assembly import stands
from ..errors import ConfigError, UnknownNameError
from ..registry import ComponentInfo, components, find, loaded_part

if TYPE_CHECKING:
    from ..pipeline import Pipeline


def describe_pipeline(pipeline: Pipeline) -> tuple[dict[str, Any], str | None]:
    """A configuration that JSON can hold, and the ablation of it that was applied.

    Raises:
        ConfigError: a part cannot be described; it is named, with why.
    """
    if pipeline.origin is not None and _is_json(pipeline.origin[0]):
        return pipeline.origin
    installed = components()
    config: dict[str, Any] = {
        "recall": pipeline.recall,
        "validate_depth": pipeline.validate_depth,
        "on_error": pipeline.on_error,
        "retrievers": {
            name: describe("retriever", leg, name, installed) for name, leg in pipeline.retrievers.items()
        },
        "fuser": describe("fuser", pipeline.fuser, "fuser", installed),
        "rerankers": {
            name: describe("reranker", reranker, name, installed)
            for name, reranker in pipeline.rerankers.items()
        },
    }
    for kind in ("validator", "normalizer", "chunker"):
        part = getattr(pipeline, kind)
        config[kind] = None if part is None else describe(kind, part, kind, installed)
    return config, None


def describe(
    kind: str, part: object, where: str, installed: tuple[ComponentInfo, ...] | None = None
) -> dict[str, Any]:
    """A part as the table of a configuration: its registered name, and its options from its attributes.

    Raises:
        ConfigError: its class is not registered, or an option is no attribute or no plain value.
    """
    infos = components() if installed is None else installed
    info = next(
        (one for one in infos if one.kind == kind and loaded_part(one.target) is type(part)),
        None,
    )
    if info is None:
        raise ConfigError(
            f"{part!r} cannot be saved: {type(part).__qualname__} is no registered {kind}; register it by an "
            "entry point, or build the pipeline from a configuration",
            where=where,
        )
    table: dict[str, Any] = {"use": _name(kind, info, infos)}
    for option in info.options():
        if not hasattr(part, option.name):
            raise ConfigError(
                f"{part!r} cannot be saved: it has no attribute {option.name!r}; a part keeps its options as "
                "attributes of the same names",
                where=where,
            )
        value = getattr(part, option.name)
        below = f"{where}.{option.name}"
        inner, many = stands(option)
        if inner is None or value is None:
            table[option.name] = _plain(value, part, below)
        elif not many:
            table[option.name] = describe(inner, value, below, infos)
        elif isinstance(value, Mapping):
            table[option.name] = {k: describe(inner, v, f"{below}.{k}", infos) for k, v in value.items()}
        else:
            table[option.name] = [describe(inner, v, below, infos) for v in value]
    return table


def _name(kind: str, info: ComponentInfo, infos: tuple[ComponentInfo, ...]) -> str:
    """The name that finds this one and no other."""
    same = [one for one in infos if one.kind == kind and one.name == info.name]
    if len(same) == 1 or info.built_in:
        return info.name
    try:
        return f"{info.distribution}:{find(kind, f'{info.distribution}:{info.name}', among=infos).name}"
    except UnknownNameError:
        return info.name


def _plain(value: Any, part: object, where: str) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, part, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item, part, where) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(_plain(item, part, where) for item in value)
    raise ConfigError(f"{part!r} cannot be saved: {value!r} is no plain value", where=where)


def _is_json(config: Mapping[str, Any]) -> bool:
    try:
        return bool(json.loads(json.dumps(config)) == config)
    except (TypeError, ValueError):
        return False
