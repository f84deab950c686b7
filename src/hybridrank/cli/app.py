"""The command group."""

from __future__ import annotations

import click

from .. import __version__
from .ablate import ablate
from .ask import ask
from .calls import callees, callers
from .components import components
from .config import config
from .diagnose import diagnose
from .doctor import doctor
from .evaluate import evaluate
from .imports import importers, imports
from .index import index
from .info import info
from .lock import lock
from .match import match
from .search import search
from .sweep import sweep
from .symbols import symbols
from .verify import verify

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


@click.group(
    epilog=EXIT_CODES, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Hybrid retrieval and reranking over code and text."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


for command in (
    search,
    ask,
    match,
    index,
    info,
    symbols,
    ablate,
    sweep,
    diagnose,
    components,
    config,
    evaluate,
    lock,
    verify,
    doctor,
):
    command.epilog = EXIT_CODES
    app.add_command(command)
for graph_command in (imports, importers, callers, callees):
    graph_command.epilog = EXIT_CODES
    app.add_command(graph_command)
