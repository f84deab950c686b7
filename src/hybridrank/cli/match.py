"""`hybridrank match`: which records or documents have direct evidence for a piece of source."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ..report.data import dumps
from .output import DEGRADED, Failure, Notes, reported, write
from .pages import html_option, write_html
from .progress import progress
from .source import piped_source, read_source
from .summary import corpus_data, is_degraded, is_of_records, tell

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from .progress import Progress

_JSON_LINES = {".jsonl", ".ndjson"}


@click.command(short_help="Find what has direct evidence for a piece of source.")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--source",
    metavar="FILE[:LINES]",
    help='The source: a file, its lines 10-40 as FILE:10-40, or "-" for standard input.  [default: what is '
    "piped in]",
)
@click.option(
    "--records",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Candidates: a file of JSON lines, read on the fly.",
)
@click.option("--id-field", metavar="NAME", help="Where each record's id is: meta.id.  [default: id]")
@click.option("--text-field", metavar="NAME", help="Where each record's text is.  [default: text]")
@click.option(
    "--index",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Candidates: the index there.  [default: that of PATH in the user's cache, if there is one]",
)
@click.option(
    "--no-update", is_flag=True, help="Answer from the index as it is, even if files changed since."
)
@click.option(
    "-k", "--k", "--top-k", "k", type=click.IntRange(min=0), default=5, show_default=True, help="Wanted."
)
@click.option("--all", "everything", is_flag=True, help="Judge every candidate and list every one.")
@click.option(
    "--recall", type=click.IntRange(min=1), metavar="N", help="Hits that each leg gives.  [default: 80]"
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Pipeline with a validator, from a TOML or JSON file.",
)
@click.option("--ablation", metavar="NAME", help="Apply one of the configuration's ablations.")
@click.option(
    "--on-error",
    type=click.Choice(["raise", "degrade"]),
    help="Fail, or leave out what fails (exit code 3).  [default: the configuration's, else raise]",
)
@click.option("--show", is_flag=True, help="Print the text of what was accepted.")
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-v", "--verbose", is_flag=True, help="List skipped lines and all events on stderr.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, notes or warnings on stderr.")
@click.pass_obj
def match(
    notes: Notes,
    path: Path | None,
    source: str | None,
    records: Path | None,
    id_field: str | None,
    text_field: str | None,
    index: Path | None,
    no_update: bool,
    k: int,
    everything: bool,
    recall: int | None,
    config: Path | None,
    ablation: str | None,
    on_error: str | None,
    show: bool,
    html: Path | None,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Find what has direct evidence for a piece of source, and tell why the rest was rejected.

    The candidates are the records of a file (--records), or what is below PATH or in its index, as for
    `hybridrank search`. The whole source is the query.

    What is accepted stands first, with the strings that it shares with the source and the source's line.
    """
    from ..report.matches import MATCH_SCHEMA, Matches

    _check(path, records, index, id_field, text_field, quiet, verbose)
    notes.quiet, notes.verbose = quiet, verbose
    taken = piped_source() if source is None else read_source(source)
    with reported():
        options: dict[str, Any] = {"k": k, "recall": recall, "explain": "all" if html else False}
        with progress(not quiet) as watch:
            if records is not None:
                fields = {
                    "id_field": "id" if id_field is None else id_field,
                    "text_field": "text" if text_field is None else text_field,
                }
                pipeline = _of_records(records, fields, taken.text, options, config, ablation, watch)
            else:
                pipeline = _of_path(
                    notes, path, index, taken.text, options, config, ablation, not no_update, watch
                )
        if on_error is not None:
            pipeline = pipeline.with_(on_error=cast("Any", on_error))
        if everything:
            options["k"] = recall or pipeline.recall
        with pipeline:
            result = pipeline.search(taken.text, **options)
            write_html(notes, html, result, query_line=taken.first_line)
            found = Matches.of(result, pipeline.documents or (), taken.path, taken.first_line)
    degraded = is_degraded(result)
    corpus = corpus_data(pipeline, files=verbose)
    if as_json:
        head = {"schema": MATCH_SCHEMA, "k": options["k"], "degraded": degraded}
        write(dumps({**head, **found.data(text=show), "corpus": corpus}))
    else:
        write(found.text(all=everything, code=show))
    if is_of_records(pipeline):
        corpus["unit"] = "line"
    tell(notes, result, corpus, [] if pipeline.documents else ["there was nothing to index"])
    return DEGRADED if degraded else 0


