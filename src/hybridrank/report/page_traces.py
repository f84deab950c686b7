"""The cases that lost most, each with its target's way through the stages of every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .evaluation_tables import Table
from .page_sections import Evaluations, safe, table

if TYPE_CHECKING:
    from ..evaluation.outcomes import CaseOutcome
    from ..types import Document

WORST = 10
"""How many cases are shown with their traces."""
_FIRST = 3


def worst_losses(
    evaluations: Evaluations, baseline: str | None, documents: Mapping[str, Sequence[Document]]
) -> str:
    """The cases that fell furthest below the baseline, or without one those that scored lowest.

    Args:
        documents: by method what it searched, so that targets given as files and lines are found in traces.
    """
    measure = next(iter(evaluations.values())).measures[0].name
    losses: list[tuple[float, int, dict[str, CaseOutcome]]] = []
    for place, outcomes in enumerate(zip(*(one.scored for one in evaluations.values()), strict=True)):
        by_name = dict(zip(evaluations, outcomes, strict=True))
        values = [outcome.values[measure] for outcome in outcomes]
        # Below the baseline, or below what would be perfect.
        top = 1.0 if baseline is None else by_name[baseline].values[measure]
        if min(values) < top:
            losses.append((min(values) - top, place, by_name))
    losses.sort(key=lambda loss: loss[:2])
    holders = {name: _by_path(given) for name, given in documents.items()}
    shown = [
        _case(by_name, measure, holders, opened=not place)
        for place, (_, _, by_name) in enumerate(losses[:WORST])
    ]
    left = len(losses) - len(shown)
    if left > 0:
        shown.append(f'<p class="soft">{left:,} more cases lost something.</p>')
    return "".join(shown)


def _by_path(documents: Sequence[Document]) -> dict[str, list[Document]]:
    found: dict[str, list[Document]] = {}
    for document in documents:
        found.setdefault(document.path, []).append(document)
    return found


def _case(
    by_name: Mapping[str, CaseOutcome],
    measure: str,
    holders: Mapping[str, Mapping[str, list[Document]]],
    *,
    opened: bool,
) -> str:
    case = next(iter(by_name.values())).case
    values = ", ".join(
        f"{name + ' ' if name else ''}{outcome.values[measure]:.3f}" for name, outcome in by_name.items()
    )
    wanted = ", ".join(str(target) for target, grade in case.relevant.items() if grade > 0)
    tables = "".join(_trace(name, outcome, holders.get(name, {})) for name, outcome in by_name.items())
    return (
        f"<details{' open' if opened else ''}><summary><b>{safe(case.query)}</b> "
        f"<span class='soft'>{safe(case.id)}; {safe(measure)}: "
        f"{safe(values)}</span></summary><p>wanted: <span class='mono'>{safe(wanted)}</span></p>"
        f"{tables}</details>"
    )


def _trace(name: str, outcome: CaseOutcome, by_path: Mapping[str, list[Document]]) -> str:
    if outcome.result is None:
        return f"<h3>{safe(name)}</h3><p>the search failed: {safe(outcome.error)}</p>"
    wanted: dict[str, set[str]] = {}
    for target, grade in outcome.case.relevant.items():
        if grade > 0:
            held = by_path.get(target.path, []) if target.path else []
            wanted[str(target)] = {target.id} if target.id else {d.id for d in held if target.touches(d)}
    rows = []
    for stage in outcome.result.trace.stages:
        if stage.kind == "normalizer":
            continue
        places = [_place(stage.ids_out, ids) for ids in wanted.values()]
        rows.append(
            (
                stage.name,
                ", ".join("-" if place is None else str(place) for place in places),
                f"of {len(stage.ids_out)}",
                f"{1000 * stage.seconds:.1f}",
                "; ".join(stage.ids_out[:_FIRST]),
                "; ".join(event.message for event in stage.events),
            )
        )
    final = ", ".join(str(outcome.ranks.get(target, "-")) for target in wanted)
    rows.append(("result", final, f"of {len(outcome.ids)}", "", "; ".join(outcome.ids[:_FIRST]), ""))
    head = ("stage", "target at", "", "ms", "first ids", "events")
    return table(Table(name, head, rows, len(head)))


def _place(ids: Sequence[str], wanted: set[str]) -> int | None:
    return next((place for place, id in enumerate(ids, 1) if id in wanted), None)
