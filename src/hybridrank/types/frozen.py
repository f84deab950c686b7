"""A mapping that refuses changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that refuses changes; it pickles and serialises to JSON as a dict does."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping is part of an immutable value; make a new value instead")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        return FrozenDict, (dict(self),)


def with_item(known: Mapping[K, V], key: K, value: V) -> FrozenDict[K, V]:
    """A frozen copy of a dict with one item more."""
    made = FrozenDict(known)
    dict.__setitem__(made, key, value)
    return made


def as_tuples(value: object, *names: str) -> None:
    """Make tuples of these fields of a frozen dataclass that is being made; lists could be changed later."""
    for name in names:
        given = getattr(value, name)
        if type(given) is not tuple:
            object.__setattr__(value, name, tuple(given))