def _check(
    path: Path | None,
    records: Path | None,
    index: Path | None,
    id_field: str | None,
    text_field: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Raise for flags that exclude each other."""
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other")
    if records is not None and (path is not None or index is not None):
        raise click.UsageError("give the candidates by --records, or by PATH or --index")
    if records is None and (id_field is not None or text_field is not None):
        raise click.UsageError("--id-field and --text-field go with --records; an index knows its own")


def _of_records(
    file: Path,
    fields: Mapping[str, str],
    text: str,
    options: Mapping[str, Any],
    config: Path | None,
    ablation: str | None,
    watch: Progress | None,
) -> Pipeline:
    from ..code.corpus import Corpus
    from ..code.walk import Skipped
    from ..config import default_config
    from ..pipeline import Pipeline
    from ..records import BadLine, read_records
    from ..types import Document

    chosen: Any = default_config("match") if config is None else config
    _refuse_early(chosen, ablation, text, options)
    read = list(read_records(file, **fields))
    bad = [one for one in read if isinstance(one, BadLine)]
    documents = [one for one in read if isinstance(one, Document)]
    if bad and not documents:
        message = f"no line of {str(file)!r} is a record: of line {bad[0].line}, {bad[0].reason}"
        raise Failure(f"{message} (--id-field, --text-field)", 2)
    skipped = tuple(Skipped(f"{file.name}:{one.line}", one.reason) for one in bad)
    pipeline = Pipeline.from_config(chosen, ablation=ablation).index(documents, progress=watch)
    pipeline.corpus = Corpus(str(file.parent), pipeline.documents or (), (file.name,), skipped)
    return pipeline


def _of_path(
    notes: Notes,
    path: Path | None,
    index: Path | None,
    text: str,
    options: Mapping[str, Any],
    config: Path | None,
    ablation: str | None,
    update: bool,
    watch: Progress | None,
) -> Pipeline:
    from ..config import default_config
    from ..pipeline import Pipeline
    from .indexed import pipeline_to_search

    default = default_config("match")
    place = Path() if path is None and index is None else path
    found = pipeline_to_search(
        notes,
        place,
        index,
        config=config,
        ablation=ablation,
        max_bytes=None,
        update=update,
        check=lambda config, ablation: _refuse_early(config, ablation, text, options),
        watch=watch,
        judging=default,
    )
    if found is not None:
        return found
    if place is not None and place.suffix.lower() in _JSON_LINES:
        message = f"there is no index of {str(place)!r}; give it as --records, or index it first"
        raise Failure(message, 2)
    chosen: Any = default if config is None else config
    _refuse_early(chosen, ablation, text, options)
    return Pipeline.for_code(place or Path(), config=chosen, ablation=ablation, progress=watch)


def _refuse_early(config: Any, ablation: str | None, text: str, options: Mapping[str, Any]) -> None:
    """Raise for flags and configurations that do not fit, before anything is indexed."""
    from ..errors import ConfigError
    from ..pipeline import Pipeline
    from ..request import make_request

    pipeline = Pipeline.from_config(config, ablation=ablation)
    if pipeline.validator is None:
        raise ConfigError('match needs a validator; the configuration has none, e.g. "lexical-evidence"')
    make_request(
        pipeline, text, **{"weights": None, "rerank_depth": None, "where": None, "explain": False, **options}
    )
