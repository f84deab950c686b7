"""The `hybridrank` command. `main` is its entry point; each command has its own module.

stdout holds data only; progress, notes, warnings and errors go to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_COMPLETE = "_HYBRIDRANK_COMPLETE"


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; `hybridrank --help` lists them.

    Args:
        args: those of the process when None.
    """
    try:
        return _run(sys.argv[1:] if args is None else list(args))
    except KeyboardInterrupt:
        return 130


def _run(args: list[str]) -> int:
    import click

    from .app import app
    from .output import ARGUMENTS, CLOSED_PIPE, FAILED, Failure, Notes, abandon_stdout, flush, use_utf8

    use_utf8()
    notes = Notes()
    try:
        if _COMPLETE in os.environ:
            from click.shell_completion import shell_complete

            return shell_complete(app, {}, "hybridrank", _COMPLETE, os.environ[_COMPLETE])
        with notes.listening(), app.make_context("hybridrank", list(args), obj=notes) as context:
            context.meta[ARGUMENTS] = tuple(args)
            code = app.invoke(context)
        flush()
        return int(code or 0)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        notes.error(error.format_message())
        context_of = getattr(error, "ctx", None)
        if context_of is not None:
            notes.error_hint(f"see: {context_of.command_path} --help")
        return error.exit_code
    except Failure as failure:
        notes.error(str(failure), failure.__cause__)
        return failure.exit_code
    # Failures of the library arrive as Failure, so an OSError here is one of writing the answer.
    except BrokenPipeError:
        abandon_stdout()
        return CLOSED_PIPE
    except OSError as error:
        abandon_stdout()
        notes.error(f"cannot write to standard output: {error.strerror or error}", error)
        return FAILED
