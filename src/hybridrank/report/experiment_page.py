"""Evaluations, comparisons, ablations, sweeps and diagnoses as one page of HTML that loads nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, Union

from ..errors import InvalidValueError
from .ablation_tables import (
    change_table,
    diagnosis_heading,
    diagnosis_tables,
    loss_table,
    sweep_heading,
    sweep_tables,
)
from .evaluation_tables import (
    Table,
    comparison_heading,
    comparison_tables,
    evaluation_heading,
    evaluation_tables,
)
from .page_sections import (
    Evaluations,
    anchor,
    categories,
    difference_charts,
    latency_chart,
    query_rows,
    recall_chart,
    safe,
    section,
    stage_chart,
    sweep_charts,
    table,
)
from .page_style import POLICY, SCRIPT, STYLE
from .page_traces import worst_losses

if TYPE_CHECKING:
    from ..evaluation.ablation import Ablation
    from ..evaluation.comparison import Comparison
    from ..evaluation.diagnosis import Diagnosis
    from ..evaluation.outcomes import Evaluation
    from ..evaluation.sweep import Sweep
    from ..types import Document

Experiment: TypeAlias = Union["Evaluation", "Comparison", "Ablation", "Sweep", "Diagnosis"]


class _View(NamedTuple):
    heading: str
    evaluations: Evaluations
    tables: Sequence[Table]
    findings: Sequence[str] = ()
    notes: Sequence[str] = ()
    comparison: Comparison | None = None
    sweep: Sweep | None = None
    diagnosis: Diagnosis | None = None
    documents: Mapping[str, Sequence[Document]] = {}


def experiment_page(
    experiment: Experiment, *, documents: Sequence[Document] | None = None, title: str = ""
) -> str:
    """A page with tables, charts, every case with filters, and the worst losses with their traces.

    Args:
        experiment: what `evaluate`, `compare`, `ablate`, `sweep` or `diagnose` gave.
        documents: what was searched. With it, traces tell where a target stood that is given as file and
            lines; an ablation and a diagnosis know it themselves.
        title: of the page; one that says what it is when empty.

    Raises:
        InvalidValueError: it is none of these.
    """
    view = _view(experiment)
    given = dict(view.documents)
    if documents is not None:
        given = dict.fromkeys(view.evaluations, documents)
    baseline = view.comparison.baseline if view.comparison is not None else None
    # Of a sweep, the losses of the configuration as it is; those of every setting would be many.
    first = next(iter(view.evaluations))
    traced = {first: view.evaluations[first]} if view.sweep is not None else view.evaluations
    sections = {
        "Settings": sweep_charts(view.sweep) if view.sweep is not None else "",
        "Differences": difference_charts(view.comparison) if view.comparison is not None else "",
        "Stages": stage_chart(view.diagnosis) if view.diagnosis is not None else "",
        "Recall and latency": _charts(view),
        "Categories": categories(view.evaluations),
        "Missed targets": _losses(view.diagnosis),
        "Cases": query_rows(view.evaluations, baseline, view.diagnosis),
        "Worst losses": worst_losses(traced, baseline, given),
    }
    shown = {name: body for name, body in sections.items() if body}
    links = "".join(f'<a href="#{anchor(name)}">{name}</a>' for name in shown)
    findings = "".join(f'<p class="found">{safe(line)}</p>' for line in view.findings)
    notes = "".join(f'<p class="note">{safe(note)}</p>' for note in view.notes)
    subtitle = f'<p class="soft">{safe(view.heading)}</p>' if title else ""
    body = (
        f"<h1>{safe(title or view.heading)}</h1>{subtitle}"
        f"<nav>{links}</nav>{findings}{notes}"
        f"{section('Summary', *map(table, view.tables))}"
        f"{''.join(section(name, content) for name, content in shown.items())}"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(title or view.heading)}</title><style>{STYLE}</style></head>"
        f"<body><main>{body}</main><script>{SCRIPT}</script></body></html>\n"
    )


def write_page(
    path: str | Path,
    experiment: Experiment,
    *,
    documents: Sequence[Document] | None = None,
    title: str = "",
) -> None:
    """`experiment_page` in a file.

    Raises:
        InvalidValueError: the experiment is none.
        OSError: the file cannot be written.
    """
    Path(path).write_bytes(experiment_page(experiment, documents=documents, title=title).encode())


def _view(experiment: Experiment) -> _View:
    from ..evaluation.ablation import Ablation
    from ..evaluation.comparison import Comparison
    from ..evaluation.diagnosis import Diagnosis
    from ..evaluation.outcomes import Evaluation
    from ..evaluation.sweep import Sweep

    if isinstance(experiment, Evaluation):
        tables = evaluation_tables(experiment)
        return _View(evaluation_heading(experiment), {experiment.name: experiment}, tables)
    if isinstance(experiment, Ablation):
        of_pair = experiment.comparison
        return _View(
            comparison_heading(of_pair),
            of_pair.evaluations,
            [*comparison_tables(of_pair), change_table(experiment.changes)],
            experiment.findings,
            experiment.notes,
            of_pair,
            documents=experiment.documents,
        )
    if isinstance(experiment, Comparison):
        tables = comparison_tables(experiment)
        notes = experiment.notes
        heading = comparison_heading(experiment)
        return _View(heading, experiment.evaluations, tables, (), notes, experiment)
    if isinstance(experiment, Sweep):
        heading, tables = sweep_heading(experiment), sweep_tables(experiment)
        return _View(heading, experiment.evaluations, tables, (), experiment.notes, sweep=experiment)
    if isinstance(experiment, Diagnosis):
        name = experiment.evaluation.name
        return _View(
            diagnosis_heading(experiment),
            {name: experiment.evaluation},
            diagnosis_tables(experiment),
            diagnosis=experiment,
            documents={name: experiment.documents},
        )
    raise InvalidValueError(
        f"{type(experiment).__name__} is no experiment; give an Evaluation, Comparison, Ablation, Sweep or "
        "Diagnosis"
    )


def _charts(view: _View) -> str:
    charts = recall_chart(view.evaluations)
    if view.diagnosis is None:
        charts += latency_chart(view.evaluations)
    return f'<div class="charts">{charts}</div>' if charts else ""


def _losses(diagnosis: Diagnosis | None) -> str:
    return (
        table(loss_table(diagnosis)._replace(title="")) if diagnosis is not None and diagnosis.losses else ""
    )
