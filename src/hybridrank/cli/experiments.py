"""What the commands that run cases share: their options, what they read, and the page they write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .inputs import FILE, corpus_options
from .output import DEGRADED, Failure, Notes

if TYPE_CHECKING:
    from ..evaluation.cases import Case
    from ..evaluation.outcomes import Evaluation
    from ..evaluation.variants import Source
    from ..pipeline import Pipeline
    from ..report.experiment_page import Experiment
    from ..types import Document

F = TypeVar("F", bound=Callable[..., Any])

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""

_OPTIONS = (
    click.option("--cases", required=True, type=FILE, metavar="FILE", help="Cases, as .jsonl or .json."),
    click.option(
        "--config",
        type=FILE,
        metavar="FILE",
        help="Pipeline from a TOML or JSON file.  [default: the one for code; for text with --records]",
    ),
    corpus_options,
    click.option(
        "--index",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Corpus: the documents of an index on disk.  [default: the source files here]",
    ),
    click.option("--max-bytes", type=click.IntRange(min=1), metavar="N", help="Skip larger files."),
)
_ENDS = (
    click.option(
        "--html",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write a page with tables, charts and every case; it loads nothing.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, notes or warnings on stderr."),
)
_RUNS = (
    click.option(
        "--measure",
        "measures",
        metavar="NAME",
        multiple=True,
        help="Measure, e.g. Recall@5. Repeatable.  [default: nDCG@10, MRR@10, Recall@10]",
    ),
    click.option(
        "-k",
        "--k",
        type=click.IntRange(min=1),
        metavar="N",
        help="Hits per search.  [default: as many as the measures look at]",
    ),
    click.option(
        "--contract", type=FILE, metavar="FILE", help="Contract whose selection policy is to be kept."
    ),
    click.option(
        "--no-share",
        is_flag=True,
        help="Run every variant whole, so that latencies are those of whole searches.",
    ),
)


def reads_cases(command: F) -> F:
    """The options of what is read and written."""
    return _with(command, (*_OPTIONS, *_ENDS))


def runs_variants(command: F) -> F:
    """The options of commands that run several variants."""
    return _with(command, (*_OPTIONS, *_RUNS, *_ENDS))


@dataclass(frozen=True, slots=True)
class Given:
    """What a command works on.

    Attributes:
        source: a folder, or documents.
        stored: the pipeline of `--index`.
    """

    cases: Sequence[Case]
    config: Mapping[str, Any]
    source: Source
    stored: Pipeline | None = None


def read(
    cases: Path,
    config: Path | None,
    root: Path | None,
    index: Path | None,
    records: Path | None,
    id_field: str | None,
    text_field: str | None,
    max_bytes: int | None,
) -> Given:
    """Load what the options name.

    Raises:
        HybridRankError: a file is not what it should be.
    """
    from ..config import default_config, load_config
    from ..evaluation.cases import load_cases

    loaded = None if config is None else load_config(config)
    given = load_cases(cases)
    if records is not None:
        from ..evaluation.records import load_records
        from ..records import ID_FIELD, TEXT_FIELD

        read = load_records(records, id_field=id_field or ID_FIELD, text_field=text_field or TEXT_FIELD)
        return Given(given, loaded or default_config("text"), read.documents)
    if index is not None:
        from ..pipeline import Pipeline

        stored = Pipeline.load(index)
        of_index = stored.origin[0] if stored.origin is not None else default_config("code")
        return Given(given, loaded or of_index, stored.documents or (), stored)
    return Given(given, loaded or default_config("code"), root or Path())


def parsed(text: str) -> Any:
    """A value as JSON where it is some, else as the text it is."""
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return text


def parsed_list(text: str) -> list[Any]:
    """Values with commas between them."""
    try:
        values: list[Any] = json.loads(f"[{text}]", parse_constant=_refused)
    except (ValueError, RecursionError):
        values = [parsed(one.strip()) for one in text.split(",") if one.strip()]
    return values


def named(option: str, given: Iterable[str], example: str) -> dict[str, str]:
    """NAME=VALUE options by name.

    Raises:
        click.BadParameter: one is none, or a name stands twice.
    """
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not name.strip() or not equals:
            raise click.BadParameter(f"{one!r} is no NAME=VALUE, e.g. {example}", param_hint=option)
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice", param_hint=option)
        found[name] = value
    return found


def check_options(html: Path | None, max_bytes: int | None, files: Mapping[str, Any]) -> None:
    """Raise for what cannot be done, before minutes of work rather than after.

    Raises:
        click.UsageError: options exclude each other, or the page cannot be written there.
    """
    several = [f"--{name}" for name in ("root", "index", "records") if files[name] is not None]
    if len(several) > 1:
        raise click.UsageError(f"{' and '.join(several)} exclude each other")
    if files["records"] is None and (files["id_field"] or files["text_field"]):
        raise click.UsageError("--id-field and --text-field go with --records")
    if max_bytes is not None and (files["records"] or files["index"]):
        raise click.UsageError("--max-bytes goes with --root")
    if html is not None and not html.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(html.parent)!r}", param_hint="--html")


def write_html(notes: Notes, html: Path | None, experiment: Experiment, documents: Any = None) -> None:
    """Write the page where one is wanted."""
    from ..report.experiment_page import write_page

    if html is None:
        return
    shown: Sequence[Document] | None = documents
    try:
        write_page(html, experiment, documents=shown)
    except OSError as error:
        raise Failure(f"cannot write {str(html)!r}: {error.strerror or error}", 1) from error
    notes.note(f"wrote {html}")


def tell_failures(notes: Notes, evaluations: Iterable[Evaluation]) -> int:
    """A warning for what failed, and the exit code: 0, or 3 where a search or a stage failed."""
    code = 0
    for evaluation in evaluations:
        named = f"{evaluation.name}: " if evaluation.name else ""
        if evaluation.errors:
            first = evaluation.errors[0]
            count = len(evaluation.errors)
            searches = "1 search" if count == 1 else f"{count} searches"
            notes.warning(f"{named}{searches} failed and scored 0; case {first.case.id!r}: {first.error}")
        for event, times in evaluation.warning_counts.items():
            if "fallback" in event or "unfinished" in event:
                notes.warning(f"{named}{event} {times} times in {len(evaluation.outcomes)} searches")
        if evaluation.errors or "stage-failed" in evaluation.warning_counts:
            code = DEGRADED
    return code


def _with(command: F, options: Sequence[Callable[[F], F]]) -> F:
    for option in reversed(options):
        command = option(command)
    return command


def _refused(constant: str) -> Any:
    raise ValueError(constant)
