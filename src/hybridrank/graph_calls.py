"""Calls as the graph answers with them, and where it is kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .code.calls import Call, CallState
from .code.references import RESOLVED
from .code.resolve import Resolver
from .code.symbols import SymbolName
from .store.graph import GRAPH, GraphStore, StoredCall


def resolved(store: GraphStore, resolver: Resolver, call: StoredCall) -> tuple[Call, set[tuple[str, int]]]:
    """A call with the definitions that it may lead to."""
    fact = call.fact
    facts = resolver.file(call.path).facts
    if call.language in RESOLVED:
        targets, external, unknown = resolver.targets(call.path, fact.scope, fact.path)
        state: CallState = "unresolved"
        if targets:
            state = "ambiguous" if external or unknown or len(targets) > 1 else "resolved"
        elif external and not unknown:
            state = "external"
        symbols = {
            resolver.file(path).facts.definitions[number].symbol(path, resolver.file(path).facts.language)
            for path, number in targets
        }
    else:
        fitting = store.symbols("d.name = ? AND f.language = ?", (fact.name, call.language))
        targets = tuple((symbol.path, number) for symbol, number in fitting)
        symbols = {symbol for symbol, _ in fitting}
        state = "by-name"
    around = facts.scopes[fact.scope].definition
    caller = facts.definitions[around] if around >= 0 else None
    made = Call(
        call.path,
        fact.line,
        fact.column,
        caller.qualified if caller else "",
        caller.line if caller else 0,
        fact.name,
        written(fact.path),
        state,
        tuple(sorted(symbols)),
    )
    return made, set(targets)


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


def written(path: Sequence[str]) -> str:
    """A path of names as it was written, what is no name as `(…)`."""
    text = ""
    for part in path:
        if part == "()":
            text += "()"
        elif part == "[]":
            text += "[…]"
        elif part != "@":
            shown = "(…)" if part[:1] == "<" else part
            text += f".{shown}" if text else shown
    return text


def ends_with(expression: str, asked: SymbolName) -> bool:
    wanted = f"{asked.container}.{asked.name}" if asked.container else asked.name
    return expression == wanted or expression.endswith(f".{wanted}")
