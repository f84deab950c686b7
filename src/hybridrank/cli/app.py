"""The command group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, cast

import click

from .. import __version__

# Each command by the module that holds it: a search need not import how experiments are told.
_MODULES = {
    "ablate": "ablate",
    "ask": "ask",
    "callees": "calls",
    "callers": "calls",
    "components": "components",
    "config": "config",
    "diagnose": "diagnose",
    "doctor": "doctor",
    "evaluate": "evaluate",
    "importers": "imports",
    "imports": "imports",
    "index": "index",
    "info": "info",
    "lock": "lock",
    "match": "match",
    "search": "search",
    "sweep": "sweep",
    "symbols": "symbols",
    "verify": "verify",
}

EXIT_CODES = """\b
Exit codes:
  0    answered, also when nothing was found
  1    the run failed
  2    a flag, a value or a configuration is wrong
  3    answered, but a leg or stage failed and was left out (--on-error degrade),
       or the model of ask did not answer
  130  interrupted
  141  the reader of the output went away
"""


class _Commands(Mapping[str, click.Command]):
    """The commands by name; each is imported when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        module: Any = import_module(f".{_MODULES[name]}", __package__)
        command: click.Command = getattr(module, name)
        command.epilog = EXIT_CODES
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


@click.group(
    epilog=EXIT_CODES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Hybrid retrieval and reranking over code and text."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


# click itself only reads it.
app.commands = cast("MutableMapping[str, click.Command]", _Commands())
