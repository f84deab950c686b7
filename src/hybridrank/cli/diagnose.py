"""`hybridrank diagnose`: which stage lost what was not found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..report.data import dumps, plain
from .experiments import SCHEMA, check_options, read, reads_cases, tell_failures, write_html
from .output import Notes, reported, write
from .progress import progress

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from .experiments import Given
    from .progress import Progress


@click.command(short_help="Tell for each missed target which stage lost it.")
@click.option(
    "-k",
    "--k",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="A target is missed when it is not among the first k.",
)
@click.option(
    "--recall", type=click.IntRange(min=1), metavar="N", help="Hits that each leg gives.  [default: 80]"
)
@click.option("--ablation", metavar="NAME", help="Apply one of the configuration's ablations.")
@reads_cases
@click.pass_obj
def diagnose(
    notes: Notes,
    /,
    k: int,
    recall: int | None,
    ablation: str | None,
    html: Path | None,
    as_json: bool,
    quiet: bool,
    max_bytes: int | None,
    **files: Any,
) -> int:
    """Run the cases and tell for each missed target which stage lost it, in this order: corpus, chunking, a
    failed search, recall, fusion, a reranker, the validator. One line a query, then a summary by stage.
    """
    notes.quiet = quiet
    check_options(html, max_bytes, files)
    with reported():
        from ..evaluation.diagnosis import diagnose as run

        given = read(max_bytes=max_bytes, **files)
        with progress(not quiet) as watch:
            pipeline = _pipeline(given, files["config"] is None, ablation, max_bytes, watch)
            with pipeline:
                diagnosis = run(pipeline, given.cases, k=k, recall=recall, progress=watch)
        write_html(notes, html, diagnosis)
    write(dumps({"schema": SCHEMA, **plain(diagnosis.to_dict())}) if as_json else repr(diagnosis))
    return tell_failures(notes, [diagnosis.evaluation])


def _pipeline(
    given: Given, as_stored: bool, ablation: str | None, max_bytes: int | None, watch: Progress | None
) -> Pipeline:
    from ..pipeline import Pipeline

    if given.stored is not None and as_stored and ablation is None:
        return given.stored
    if isinstance(given.source, str | Path):
        return Pipeline.for_code(
            given.source, config=given.config, ablation=ablation, max_bytes=max_bytes, progress=watch
        )
    return Pipeline.from_config(given.config, ablation=ablation).index(given.source, progress=watch)
