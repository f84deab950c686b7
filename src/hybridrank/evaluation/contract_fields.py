"""Reading JSON objects field by field: each error tells the path, what was expected and what was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ..errors import ConfigError, UnknownNameError
from .breaches import shown

T = TypeVar("T")

_SHA256 = re.compile(r"[0-9a-f]{64}")


def wrong(path: str, expected: str, value: object) -> ConfigError:
    """The error of a field that holds something else than it should."""
    return ConfigError(f"expected {expected}, found {shown(value)}", where=path)


class Fields:
    """The fields of one object, each read once; what is left over at the end is unknown.

    Args:
        path: dotted path of the object, `""` for the whole.
    """

    def __init__(self, value: object, path: str = "") -> None:
        if not isinstance(value, Mapping):
            raise wrong(path, "an object", value)
        self.path = path
        self._left: dict[str, Any] = dict(value)
        self._known: list[str] = []

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def take(self, name: str, read: Callable[[str, Any], T], *default: T) -> T:
        """A field by its reader; the default where it is missing, an error where there is no default."""
        self._known.append(name)
        if name not in self._left:
            if default:
                return default[0]
            raise ConfigError(f"expected a field {name!r}, found {self._there()}", where=self.path)
        return read(self.at(name), self._left.pop(name))

    def names(self) -> tuple[str, ...]:
        """The fields that were not read yet."""
        return tuple(self._left)

    def end(self, known: Iterable[str] = ()) -> None:
        """Refuse the fields that nobody read; the message offers the nearest name.

        Raises:
            UnknownNameError: there are some.
        """
        for name in self._left:
            raise UnknownNameError("field", name, [*self._known, *known], where=self.path)

    def _there(self) -> str:
        return ", ".join(map(repr, self._left)) or "none"


def text(path: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise wrong(path, "a str that is not blank", value)
    return value


def sha256_hex(path: str, value: Any) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise wrong(path, "a SHA-256 of 64 lower-case hex digits", value)
    return value


def count(path: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise wrong(path, "an int of 0 or more", value)
    return value


def texts(path: str, value: Any) -> tuple[str, ...]:
    """A list of distinct str."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one.strip() for one in value):
        raise wrong(path, "a list of str", value)
    if len(set(value)) < len(value):
        raise wrong(path, "a list without repetitions", value)
    return tuple(value)


def cutoffs(path: str, value: Any) -> tuple[int, ...]:
    """Rising ints of 1 or more; at least one."""
    fine = isinstance(value, list | tuple) and value and all(type(one) is int and one > 0 for one in value)
    if not fine or list(value) != sorted(set(value)):
        raise wrong(path, "a list of rising ints of 1 or more", value)
    return tuple(value)


def table(path: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise wrong(path, "an object", value)
    return dict(value)


def one_of(*choices: object) -> Callable[[str, Any], Any]:
    """A reader that takes these values only."""

    def read(path: str, value: Any) -> Any:
        for choice in choices:
            if value == choice and type(value) is type(choice):
                return value
        raise wrong(path, " or ".join(shown(choice) for choice in choices), value)

    return read
