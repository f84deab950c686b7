"""The laws of measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..evaluation.found import find
from ..evaluation.measures import Measure, ScoresFound
from .checking import Make, answered, expect

Law = Callable[[Make], None]
Sample = tuple[tuple[str, ...], dict[str, float]]

_SAMPLES: tuple[Sample, ...] = (
    ((), {"a": 1}),
    (("a",), {"a": 1}),
    (("x", "a", "b"), {"a": 1, "b": 3, "c": 2}),
    (("a", "a", "b"), {"a": 1, "b": 1}),
    (("b", "n", "a"), {"a": 2, "b": 0, "n": -1}),
    (("x", "y"), {"a": 0.5}),
    (("x", "y"), {}),
    (("連線", "a b", "x"), {"連線": 1, "a b": 2}),
    (tuple(f"x{place}" for place in range(200)), {"x150": 1, "x3": 1e9}),
)


def measure_protocol(make: Make) -> None:
    """It has a name and a method score."""
    part = make()
    expect(isinstance(part, Measure), f"{part!r} lacks a name or a method score")
    expect(isinstance(part.name, str) and bool(part.name.strip()), f"its name is {part.name!r}")


def finite_values(make: Make) -> None:
    """Every ranking has a finite value, also with repeated ids, nothing relevant or negative grades."""
    part = make()
    for sample in _SAMPLES:
        _value(part, *sample)


def nothing_found(make: Make) -> None:
    """An empty ranking scores 0: so does a query that returned nothing, or that a run lacks."""
    value = _value(make(), (), {"a": 1.0, "b": 2.0})
    expect(value == 0, f"an empty ranking scores {value}")


def ids_are_names(make: Make) -> None:
    """Other ids in the same places give the same value."""
    part = make()
    for ranked_ids, grades in _SAMPLES:
        names = {id: f"z{place}" for place, id in enumerate(reversed(dict.fromkeys((*ranked_ids, *grades))))}
        renamed = [names[id] for id in ranked_ids], {names[id]: grade for id, grade in grades.items()}
        ours, theirs = _value(part, ranked_ids, grades), _value(part, *renamed)
        expect(ours == theirs, f"{_told(ranked_ids, grades)} scores {ours}, with other ids {theirs}")


def scored_again(make: Make) -> None:
    """The same ranking has the same value: again, after others, from a second part; inputs stay."""
    part, twin = make(), make()
    first = [_value(part, *sample) for sample in _SAMPLES]
    for (ranked_ids, grades), value in zip(_SAMPLES, first, strict=True):
        given, judged = list(ranked_ids), dict(grades)
        again = [_value(one, given, judged) for one in (part, twin)]
        expect(again == [value, value], f"{_told(ranked_ids, grades)} scores {value}, then {again}")
        expect(given == list(ranked_ids) and judged == grades, f"{_told(ranked_ids, grades)} was changed")


def both_ways(make: Make) -> None:
    """A measure that can do with what is found gives the same value either way."""
    part = make()
    if isinstance(part, ScoresFound):
        for sample in _SAMPLES:
            value = answered(f"score_found of {_told(*sample)}", part.score_found, find(*sample))
            expect(value == _value(part, *sample), f"{_told(*sample)} scores {value} by score_found")


MEASURE_LAWS: tuple[Law, ...] = (
    measure_protocol,
    finite_values,
    nothing_found,
    ids_are_names,
    scored_again,
    both_ways,
)


def _value(part: Any, ranked_ids: Sequence[str], grades: Mapping[str, float]) -> float:
    asked = f"score of {_told(ranked_ids, grades)}"
    value = answered(asked, part.score, ranked_ids, grades)
    fine = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    expect(fine, f"{asked} gave {value!r}, no finite number")
    return float(value)


def _told(ranked_ids: Sequence[str], grades: Mapping[str, float]) -> str:
    shown = ", ".join(ranked_ids[:5]) + (", …" if len(ranked_ids) > 5 else "")
    return f"[{shown}] with grades {dict(grades)}"
