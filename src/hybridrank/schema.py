"""A JSON Schema of configurations, made from the constructors of the parts that are installed."""

from __future__ import annotations

import inspect
import math
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from .assembly import stands
from .errors import HybridRankError
from .options import MAPPINGS, SEQUENCES, Option, accepts, options_of
from .registry import GROUPS, ComponentInfo, PluginWarning, components

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Schema = {"type": "string", "pattern": "^@.", "description": "a part of [resources], as @name"}
_JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", types.NoneType: "null"}


def config_schema() -> Schema:
    """The JSON Schema (draft 2020-12) of the configurations that `build` accepts here.

    It describes the parts that are installed, and imports them for that. A part that cannot be loaded may be
    named with any options, and a `PluginWarning` tells. What only a part can judge, such as the range of a
    number, is left to `build`, as are the names behind "@" and the paths of ablations.
    """
    from .pipeline import Pipeline

    installed = components()
    stages = options_of(Pipeline)
    return {
        "$schema": _DRAFT,
        "title": "hybridrank pipeline",
        "type": "object",
        "properties": {
            **{stage.name: _option(stage) for stage in stages},
            "resources": {
                "description": "parts that several places share, each used as @name",
                "type": "object",
                "additionalProperties": {"anyOf": [_part(kind) for kind in GROUPS]},
            },
            "ablations": {
                "description": "variants by name: dotted paths in quotes, and the values to put there",
                "type": "object",
                "additionalProperties": {"type": "object"},
            },
        },
        "required": [stage.name for stage in stages if stage.required],
        "additionalProperties": False,
        "$defs": {kind: _kind([i for i in installed if i.kind == kind], kind) for kind in GROUPS},
    }


def _kind(infos: Sequence[ComponentInfo], kind: str) -> Schema:
    """A table with `use`; what else it may hold depends on the part that `use` names."""
    names = {info: _names(info, infos) for info in infos}
    every = sorted({name for known in names.values() for name in known})
    if not every:
        return {"not": {}, "description": f"no {kind} is installed"}
    return {
        "type": "object",
        "properties": {"use": {"enum": every}},
        "required": ["use"],
        "allOf": [
            {"if": {"properties": {"use": {"enum": known}}, "required": ["use"]}, "then": _table(info)}
            for info, known in names.items()
        ],
    }


def _names(info: ComponentInfo, infos: Sequence[ComponentInfo]) -> list[str]:
    """What a configuration may call it: its name is another's where a built-in or a second one has it too."""
    rivals = [other for other in infos if other.name == info.name and other != info]
    short = info.built_in or not rivals
    return [*([info.name] if short else []), f"{info.distribution}:{info.name}"]


def _table(info: ComponentInfo) -> Schema:
    try:
        options, told = info.options(), _summary(info.load())
    except HybridRankError as error:
        warnings.warn(f"left open what {info.kind} {info.name!r} takes: {error}", PluginWarning, stacklevel=2)
        return {"description": "cannot be loaded"}
    return {
        **({"description": told} if told else {}),
        "properties": {"use": True, **{option.name: _option(option) for option in options}},
        "required": [option.name for option in options if option.required],
        "additionalProperties": False,
    }


def _option(option: Option) -> Schema:
    kind, many = stands(option)
    if kind is None:
        schema = _type(option.type)
    elif many:
        each = {"anyOf": [_part(kind), _REFERENCE]}
        schema = {"anyOf": [_object(each), {"type": "array", "items": each}]}
    else:
        forms = [_part(kind), _REFERENCE, *map(_type, _plain_forms(option.type))]
        optional = accepts(None, option.type) or (option.default is None and not option.required)
        schema = {"anyOf": [*forms, *([{"enum": [False, None]}] if optional else [])]}
    default = list(option.default) if isinstance(option.default, tuple) else option.default
    return {**schema, "default": default} if _is_json(default) else schema


def _type(wanted: Any) -> Schema:
    """The plain values that fit a type; anything where it is not made of plain types."""
    wanted = getattr(wanted, "__value__", wanted)
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in (Union, types.UnionType):
        return {"anyOf": [_type(one) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    kind = wanted if origin is None else origin
    if kind in MAPPINGS:
        return _object(_type(arguments[1]) if len(arguments) == 2 else {})
    if kind in SEQUENCES:
        return _array(SEQUENCES[kind], arguments)
    if kind is bytes:
        return {"not": {}}
    name = _JSON_TYPES.get(types.NoneType if kind is None else kind)
    return {"type": name} if name else {}


def _array(make: type, arguments: tuple[Any, ...]) -> Schema:
    if make is tuple and arguments and arguments[-1] is not Ellipsis:
        count = len(arguments)
        items = [_type(one) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}
    return {"type": "array", "items": _type(arguments[0])} if arguments else {"type": "array"}


def _plain_forms(wanted: Any) -> list[Any]:
    """The plain types that stand beside a part in a union; None apart."""
    origin = get_origin(wanted)
    among = get_args(wanted) if origin in (Union, types.UnionType) else (wanted,)
    plain = (*_JSON_TYPES, Literal, *MAPPINGS, *SEQUENCES)
    return [one for one in among if (get_origin(one) or one) in plain and one is not types.NoneType]


def _object(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _part(kind: str) -> Schema:
    return {"$ref": f"#/$defs/{kind}"}


def _summary(part: Callable[..., Any]) -> str:
    """The first sentence or paragraph of its docstring, on one line."""
    return " ".join((inspect.getdoc(part) or "").split("\n\n")[0].split())


def _is_json(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_json, value))
    return isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))
