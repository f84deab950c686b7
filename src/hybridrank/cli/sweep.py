"""`hybridrank sweep`: how measures and latencies move with a setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..report.data import dumps, plain
from .experiments import (
    SCHEMA,
    check_options,
    named,
    parsed_list,
    read,
    runs_variants,
    tell_failures,
    write_html,
)
from .output import Notes, reported, write
from .progress import progress


@click.command(short_help="Run a pipeline at several settings: chunk size, recall, weights, rerank depth.")
@click.option("--chunk-chars", metavar="N,N,...", help="Most characters of a chunk.")
@click.option("--recall", metavar="N,N,...", help="Hits that each leg gives.")
@click.option(
    "--weight",
    "weights",
    metavar="NAME=X,X,...",
    multiple=True,
    help="Weights of a leg, e.g. bm25=0.5,1,2. Repeatable.",
)
@click.option("--rerank-depth", metavar="N,N,...", help="Hits that each reranker sees; 0 turns them off.")
@click.option(
    "--vary",
    "varied",
    metavar="PATH=X,X,...",
    multiple=True,
    help="Values of the configuration, e.g. fuser.rrf_k=10,60. Repeatable.",
)
@click.option("--grid", is_flag=True, help="Every combination.  [default: one setting at a time]")
@runs_variants
@click.pass_obj
def sweep(
    notes: Notes,
    /,
    chunk_chars: str | None,
    recall: str | None,
    weights: tuple[str, ...],
    rerank_depth: str | None,
    varied: tuple[str, ...],
    grid: bool,
    measures: tuple[str, ...],
    k: int | None,
    contract: Path | None,
    no_share: bool,
    html: Path | None,
    as_json: bool,
    quiet: bool,
    max_bytes: int | None,
    **files: Any,
) -> int:
    """Run the cases through a pipeline at several settings and print a row for each.

    With --html the page draws the lines. A contract whose selection policy forbids it makes a sweep refuse.
    """
    notes.quiet = quiet
    check_options(html, max_bytes, files)
    vary = _knobs(chunk_chars, recall, weights, rerank_depth, varied)
    with reported():
        from ..evaluation.experiment import MEASURES
        from ..evaluation.policy import contract_policy, refuse_selection
        from ..evaluation.sweep import sweep as run

        policy = "" if contract is None else contract_policy(contract)
        refuse_selection(policy, "a sweep")
        given = read(max_bytes=max_bytes, **files)
        with progress(not quiet) as watch:
            swept = run(
                given.config,
                given.source,
                given.cases,
                vary,
                grid=grid,
                measures=measures or MEASURES,
                k=k,
                policy=policy,
                share=not no_share,
                max_bytes=max_bytes,
                progress=watch,
            )
        write_html(notes, html, swept)
    write(dumps({"schema": SCHEMA, **plain(swept.to_dict())}) if as_json else repr(swept))
    return tell_failures(notes, swept.evaluations.values())


def _knobs(
    chunk_chars: str | None,
    recall: str | None,
    weights: tuple[str, ...],
    rerank_depth: str | None,
    varied: tuple[str, ...],
) -> dict[str, list[Any]]:
    knobs = {"chunk_chars": chunk_chars, "recall": recall}
    knobs |= {f"weight.{leg}": value for leg, value in named("--weight", weights, "bm25=0.5,1,2").items()}
    knobs |= {"rerank_depth": rerank_depth, **named("--vary", varied, "fuser.rrf_k=10,60")}
    given = {knob: parsed_list(value) for knob, value in knobs.items() if value is not None}
    if not given:
        raise click.UsageError("nothing is varied; give --recall 20,40,80 or another setting")
    return given
