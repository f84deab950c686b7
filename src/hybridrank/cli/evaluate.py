"""`hybridrank evaluate`: run cases through every method of a pipeline, with or without a contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..report.data import dumps
from .inputs import FILE, corpus_of, corpus_options, text_list
from .output import ARGUMENTS, DEGRADED, FAILED, Notes, reported, write
from .progress import progress

if TYPE_CHECKING:
    from ..evaluation.breaches import Breach
    from ..evaluation.run_plan import Run

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""


@click.command(short_help="Run cases through every method of a pipeline and score them.")
@click.option("--contract", type=FILE, metavar="FILE", help="Contract that `hybridrank lock` wrote.")
@click.option(
    "--base",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder that the contract's paths are relative to.  [default: the contract's]",
)
@click.option("--config", type=FILE, metavar="FILE", help="Pipeline, a TOML or JSON file.")
@click.option("--cases", type=FILE, metavar="FILE", help="Cases, a .jsonl or .json file.")
@corpus_options
@click.option(
    "--cutoff",
    "cutoffs",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Cutoff of measures that end in @k. Repeatable.  [default: 1, 3, 5, 10]",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="Measure, e.g. Recall@k, nDCG@10. Repeatable.  [default: Recall@k, MRR, nDCG@10]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder of runs.  [default: the contract's, else runs]",
)
@click.option("--no-save", is_flag=True, help="Write no run folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, notes or warnings on stderr.")
@click.pass_obj
def evaluate(
    notes: Notes,
    contract: Path | None,
    base: Path | None,
    config: Path | None,
    cases: Path | None,
    root: Path | None,
    records: Path | None,
    id_field: str | None,
    text_field: str | None,
    cutoffs: tuple[int, ...],
    measures: tuple[str, ...],
    output: Path | None,
    no_save: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run every case through each leg of a pipeline, their fusion and, with rerankers, the whole.

    With --contract nothing runs unless inputs, settings and models are those that it locks; all that moved is
    listed. Without it, give --config, --cases and --root or --records.

    A run is written to a folder of its own: rankings, per-query measures, vectors, public summary, manifest.
    """
    notes.quiet = quiet
    if no_save and output is not None:
        raise click.UsageError("--no-save and --output exclude each other")
    arguments = click.get_current_context().find_root().meta.get(ARGUMENTS, ())
    given = {
        "--cases": cases,
        "--root": root,
        "--records": records,
        "--id-field": id_field,
        "--text-field": text_field,
        "--cutoff": cutoffs,
        "--measure": measures,
    }
    if contract is not None:
        unfit = [name for name, value in given.items() if value]
        if unfit:
            raise click.UsageError(f"{unfit[0]} is locked by the contract; give no other")
    elif config is None or cases is None:
        raise click.UsageError("give --contract FILE, or --config FILE, --cases FILE and a corpus")
    elif base is not None:
        raise click.UsageError("--base goes with --contract")
    corpus = None if contract is not None else corpus_of(root, records)
    breaches: tuple[Breach, ...] = ()
    run: Run | None = None
    with reported():
        from ..evaluation.breaches import ContractMismatchError
        from ..evaluation.runs import evaluate_config, evaluate_contract

        try:
            with progress(not quiet) as watch:
                shared: dict[str, Any] = {"command": ["hybridrank", *arguments], "progress": watch}
                if contract is not None:
                    run = evaluate_contract(
                        contract, base=base, config=config, output=output, save=not no_save, **shared
                    )
                elif config is not None and cases is not None and corpus is not None:
                    run = evaluate_config(
                        config,
                        cases,
                        corpus,
                        measures=measures,
                        cutoffs=sorted(set(cutoffs)),
                        output=None if no_save else output or "runs",
                        id_field=id_field or "id",
                        text_field=text_field or "text",
                        **shared,
                    )
        except ContractMismatchError as refused:
            breaches = refused.breaches
    if run is not None:
        return _told(notes, run, as_json)
    for breach in breaches:
        notes.error(str(breach))
    notes.error_hint(f"{text_list(len(breaches), 'thing', 'things')} moved: nothing was run")
    if as_json:
        write(dumps({"schema": SCHEMA, "breaches": [breach.to_dict() for breach in breaches]}))
    return FAILED


def _told(notes: Notes, run: Run, as_json: bool) -> int:
    if as_json:
        path = None if run.path is None else run.path.as_posix()
        write(dumps({"schema": SCHEMA, "run": path, "summary": run.summary}))
    else:
        write(summary_text(run.summary))
        if run.path is not None:
            write(f"run: {run.path}")
    for line in run.notes:
        notes.note(line)
    for code, times in run.warnings.items():
        notes.warning(f"{code}: {text_list(times, 'time', 'times')}")
    for case, errors in run.errors.items():
        for method, message in errors.items():
            notes.warning(f"case {case!r}, {method}: {message}; counted as an empty ranking")
    return DEGRADED if run.errors else 0


def summary_text(summary: Mapping[str, Any]) -> str:
    """Means of each method, gaps with the first ids of each method, how to read scores, the warning."""
    from ..report.evaluation_tables import Table
    from ..report.evaluation_text import table_text

    inputs, evaluation = summary["inputs"], summary["evaluation"]
    counted = ", ".join(
        (
            text_list(inputs["documents"], "document", "documents"),
            f"{text_list(inputs['supported'], 'case', 'cases')} scored",
            f"{text_list(inputs['gaps'], 'gap', 'gaps')} not scored",
        )
    )
    aggregate = evaluation["aggregate"]
    names = list(next(iter(aggregate.values()))["means"])
    means = [(name, *(f"{told['means'][one]:.4f}" for one in names)) for name, told in aggregate.items()]
    blocks = [
        f"{summary['experiment_id'] or 'no contract'}: {counted}",
        table_text(Table("", ("", *names), means)),
    ]
    gaps = [
        (gap["case_id"], gap["gap_id"], method, ", ".join(ids) or "nothing")
        for gap in evaluation["gaps"]
        for method, ids in gap["first_ids"].items()
    ]
    if gaps:
        title = "gaps, which the corpus cannot answer: not scored"
        blocks.append(table_text(Table(title, ("case", "gap", "method", "first"), gaps, 4)))
    return "\n".join([*blocks, summary["score_interpretation"], summary["warning"]])
