"""Ablations, sweeps and diagnoses as HTML for notebooks; everything is escaped, nothing is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ablation_tables import (
    change_table,
    diagnosis_heading,
    diagnosis_tables,
    loss_table,
    sweep_heading,
    sweep_tables,
)
from .evaluation_html import _page, _safe, _table
from .evaluation_tables import comparison_heading, comparison_tables
from .html import HITS

if TYPE_CHECKING:
    from ..evaluation.ablation import Ablation
    from ..evaluation.diagnosis import Diagnosis
    from ..evaluation.sweep import Sweep


def ablation_html(ablation: Ablation) -> str:
    """What each variant changes, means and latencies, differences, what is clear, what cannot be told."""
    comparison = ablation.comparison
    tables = [change_table(ablation.changes), *comparison_tables(comparison)]
    told = [f"<p>{_safe(line)}</p>" for line in (*ablation.findings, *ablation.notes)]
    return _page(comparison_heading(comparison), tables, told)


def sweep_html(sweep: Sweep) -> str:
    """Means and latencies by setting."""
    return _page(sweep_heading(sweep), sweep_tables(sweep), [f"<p>{_safe(note)}</p>" for note in sweep.notes])


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """How many targets each stage lost, and the missed targets one by one."""
    losses = _table(loss_table(diagnosis, HITS)) if diagnosis.losses else ""
    return _page(diagnosis_heading(diagnosis), diagnosis_tables(diagnosis), [losses])
