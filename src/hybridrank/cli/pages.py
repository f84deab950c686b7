"""The page of a search, as commands write it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .output import FAILED, Failure, Notes

if TYPE_CHECKING:
    from ..types import Result


def check_html(context: click.Context, param: click.Parameter, given: Path | None) -> Path | None:
    """Callback of `--html`: its folder is there, before minutes of searching rather than after."""
    if given is not None and not given.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(given.parent)!r}", context, param)
    return given


html_option = click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=check_html,
    help="Write every step of the search, and every candidate, as one page.",
)


def write_html(notes: Notes, html: Path | None, result: Result, *, query_line: int = 1) -> None:
    """Write the page, if it is wanted. The result is one of `search(..., explain="all")`."""
    if html is None:
        return
    from ..report.trace_page import write_result_page

    try:
        write_result_page(html, result, query_line=query_line)
    except OSError as error:
        raise Failure(f"cannot write {str(html)!r}: {error.strerror or error}", FAILED) from error
    notes.note(f"wrote {html}")
