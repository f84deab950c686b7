"""What commands that search share: their flags, and the search itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from .embedding import Patch, embed_option, embed_patch, truncate_option
from .judging import with_validator
from .models import model_option
from .output import Failure, Notes
from .progress import progress
from .reranking import check_depth, rerank_llm_option, with_llm

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from ..types import Filter, Result

F = TypeVar("F", bound=Callable[..., Any])


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


_OPTIONS = (
    click.option(
        "--recall", type=click.IntRange(min=1), metavar="N", help="Hits that each leg gives.  [default: 80]"
    ),
    click.option(
        "--weight",
        "weights",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_weights,
        help="Weight of a leg, e.g. bm25=2; 0 turns it off. Repeatable.",
    ),
    click.option(
        "--rerank-depth",
        type=click.IntRange(min=0),
        metavar="N",
        help="Hits that each reranker sees, with --rerank-llm that the model sees; 0 turns reranking off.  "
        "[default: each one's own]",
    ),
    rerank_llm_option,
    embed_option,
    truncate_option,
    click.option(
        "--path",
        "globs",
        metavar="GLOB",
        multiple=True,
        help="Only files that match, as in .gitignore: src/, *.py. Repeatable.",
    ),
    click.option(
        "--lang", "languages", metavar="NAME", multiple=True, help="Only this language. Repeatable."
    ),
    click.option(
        "--kind",
        "kinds",
        metavar="NAME",
        multiple=True,
        help="Only this kind: function, method, class, ... Repeatable.",
    ),
    click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Pipeline from a TOML or JSON file.",
    ),
    click.option(
        "--validate",
        is_flag=True,
        help="Keep only hits with evidence: rare strings that they share with QUERY, or the word of a chat "
        "model (--validate-llm, --rerank-llm) whose quotes are true.",
    ),
    click.option(
        "--validate-llm",
        metavar="MODEL",
        callback=model_option,
        help="Chat model that judges, with --validate or without: NAME of Ollama, or openai:NAME.",
    ),
    click.option("--ablation", metavar="NAME", help="Apply one of the configuration's ablations."),
    click.option(
        "--on-error",
        type=click.Choice(["raise", "degrade"]),
        help="Fail, or leave out what fails (exit code 3).  [default: the configuration's, else raise]",
    ),
    click.option(
        "--index",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Search the index there.  [default: that of PATH in the user's cache, if there is one]",
    ),
    click.option(
        "--no-update", is_flag=True, help="Answer from the index as it is, even if files changed since."
    ),
    click.option("--max-bytes", type=click.IntRange(min=1), metavar="N", help="Skip larger files."),
)


def search_options(command: F) -> F:
    """The flags that say what is searched and how; `search` takes their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Searched(NamedTuple):
    """A search that was run."""

    pipeline: Pipeline
    result: Result


def search(
    context: click.Context,
    query: str,
    path: Path,
    given: Mapping[str, Any],
    *,
    k: int,
    where: Filter | None,
    explain: Any,
    change: Callable[[Pipeline], Pipeline] = lambda pipeline: pipeline,
) -> Searched:
    """Index what has to be indexed, and search.

    Args:
        given: the values of `search_options`.
        change: applied to the pipeline before it searches.
    """
    notes: Notes = context.obj
    llm, depth = given["rerank_llm"], given["rerank_depth"]
    options: dict[str, Any] = {
        "k": k,
        "recall": given["recall"],
        "weights": given["weights"] or None,
        "rerank_depth": None if llm else depth,
        "where": where,
        "explain": explain,
    }
    text = typed(query)
    default = context.get_parameter_source("path") is click.core.ParameterSource.DEFAULT
    place = None if default and given["index"] is not None else path
    pipeline = _pipeline(
        notes,
        text,
        options,
        place,
        given["index"],
        given["config"],
        given["ablation"],
        given["max_bytes"],
        not given["no_update"],
        embed_patch(given["embed"], given["embed_truncate"]),
    )
    pipeline = with_llm(change(pipeline), llm, depth)
    pipeline = with_validator(
        pipeline, validate=given["validate"], model=given["validate_llm"], rerank_model=llm
    )
    if given["on_error"] is not None:
        pipeline = pipeline.with_(on_error=given["on_error"])
    with pipeline:
        return Searched(pipeline, pipeline.search(text, **options))


def check_flags(given: Mapping[str, Any], notes: Notes, *, quiet: bool, verbose: bool) -> Filter | None:
    """What may be found. Raises for flags that exclude each other, and sets how much is told."""
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other")
    check_depth(given["rerank_llm"], given["rerank_depth"])
    embed_patch(given["embed"], given["embed_truncate"])
    notes.quiet, notes.verbose = quiet, verbose
    return where_of(given["globs"], given["languages"], given["kinds"])


def typed(query: str) -> str:
    if query != "-":
        return query
    if sys.stdin is None:
        raise Failure("the query is to come from standard input, which is closed", 2)
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace").rstrip("\r\n")


def where_of(globs: tuple[str, ...], languages: tuple[str, ...], kinds: tuple[str, ...]) -> Filter | None:
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


def _pipeline(
    notes: Notes,
    text: str,
    options: Mapping[str, Any],
    path: Path | None,
    index: Path | None,
    config: Path | None,
    ablation: str | None,
    max_bytes: int | None,
    update: bool,
    embed: Patch | None,
) -> Pipeline:
    from ..config import default_config
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
            embed=embed,
        )
        if found is not None:
            return found
        chosen: Any = config
        if embed is not None:
            chosen = embed(default_config("code") if config is None else config)
        _refuse_early(text, options, chosen, ablation)
        return Pipeline.for_code(
            path or Path(), config=chosen, ablation=ablation, max_bytes=max_bytes, progress=watch
        )
