"""Scoring a run: rankings of many queries against what is relevant to each."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ContractError, InvalidValueError
from ..types import FrozenDict
from .found import (
    Found,
    Relevant,
    as_grade,
    checked_ranking,
    find_graded,
    ideal_grades,
    relevant_grades,
)
from .measures import Measure, ScoresFound, parse_measures


class EvaluationWarning(UserWarning):
    """The rankings and the judgements do not seem to speak of the same things."""


@dataclass(frozen=True, slots=True, repr=False)
class Scores:
    """The values of some measures for each judged query, and their means.

    Attributes:
        queries: ids of all judged queries, in the order of the judgements.
        values: by measure name one value per query, in the order of `queries`.
        missing: judged queries that the run does not hold; they score 0.
        unjudged: queries of the run without judgements; they are left out of everything.
        without_relevant: judged queries to which nothing is relevant; they score 0, as in trec_eval.
    """

    queries: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure over all judged queries."""
        return {name: mean(values) for name, values in self.values.items()}

    def per_query(self, measure: str) -> dict[str, float]:
        """The values of one measure by query id."""
        return dict(zip(self.queries, self.values[measure], strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers."""
        return {
            "means": self.means,
            "queries": list(self.queries),
            "values": {name: list(values) for name, values in self.values.items()},
            "missing": list(self.missing),
            "unjudged": list(self.unjudged),
            "without_relevant": list(self.without_relevant),
        }

    def __repr__(self) -> str:
        lines = [f"Scores, {len(self.queries)} judged queries"]
        size = max(map(len, self.values))
        lines += [f"  {name:<{size}}  {value:.4f}" for name, value in self.means.items()]
        for what in ("missing", "unjudged", "without_relevant"):
            ids = getattr(self, what)
            if ids:
                shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
                lines.append(f"  {what.replace('_', ' ')}: {len(ids)} ({shown})")
        return "\n".join(lines)


def score_run(
    qrels: Mapping[str, Relevant],
    run: Mapping[str, Sequence[str]],
    measures: str | Measure | Iterable[str | Measure],
) -> Scores:
    """Score the rankings of a run.

    The mean is over all judged queries: one that is missing in the run, or whose ranking is empty, scores 0.
    Only the order of the ids counts; `ranked` makes it of scores.

    Args:
        qrels: by query id the grades by document id, or the ids of what is relevant.
        run: by query id the document ids, best first.
        measures: names or measures.

    Raises:
        InvalidValueError: there is no judged query, a grade is no finite number, a ranking is no sequence of
            ids; and as `parse_measures`.
        ContractError: a measure returned no finite number.

    Warns:
        EvaluationWarning: the run holds no judged query, or no judged id stands in any ranking.
    """
    made = parse_measures(measures)
    for what, given in (("judgements", qrels), ("run", run)):
        if not isinstance(given, Mapping):
            raise InvalidValueError(f"{what} of type {type(given).__name__}; give a mapping by query id")
        for query in given:
            if not isinstance(query, str):
                raise InvalidValueError(f"query id {query!r} of the {what} is no str")
    if not qrels:
        raise InvalidValueError("there are no judged queries; a mean over none is not defined")
    columns: list[list[float]] = [[] for _ in made]
    scoring = [(column, scorer(measure)) for column, measure in zip(columns, made, strict=True)]
    without_relevant: list[str] = []
    for query, relevant in qrels.items():
        where = f"query {query!r}: "
        grades = relevant_grades(relevant, where)
        ranked_ids = checked_ranking(run.get(query, ()), where)
        found = find_graded(ranked_ids, grades, ideal_grades(grades))
        if not grades:
            without_relevant.append(query)
        for column, value in scoring:
            column.append(value(found, ranked_ids, relevant, query))
    missing = tuple(query for query in qrels if query not in run)
    unjudged = tuple(query for query in run if query not in qrels)
    if not any(map(any, columns)):
        _warn_of_strangers(qrels, run)
    values = {measure.name: tuple(column) for measure, column in zip(made, columns, strict=True)}
    return Scores(tuple(qrels), FrozenDict(values), missing, unjudged, tuple(without_relevant))


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Ids by falling score; equal scores stay in the order of the mapping.

    Raises:
        InvalidValueError: a score is no finite number.
    """
    for id, score in scores.items():
        if as_grade(score) is None:
            raise InvalidValueError(f"score of {id!r} is {score!r}; give a finite number")
    return sorted(scores, key=scores.__getitem__, reverse=True)


def scorer(measure: Measure) -> Callable[[Found, Sequence[str], Relevant, str], float]:
    """How a measure gets its value from what is found, the ranking, what is relevant and the query's id."""
    if isinstance(measure, ScoresFound):
        score_found = measure.score_found
        return lambda found, ranked_ids, relevant, query: score_found(found)

    def value(found: Found, ranked_ids: Sequence[str], relevant: Relevant, query: str) -> float:
        grades = relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1)
        number = as_grade(measure.score(tuple(ranked_ids), grades))
        if number is None:
            raise ContractError(f"measure {measure.name}", f"returned no finite number for query {query!r}")
        return number

    return value


def mean(values: Sequence[float]) -> float:
    """The mean, the same in whatever order the values come.

    Raises:
        InvalidValueError: there are none.
    """
    if not values:
        raise InvalidValueError("a mean over nothing is not defined")
    return math.fsum(values) / len(values)


def _warn_of_strangers(qrels: Mapping[str, Relevant], run: Mapping[str, Sequence[str]]) -> None:
    shared = [query for query in qrels if query in run]
    told = [query for query in shared if len(run[query]) and len(qrels[query])]
    if not shared and run:
        message = f"the run holds no judged query: {_like(run)} in the run, {_like(qrels)} in the judgements"
    elif told and all(set(qrels[query]).isdisjoint(run[query]) for query in told):
        message = (
            f"no judged id stands in any ranking: {_like(run[told[0]])} in the run, {_like(qrels[told[0]])} "
            "in the judgements; where chunks are ranked and files judged, collapse() the rankings first"
        )
    else:
        return
    warnings.warn(message, EvaluationWarning, stacklevel=3)


def _like(ids: Iterable[str]) -> str:
    return repr(next(iter(ids), None))
