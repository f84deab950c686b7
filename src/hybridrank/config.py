"""Pipelines from TOML, JSON or mappings.

    recall = 80

    [retrievers.bm25]
    use = "bm25"
    k1 = 1.5

    [retrievers.dense]
    use = "dense"
    embedder = { use = "lsa", dimensions = 128 }

    [fuser]
    use = "rrf"
    weights = { bm25 = 2.0 }

    [ablations.no-dense]
    "retrievers.dense" = false

The keys are the parameters of `Pipeline`. Where a part stands, a table says which by `use = "name"`, its name
in the registry or `distribution:name`, and gives its constructor's parameters; false stands for None. Import
paths have no place here. `"@x"` stands for the one part that `[resources.x]` describes, wherever it is used.

`[ablations.*]` holds variants: a dotted path, in quotes, and the value to put there. False takes a part or a
value out, except that a true/false option becomes false. A path must exist, but a part's option need not be
written out to be patched. With a leg goes the weight that the fuser had for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .assembly import Assembly, Pool, check_resources, dotted, is_part, refuse_unused, unused
from .errors import ConfigError, InvalidValueError, UnknownNameError
from .options import options_of
from .protocols import Weighted

_DEFAULTS = Path(__file__).parent / "defaults"
_RESOURCES, _ABLATIONS = "resources", "ablations"
_MAX_DEPTH = 64


def load_config(source: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A configuration as plain dicts and lists, not yet checked against any part.

    Args:
        source: path of a .toml or .json file, or a mapping, which is copied.

    Raises:
        ConfigError: no such file, not readable, not UTF-8, not valid (with its line), or no table at the top.
    """
    if isinstance(source, Mapping):
        data: Any = source
    elif isinstance(source, str | Path):
        data = _read(Path(source))
    else:
        raise ConfigError(f"{source!r} is no configuration; give the path of a file, or a mapping")
    config: dict[str, Any] = _copied(data, ())
    for section in (_RESOURCES, _ABLATIONS):
        table = config.get(section, {})
        for name, entry in _table(table, section).items():
            _table(entry, dotted((section, name)))
    return config


def default_config(name: str) -> dict[str, Any]:
    """A configuration that comes with hybridrank, by name: `code` is what `Pipeline.for_code` runs.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return load_config(_default_path(name))


def default_source(name: str) -> str:
    """The TOML, comments included, of a configuration that comes with hybridrank.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return _default_path(name).read_text(encoding="utf-8")


