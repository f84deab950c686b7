"""Ablations, sweeps and diagnoses as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ablation_tables import (
    change_table,
    diagnosis_heading,
    diagnosis_tables,
    sweep_heading,
    sweep_tables,
)
from .escape import clip, printable
from .evaluation_tables import comparison_heading, comparison_tables
from .evaluation_text import table_text

if TYPE_CHECKING:
    from ..evaluation.ablation import Ablation
    from ..evaluation.diagnosis import Diagnosis
    from ..evaluation.sweep import Sweep

_LINE = 160


def ablation_text(ablation: Ablation) -> str:
    """What each variant changes, means and latencies, differences, what is clear, what cannot be told."""
    comparison = ablation.comparison
    tables = [change_table(ablation.changes), *comparison_tables(comparison)]
    told = [*ablation.findings, *ablation.notes]
    return "\n".join([comparison_heading(comparison), *map(table_text, tables), *map(printable, told)])


def sweep_text(sweep: Sweep) -> str:
    """Means and latencies by setting."""
    return "\n".join([printable(sweep_heading(sweep)), *map(table_text, sweep_tables(sweep)), *sweep.notes])


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """One line a query that lost something, and how many targets each stage lost."""
    lines = [diagnosis_heading(diagnosis)]
    for case, losses in diagnosis.by_case().items():
        told = "; ".join(f"[{loss.stage}] {loss.target}: {loss.reason}" for loss in losses)
        lines.append(clip(f"  {printable(case)}  {printable(' '.join(told.split()))}", _LINE))
    return "\n".join([*lines, *map(table_text, diagnosis_tables(diagnosis))])
