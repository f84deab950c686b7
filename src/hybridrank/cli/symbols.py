"""`hybridrank symbols`: where a name is defined."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..report.data import dumps
from ..report.escape import printable
from .output import Notes, reported, write
from .progress import progress

if TYPE_CHECKING:
    from ..code.symbols import Symbol
    from ..store.symbols import SymbolTable

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""


@click.command(short_help="Tell where a name is defined.")
@click.argument("name")
@click.argument("path", default=".", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(["function", "method", "class", "module"]),
    multiple=True,
    help="Only this kind. Repeatable.",
)
@click.option("--lang", "languages", metavar="NAME", multiple=True, help="Only this language. Repeatable.")
@click.option(
    "--path",
    "globs",
    metavar="GLOB",
    multiple=True,
    help="Only files that match, as in .gitignore: src/, *.py. Repeatable.",
)
@click.option(
    "--index",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Look into the index there.  [default: that of PATH in the user's cache, if there is one]",
)
@click.option("--no-update", is_flag=True, help="Answer from the index as it is, also if files changed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, notes or warnings on stderr.")
@click.pass_context
def symbols(
    context: click.Context,
    name: str,
    path: Path,
    kinds: tuple[str, ...],
    languages: tuple[str, ...],
    globs: tuple[str, ...],
    index: Path | None,
    no_update: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Tell where NAME is defined below PATH (default: here).

    NAME is a name (send), one in something (Client.send, Client::send), the beginning of one (sen*,
    Client.*), or * for all. Case counts; it is ignored where nothing is written as NAME is.

    Each symbol is a line: path:start-end  qualified name (kind)  signature.
    """
    notes: Notes = context.obj
    notes.quiet = quiet
    default = context.get_parameter_source("path") is click.core.ParameterSource.DEFAULT
    with reported():
        from ..code.symbols import SymbolName
        from ..types import Filter

        wanted = SymbolName.of(name)
        where = Filter(path=globs, language=languages, kind=kinds)
        with _table(notes, None if default and index is not None else path, index, not no_update) as table:
            found = table.find(name, where=where)
    if as_json:
        write(dumps({"schema": SCHEMA, "name": name, "symbols": [asdict(symbol) for symbol in found]}))
    elif found:
        write("\n".join(map(_line, found)))
    if not found:
        notes.note(f"nothing of the name {name!r} is defined there" + (" and passes" if where else ""))
    elif not any(wanted.fits(symbol) for symbol in found):
        notes.note(f"nothing is written {name!r}; these are in another case")
    return 0


@contextmanager
def _table(notes: Notes, path: Path | None, index: Path | None, update: bool) -> Iterator[SymbolTable]:
    """The symbols of a path: those in its index, else read from its files."""
    from ..code.corpus import load_code
    from ..errors import InvalidValueError
    from ..store import layout
    from ..store.saving import symbols_of
    from ..store.symbols import SymbolTable
    from .indexed import pipeline_to_search, place_of, source_in

    directory = place_of(path, index)
    if index is None and not layout.exists(directory):
        with progress(not notes.quiet) as watch:
            corpus = load_code(path or Path(), progress=watch)
        table = SymbolTable.of(corpus.symbols or ())
    elif update:
        with progress(not notes.quiet) as watch:
            pipeline = pipeline_to_search(
                notes,
                path,
                index,
                config=None,
                ablation=None,
                max_bytes=None,
                update=True,
                check=lambda _config, _ablation: None,
                watch=watch,
            )
        assert pipeline is not None
        table = pipeline.symbols
    else:
        stored = layout.read(directory)
        source_in(stored, path)
        found = symbols_of(stored)
        if found is None:
            raise InvalidValueError(f"the index in {directory} is not of source code")
        table = found
    with closing(table):
        yield table


def _line(symbol: Symbol) -> str:
    place = f"{symbol.path}:{symbol.start_line}-{symbol.end_line}"
    return printable(f"{place}  {symbol.qualified_name} ({symbol.kind})  {symbol.signature}".rstrip())
