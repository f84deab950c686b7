"""A constructor's signature as a schema: which options there are, and which plain values fit them."""

from __future__ import annotations

import collections.abc
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

SEQUENCES: dict[Any, type] = {
    collections.abc.Collection: list,
    collections.abc.Iterable: list,
    collections.abc.Sequence: list,
    frozenset: frozenset,
    list: list,
    set: set,
    tuple: tuple,
}
MAPPINGS = (collections.abc.Mapping, collections.abc.MutableMapping, dict)
_PLAIN = (bool, bytes, float, int, str, types.NoneType)
_NAMES = {**vars(collections.abc), **vars(typing)}


class Option(NamedTuple):
    """One parameter of a constructor.

    Attributes:
        name: its keyword.
        default: its default; None where it is required.
        annotation: its type as it is written, `""` without one.
        required: whether it has no default.
        type: its type; `Any` where it cannot be found.
    """

    name: str
    default: Any
    annotation: str
    required: bool = False
    type: Any = Any

    def __str__(self) -> str:
        text = f"{self.name}: {self.annotation}" if self.annotation else self.name
        return text if self.required else f"{text} = {self.default!r}"


class MisfitError(TypeError):
    """A value is not of the type that an option takes."""


def options_of(part: Callable[..., Any]) -> tuple[Option, ...]:
    """The parameters of a class's constructor, or of a function, that can be given by keyword.

    Raises:
        TypeError, ValueError: it has no readable signature.
    """
    kinds = inspect.Parameter
    function = inspect.unwrap(part.__init__ if isinstance(part, type) else part)  # type: ignore[misc]
    module = sys.modules.get(getattr(part, "__module__", ""))
    names = getattr(function, "__globals__", None) or getattr(module, "__dict__", {})
    return tuple(
        Option(
            parameter.name,
            None if parameter.default is kinds.empty else parameter.default,
            _written(parameter.annotation),
            parameter.default is kinds.empty,
            _resolved(parameter.annotation, names),
        )
        for parameter in inspect.signature(part).parameters.values()
        if parameter.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    )


def fitted(value: Any, wanted: Any) -> Any:
    """The plain value (of TOML or JSON) as the type that is wanted; lists become tuples where asked.

    An int is fine where a float is wanted, a bool is no int, a string no sequence. A type that is not made of
    plain ones (bool, int, float, str, None, Literal, mappings and sequences of these) takes any value.

    Raises:
        MisfitError: it is not of that type.
    """
    wanted = getattr(wanted, "__value__", wanted)
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        return fitted(value, arguments[0])
    if origin in (Union, types.UnionType):
        return _first_fitting(value, arguments)
    if origin is Literal:
        if any(value == choice and type(value) is type(choice) for choice in arguments):
            return value
        raise MisfitError
    kind = wanted if origin is None else origin
    if kind is None:
        kind = types.NoneType
    if not isinstance(kind, type):
        return value
    if kind in _PLAIN:
        if isinstance(value, (int, float) if kind is float else kind) and (
            kind is bool or not isinstance(value, bool)
        ):
            return value
        raise MisfitError
    if kind in MAPPINGS:
        if not isinstance(value, Mapping):
            raise MisfitError
        key, item = arguments if len(arguments) == 2 else (Any, Any)
        return {fitted(k, key): fitted(v, item) for k, v in value.items()}
    if kind in SEQUENCES:
        return _items(value, SEQUENCES[kind], arguments)
    return value


def accepts(value: Any, wanted: Any) -> bool:
    """Whether a type names a plain type that this value fits; a type that is not plain names none."""
    if get_origin(wanted) in (Union, types.UnionType):
        return any(accepts(value, option) for option in get_args(wanted))
    kind: Any = get_origin(wanted) or wanted
    if not (kind in (None, Annotated, Literal) or kind in _PLAIN or kind in MAPPINGS or kind in SEQUENCES):
        return False
    try:
        fitted(value, wanted)
    except MisfitError:
        return False
    return True


def _first_fitting(value: Any, options: tuple[Any, ...]) -> Any:
    for option in options:
        try:
            return fitted(value, option)
        except MisfitError:
            continue
    raise MisfitError


def _items(value: Any, make: type, arguments: tuple[Any, ...]) -> Any:
    if not isinstance(value, list | tuple):
        raise MisfitError
    if make is tuple and arguments and arguments[-1] is not Ellipsis:
        if len(value) != len(arguments):
            raise MisfitError
        return tuple(fitted(item, wanted) for item, wanted in zip(value, arguments, strict=True))
    wanted = arguments[0] if arguments else Any
    items = [fitted(item, wanted) for item in value]
    try:
        return make(items)
    except TypeError as error:
        raise MisfitError from error


def _written(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _resolved(annotation: Any, names: dict[str, Any]) -> Any:
    if annotation is inspect.Parameter.empty:
        return Any
    if isinstance(annotation, str):
        # What stands under TYPE_CHECKING is not there at run time; the common names are known anyway.
        try:
            annotation = eval(annotation, {**_NAMES, **names})
        except (
            Exception
        ):  # an annotation is code of others; without it the constructor alone checks the value
            return Any
    return annotation
