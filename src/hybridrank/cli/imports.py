"""`hybridrank imports` and `hybridrank importers`: what a file imports, and who imports it."""

from __future__ import annotations

from pathlib import Path

import click

from ..report.data import dumps
from .graph import SCHEMA, file_in, import_data, import_line, opened, options
from .output import Notes, reported, write


@click.command(short_help="List the imports of a file.")
@click.argument("file")
@options
@click.pass_obj
def imports(
    notes: Notes,
    file: str,
    path: Path | None,
    index: Path | None,
    no_update: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """List what FILE imports, and where that leads: into PATH (default: here), out of it, or nowhere.

    FILE is relative to PATH, or to the current directory.
    """
    notes.quiet = quiet
    with reported(), opened(notes, path, index, not no_update) as graph:
        found = graph.imports(file_in(graph, path or Path(), file))
    if as_json:
        write(dumps({"schema": SCHEMA, "file": file, "imports": [import_data(one) for one in found]}))
    elif found:
        write("\n".join(import_line(one) for one in found))
    else:
        notes.note(f"{file} imports nothing")
    return 0


@click.command(short_help="List who imports a file or module.")
@click.argument("target", metavar="FILE_OR_MODULE")
@options
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    metavar="N",
    help="Also importers of importers, up to N steps; 0 for all.",
)
@click.pass_obj
def importers(
    notes: Notes,
    target: str,
    path: Path | None,
    index: Path | None,
    no_update: bool,
    as_json: bool,
    quiet: bool,
    depth: int,
) -> int:
    """List the imports below PATH (default: here) that lead to FILE_OR_MODULE.

    That is a file, a folder of Go, a module by its name (httpx._models), or one from outside (json, react).
    """
    notes.quiet = quiet
    with reported(), opened(notes, path, index, not no_update) as graph:
        found = graph.importers(file_in(graph, path or Path(), target), depth=depth)
    if as_json:
        rows = [{"distance": step, **import_data(one)} for step, one in found]
        write(dumps({"schema": SCHEMA, "target": target, "depth": depth, "imports": rows}))
    elif found:
        write("\n".join(f"[{step}] {import_line(one)}" for step, one in found))
    else:
        notes.note(f"nothing imports {target}")
    return 0
