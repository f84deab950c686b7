"""`hybridrank callers` and `hybridrank callees`: who calls a definition, and what it calls."""

from __future__ import annotations

from pathlib import Path

import click

from ..report.data import dumps
from .graph import SCHEMA, call_data, call_line, opened, options, symbol_data
from .output import Notes, reported, write


@click.command(short_help="List the calls of a function, method or class.")
@click.argument("symbol")
@options
@click.option(
    "--unresolved", is_flag=True, help="Also calls of that name of which it is not known where they lead."
)
@click.pass_obj
def callers(
    notes: Notes,
    symbol: str,
    path: Path | None,
    index: Path | None,
    no_update: bool,
    as_json: bool,
    quiet: bool,
    unresolved: bool,
) -> int:
    """List the calls below PATH (default: here) that lead to SYMBOL.

    SYMBOL is a name (send), a qualified one (Client.send), its beginning (sen*), or one in a file
    (src/client.py::Client.send). A name that several definitions have stands for all of them. Of a name that
    is not defined there, calls are listed by name.
    """
    notes.quiet = quiet
    with reported(), opened(notes, path, index, not no_update) as graph:
        defined = graph.symbols(symbol)
        everything = graph.callers(symbol, unresolved=True)
    found = everything if unresolved or not defined else [c for c in everything if c.state != "unresolved"]
    if as_json:
        write(
            dumps(
                {
                    "schema": SCHEMA,
                    "symbol": symbol,
                    "definitions": [symbol_data(one) for one in defined],
                    "calls": [call_data(one) for one in found],
                    "unresolved": sum(one.state == "unresolved" for one in everything),
                }
            )
        )
    elif found:
        write("\n".join(call_line(one) for one in found))
    if not defined:
        notes.note(f"nothing of the name {symbol!r} is defined there" + ("; calls by name" if found else ""))
    elif not found:
        notes.note(f"no call is known to lead to {symbol}")
    if len(everything) > len(found):
        more = len(everything) - len(found)
        notes.note(f"where {more} more of that name lead is not known: --unresolved lists them")
    return 0


@click.command(short_help="List the calls in a function, method or class.")
@click.argument("symbol")
@options
@click.pass_obj
def callees(
    notes: Notes,
    symbol: str,
    path: Path | None,
    index: Path | None,
    no_update: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """List the calls in SYMBOL, and in what is defined inside of it, with where they lead.

    SYMBOL is a name as for `hybridrank callers`, defined below PATH (default: here).
    """
    notes.quiet = quiet
    with reported(), opened(notes, path, index, not no_update) as graph:
        defined = graph.symbols(symbol)
        found = graph.callees(symbol)
    if as_json:
        write(
            dumps(
                {
                    "schema": SCHEMA,
                    "symbol": symbol,
                    "definitions": [symbol_data(one) for one in defined],
                    "calls": [call_data(one) for one in found],
                }
            )
        )
    elif found:
        write("\n".join(call_line(one) for one in found))
    if not defined:
        notes.note(f"nothing of the name {symbol!r} is defined there")
    elif not found:
        notes.note(f"{symbol} calls nothing")
    return 0
