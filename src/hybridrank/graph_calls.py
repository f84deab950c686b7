"""Where a graph is kept, and which expressions end in a name."""

from __future__ import annotations

import os
from pathlib import Path

from .code.symbols import SymbolName
from .store.graph import GRAPH, GraphStore


def kept_in(root: Path, index: str | os.PathLike[str] | bool) -> GraphStore:
    """The store in the directory of an index, made if there is none."""
    from .store.lock import Lock
    from .store.places import index_directory
    from .store.writing import make_directory, reported

    directory = index_directory(root, index)
    make_directory(directory)
    if (directory / GRAPH).exists():
        return GraphStore(directory / GRAPH)
    # The lock makes the directory ours, also before there is an index in it.
    with reported(directory), Lock(directory):
        return GraphStore(directory / GRAPH)


def ends_with(expression: str, asked: SymbolName) -> bool:
    wanted = f"{asked.container}.{asked.name}" if asked.container else asked.name
    return expression == wanted or expression.endswith(f".{wanted}")
