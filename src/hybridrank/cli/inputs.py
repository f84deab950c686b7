"""Flags that commands on experiments share: what is searched, and how records are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, path_type=Path)


def corpus_options(command: F) -> F:
    """`--root`, `--records`, `--id-field`, `--text-field`."""
    for option in (
        click.option(
            "--text-field", metavar="NAME", help="Field that holds a record's text.  [default: text]"
        ),
        click.option(
            "--id-field",
            metavar="NAME",
            help="Field that holds a record's id; dots lead into objects: metadata.key.  [default: id]",
        ),
        click.option("--records", type=FILE, metavar="FILE", help="Corpus: records, as .jsonl or .json."),
        click.option("--root", type=FOLDER, metavar="DIR", help="Corpus: the source files below a folder."),
    ):
        command = option(command)
    return command


def corpus_of(root: Path | None, records: Path | None) -> Path:
    """The corpus that was given.

    Raises:
        click.UsageError: none or two were.
    """
    if (root is None) == (records is None):
        raise click.UsageError("give the corpus by --root DIR or by --records FILE")
    return root if root is not None else records  # type: ignore[return-value]


def text_list(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
