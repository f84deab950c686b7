"""Where a ranking holds what is relevant: all that the built-in measures look at."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import compress
from numbers import Real
from typing import NamedTuple, TypeAlias

from ..errors import InvalidValueError

Relevant: TypeAlias = Mapping[str, float] | Collection[str]
"""What is relevant to one query: a grade by id, or just the ids (grade 1 each, repeated ids count once)."""

_STR = {str}


class Found(NamedTuple):
    """The relevant targets that one ranking holds, best ranked first.

    Attributes:
        ranks: the 1-based rank at which each of them first stands, rising.
        grades: their grades, above 0, in the same order.
        ideal: the grades of all relevant targets, found or not, highest first.
        credited: `ranks`, made distinct. They differ only where one hit holds several targets, which happens
            to targets that are line ranges: the second is credited one rank further down, and so on, so that
            a hit that holds two targets earns what two perfect hits would.
    """

    ranks: Sequence[int]
    grades: Sequence[float]
    ideal: Sequence[float]
    credited: Sequence[int]


def find(ranked_ids: Sequence[str], relevant: Relevant) -> Found:
    """Where the ranking holds what is relevant. An id that stands twice counts at its first place.

    The second place of a repeated id stays a place, without gain: of `[a, a, b]`, b has rank 3.

    Args:
        ranked_ids: best first.
        relevant: grades by id, or ids. A grade of 0 or below means not relevant.

    Raises:
        InvalidValueError: the ranking is no sequence of str, or a grade is no finite number.
    """
    grades = relevant_grades(relevant)
    return find_graded(checked_ranking(ranked_ids), grades, ideal_grades(grades))


def find_graded(ranked: Collection[str], grades: Mapping[str, float], ideal: Sequence[float]) -> Found:
    """`find` for a checked ranking and the grades that are above 0."""
    ranks: list[int] = []
    ids: dict[str, None] = {}
    for rank, id in compress(enumerate(ranked, 1), map(grades.__contains__, ranked)):
        if id not in ids:
            ids[id] = None
            ranks.append(rank)
    return Found(ranks, [grades[id] for id in ids], ideal, ranks)


def credited_ranks(ranks: Iterable[int]) -> tuple[int, ...]:
    """The smallest distinct ranks, none above its own in the ranking; `ranks` must rise."""
    credited: list[int] = []
    last = 0
    for rank in ranks:
        last = max(rank, last + 1)
        credited.append(last)
    return tuple(credited)


def ideal_grades(grades: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(sorted(grades.values(), reverse=True))


def relevant_grades(relevant: Relevant, where: str = "") -> dict[str, float]:
    """The grades that are above 0, checked; `where` begins the message of an error."""
    if isinstance(relevant, str | bytes) or not isinstance(relevant, Collection):
        raise InvalidValueError(
            f"{where}what is relevant is {relevant!r}; give a grade by id, or a list of ids"
        )
    graded = relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1)
    grades: dict[str, float] = {}
    for id, grade in graded.items():
        if not isinstance(id, str):
            raise InvalidValueError(f"{where}id {id!r} is {type(id).__name__}; give a str")
        number = as_grade(grade)
        if number is None:
            raise InvalidValueError(f"{where}grade of {id!r} is {grade!r}; give a finite number")
        if number > 0:
            grades[id] = number
    return grades


def as_grade(grade: object) -> float | None:
    """The grade as a float; None where it is no finite number. A bool is none."""
    # The exact types first: asking an abstract class takes half the time of scoring a query.
    if type(grade) is not float and type(grade) is not int and not _is_number(grade):
        return None
    try:
        number = float(grade)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real)


def checked_ranking(ranked_ids: Sequence[str], where: str = "") -> Sequence[str]:
    """The ranking as it is, when it is an ordered collection of str.

    Raises:
        InvalidValueError: it is not.
    """
    if not isinstance(ranked_ids, list | tuple):
        if isinstance(ranked_ids, Mapping):
            raise InvalidValueError(
                f"{where}the ranking is a mapping; give the ids best first, e.g. ranked(scores) of "
                "hybridrank.evaluation.scores"
            )
        if isinstance(ranked_ids, str | bytes | Set) or not isinstance(ranked_ids, Collection):
            raise InvalidValueError(
                f"{where}the ranking is {type(ranked_ids).__name__}; give a list of ids, best first"
            )
        ranked_ids = list(ranked_ids)
    if set(map(type, ranked_ids)) - _STR:
        for id in ranked_ids:
            if not isinstance(id, str):
                raise InvalidValueError(
                    f"{where}the ranking holds {id!r}, {type(id).__name__}; give ids as str"
                )
    return ranked_ids
