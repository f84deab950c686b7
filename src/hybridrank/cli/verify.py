"""`hybridrank verify`: check the folder of a run against its manifest and its own rankings."""

from __future__ import annotations

from pathlib import Path

import click

from ..report.data import dumps
from .inputs import text_list
from .output import FAILED, Notes, reported, write

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""


@click.command(short_help="Check the folder of a run.")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@click.pass_obj
def verify(notes: Notes, run: Path, as_json: bool, quiet: bool) -> int:
    """Check the folder RUN that `hybridrank evaluate` wrote.

    Hash and size of every file, the hash of each vector, the counts; measures and public summary are made
    again from cases and rankings. Exit code 1, with one line on stderr for each breach, if something is not
    right.
    """
    notes.quiet = quiet
    with reported():
        from ..evaluation.verifying import verify_run

        breaches = verify_run(run)
    for breach in breaches:
        notes.error(str(breach))
    if as_json:
        write(dumps({"schema": SCHEMA, "breaches": [breach.to_dict() for breach in breaches]}))
    if breaches:
        notes.error_hint(f"{text_list(len(breaches), 'breach', 'breaches')} in {run}")
        return FAILED
    notes.note(f"{run}: nothing is wrong")
    return 0
