"""The parts of a report page: each a piece of HTML made from evaluations. Everything is escaped."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from .charts import Interval, Series, bar_chart, interval_chart, line_chart, point_chart
from .escape import printable
from .evaluation_tables import Table

if TYPE_CHECKING:
    from ..evaluation.comparison import Comparison
    from ..evaluation.diagnosis import Diagnosis
    from ..evaluation.outcomes import CaseOutcome, Evaluation
    from ..evaluation.sweep import Sweep

Evaluations = Mapping[str, "Evaluation"]

ROWS = 5_000
"""How many cases are listed; what is left out is counted."""
_CHARACTERS = 300


def section(title: str, *parts: str) -> str:
    """A section with a heading and an anchor; `""` where it would be empty."""
    body = "".join(parts)
    return f'<section id="{anchor(title)}"><h2>{safe(title)}</h2>{body}</section>' if body else ""


def anchor(title: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in title.lower())


def table(given: Table) -> str:
    """A table; columns without any content are left out."""
    used = [column for column in range(len(given.head)) if any(row[column] for row in given.rows)]

    def cells(row: Sequence[str], tag: str) -> str:
        kinds = ["" if column < given.words else ' class="n"' for column in range(len(row))]
        return "".join(f"<{tag}{kinds[column]}>{safe(row[column])}</{tag}>" for column in used)

    title = f"<h3>{safe(given.title)}</h3>" if given.title else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in given.rows)
    head = f"<thead><tr>{cells(given.head, 'th')}</tr></thead>"
    return f'{title}<div class="wide"><table>{head}<tbody>{body}</tbody></table></div>'


def categories(evaluations: Evaluations) -> str:
    """For each measure a table of means by category and method; `""` where cases have no categories."""
    first = next(iter(evaluations.values()))
    grouped = first.categories()
    if set(grouped) == {""}:
        return ""
    means = {name: evaluation.by_category for name, evaluation in evaluations.items()}
    parts = []
    for measure in (measure.name for measure in first.measures):
        rows = [
            (
                category or "(none)",
                str(len(outcomes)),
                *(f"{means[name][category][measure]:.4f}" for name in evaluations),
            )
            for category, outcomes in grouped.items()
        ]
        parts.append(
            table(Table(measure, ("category", "cases", *(name or "mean" for name in evaluations)), rows))
        )
    return "".join(parts)


def difference_charts(comparison: Comparison) -> str:
    """For each measure the differences from the baseline, with their intervals."""
    if not comparison.differences:
        return ""
    charts = []
    for measure in comparison.measures:
        rows = [
            Interval(one.method, one.difference, one.low, one.high, one.p_holm <= comparison.alpha)
            for one in comparison.differences
            if one.measure == measure
        ]
        title = f"{measure}: difference from {comparison.baseline}"
        charts.append(interval_chart(title, rows, x_title=f"{100 * (1 - comparison.alpha):g} % interval"))
    told = "Blue: chance does not explain it (p after Holm's correction). Grey: it may be chance."
    return f'<p class="soft">{told}</p><div class="charts">{"".join(charts)}</div>'


def recall_at(evaluation: Evaluation, k: int) -> float:
    """Mean share of relevant targets within the first k hits."""
    shares = []
    for outcome in evaluation.scored:
        wanted = [str(target) for target, grade in outcome.case.relevant.items() if grade > 0]
        ranks = sorted(outcome.ranks[name] for name in wanted if name in outcome.ranks)
        shares.append(bisect_right(ranks, k) / len(wanted))
    return sum(shares) / len(shares)


def recall_chart(evaluations: Evaluations) -> str:
    """Recall over k, as deep as the searches went."""
    deepest = max(evaluation.k for evaluation in evaluations.values())
    if deepest < 2:
        return ""
    series = [
        Series(
            name or "recall",
            [(k, recall_at(evaluation, k)) for k in _ranks(evaluation.k)],
        )
        for name, evaluation in evaluations.items()
    ]
    ticks = {float(k): str(k) for k in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if k <= deepest}
    return line_chart(
        "Recall over k",
        series,
        x_title="first k hits",
        y_title="recall",
        x_ticks=ticks,
        y_range=(0.0, 1.0),
        log=True,
    )


def latency_chart(evaluations: Evaluations) -> str:
    """The first measure against the median latency."""
    measure = next(iter(evaluations.values())).measures[0].name
    points = [
        (name or "pipeline", 1000 * evaluation.latency["p50"], evaluation.means[measure])
        for name, evaluation in evaluations.items()
    ]
    return point_chart(f"{measure} against latency", points, x_title="median latency, ms", y_title=measure)


def sweep_charts(sweep: Sweep) -> str:
    """For each knob, or for the first one of a grid, the measures over its values."""
    charts = []
    for knob, values in sweep.knobs.items():
        if sweep.grid and len(sweep.knobs) > 1:
            return _grid_charts(sweep)
        points = {point.settings[knob]: point for point in sweep.line(knob)}
        ordered = [points[value] for value in values]
        series = [
            Series(measure, [(place, point.evaluation.means[measure]) for place, point in enumerate(ordered)])
            for measure in sweep.measures
        ]
        charts.append(_over(knob, values, series, "mean"))
    return f'<div class="charts">{"".join(charts)}</div>'


def _grid_charts(sweep: Sweep) -> str:
    from ..evaluation.sweep import value_text

    knob, *others = sweep.knobs
    charts = []
    for measure in sweep.measures:
        lines: dict[str, list[tuple[float, float]]] = {}
        for point in sweep.points[1:]:
            name = ", ".join(f"{other}={value_text(point.settings[other])}" for other in others)
            line = lines.setdefault(name, [])
            line.append((len(line), point.evaluation.means[measure]))
        series = [Series(name, points) for name, points in lines.items()]
        charts.append(_over(knob, sweep.knobs[knob], series, measure))
    return f'<div class="charts">{"".join(charts)}</div>'


def _over(knob: str, values: Sequence[object], series: Sequence[Series], y_title: str) -> str:
    from ..evaluation.sweep import value_text

    ticks = {float(place): value_text(value) for place, value in enumerate(values)}
    return line_chart(f"{y_title} over {knob}", series, x_title=knob, y_title=y_title, x_ticks=ticks)


def query_rows(evaluations: Evaluations, baseline: str | None, diagnosis: Diagnosis | None) -> str:
    """The filters, and one row a case: the first measure of each method, and what was missed."""
    first = next(iter(evaluations.values()))
    measure = first.measures[0].name
    stages = {} if diagnosis is None else {id: _stages(losses) for id, losses in diagnosis.by_case().items()}
    rows, kinds = [], dict.fromkeys(outcome.case.category for outcome in first.outcomes)
    for outcomes in list(zip(*(one.outcomes for one in evaluations.values()), strict=True))[:ROWS]:
        case = outcomes[0].case
        by_name = dict(zip(evaluations, outcomes, strict=True))
        reference = None if baseline is None else by_name[baseline].values.get(measure)
        values = "".join(_cell(outcome, measure, reference) for outcome in outcomes)
        told = stages.get(case.id, "") if diagnosis is not None else _found(outcomes[0])
        last = "" if len(outcomes) > 1 else f"<td>{safe(told)}</td>"
        rows.append(
            f'<tr data-category="{safe(case.category)}" data-state="{_states(outcomes, measure, reference)}">'
            f'<td class="mono">{safe(case.id)}</td><td>{safe(case.query)}</td><td>{safe(case.category)}</td>'
            f"{values}{last}</tr>"
        )
    left = len(first.outcomes) - len(rows)
    more = f'<p class="soft">{left:,} more cases are not listed.</p>' if left else ""
    heads = "".join(f'<th class="n">{safe(name or measure)}</th>' for name in evaluations)
    last_head = "lost by" if diagnosis is not None else "found"
    ends = "" if len(evaluations) > 1 else f"<th>{last_head}</th>"
    return (
        f'{_filters(list(kinds), baseline is not None)}<div class="wide"><table id="queries"><thead><tr>'
        f"<th>case</th><th>query</th><th>category</th>{heads}{ends}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{more}"
    )


def stage_chart(diagnosis: Diagnosis) -> str:
    """How many targets each stage lost."""
    return bar_chart("Missed targets by the stage that lost them", list(diagnosis.summary.items()))


def safe(text: str) -> str:
    """The text on one line, cut where it is very long, fit for HTML text and attributes."""
    folded = " ".join(text.split())
    return escape(printable(folded if len(folded) <= _CHARACTERS else folded[:_CHARACTERS] + "…"))


def _ranks(deepest: int) -> list[int]:
    """Every k up to 20, then ever fewer."""
    ranks, step = list(range(1, min(deepest, 20) + 1)), 20
    while ranks[-1] < deepest:
        step = max(1, ranks[-1] // 10)
        ranks.append(min(deepest, ranks[-1] + step))
    return ranks


def _filters(kinds: Sequence[str], compared: bool) -> str:
    options = "".join(f'<option value=":{safe(kind)}">{safe(kind) or "(none)"}</option>' for kind in kinds)
    states = [("missed", "something missed"), ("gap", "gaps"), ("failed", "search failed")]
    if compared:
        states += [("better", "a method is above the baseline"), ("worse", "a method is below the baseline")]
    offered = "".join(f'<option value="{value}">{told}</option>' for value, told in states)
    return (
        '<div class="filters">'
        '<label>text in the row<input id="filter-text" type="search" autocomplete="off"></label>'
        f'<label>category<select id="filter-category"><option value="">all</option>{options}</select></label>'
        f'<label>only<select id="filter-state"><option value="">all</option>{offered}</select></label>'
        '<span id="filter-count" class="soft"></span></div>'
    )


def _states(outcomes: Sequence[CaseOutcome], measure: str, reference: float | None) -> str:
    states = []
    if any(outcome.missed for outcome in outcomes):
        states.append("missed")
    if outcomes[0].case.is_gap:
        states.append("gap")
    if any(outcome.error for outcome in outcomes):
        states.append("failed")
    values = [outcome.values[measure] for outcome in outcomes if measure in outcome.values]
    if reference is not None and any(value > reference for value in values):
        states.append("better")
    if reference is not None and any(value < reference for value in values):
        states.append("worse")
    return " ".join(states)


def _cell(outcome: CaseOutcome, measure: str, reference: float | None) -> str:
    value = outcome.values.get(measure)
    if value is None:
        return '<td class="n soft">gap</td>'
    moved = "" if reference is None or value == reference else " up" if value > reference else " down"
    return f'<td class="n{moved}">{"failed" if outcome.error else f"{value:.3f}"}</td>'


def _found(outcome: CaseOutcome) -> str:
    if outcome.case.is_gap:
        return "first: " + ", ".join(outcome.ids[:3]) if outcome.ids else "nothing, which is right"
    found = [f"{target} at {rank}" for target, rank in outcome.ranks.items()]
    return outcome.error or ", ".join(found + [f"{target} missed" for target in outcome.missed])


def _stages(losses: Sequence[object]) -> str:
    return ", ".join(
        dict.fromkeys(getattr(loss, "part", "") or getattr(loss, "stage", "") for loss in losses)
    )