def ablations(config: str | Path | Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the variants that a configuration holds, in its order."""
    return tuple(load_config(config).get(_ABLATIONS, {}))


def build(
    config: str | Path | Mapping[str, Any], *, ablation: str | None = None, pool: Pool | None = None
) -> dict[str, Any]:
    """The arguments of `Pipeline` that a configuration describes, with every part made.

    Args:
        config: as for `load_config`.
        ablation: name of one of its `[ablations.*]` to apply.
        pool: `{}` for the first of several calls, and the same dict for the others: a part that differs in
            nothing from one made before is that one.

    Raises:
        ConfigError: a value is missing, unknown, of the wrong type or refused by its part; `where` on it is
            the path in the file.
        UnknownNameError: no part, option, resource or ablation has that name, or an ablation's path does not
            exist; the message offers the nearest one.
        PluginError, MissingExtraError: a part cannot be loaded.
    """
    from .pipeline import Pipeline

    config = load_config(config)
    options = options_of(Pipeline)
    resources = config.pop(_RESOURCES, {})
    variants = config.pop(_ABLATIONS, {})
    check_resources(resources)
    needless = unused(resources, [config, variants])
    patched: dict[tuple[str, ...], str] = {}
    if ablation is not None:
        if ablation not in variants:
            raise UnknownNameError("ablation", ablation, variants)
        root = {**config, _RESOURCES: resources}
        stages = [option.name for option in options]
        legs = config.get("retrievers")
        before = list(legs) if isinstance(legs, dict) and not is_part(legs) else []
        for path, value in variants[ablation].items():
            where = dotted((_ABLATIONS, ablation, path))
            patched.update(dict.fromkeys(_patch(root, path, value, where, stages), where))
        resources = _table(root.pop(_RESOURCES, {}), dotted((_ABLATIONS, ablation, _RESOURCES)))
        check_resources(resources)
        _drop_weights(root, before, resources, patched)
        config = root
    assembly = Assembly(resources, patched, pool)
    arguments = assembly.arguments(options, "the pipeline", config)
    # After the parts: a misspelt reference is why its resource is unused.
    refuse_unused(needless)
    _check_pipeline(assembly, arguments)
    return arguments


def _drop_weights(
    root: dict[str, Any],
    before: Iterable[str],
    resources: Mapping[str, Any],
    patched: dict[tuple[str, ...], str],
) -> None:
    """Take from the fuser the weights of legs that the ablation took out.

    A weight that the ablation itself sets stays, and is an error.
    """
    legs, fuser = root.get("retrievers"), root.get("fuser")
    path: tuple[str, ...] = ("fuser",)
    if isinstance(fuser, str) and fuser[:1] == "@":
        path = (_RESOURCES, fuser[1:])
        fuser = resources.get(fuser[1:])
    if not isinstance(fuser, dict) or not isinstance(legs, dict):
        return
    weights = fuser.get("weights")
    if not isinstance(weights, dict) or any(
        (*path, "weights")[:count] in patched for count in range(1, len(path) + 2)
    ):
        return
    gone = [name for name in before if name not in legs and (*path, "weights", name) not in patched]
    left = {name: weight for name, weight in weights.items() if name not in gone}
    if len(left) < len(weights):
        # A copy: the resource may stand elsewhere too, with other legs.
        root["fuser"] = {**fuser, "weights": left}
        if path != ("fuser",):
            patched[("fuser",)] = dotted(path)


def _check_pipeline(assembly: Assembly, arguments: Mapping[str, Any]) -> None:
    """The pipeline checks this too, but knows no path in the file."""
    from .request import positive
    from .types import check_k

    for key, check in (("recall", positive), ("validate_depth", lambda name, value: check_k(value, name))):
        try:
            if arguments.get(key) is not None:
                check(key, arguments[key])
        except InvalidValueError as error:
            raise ConfigError(str(error), where=assembly.at((key,))) from error
    legs, fuser = arguments.get("retrievers"), arguments.get("fuser")
    if isinstance(legs, dict) and isinstance(fuser, Weighted):
        for name in fuser.weights:
            if name not in legs:
                raise UnknownNameError("leg", name, legs, where=assembly.at(("fuser", "weights", name)))


def _default_path(name: str) -> Path:
    known = sorted(path.stem for path in _DEFAULTS.glob("*.toml"))
    if name not in known:
        raise UnknownNameError("default configuration", name, known)
    return _DEFAULTS / f"{name}.toml"


def _read(path: Path) -> Any:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"there is no file {str(path)!r}; give the path of a .toml or .json file") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {str(path)[:200]!r}: {error}") from error
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".json"):
        raise ConfigError(f"{path}: a configuration ends in .toml or .json, not in {suffix!r}")
    try:
        text = content.decode("utf-8-sig")
        return _parsed_toml(text) if suffix == ".toml" else _parsed_json(text)
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8: {error.reason}; save it as UTF-8") from error
    except ValueError as error:
        found = re.search(r"line (\d+)", str(error))
        at_end = content.count(b"\n") + 1 if "end of document" in str(error) else None
        place = f"{path}:{found[1] if found else at_end}" if found or at_end else f"{path}"
        raise ConfigError(f"{place}: not valid {suffix[1:].upper()}: {error}") from error


def _parsed_toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _parsed_json(text: str) -> Any:
    import json

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"key {twice!r} stands twice in one object")
        return table

    return json.loads(text, object_pairs_hook=once)


def _copied(value: Any, path: tuple[str, ...]) -> Any:
    if len(path) > _MAX_DEPTH:
        raise ConfigError(f"nested more than {_MAX_DEPTH} levels deep", where=dotted(path[:3]) + "…")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or not key.strip():
                raise ConfigError(f"key {key!r} is not a non-empty string", where=dotted(path))
        return {key: _copied(item, (*path, key)) for key, item in value.items()}
    if not path:
        raise ConfigError(f"a configuration is a table of keys, not {type(value).__name__}")
    if isinstance(value, list | tuple):
        return [_copied(item, (*path, str(place))) for place, item in enumerate(value)]
    return value


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{value!r} stands where a table is expected", where=where)
    return value


def _patch(
    root: dict[str, Any], path: str, value: Any, where: str, stages: list[str]
) -> list[tuple[str, ...]]:
    """Put a value at a dotted path below `root`, in place; the path, and those of new tables on its way."""
    _refuse_partial(root, path, value, where)
    node, keys, in_part = root, _keys(root, path), False
    new = [keys]
    for depth, key in enumerate(keys, 1):
        in_part = in_part or is_part(node)
        at_stage = depth == len(keys) == 1 and key in stages
        if key not in node and not in_part and not at_stage:
            known = dict.fromkeys((*node, *stages)) if depth == 1 else node
            raise UnknownNameError(
                "path", dotted(keys[:depth]), _below(keys[: depth - 1], known), where=where
            )
        if depth < len(keys):
            if key not in node:
                new.append(keys[:depth])
            below = node.setdefault(key, {}) if in_part else node[key]
            if not isinstance(below, dict):
                message = f"{dotted(keys[:depth])} is {below!r}; there is nothing below it"
                raise ConfigError(message, where=where)
            node = below
    old = node.get(key)
    # A stage that is only deleted would come back as the default one.
    is_stage = len(keys) == 1 and (old is None or is_part(old) or isinstance(old, str))
    if value is False and key in node and not isinstance(old, bool) and not is_stage:
        del node[key]
    else:
        node[key] = value
    return new


def _refuse_partial(root: Mapping[str, Any], path: str, value: Any, where: str) -> None:
    """Without quotes `retrievers.dense = false` is a table that would replace all retrievers."""
    if path not in root or not isinstance(value, dict) or is_part(value):
        return
    for key, item in value.items():
        if not is_part(item) and not (isinstance(item, str) and item[:1] == "@"):
            message = (
                f'this replaces {path} as a whole; to patch below it, quote the path: "{path}.{key}" = …'
            )
            raise ConfigError(message, where=where)


def _keys(root: Any, path: str) -> tuple[str, ...]:
    """The dotted path as keys; of the keys that are there the longest fits, since a key may hold dots."""
    keys: list[str] = []
    node, steps = root, path.split(".")
    while steps:
        joined = [".".join(steps[:count]) for count in range(len(steps), 0, -1)]
        key = next((key for key in joined if isinstance(node, dict) and key in node), steps[0])
        keys.append(key)
        steps = steps[key.count(".") + 1 :]
        node = node.get(key) if isinstance(node, dict) else None
    return tuple(keys)


def _below(keys: tuple[str, ...], names: Iterable[str]) -> list[str]:
    return [dotted((*keys, name)) for name in names]
