"""`hybridrank search`: answer one query from an index, or from a source tree that is indexed on the fly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..report.data import SEARCH_SCHEMA, dumps, result_data
from ..report.text import result_text
from . import searching
from .judging import tell_verdicts
from .output import DEGRADED, Notes, reported, write
from .pages import html_option, write_html
from .reranking import tell_reranking
from .summary import corpus_data, is_degraded, is_of_records, tell, unmatched


@click.command(short_help="Answer a query from an index, or from source files read on the fly.")
@click.argument("query")
@click.argument("path", default=".", type=click.Path(exists=True, path_type=Path))
@click.option(
    "-k", "--k", "--top-k", "k", type=click.IntRange(min=0), default=5, show_default=True, help="Hits wanted."
)
@searching.search_options
@click.option("--show", is_flag=True, help="Print the code of each hit.")
@click.option(
    "--explain", is_flag=True, help="Tell for each hit its rank and score in every leg and stage, and why."
)
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-v", "--verbose", is_flag=True, help="List skipped files and all events on stderr.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, notes or warnings on stderr.")
@click.pass_context
def search(
    context: click.Context,
    /,
    query: str,
    path: Path,
    k: int,
    show: bool,
    explain: bool,
    html: Path | None,
    as_json: bool,
    verbose: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Search the source files below PATH (default: here) for QUERY.

    Uses the index that `hybridrank index PATH` made, and brings it up to date; without one the files are
    indexed on the fly, and nothing is kept.

    QUERY is a name, a question or a piece of code, in any language; "-" reads it from standard input.
    One that starts with "-" goes behind "--".

    Each hit is a line: [score] path:start-end  symbol (kind). Scores compare inside one answer only.
    """
    notes: Notes = context.obj
    where = searching.check_flags(given, notes, quiet=quiet, verbose=verbose)
    with reported():
        wanted = explain if html is None else "all"
        pipeline, result = searching.search(context, query, path, given, k=k, where=where, explain=wanted)
        write_html(notes, html, result)
    degraded = is_degraded(result)
    corpus = corpus_data(pipeline, files=verbose)
    if as_json:
        answer = result_data(result, text=show, explain=explain)
        write(dumps({"schema": SEARCH_SCHEMA, "k": k, "degraded": degraded, **answer, "corpus": corpus}))
    else:
        text = result_text(result, explain=explain, code=show)
        if text:
            write(text)
    if is_of_records(pipeline):
        corpus["unit"] = "line"
    tell(notes, result, corpus, unmatched(pipeline, where))
    tell_reranking(notes, result)
    tell_verdicts(notes, pipeline, result)
    return DEGRADED if degraded else 0
