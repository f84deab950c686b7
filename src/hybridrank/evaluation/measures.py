"""Measures of one ranking: frozen objects whose repr is their name, `nDCG@10`.

All of them see ranks only, never scores, and count an id once; a grade of 0 or below is not relevant. A
ranking that holds nothing relevant, and a query to which nothing is relevant, score 0. Values lie in [0, 1].

A measure of another distribution is found through the entry-point group `hybridrank.measures`: a class whose
instances have a `name` and a `score`, with a constructor that takes `k` where the measure has a cutoff.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..errors import DuplicateIdError, InvalidValueError
from ..registry import ComponentInfo, components
from ..registry import find as find_component
from .found import Found, Relevant, find

_DISCOUNTS = tuple(1 / math.log2(rank + 1) for rank in range(1, 1025))
_CUTOFF = re.compile(r"[1-9][0-9]{0,8}")


@runtime_checkable
class Measure(Protocol):
    """Says how good one ranking is.

    Attributes:
        name: with its cutoff, as `parse_measure` reads it: `"nDCG@10"`.
    """

    @property
    def name(self) -> str: ...

    def score(self, ranked_ids: Sequence[str], grades: Mapping[str, float], /) -> float:
        """The value of a ranking, best first, whose ids may repeat, given a grade per judged id."""
        ...


@runtime_checkable
class ScoresFound(Protocol):
    """A measure that needs only the ranks of what is relevant; it need not walk along the ranking."""

    def score_found(self, found: Found, /) -> float: ...


@dataclass(frozen=True, slots=True, repr=False)
class nDCG:  # noqa: N801 - the measure's name
    """Normalised discounted cumulated gain: linear gain, discount log2(rank + 1), the ideal cut at k too.

    Järvelin & Kekäläinen 2002, with the discount of Burges et al. 2005, as `ndcg_cut` of trec_eval.

    Raises:
        InvalidValueError: k is no int of 1 or more; so for every measure here.
    """

    k: int = 10

    def __post_init__(self) -> None:
        _check_cutoff(self.k)

    @property
    def name(self) -> str:
        return f"nDCG@{self.k}"

    def score(self, ranked_ids: Sequence[str], grades: Relevant, /) -> float:
        return self.score_found(find(ranked_ids, grades))

    def score_found(self, found: Found, /) -> float:
        if not found.ranks or found.credited[0] > self.k:
            return 0.0
        # Over the highest grade, so that sums of huge grades stay finite.
        top = found.ideal[0]
        gain = 0.0
        for rank, grade in zip(found.credited, found.grades, strict=True):
            if rank > self.k:
                break
            gain += grade / top * _discount(rank)
        best = 0.0
        for rank, grade in enumerate(found.ideal[: self.k], 1):
            best += grade / top * _discount(rank)
        return min(1.0, gain / best)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class Recall:
    """The share of what is relevant that stands in the first k."""

    k: int = 10

    def __post_init__(self) -> None:
        _check_cutoff(self.k)

    @property
    def name(self) -> str:
        return f"Recall@{self.k}"

    def score(self, ranked_ids: Sequence[str], grades: Relevant, /) -> float:
        return self.score_found(find(ranked_ids, grades))

    def score_found(self, found: Found, /) -> float:
        return bisect_right(found.ranks, self.k) / len(found.ideal) if found.ideal else 0.0

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class Precision:
    """The share of the first k places that hold something relevant and new; always divided by k."""

    k: int = 10

    def __post_init__(self) -> None:
        _check_cutoff(self.k)

    @property
    def name(self) -> str:
        return f"Precision@{self.k}"

    def score(self, ranked_ids: Sequence[str], grades: Relevant, /) -> float:
        return self.score_found(find(ranked_ids, grades))

    def score_found(self, found: Found, /) -> float:
        return len(set(found.ranks[: bisect_right(found.ranks, self.k)])) / self.k

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """1 where something relevant stands in the first k, else 0."""

    k: int = 10

    def __post_init__(self) -> None:
        _check_cutoff(self.k)

    @property
    def name(self) -> str:
        return f"Hit@{self.k}"

    def score(self, ranked_ids: Sequence[str], grades: Relevant, /) -> float:
        return self.score_found(find(ranked_ids, grades))

    def score_found(self, found: Found, /) -> float:
        return 1.0 if found.ranks and found.ranks[0] <= self.k else 0.0

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class MRR:
    """1 / rank of the first relevant hit; with a cutoff, 0 where that stands behind k."""

    k: int | None = None

    def __post_init__(self) -> None:
        _check_cutoff(self.k, optional=True)

    @property
    def name(self) -> str:
        return "MRR" if self.k is None else f"MRR@{self.k}"

    def score(self, ranked_ids: Sequence[str], grades: Relevant, /) -> float:
        return self.score_found(find(ranked_ids, grades))

    def score_found(self, found: Found, /) -> float:
        if not found.ranks or (self.k is not None and found.ranks[0] > self.k):
            return 0.0
        return 1.0 / found.ranks[0]

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class MAP:
    """Average precision: the precision at each relevant hit, summed, over all that is relevant.

    Buckley & Voorhees 2000; with a cutoff only hits in the first k count, as `map_cut` of trec_eval.
    """

    k: int | None = None

    def __post_init__(self) -> None:
        _check_cutoff(self.k, optional=True)

    @property
    def name(self) -> str:
        return "MAP" if self.k is None else f"MAP@{self.k}"

    def score(self, ranked_ids: Sequence[str], grades: Relevant, /) -> float:
        return self.score_found(find(ranked_ids, grades))

    def score_found(self, found: Found, /) -> float:
        if not found.ranks:
            return 0.0
        end = len(found.credited) if self.k is None else bisect_right(found.credited, self.k)
        precisions = (place / rank for place, rank in enumerate(found.credited[:end], 1))
        return min(1.0, sum(precisions) / len(found.ideal))

    def __repr__(self) -> str:
        return self.name


def parse_measure(measure: str | Measure) -> Measure:
    """The measure of a name: `nDCG@10`, `Recall@5`, `Precision@5`, `Hit@1`, `MRR`, `MRR@10`, `MAP`.

    A name is the name of an entry point and, where the measure has one, `@` and its cutoff. Case does not
    matter (`ndcg@10`), except between two measures whose names differ in nothing else. As for other parts,
    `distribution:name` selects among several of one name. A measure object is given back as it is.

    Raises:
        UnknownNameError: there is no such measure; the message offers the nearest name.
        InvalidValueError: the cutoff is no int of 1 or more, is missing, or the measure takes none.
        PluginError: the measure cannot be loaded.
    """
    return _parsed(measure, None)


def parse_measures(measures: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """One or several measures, in order; at least one.

    Raises:
        DuplicateIdError: two have one name.
        InvalidValueError: there is none; and as `parse_measure`.
    """
    given = [measures] if isinstance(measures, str | Measure) else list(measures)
    installed = components("measure") if any(isinstance(one, str) for one in given) else ()
    made = tuple(_parsed(one, installed) for one in given)
    names = [one.name for one in made]
    if not names:
        raise InvalidValueError("no measure was given; give some, e.g. ['nDCG@10', 'MRR']")
    for name in names:
        if names.count(name) > 1:
            raise DuplicateIdError(f"measure {name!r} was given twice")
    return made


def _parsed(measure: str | Measure, installed: Sequence[ComponentInfo] | None) -> Measure:
    if not isinstance(measure, str):
        if isinstance(measure, type) or not isinstance(measure, Measure):
            raise InvalidValueError(f"{measure!r} is no measure; give a name such as 'nDCG@10', or a measure")
        return measure
    offered = components("measure") if installed is None else installed
    name, at, cutoff = measure.strip().partition("@")
    if at and not _CUTOFF.fullmatch(cutoff):
        raise InvalidValueError(
            f"cutoff of measure {measure!r} is {cutoff!r}; give 1 or more, e.g. {name}@10"
        )
    info = find_component("measure", _in_its_case(name, offered), among=offered)
    if at and not any(option.name == "k" for option in info.options()):
        raise InvalidValueError(f"measure {measure!r}: {info.name} takes no cutoff; write {info.name}")
    made = info.load()(k=int(cutoff)) if at else info.load()()
    if not isinstance(made, Measure):
        raise InvalidValueError(f"measure {measure!r} is {made!r}, which lacks a name or a method score()")
    if made.name != info.name + at + cutoff:
        raise InvalidValueError(f"measure {measure!r} is not complete; write {made.name}")
    return made


def _in_its_case(name: str, offered: Sequence[ComponentInfo]) -> str:
    """The name as it is registered, where case is all that differs; else as it is."""
    names = {info.name for info in offered}
    selector, colon, short = name.rpartition(":")
    same = [known for known in sorted(names) if known.casefold() == short.casefold()]
    return selector + colon + same[0] if short not in names and len(same) == 1 else name


def _discount(rank: int) -> float:
    return _DISCOUNTS[rank - 1] if rank <= len(_DISCOUNTS) else 1 / math.log2(rank + 1)


def _check_cutoff(k: object, *, optional: bool = False) -> None:
    if optional and k is None:
        return
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise InvalidValueError(f"cutoff k is {k!r}; give an int of 1 or more")
