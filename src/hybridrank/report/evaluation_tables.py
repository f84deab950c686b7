"""What evaluations and comparisons show, as tables of strings; text and HTML are made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..evaluation.comparison import Comparison, Difference
    from ..evaluation.outcomes import CaseOutcome, Evaluation


class Table(NamedTuple):
    """A table; `words` of its first columns hold text, the others numbers."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


def evaluation_tables(evaluation: Evaluation) -> list[Table]:
    """Means over all and per category, then what else there is to know."""
    names = [measure.name for measure in evaluation.measures]
    rows = [("all", str(len(evaluation.scored)), *map(_value, evaluation.means.values()))]
    grouped = evaluation.categories()
    if set(grouped) != {""}:
        means = evaluation.by_category
        rows += [
            (category or "(none)", str(len(outcomes)), *map(_value, means[category].values()))
            for category, outcomes in grouped.items()
        ]
    tables = [Table("", ("", "cases", *names), rows)]
    tables += _told([evaluation], {"": evaluation.gaps})
    return tables


def evaluation_heading(evaluation: Evaluation) -> str:
    named = f" {evaluation.name!r}" if evaluation.name else ""
    latency = evaluation.latency
    return (
        f"Evaluation{named}: {_cases(evaluation)}, {evaluation.k} hits each; "
        f"p50 {_milliseconds(latency['p50'])} ms, p95 {_milliseconds(latency['p95'])} ms"
    )


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Means and latency per method, the differences, then what else there is to know."""
    head = ("", *comparison.measures, "p50 ms", "p95 ms", "warnings", "errors")
    rows = [
        (
            name,
            *map(_value, evaluation.means.values()),
            _milliseconds(evaluation.latency["p50"]),
            _milliseconds(evaluation.latency["p95"]),
            str(sum(evaluation.warning_counts.values())),
            str(len(evaluation.errors)),
        )
        for name, evaluation in comparison.evaluations.items()
    ]
    tables = [Table("", head, rows)]
    if comparison.differences:
        percent = f"{100 * (1 - comparison.alpha):g} % interval"
        head = ("", "measure", "difference", percent, "p", "p (Holm)", "wins/ties/losses")
        told = [_difference(one) for one in comparison.differences]
        tables.append(Table(f"differences from {comparison.baseline!r}", head, told, 2))
    evaluations = comparison.evaluations
    return tables + _told(evaluations.values(), {name: one.gaps for name, one in evaluations.items()})


def comparison_heading(comparison: Comparison) -> str:
    first = next(iter(comparison.evaluations.values()))
    return f"Comparison of {len(comparison.evaluations)} methods: {_cases(first)}"


def query_table(evaluation: Evaluation, limit: int) -> Table:
    """One row per scored case: its values, and where its targets were found."""
    names = [measure.name for measure in evaluation.measures]
    rows = [
        (outcome.case.id, outcome.case.query, _where(outcome), *map(_value, outcome.values.values()))
        for outcome in evaluation.scored[:limit]
    ]
    left = len(evaluation.scored) - len(rows)
    title = f"cases, {left} more not shown" if left else "cases"
    return Table(title, ("id", "query", "found", *names), rows, 3)


def _told(evaluations: Iterable[Evaluation], gaps: Mapping[str, Sequence[CaseOutcome]]) -> list[Table]:
    tables: list[Table] = []
    warnings = [
        (evaluation.name, code, str(count))
        for evaluation in evaluations
        for code, count in evaluation.warning_counts.items()
    ]
    if warnings:
        tables.append(Table("warnings", ("method", "event", "times"), warnings, 2))
    errors = [
        (evaluation.name, outcome.case.id, outcome.error)
        for evaluation in evaluations
        for outcome in evaluation.errors
    ]
    if errors:
        tables.append(Table("searches that failed, counted as 0", ("method", "case", "error"), errors, 3))
    rows = [
        (outcome.case.id, outcome.case.gap_id or "", name, _first(outcome))
        for outcomes in zip(*gaps.values(), strict=True)
        for name, outcome in zip(gaps, outcomes, strict=True)
    ]
    if rows:
        title = "gaps: the corpus cannot answer them; never scored"
        tables.append(Table(title, ("case", "gap", "method", "first"), rows, 4))
    return tables


def _cases(evaluation: Evaluation) -> str:
    gaps = len(evaluation.gaps)
    scored = len(evaluation.scored)
    return (
        f"{scored:,} {'case' if scored == 1 else 'cases'} scored, {gaps:,} {'gap' if gaps == 1 else 'gaps'}"
    )


def _difference(one: Difference) -> tuple[str, ...]:
    interval = "" if one.low is None or one.high is None else f"{one.low:+.4f} to {one.high:+.4f}"
    return (
        one.method,
        one.measure,
        f"{one.difference:+.4f}",
        interval,
        f"{one.p:.4f}",
        f"{one.p_holm:.4f}",
        f"{one.wins}/{one.ties}/{one.losses}",
    )


def _where(outcome: CaseOutcome) -> str:
    if outcome.error:
        return "failed"
    found = [f"{target} at {rank}" for target, rank in outcome.ranks.items()]
    return ", ".join(found + [f"{target} missed" for target in outcome.missed])


def _first(outcome: CaseOutcome) -> str:
    from ..evaluation.outcomes import FIRST

    if outcome.error:
        return "failed"
    return ", ".join(outcome.ids[:FIRST]) or "nothing, which is right"


def _value(value: float) -> str:
    return f"{value:.4f}"


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f}"
