"""`hybridrank config`: check a configuration, print the schema of all, print the default ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from ..report.data import dumps
from .output import WRONG, Notes, reported, write


@click.group(short_help="Check and write configurations.", invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Check and write pipeline configurations; docs/config.md describes them."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(WRONG)


@config.command(short_help="Check a configuration, with all its ablations.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_obj
def check(notes: Notes, file: Path) -> int:
    """Build the pipeline that FILE (TOML or JSON) describes, and each of its ablations; index nothing.

    Exit code 0 if all are sound. Otherwise 2, with one line on stderr for the pipeline, and for each
    ablation, that is not: the path in the file, what is wrong, the nearest right name.
    """
    with reported():
        problems = list(_problems(file))
    for problem in problems:
        notes.error(problem)
    if problems:
        return WRONG
    notes.note(f"{file}: nothing is wrong")
    return 0


@config.command(short_help="Print the JSON Schema of configurations.")
def schema() -> int:
    """Print a JSON Schema (draft 2020-12) of configurations, for editors and other checkers.

    It is made from the constructors of the parts that are installed.
    """
    with reported():
        from ..schema import config_schema

        text = dumps(config_schema())
    write(text)
    return 0


@config.command(short_help="Print a default configuration.")
@click.argument("name", default="code", metavar="[code|text|match]")
def show(name: str) -> int:
    """Print the configuration that runs by default, as TOML to start from.

    code is the pipeline of `hybridrank search`, text is one for prose in any
    language, match that of `hybridrank match`.
    """
    with reported():
        from ..config import default_source

        text = default_source(name)
    write(text.rstrip("\n"))
    return 0


def _problems(file: Path) -> Iterator[str]:
    from ..config import ablations, load_config
    from ..errors import HybridRankError
    from ..pipeline import Pipeline

    try:
        # Read once: it may be a pipe.
        source = load_config(file)
    except HybridRankError as error:
        yield str(error)
        return
    told: list[str] = []
    for ablation in (None, *ablations(source)):
        try:
            Pipeline.from_config(source, ablation=ablation)
        except HybridRankError as error:
            problem = str(error)
            if problem in told:
                continue
            told.append(problem)
            in_file = ablation is None or getattr(error, "where", "").startswith("ablations.")
            yield problem if in_file else f"in ablation {ablation!r}: {problem}"
