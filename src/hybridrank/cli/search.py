"""`hybridrank search`: answer one query from an index, or from a source tree that is indexed on the fly."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ..report.data import SEARCH_SCHEMA, dumps, result_data
from ..report.text import result_text
from .judging import tell_verdicts, with_validator
from .models import ModelSpec, model_option
from .output import DEGRADED, Failure, Notes, reported, write
from .pages import html_option, write_html
from .progress import progress
from .reranking import check_depth, rerank_llm_option, tell_reranking, with_llm
from .summary import corpus_data, is_degraded, tell, unmatched

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from ..types import Filter


def _weights(context: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for one in given:
        name, _, number = one.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            name = ""
        if not name:
            raise click.BadParameter(f"{one!r} is no NAME=VALUE, e.g. bm25=2", context, param)
        if name in weights:
            raise click.BadParameter(f"leg {name!r} is given twice", context, param)
        weights[name] = value
    return weights


@click.command(short_help="Answer a query from an index, or from source files read on the fly.")
@click.argument("query")
@click.argument("path", default=".", type=click.Path(exists=True, path_type=Path))
@click.option(
    "-k", "--k", "--top-k", "k", type=click.IntRange(min=0), default=5, show_default=True, help="Hits wanted."
)
@click.option(
    "--recall", type=click.IntRange(min=1), metavar="N", help="Hits that each leg gives.  [default: 80]"
)
@click.option(
    "--weight",
    "weights",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_weights,
    help="Weight of a leg, e.g. bm25=2; 0 turns it off. Repeatable.",
)
@click.option(
    "--rerank-depth",
    type=click.IntRange(min=0),
    metavar="N",
    help="Hits that each reranker sees, with --rerank-llm that the model sees; 0 turns reranking off.  "
    "[default: each one's own]",
)
@rerank_llm_option
@click.option(
    "--path",
    "globs",
    metavar="GLOB",
    multiple=True,
    help="Only files that match, as in .gitignore: src/, *.py. Repeatable.",
)
@click.option("--lang", "languages", metavar="NAME", multiple=True, help="Only this language. Repeatable.")
@click.option(
    "--kind",
    "kinds",
    metavar="NAME",
    multiple=True,
    help="Only this kind: function, method, class, ... Repeatable.",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Pipeline from a TOML or JSON file.",
)
@click.option(
    "--validate",
    is_flag=True,
    help="Keep only hits with evidence: rare strings that they share with QUERY, or the word of a chat model "
    "(--validate-llm, --rerank-llm) whose quotes are true.",
)
@click.option(
    "--validate-llm",
    metavar="MODEL",
    callback=model_option,
    help="Chat model that judges, with --validate or without: NAME of Ollama, or openai:NAME.",
)
@click.option("--ablation", metavar="NAME", help="Apply one of the configuration's ablations.")
@click.option(
    "--on-error",
    type=click.Choice(["raise", "degrade"]),
    help="Fail, or leave out what fails (exit code 3).  [default: the configuration's, else raise]",
)
@click.option(
    "--index",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Search the index there.  [default: that of PATH in the user's cache, if there is one]",
)
@click.option(
    "--no-update", is_flag=True, help="Answer from the index as it is, even if files changed since."
)
@click.option("--max-bytes", type=click.IntRange(min=1), metavar="N", help="Skip larger files.")
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
    query: str,
    path: Path,
    k: int,
    recall: int | None,
    weights: Mapping[str, float],
    rerank_depth: int | None,
    rerank_llm: ModelSpec | None,
    globs: tuple[str, ...],
    languages: tuple[str, ...],
    kinds: tuple[str, ...],
    config: Path | None,
    validate: bool,
    validate_llm: ModelSpec | None,
    ablation: str | None,
    on_error: str | None,
    index: Path | None,
    no_update: bool,
    max_bytes: int | None,
    show: bool,
    explain: bool,
    html: Path | None,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Search the source files below PATH (default: here) for QUERY.

    Uses the index that `hybridrank index PATH` made, and brings it up to date; without one the files are
    indexed on the fly, and nothing is kept.

    QUERY is a name, a question or a piece of code, in any language; "-" reads it from standard input.
    One that starts with "-" goes behind "--".

    Each hit is a line: [score] path:start-end  symbol (kind). Scores compare inside one answer only.
    """
    notes: Notes = context.obj
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other")
    check_depth(rerank_llm, rerank_depth)
    notes.quiet, notes.verbose = quiet, verbose
    where = _where(globs, languages, kinds)
    with reported():
        options: dict[str, Any] = {
            "k": k,
            "recall": recall,
            "weights": weights or None,
            "rerank_depth": None if rerank_llm else rerank_depth,
            "where": where,
            "explain": explain if html is None else "all",
        }
        text = _typed(query)
        default = context.get_parameter_source("path") is click.core.ParameterSource.DEFAULT
        place = None if default and index is not None else path
        pipeline = _indexed(notes, text, options, place, index, config, ablation, max_bytes, not no_update)
        pipeline = with_llm(pipeline, rerank_llm, rerank_depth)
        pipeline = with_validator(pipeline, validate=validate, model=validate_llm, rerank_model=rerank_llm)
        if on_error is not None:
            pipeline = pipeline.with_(on_error=cast("Any", on_error))
        with pipeline:
            result = pipeline.search(text, **options)
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
    tell(notes, result, corpus, unmatched(pipeline, where))
    tell_reranking(notes, result)
    tell_verdicts(notes, pipeline, result)
    return DEGRADED if degraded else 0


def _typed(query: str) -> str:
    if query != "-":
        return query
    if sys.stdin is None:
        raise Failure("the query is to come from standard input, which is closed", 2)
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace").rstrip("\r\n")


def _where(globs: tuple[str, ...], languages: tuple[str, ...], kinds: tuple[str, ...]) -> Filter | None:
    from ..types import Filter

    try:
        where = Filter(path=globs, language=languages, kind=kinds)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--path") from error
    return where or None


def _refuse_early(text: str, options: Mapping[str, Any], config: Any, ablation: str | None) -> None:
    """Raise for flags that do not fit the pipeline, before minutes of indexing rather than after."""
    from ..config import default_config
    from ..pipeline import Pipeline
    from ..request import make_request

    source = default_config("code") if config is None else config
    make_request(Pipeline.from_config(source, ablation=ablation), text, **options)


def _indexed(
    notes: Notes,
    text: str,
    options: Mapping[str, Any],
    path: Path | None,
    index: Path | None,
    config: Path | None,
    ablation: str | None,
    max_bytes: int | None,
    update: bool,
) -> Pipeline:
    from ..pipeline import Pipeline
    from .indexed import pipeline_to_search

    def check(config: Any, ablation: str | None) -> None:
        _refuse_early(text, options, config, ablation)

    with progress(not notes.quiet) as watch:
        found = pipeline_to_search(
            notes,
            path,
            index,
            config=config,
            ablation=ablation,
            max_bytes=max_bytes,
            update=update,
            check=check,
            watch=watch,
        )
        if found is not None:
            return found
        _refuse_early(text, options, config, ablation)
        return Pipeline.for_code(
            path or Path(), config=config, ablation=ablation, max_bytes=max_bytes, progress=watch
        )
