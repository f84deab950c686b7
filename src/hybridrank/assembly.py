"""Parts from the tables of a configuration, each checked against its constructor."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal, get_args, get_origin

from .errors import ConfigError, HybridRankError, InvalidValueError, UnknownNameError
from .options import MisfitError, Option, accepts, fitted
from .registry import GROUPS, ComponentInfo, components, find

Path = tuple[str, ...]
Pool = dict[object, tuple[Any, Mapping[str, Any]]]

_PROTOCOLS = {
    "Retriever": "retriever",
    "Fuser": "fuser",
    "Reranker": "reranker",
    "Validator": "validator",
    "Embedder": "embedder",
    "ChatModel": "chat",
    "Chunker": "chunker",
    "Normalizer": "normalizer",
}
_IMPORT_PATH = re.compile(r"\w+(\.\w+)+(:[\w.]+)?|\w+:[A-Z]\w*")


class Assembly:
    """Makes the parts of one pipeline, each resource once.

    Args:
        resources: the tables of `[resources.*]`.
        patched: paths that an ablation set, with the path in the file where it did.
        pool: parts that were made before, by what they are made of; new ones are added.
    """

    def __init__(
        self, resources: Mapping[str, Any], patched: Mapping[Path, str], pool: Pool | None = None
    ) -> None:
        self._resources = resources
        self._patched = patched
        self._pool: Pool = {} if pool is None else pool
        self._pooled = pool is not None
        self._installed = components()
        self._shared: dict[str, tuple[str, object]] = {}

    def arguments(
        self, options: Sequence[Option], whose: str, table: Mapping[str, Any], path: Path = ()
    ) -> dict[str, Any]:
        """The keyword arguments that a table gives to a constructor."""
        by_name = {option.name: option for option in options}
        for key in table:
            if key not in by_name:
                raise UnknownNameError(f"option of {whose}:", key, by_name, where=self.at((*path, key)))
        for option in options:
            if option.required and option.name not in table:
                message = f"{whose} needs {option.name} ({option.annotation or 'any value'})"
                raise ConfigError(message, where=self.at(path))
        return {key: self._argument(by_name[key], whose, item, (*path, key)) for key, item in table.items()}

    def _argument(self, option: Option, whose: str, value: Any, path: Path) -> Any:
        kind, many = stands(option)
        if kind is None:
            return self._plain(option, whose, value, path)
        if not many:
            return self._part(kind, value, path, option)
        if isinstance(value, dict) and not is_part(value):
            return {name: self._part(kind, item, (*path, name)) for name, item in value.items()}
        if isinstance(value, list):
            return [self._part(kind, item, (*path, str(place))) for place, item in enumerate(value)]
        message = f'{value!r} is no table of parts; name each: name = {{ use = "…" }}'
        raise ConfigError(message, where=self.at(path))

    def _part(self, kind: str, value: Any, path: Path, option: Option | None = None) -> Any:
        if isinstance(value, str) and value[:1] == "@":
            return self._resource(kind, value[1:], path)
        if is_part(value):
            return self._made(kind, value, path)
        if option is not None:
            if accepts(value, option.type):
                return fitted(value, option.type)
            optional = accepts(None, option.type) or (option.default is None and not option.required)
            if optional and value in (None, False):
                return None
        names = ", ".join(dict.fromkeys(info.name for info in self._installed if info.kind == kind))
        shown = "a table without use" if isinstance(value, dict) and "use" not in value else f"{value!r}"
        message = f'{shown} is no {kind}; write {{ use = "…" }} with one of: {names or "(none is installed)"}'
        raise ConfigError(message, where=self.at(path))

    def _resource(self, kind: str, name: str, path: Path) -> Any:
        if name not in self._resources:
            raise UnknownNameError("resource", name, self._resources, where=self.at(path))
        if name not in self._shared:
            self._shared[name] = kind, self._made(kind, self._resources[name], ("resources", name))
        made_as, part = self._shared[name]
        if made_as != kind:
            message = f"resource @{name} is used as {made_as} elsewhere and cannot be the {kind} here"
            raise ConfigError(message, where=self.at(path))
        return part

    def _made(self, kind: str, table: Mapping[str, Any], path: Path) -> Any:
        info = self._find(kind, table["use"], self.at((*path, "use")))
        rest = {key: item for key, item in table.items() if key != "use"}
        options, factory = info.options(), info.load()
        arguments = self.arguments(options, f"{kind} {info.name!r}", rest, path)
        # A chat model may keep a conversation; it is never shared behind the user's back.
        key = (kind, info.target, _frozen(arguments)) if self._pooled and kind != "chat" else None
        if key in self._pool:
            return self._pool[key][0]
        try:
            made = factory(**arguments)
        except (ConfigError, InvalidValueError) as error:
            raise ConfigError(str(error), where=self.at(path)) from error
        except HybridRankError:
            raise
        except Exception as error:
            message = f"{kind} {info.name!r} refuses its options: {type(error).__name__}: {error}"
            raise ConfigError(message, where=self.at(path)) from error
        if key is not None:
            # The arguments too: an id stands for an object only as long as that lives.
            self._pool[key] = made, arguments
        return made

    def _find(self, kind: str, use: str, where: str) -> ComponentInfo:
        try:
            return find(kind, use, where=where, among=self._installed)
        except UnknownNameError as error:
            if not _IMPORT_PATH.fullmatch(use):
                raise
            message = (
                f"{use!r} looks like an import path; a configuration names registered parts, here one of "
                f"{', '.join(error.known)}; register your own by an entry point in the group {GROUPS[kind]}"
            )
            raise ConfigError(message, where=where) from None

    def _plain(self, option: Option, whose: str, value: Any, path: Path) -> Any:
        is_reference = isinstance(value, str) and value[:1] == "@" and value[1:] in self._resources
        if is_reference or (is_part(value) and not accepts(value, option.type)):
            message = f"{value!r} names a part, but {option.name} of {whose} takes none"
            raise ConfigError(message, where=self.at(path))
        try:
            return fitted(value, option.type)
        except MisfitError:
            message = f"{value!r} ({type(value).__name__}) is not what {option.name} of {whose} takes: "
            raise ConfigError(message + _expected(option), where=self.at(path)) from None

    def at(self, path: Path) -> str:
        """Where a path stands in the file: in an ablation, if one set it."""
        for count in range(len(path), 0, -1):
            if path[:count] in self._patched:
                below = dotted(path[count:])
                return self._patched[path[:count]] + (f".{below}" if below else "")
        return dotted(path)


def check_resources(resources: Mapping[str, Any]) -> None:
    """Each resource is a part, and none refers to itself by way of others."""
    for name, table in resources.items():
        if not is_part(table):
            raise ConfigError('a resource is a part; give it use = "…"', where=dotted(("resources", name)))
    try:
        TopologicalSorter(
            {name: dict.fromkeys(_references(table, resources)) for name, table in resources.items()}
        ).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        message = f"resources refer to each other in a circle: {' → '.join('@' + name for name in circle)}"
        raise ConfigError(message, where=dotted(("resources", circle[0]))) from None


def unused(resources: Mapping[str, Any], rest: Any) -> list[str]:
    """Resources to which the rest, ablations included, does not refer, be it through another resource."""
    reached = list(dict.fromkeys(_references(rest, resources)))
    for name in reached:
        more = dict.fromkeys(_references(resources[name], resources))
        reached += [other for other in more if other not in reached]
    return [name for name in resources if name not in reached]


def refuse_unused(names: Sequence[str]) -> None:
    """Raise for the first of the resources that nothing refers to."""
    for name in names:
        message = f'nothing refers to it; put "@{name}" where it belongs, or delete it'
        raise ConfigError(message, where=dotted(("resources", name)))


def is_part(value: object) -> bool:
    """Whether a value of a configuration is a table that stands for a part."""
    return isinstance(value, dict) and isinstance(value.get("use"), str)


def dotted(path: Path) -> str:
    """A path as TOML writes it; keys that need quotes have them."""
    return ".".join(
        key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False) for key in path
    )


def stands(option: Option) -> tuple[str | None, bool]:
    """The kind of part that stands at a parameter, by its name or else its type; whether several stand."""
    word = option.name.rpartition("_")[2]
    if word in GROUPS:
        return word, False
    if word.endswith("s") and word[:-1] in GROUPS:
        return word[:-1], True
    found = re.search(rf"\b({'|'.join(_PROTOCOLS)})\b", option.annotation)
    several = re.search(r"\b(Mapping|Sequence|Iterable|dict|list|tuple)\[", option.annotation)
    return (_PROTOCOLS[found[1]], several is not None) if found else (None, False)


def _expected(option: Option) -> str:
    if get_origin(option.type) is Literal:
        return " or ".join(repr(choice) for choice in get_args(option.type))
    return option.annotation


def _frozen(value: Any) -> object:
    """Something hashable, equal for equal plain values; a part is equal to itself only."""
    if isinstance(value, dict):
        return "table", tuple((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return "list", tuple(map(_frozen, value))
    if isinstance(value, str | int | float | None):
        return type(value), value
    return "part", id(value)


def _references(value: Any, resources: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(value, str) and value[:1] == "@" and value[1:] in resources:
        yield value[1:]
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _references(item, resources)
