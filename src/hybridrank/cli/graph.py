"""What the commands about imports and calls share: which graph is meant, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..report.escape import printable
from .output import Notes

if TYPE_CHECKING:
    from ..code.calls import Call
    from ..code.imports import Import
    from ..code.symbols import Symbol
    from ..graph import CodeGraph
    from .progress import Progress

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""

_F = TypeVar("_F", bound=Callable[..., Any])


def options(command: _F) -> _F:
    """The argument and options that all of these commands have."""
    for decorate in (
        click.option("-q", "--quiet", is_flag=True, help="No notes or warnings on stderr."),
        click.option(
            "--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md."
        ),
        click.option(
            "--no-update", is_flag=True, help="Answer from the graph as it is, also if files changed."
        ),
        click.option(
            "--index",
            type=click.Path(file_okay=False, path_type=Path),
            metavar="DIR",
            help="The index in which the graph is kept.  [default: that of PATH, if there is one]",
        ),
        click.argument("path", required=False, type=click.Path(exists=True, path_type=Path)),
    ):
        command = decorate(command)
    return command


@contextmanager
def opened(notes: Notes, path: Path | None, index: Path | None, update: bool) -> Iterator[CodeGraph]:
    """The graph of a path: that kept in its index, else one in memory.

    Raises:
        IndexNotFoundError: there is no index in the directory that was given.
        InvalidValueError: the index is not of source code, or of another path.
        IndexFormatError: the graph is damaged, or of a newer format.
    """
    from ..errors import IndexFormatError, InvalidValueError, StoreError
    from ..graph import CodeGraph
    from ..store import layout
    from .indexed import place_of

    directory = place_of(path, index)
    root = (path or Path()).resolve()
    limit: int | None = None
    kept = index is not None or layout.exists(directory)
    if kept:
        source = layout.read_manifest(directory)["source"] or {}
        if source.get("kind") != "code":
            raise InvalidValueError(f"the index in {directory} is not of source code")
        if path is not None and source["root"] != str(root):
            raise InvalidValueError(
                f"the index in {directory} is of {source['root']!r}, not of {str(path)!r}"
            )
        root, limit = Path(source["root"]), int(source["max_bytes"])
    graph: CodeGraph | None = None
    if kept:
        try:
            if not update:
                with suppress(InvalidValueError):  # it is made when it is first asked for
                    graph = CodeGraph.open(directory)
            if graph is None:
                graph = CodeGraph.for_code(root, index=directory, max_bytes=limit)
        except IndexFormatError:
            raise
        except StoreError as error:
            notes.warning(f"{error}; answered from memory")
    if graph is None:
        graph = CodeGraph.for_code(root, max_bytes=limit)
    with graph:
        yield graph


def file_in(graph: CodeGraph, root: Path, file: str) -> str:
    """A file as the graph calls it: relative to the root, or as one would type it here."""
    files = frozenset(graph.files())
    plain = file.replace("\\", "/").removeprefix("./")
    if plain in files:
        return plain
    place = Path(file)
    if place.exists():
        base = root if root.is_dir() else root.parent
        try:
            found = place.resolve().relative_to(base.resolve()).as_posix()
        except ValueError:
            return file
        return found if found in files or place.is_dir() else file
    return file


def import_line(one: Import) -> str:
    """`path:line  module  names  -> where it leads`."""
    parts = [f"{one.path}:{one.line}", "." * one.level + one.module or ".", _names(one)]
    leads = ", ".join(one.targets) if one.targets else one.state
    parts.append(f"-> {leads}" + (" (re-export)" if one.reexport else ""))
    return printable("  ".join(filter(None, parts)))


def _names(one: Import) -> str:
    shown = []
    for name, bound in one.names:
        if not name:
            plain = bound in ("", one.module, one.module.partition(".")[0], one.module.rpartition("/")[2])
            shown.append("" if plain else f"as {bound}")
        else:
            shown.append(name if bound in ("", name) else f"{name} as {bound}")
    return ", ".join(filter(None, shown))


def call_line(one: Call) -> str:
    """`path:line  caller  what is called  -> where it leads`."""
    leads = ", ".join(f"{t.path}:{t.start_line} {t.qualified_name}" for t in one.targets) or one.state
    if one.targets and one.state != "resolved":
        leads += f" ({one.state})"
    return printable(f"{one.path}:{one.line}  {one.caller or '(top level)'}  {one.expression}  -> {leads}")


def import_data(one: Import) -> dict[str, Any]:
    return {
        "path": one.path,
        "line": one.line,
        "end_line": one.end_line,
        "module": one.module,
        "level": one.level,
        "names": [{"name": name, "bound": bound} for name, bound in one.names],
        "reexport": one.reexport,
        "state": one.state,
        "targets": list(one.targets),
        "language": one.language,
    }


def call_data(one: Call) -> dict[str, Any]:
    return {
        "path": one.path,
        "line": one.line,
        "column": one.column,
        "caller": one.caller,
        "caller_line": one.caller_line,
        "name": one.name,
        "expression": one.expression,
        "state": one.state,
        "targets": [symbol_data(target) for target in one.targets],
    }


def symbol_data(one: Symbol) -> dict[str, Any]:
    return {
        "path": one.path,
        "start_line": one.start_line,
        "end_line": one.end_line,
        "qualified_name": one.qualified_name,
        "name": one.name,
        "kind": one.kind,
        "language": one.language,
        "parent": one.parent,
        "signature": one.signature,
    }


def keep_graph(
    notes: Notes, root: Path, directory: Path, max_bytes: int | None, watch: Progress | None
) -> None:
    """Make the graph in the directory of an index, or bring it up to date; a damaged one is made anew."""
    from ..errors import IndexFormatError
    from ..graph import CodeGraph
    from ..store.graph import GRAPH

    try:
        CodeGraph.for_code(root, index=directory, max_bytes=max_bytes, progress=watch).close()
    except IndexFormatError as error:
        if not error.replaceable:
            raise
        notes.note(f"graph made anew: {error}")
        (directory / GRAPH).unlink()
        CodeGraph.for_code(root, index=directory, max_bytes=max_bytes, progress=watch).close()
