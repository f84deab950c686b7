"""What ablations, sweeps and diagnoses show, as tables of strings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .evaluation_tables import Table

if TYPE_CHECKING:
    from ..evaluation.diagnosis import Diagnosis
    from ..evaluation.sweep import Sweep


def change_table(changes: Mapping[str, Mapping[str, Any]]) -> Table:
    """What each variant puts into the configuration."""
    rows = [
        (name, path, _value_text(path, value))
        for name, change in changes.items()
        for path, value in change.items()
    ]
    return Table("variants", ("", "path", "value"), rows, 3)


def _value_text(path: str, value: Any) -> str:
    is_part = path.startswith(("retrievers.", "rerankers.")) and path.count(".") == 1
    if value is False and (is_part or path.startswith(("fuser.weights.", "validator", "normalizer"))):
        return "left out"
    return json.dumps(value, ensure_ascii=False, default=str)


def sweep_heading(sweep: Sweep) -> str:
    from ..evaluation.sweep import one_line

    cases = len(sweep.points[0].evaluation.scored)
    how = "every combination of" if sweep.grid and len(sweep.knobs) > 1 else "one at a time:"
    return f"Sweep of {len(sweep.points)} settings on {cases} cases, {how} {one_line(sweep.knobs)}"


def sweep_tables(sweep: Sweep) -> list[Table]:
    """Means and latency by setting."""
    from ..evaluation.sweep import value_text

    head = (*sweep.knobs, *sweep.measures, "p50 ms", "p95 ms", "warnings", "errors")
    rows = []
    for point in sweep.points:
        evaluation = point.evaluation
        latency = evaluation.latency
        settings = [value_text(point.settings[k]) if k in point.settings else "" for k in sweep.knobs]
        if not point.settings:
            settings[0] = "as configured"
        rows.append(
            (
                *settings,
                *(f"{mean:.4f}" for mean in evaluation.means.values()),
                f"{1000 * latency['p50']:.1f}",
                f"{1000 * latency['p95']:.1f}",
                str(sum(evaluation.warning_counts.values())),
                str(len(evaluation.errors)),
            )
        )
    return [Table("", head, rows, len(sweep.knobs))]


def diagnosis_heading(diagnosis: Diagnosis) -> str:
    found = diagnosis.targets - len(diagnosis.losses)
    lost = len(diagnosis.by_case())
    return (
        f"Diagnosis: {found} of {diagnosis.targets} targets are in the first {diagnosis.k}; "
        f"{lost} of {diagnosis.cases} cases lost something"
    )


def diagnosis_tables(diagnosis: Diagnosis) -> list[Table]:
    """How many targets each stage lost."""
    from ..evaluation.diagnosis import MEANING

    rows: list[tuple[str, ...]] = []
    for stage, count in diagnosis.summary.items():
        rows.append((stage, MEANING[stage], str(count)))
        if stage == "reranker" and len(diagnosis.rerankers) > 1:
            rows += [("", name, str(number)) for name, number in diagnosis.rerankers.items()]
    return [Table("", ("lost by", "", "targets"), rows, 2)]


def loss_table(diagnosis: Diagnosis, limit: int | None = None) -> Table:
    """One row for each missed target."""
    rows = [
        (loss.case, loss.query, loss.target, loss.part or loss.stage, loss.reason)
        for loss in diagnosis.losses[:limit]
    ]
    left = len(diagnosis.losses) - len(rows)
    title = f"missed targets, {left} more not shown" if left else "missed targets"
    return Table(title, ("case", "query", "target", "lost by", "why"), rows, 5)
