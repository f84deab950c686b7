"""`hybridrank index`: make an index that lasts, or bring it up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..report.data import dumps
from ..report.escape import printable
from .embedding import embed_option, embed_patch, truncate_option
from .models import ModelSpec
from .output import Notes, reported, write
from .progress import progress
from .summary import corpus_data, tell_files

if TYPE_CHECKING:
    from ..store.opening import Opened
    from ..store.sources import Source

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""


@click.command(short_help="Make an index that lasts, or bring it up to date.")
@click.argument("path", default=".", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--index",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the index lives, outside of PATH.  [default: in the user's cache]",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Pipeline from a TOML or JSON file.",
)
@embed_option
@truncate_option
@click.option("--ablation", metavar="NAME", help="Apply one of the configuration's ablations.")
@click.option("--max-bytes", type=click.IntRange(min=1), metavar="N", help="Skip larger files.")
@click.option("--id-field", metavar="NAME", help="PATH is a file of JSON lines: where each one's id is.")
@click.option("--text-field", metavar="NAME", help="PATH is a file of JSON lines: where each one's text is.")
@click.option("--graph", is_flag=True, help="Also keep the graph of imports and calls up to date.")
@click.option(
    "--refit",
    is_flag=True,
    help="Fit what learns to the documents of now; embed anew if a model changed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-v", "--verbose", is_flag=True, help="List skipped files on stderr.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, notes or warnings on stderr.")
@click.pass_obj
def index(
    notes: Notes,
    path: Path,
    index: Path | None,
    config: Path | None,
    embed: ModelSpec | None,
    embed_truncate: bool,
    ablation: str | None,
    max_bytes: int | None,
    id_field: str | None,
    text_field: str | None,
    graph: bool,
    refit: bool,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Index the source files below PATH (default: here) for `hybridrank search`, or what changed there.

    Files that did not change are not opened. Nothing is written into PATH.

    With --id-field and --text-field PATH is a file of JSON lines, and each line a document. Fields in
    nested objects are named by their path: meta.id.
    """
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other")
    if (id_field is None) != (text_field is None):
        raise click.UsageError("--id-field and --text-field belong together")
    if id_field is not None and max_bytes is not None:
        raise click.UsageError("--max-bytes does not go with --id-field")
    if id_field is not None and graph:
        raise click.UsageError("--graph does not go with --id-field: records are no source code")
    patch = embed_patch(embed, embed_truncate)
    notes.quiet, notes.verbose = quiet, verbose
    with reported():
        from ..config import default_config
        from ..pipeline import Pipeline
        from ..store.opening import open_index
        from .indexed import place_of

        directory = place_of(path, index)
        source = _source(path.resolve(), directory, max_bytes, id_field, text_field)
        records = source.settings(None)["kind"] == "records"
        chosen: Any = config
        if config is None:
            chosen = default_config("text" if records else "code")
        if patch is not None:
            chosen = patch(chosen)
        with progress(not quiet) as watch:
            opened = open_index(
                source,
                directory,
                Pipeline,
                config=chosen,
                ablation=ablation,
                refit=refit,
                waiting=notes.note,
                progress=watch,
            )
        if graph and not records:
            from .graph import keep_graph

            with progress(not quiet) as watch:
                keep_graph(notes, path.resolve(), directory, max_bytes, watch)
    corpus = corpus_data(opened.pipeline, files=verbose)
    if records:
        corpus["unit"] = "line"
    for note in opened.notes:
        notes.note(note)
    write(dumps(_data(opened, corpus)) if as_json else _text(opened, corpus))
    tell_files(notes, corpus)
    return 0


def _source(
    path: Path, directory: Path, max_bytes: int | None, id_field: str | None, text_field: str | None
) -> Source:
    from ..code.walk import MAX_BYTES
    from ..errors import StoreError
    from ..store import layout
    from ..store.sources import CodeSource, RecordSource

    if id_field is not None and text_field is not None:
        return RecordSource(path, id_field, text_field)
    if path.is_file():
        try:
            before = layout.read_manifest(directory)["source"] or {}
        except StoreError:
            before = {}
        if before.get("kind") == "records" and before.get("root") == str(path):
            return RecordSource(path, before["id_field"], before["text_field"])
    return CodeSource(path, MAX_BYTES if max_bytes is None else max_bytes)


def _data(opened: Opened[Any], corpus: dict[str, Any]) -> dict[str, Any]:
    manifest = opened.manifest or {}
    return {
        "schema": SCHEMA,
        "outcome": opened.outcome,
        "index": str(opened.directory),
        "root": manifest["source"]["root"],
        "added": list(opened.changes.added),
        "changed": list(opened.changes.changed),
        "removed": list(opened.changes.removed),
        "remarks": list(opened.notes),
        "fingerprint": manifest["fingerprint"],
        "seconds": round(opened.seconds, 3),
        "corpus": {key: value for key, value in corpus.items() if key != "unit"},
    }


def _text(opened: Opened[Any], corpus: dict[str, Any]) -> str:
    counts = f"{corpus['files']:,} files, {corpus['documents']:,} documents, {corpus['skipped']:,} skipped"
    if corpus.get("unit"):
        lines = f"{corpus['skipped']:,} line{'' if corpus['skipped'] == 1 else 's'}"
        counts = f"{corpus['documents']:,} documents, {lines} skipped"
    told = f"{opened.outcome}: {counts}"
    if opened.outcome == "updated":
        told += f"; {opened.changes}"
    return f"{told}; {opened.seconds:.1f} s\n{printable(str(opened.directory))}"
