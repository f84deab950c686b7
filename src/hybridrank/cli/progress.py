"""Progress on stderr, for people who watch."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

Progress = Callable[[str, int, int | None], None]


@contextlib.contextmanager
def progress(wanted: bool = True) -> Iterator[Progress | None]:
    """A callback (step, done, total or None) that draws on stderr; None where nobody would see it.

    What is drawn is wiped away at the end.
    """
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=None)

        def show(step: str, done: int, total: int | None) -> None:
            bar.update(task, description=step, completed=done, total=total)

        yield show
