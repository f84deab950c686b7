"""What an experiment found: one outcome per case, and their means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..types import Event, FrozenDict, Result
from .cases import Case
from .measures import Measure
from .scores import mean

GAP_REASON = "the corpus cannot answer this question, so no document is a right answer"
FIRST = 3
"""How many ids of a gap's ranking are shown."""


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What a pipeline did with one case.

    Attributes:
        ids: document ids, best first; empty where the search failed.
        seconds: wall time of the search.
        values: by measure name; empty for a gap, which is never scored.
        ranks: the rank of each target that was found, by `str(target)`.
        error: the exception of a search that failed, as `type: message`; it counts as an empty ranking.
        result: the pipeline's answer with its trace; None where the search failed.
    """

    case: Case
    ids: tuple[str, ...]
    seconds: float
    values: Mapping[str, float] = FrozenDict()
    ranks: Mapping[str, int] = FrozenDict()
    error: str = ""
    result: Result | None = None

    @property
    def scored(self) -> bool:
        """Whether the case takes part in means."""
        return not self.case.is_gap

    @property
    def events(self) -> tuple[Event, ...]:
        """What the pipeline told while it searched."""
        return () if self.result is None else self.result.events

    @property
    def missed(self) -> tuple[str, ...]:
        """The relevant targets that are not in the ranking."""
        return tuple(
            str(target)
            for target, grade in self.case.relevant.items()
            if grade > 0 and str(target) not in self.ranks
        )

    def to_dict(self, *, timings: bool = True) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers."""
        told: dict[str, Any] = {"id": self.case.id, "query": self.case.query, "category": self.case.category}
        if self.scored:
            told |= {"scored": True, "values": dict(self.values), "ranks": dict(self.ranks)}
            told |= {"missed": list(self.missed), "ids": list(self.ids)}
        else:
            told |= {"scored": False, "reason": GAP_REASON, "gap_id": self.case.gap_id}
            told |= {"first_ids": list(self.ids[:FIRST]), "ids": list(self.ids)}
        if self.error:
            told["error"] = self.error
        return {**told, "seconds": self.seconds} if timings else told


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """What a pipeline did with all cases.

    Means are over the cases that can be answered, failed ones included with 0. Gaps are never in them.

    Attributes:
        name: of the method; `""` when there is only one.
        k: how many hits each search gave at most.
        measures: in the order of the tables.
        outcomes: one per case, in the order of the cases.
    """

    name: str
    k: int
    measures: tuple[Measure, ...]
    outcomes: tuple[CaseOutcome, ...]

    @property
    def scored(self) -> tuple[CaseOutcome, ...]:
        """The outcomes that means are made of."""
        return tuple(outcome for outcome in self.outcomes if outcome.scored)

    @property
    def gaps(self) -> tuple[CaseOutcome, ...]:
        """The outcomes of the questions that the corpus cannot answer."""
        return tuple(outcome for outcome in self.outcomes if not outcome.scored)

    @property
    def errors(self) -> tuple[CaseOutcome, ...]:
        """The outcomes whose search failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.error)

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure, by name."""
        return _means(self.measures, self.scored)

    @property
    def by_category(self) -> dict[str, dict[str, float]]:
        """The means of the scored cases of each category, in the order in which categories come first."""
        return {category: _means(self.measures, outcomes) for category, outcomes in self.categories().items()}

    def categories(self) -> dict[str, list[CaseOutcome]]:
        """The scored outcomes by category."""
        grouped: dict[str, list[CaseOutcome]] = {}
        for outcome in self.scored:
            grouped.setdefault(outcome.case.category, []).append(outcome)
        return grouped

    def values(self, measure: str) -> tuple[float, ...]:
        """One value per scored case, in the order of the cases."""
        return tuple(outcome.values[measure] for outcome in self.scored)

    @property
    def latency(self) -> dict[str, float]:
        """The 50th and 95th percentile of the seconds of the searches that did not fail, gaps included."""
        seconds = [outcome.seconds for outcome in self.outcomes if not outcome.error]
        return {"p50": percentile(seconds, 50), "p95": percentile(seconds, 95)}

    @property
    def event_counts(self) -> dict[str, int]:
        """How often pipelines told each event, by its code, most frequent first."""
        return _counted(event.code for outcome in self.outcomes for event in outcome.events)

    @property
    def warning_counts(self) -> dict[str, int]:
        """The same for events of level warning only: fallbacks, stages left out, guardrails."""
        return _counted(
            event.code for outcome in self.outcomes for event in outcome.events if event.level == "warning"
        )

    def to_dict(self, *, timings: bool = True) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers.

        Args:
            timings: without them, equal rankings give equal dicts.
        """
        told: dict[str, Any] = {
            "name": self.name,
            "k": self.k,
            "measures": [measure.name for measure in self.measures],
            "cases": len(self.scored),
            "means": self.means,
            "by_category": [
                {"category": category, "cases": len(outcomes), "means": _means(self.measures, outcomes)}
                for category, outcomes in self.categories().items()
            ],
            "events": self.event_counts,
            "warnings": self.warning_counts,
            "errors": [{"id": outcome.case.id, "error": outcome.error} for outcome in self.errors],
            "queries": [outcome.to_dict(timings=timings) for outcome in self.scored],
            "gaps": [outcome.to_dict(timings=timings) for outcome in self.gaps],
        }
        return {**told, "latency": self.latency} if timings else told

    def __repr__(self) -> str:
        from ..report.evaluation_text import evaluation_text

        return evaluation_text(self)

    def _repr_html_(self) -> str:
        from ..report.evaluation_html import evaluation_html

        return evaluation_html(self)


def percentile(values: Sequence[float], percent: float) -> float:
    """The percentile by linear interpolation between the two nearest values; there must be one."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _means(measures: Iterable[Measure], outcomes: Sequence[CaseOutcome]) -> dict[str, float]:
    return {
        measure.name: mean([outcome.values[measure.name] for outcome in outcomes]) for measure in measures
    }


def _counted(codes: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for code in codes:
        counts[code] = counts.get(code, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
