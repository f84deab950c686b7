"""`hybridrank lock`: write a contract that binds an experiment to its inputs and settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ..report.data import dumps
from .inputs import FILE, corpus_of, corpus_options
from .output import FAILED, Failure, Notes, reported, write
from .progress import progress


def _required(
    context: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    required: dict[str, dict[str, Any]] = {}
    for one in given:
        name, _, text = one.partition("=")
        what, _, field = name.partition(".")
        if what not in ("documents", "cases") or not field or not text:
            message = f"{one!r} is none of documents.FIELD=VALUE and cases.FIELD=VALUE"
            raise click.BadParameter(message, context, param)
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        required.setdefault(what, {})[field] = value
    return required


def _sources(context: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Path]:
    sources: dict[str, Path] = {}
    for one in given:
        name, _, path = one.partition("=")
        if not name or not path or name in sources:
            raise click.BadParameter(f"{one!r} is no NAME=FILE with a name of its own", context, param)
        sources[name] = Path(path)
    return sources


@click.command(short_help="Write a contract: lock inputs, methods, measures, policies.")
@click.option("--config", type=FILE, required=True, metavar="FILE", help="Pipeline, a TOML or JSON file.")
@click.option("--cases", type=FILE, required=True, metavar="FILE", help="Cases, a .jsonl or .json file.")
@corpus_options
@click.option("--id", "experiment_id", required=True, metavar="NAME", help="Id of the experiment.")
@click.option("--scope", metavar="TEXT", help="What the results may be taken for.")
@click.option("--description", default="", metavar="TEXT", help="Anything else a reader should know.")
@click.option(
    "--cutoff",
    "cutoffs",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Cutoff of measures that end in @k. Repeatable.  [default: 1, 3, 5]",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="Measure, e.g. Recall@k, nDCG@10. Repeatable.  [default: Recall@k, MRR]",
)
@click.option(
    "--forbid",
    "forbidden",
    multiple=True,
    metavar="NAME",
    help="Field that no input may have, at any depth: labels that would leak. Repeatable.",
)
@click.option(
    "--require",
    "required",
    multiple=True,
    callback=_required,
    metavar="WHAT.FIELD=VALUE",
    help="Value that a field of each of documents or cases must have, e.g. cases.synthetic=true. Repeatable.",
)
@click.option(
    "--source",
    "others",
    multiple=True,
    callback=_sources,
    metavar="NAME=FILE",
    help="Further file to lock, e.g. a prompt. Repeatable.",
)
@click.option(
    "--selection-policy",
    metavar="TEXT",
    help="Forbids choosing by these results if it begins with do_not_select or no_selection, as by default.",
)
@click.option("--runs", default="runs", show_default=True, metavar="DIR", help="Where runs are written.")
@click.option("--public", default="", metavar="FILE", help="Where a copy of the public summary is written.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("contract.json"),
    show_default=True,
    metavar="FILE",
    help="The contract; paths in it are relative to its folder.",
)
@click.option("--force", is_flag=True, help="Replace a contract that exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the contract too.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and notes on stderr.")
@click.pass_obj
def lock(
    notes: Notes,
    config: Path,
    cases: Path,
    root: Path | None,
    records: Path | None,
    id_field: str | None,
    text_field: str | None,
    experiment_id: str,
    scope: str | None,
    description: str,
    cutoffs: tuple[int, ...],
    measures: tuple[str, ...],
    forbidden: tuple[str, ...],
    required: dict[str, dict[str, Any]],
    others: dict[str, Path],
    selection_policy: str | None,
    runs: str,
    public: str,
    output: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write a contract for a corpus, cases and a configuration.

    It holds the SHA-256 of all of them, how many documents and cases there must be, what each method is
    (models, tokenizers, parameters), measures and policies. `hybridrank evaluate --contract` then refuses to
    run when any of it has moved.
    """
    notes.quiet = quiet
    corpus = corpus_of(root, records)
    if output.exists() and not force:
        raise click.UsageError(f"{output} exists; --force replaces it, -o names another file")
    optional: dict[str, Any] = {
        "scope": scope,
        "id_field": id_field,
        "text_field": text_field,
        "cutoffs": cutoffs or None,
        "measures": measures or None,
        "selection_policy": selection_policy,
    }
    with reported():
        from ..evaluation.breaches import ContractMismatchError
        from ..evaluation.locking import lock as locked
        from ..evaluation.run_folder import json_bytes, replace_file

        try:
            with progress(not quiet) as watch:
                contract = locked(
                    config=config,
                    cases=cases,
                    corpus=corpus,
                    base=output.parent,
                    experiment_id=experiment_id,
                    description=description,
                    forbidden_fields=forbidden,
                    required_values=required,
                    others=others,
                    run_output_root=runs,
                    public_summary_path=public,
                    progress=watch,
                    **{name: value for name, value in optional.items() if value is not None},
                )
        except ContractMismatchError as refused:
            for breach in refused.breaches:
                notes.error(str(breach))
            raise Failure("no contract was written", FAILED) from refused
        data = contract.to_dict()
        replace_file(output, json_bytes(data))
    if as_json:
        write(dumps(data))
    notes.note(f"wrote {output}")
    return 0
