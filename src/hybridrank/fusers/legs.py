"""What goes into a fusion: rankings of one query by leg name, and what each leg weighs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from operator import attrgetter
from typing import NamedTuple

from ..errors import ContractError, InvalidValueError, UnknownNameError
from ..types import Document, FrozenDict, Query, Ranking

# Beyond these, weighted scores overflow to infinity or sink to where neighbouring ranks share one float.
_LEAST, _MOST = 1e-290, 1e290

# Metadata is left out: an engine may add its own to each answer.
_CONTENT = ("text", "path", "start_line", "end_line", "kind", "name", "qualified_name", "language")
_content = attrgetter(*_CONTENT)


class Legs(NamedTuple):
    """Checked rankings, the query they all answer, one weight for each, and all their documents by id."""

    query: Query
    rankings: Mapping[str, Ranking]
    weights: Mapping[str, float]
    documents: Mapping[str, Document]


def check_legs(rankings: object, weights: Mapping[str, float], *, source: str) -> Legs:
    """Check what a fuser was given; `source` names the fuser in errors.

    Raises:
        InvalidValueError: it is no mapping from leg names to rankings, the rankings answer different
            queries, or all legs weigh 0.
        UnknownNameError: a weight names no leg.
        ContractError: one id stands for documents that differ in more than their metadata.
    """
    if not isinstance(rankings, Mapping):
        raise InvalidValueError(f"rankings is {_short(rankings)}; give a mapping from leg name to Ranking")
    for leg, ranking in rankings.items():
        if not isinstance(leg, str):
            raise InvalidValueError(f"rankings has the leg name {leg!r}; leg names are str")
        if not isinstance(ranking, Ranking):
            raise InvalidValueError(f"ranking of leg {leg!r} is {_short(ranking)}; give a Ranking")
    query = _one_query(rankings)
    return Legs(query, rankings, leg_weights(weights, rankings), _documents(rankings, source))


def check_weights(weights: object) -> FrozenDict[str, float]:
    """Weights by leg name as floats; `None` is no weights.

    Raises:
        InvalidValueError: it is no mapping from str to numbers, or a weight is negative, NaN, infinite, a
            bool, or so small or large that scores leave the range of a float.
    """
    if weights is None:
        return FrozenDict()
    if not isinstance(weights, Mapping):
        raise InvalidValueError(f"weights is {_short(weights)}; give a mapping from leg name to weight")
    return FrozenDict({_check_name(name): _check_weight(name, value) for name, value in weights.items()})


def leg_weights(weights: Mapping[str, float], legs: Collection[str]) -> dict[str, float]:
    """What each leg weighs, in the order of `legs`; a leg without a weight weighs 1.

    Raises:
        UnknownNameError: a weight names no leg.
        InvalidValueError: all legs weigh 0.
    """
    for name in weights:
        if name not in legs:
            raise UnknownNameError("leg", name, legs, where="weights")
    found = {name: weights.get(name, 1.0) for name in legs}
    if found and not any(found.values()):
        raise InvalidValueError(f"all legs weigh 0 ({', '.join(map(repr, found))}); give one of them more")
    return found


def as_number(value: object) -> float | None:
    """An int or float, NumPy's too, as a plain int or float; None for a bool and anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return int(value) if isinstance(value, Integral) else float(value)
    except OverflowError:
        return math.inf


def _check_name(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidValueError(f"weights names the leg {name!r}; leg names are str")
    return name


def _check_weight(name: object, value: object) -> float:
    weight = as_number(value)
    if weight is None or not (weight == 0 or _LEAST <= weight <= _MOST):
        raise InvalidValueError(
            f"weight of leg {name!r} is {value!r}; give 0, or a number from {_LEAST:g} to {_MOST:g}"
        )
    return float(weight)


def _one_query(rankings: Mapping[str, Ranking]) -> Query:
    if not rankings:
        return Query("")
    # The least leg name decides which of two equal texts stays, so that the order of the mapping does not.
    first = min(rankings)
    query = rankings[first].query
    for leg, ranking in rankings.items():
        if ranking.query.text != query.text:
            raise InvalidValueError(
                f"legs {first!r} and {leg!r} answer different queries, {_short(query.text)} and "
                f"{_short(ranking.query.text)}; fuse rankings of one query"
            )
    return query


def _documents(rankings: Mapping[str, Ranking], source: str) -> dict[str, Document]:
    known: dict[str, Document] = {}
    # By leg name, so that the order of the mapping does not decide whose metadata stay.
    for leg in sorted(rankings):
        for hit in rankings[leg].hits:
            document = hit.document
            other = known.setdefault(document.id, document)
            if other is not document and _content(other) != _content(document):
                fields = [name for name in _CONTENT if getattr(other, name) != getattr(document, name)]
                raise ContractError(
                    source,
                    f"was given one id for two documents: in leg {leg!r} it has another "
                    f"{', '.join(fields)} than in a leg before; give each document its own id",
                    [document.id],
                )
    return known


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
