"""Fields of inputs, at any depth: those that must not be there, and those that must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from .breaches import Breach, shown
from .facts import same

Records: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Objects by the place that messages name."""


def forbidden_fields(names: Iterable[str], inputs: Mapping[str, Any]) -> list[Breach]:
    """Where a key of one of these names stands, at any depth of the inputs.

    Args:
        inputs: each by the place that messages name.
    """
    forbidden = dict.fromkeys(names)
    found: dict[str, list[str]] = {}
    for place, value in inputs.items():
        for path, key, _ in _keys(value):
            if key in forbidden:
                found.setdefault(key, []).append(f"{place} ({path})")
    return [
        Breach("input_contract.forbidden_fields", f"no field {key!r} in any input", places_shown(places))
        for key, places in found.items()
    ]


def required_values(required: Mapping[str, Any], what: str, records: Records) -> list[Breach]:
    """Where a field that must have a value is missing, at any depth, or has another."""
    breaches = []
    for name, expected in required.items():
        wrong: list[str] = []
        for place, record in records.items():
            values = [value for _, key, value in _keys(record) if key == name]
            others = [value for value in values if not same(expected, value)]
            if others or not values:
                wrong.append(f"{shown(others[0]) if others else 'no such field'} at {place}")
        if wrong:
            where = f"input_contract.required_values.{what}.{name}"
            breaches.append(Breach(where, f"{shown(expected)} in each of the {what}", places_shown(wrong)))
    return breaches


def _keys(value: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every key at any depth, with its path and value."""
    left = [(path, value)]
    while left:
        at, node = left.pop()
        if isinstance(node, Mapping):
            for key, item in node.items():
                inner = f"{at}.{key}" if at else str(key)
                yield inner, str(key), item
                left.append((inner, item))
        elif isinstance(node, list | tuple):
            left += [(f"{at}[{place}]", item) for place, item in enumerate(node)]


def places_shown(places: Sequence[str]) -> str:
    """The first places, and how many there are beside them."""
    more = len(places) - 3
    return ", ".join(places[:3]) + (f" and {more} more" if more > 0 else "")
