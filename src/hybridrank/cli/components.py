"""`hybridrank components`: every part that is installed, with its options where they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..report.data import dumps, plain
from ..report.escape import printable
from .output import Notes, one_line, reported, write

if TYPE_CHECKING:
    from ..options import Option
    from ..registry import ComponentInfo

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""


@click.command(short_help="List the installed parts.")
@click.option("--kind", metavar="KIND", help="Only this kind: retriever, fuser, reranker, ...")
@click.option("--options", is_flag=True, help="Import the parts and show their options with the defaults.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.pass_obj
def components(notes: Notes, kind: str | None, options: bool, as_json: bool) -> int:
    """List the parts that configurations can name: kind, name, distribution.

    Parts come from the metadata of the installed distributions; nothing is imported. With --options they are
    imported, and one that cannot be loaded is listed with its error.
    """
    with reported():
        from .. import registry

        rows = [_row(info, options) for info in registry.components(kind)]
    for row in rows:
        if row.get("error"):
            notes.warning(row["error"])
    if as_json:
        write(dumps({"schema": SCHEMA, "components": rows}))
    elif rows:
        write(_table(rows))
    return 0


def _row(info: ComponentInfo, options: bool) -> dict[str, Any]:
    row = {
        "kind": info.kind,
        "name": info.name,
        "distribution": info.distribution,
        "version": info.version,
        "built_in": info.built_in,
        "target": info.target,
    }
    return {**row, **_loaded(info)} if options else row


def _loaded(info: ComponentInfo) -> dict[str, Any]:
    from ..errors import HybridRankError

    try:
        return {"options": [_option(option) for option in info.options()], "error": ""}
    except HybridRankError as failure:
        return {"options": None, "error": one_line(str(failure))}


def _option(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "type": option.annotation,
        "required": option.required,
        "default": plain(option.default),
    }


def _table(rows: list[dict[str, Any]]) -> str:
    cells = [
        [
            printable(text)
            for text in (row["kind"], row["name"], f"{row['distribution']} {row['version']}", _told(row))
        ]
        for row in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip()
        for row in cells
    )


def _told(row: dict[str, Any]) -> str:
    if "options" not in row:
        return ""
    if row["error"]:
        return "cannot be loaded"
    return ", ".join(
        option["name"] if option["required"] else f"{option['name']}={option['default']!r}"
        for option in row["options"]
    )
