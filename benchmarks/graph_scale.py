"""How the graph of imports and calls behaves on a generated repository of many files.

    python benchmarks/graph_scale.py [FILES]

Writes a repository of packages whose modules import and call each other, makes its index and its graph, and
prints how long both take, how long a look-up takes beside a BM25 query, and which rows an edit of one file
changes. Everything lies in a temporary folder.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hybridrank import BM25, CodeGraph, Pipeline, load_code

PER_PACKAGE = 50
WORDS = (
    *("token", "session", "cache", "route", "parse", "render", "query", "index"),
    *("user", "order", "mail", "file", "task", "event", "log", "page"),
)


def module(number: int, count: int, draw: random.Random) -> str:
    """A module with a class, functions, and calls into others."""
    others = [draw.randrange(count) for _ in range(4)]
    lines = ["from __future__ import annotations", ""]
    lines += [f"from p{n // PER_PACKAGE}.m{n} import Service{n}, {WORDS[n % 16]}_{n}" for n in others]
    word = WORDS[number % 16]
    lines += ["", "", f"def {word}_{number}(value: int) -> int:"]
    lines += [f"    return {WORDS[n % 16]}_{n}(value)" for n in others[:1]]
    lines += ["", "", f"class Service{number}:"]
    lines += ["    def __init__(self) -> None:"]
    lines += [f"        self.other = Service{others[1]}()", ""]
    for name in ("start", "stop", "handle"):
        lines += [f"    def {name}(self, {draw.choice(WORDS)}: int) -> int:"]
        lines += [f'        """{name} the {draw.choice(WORDS)} of the {draw.choice(WORDS)}."""']
        lines += [
            f"        self.other.{name}(1)",
            f"        return {WORDS[others[2] % 16]}_{others[2]}(2)",
            "",
        ]
    return "\n".join(lines)


def write(root: Path, count: int) -> None:
    draw = random.Random(1)
    for number in range(count):
        folder = root / f"p{number // PER_PACKAGE}"
        if number % PER_PACKAGE == 0:
            folder.mkdir(parents=True)
            (folder / "__init__.py").write_text("")
        (folder / f"m{number}.py").write_text(module(number, count, draw))


def timed(make: Callable[[], object]) -> float:
    started = time.perf_counter()
    make()
    return time.perf_counter() - started


def each(asks: Iterable[Callable[[], object]]) -> str:
    times = sorted(timed(ask) * 1000 for ask in asks)
    return f"median {statistics.median(times):.2f} ms, 95 % {times[int(len(times) * 0.95)]:.2f} ms"


def rows(file: Path) -> dict[str, list[object]]:
    tables = {
        "files": "id",
        **dict.fromkeys(("definitions", "imports", "targets", "calls", "leads", "depends"), "file"),
    }
    with closing(sqlite3.connect(file)) as database:
        paths = dict(database.execute("SELECT id, path FROM files"))
        found: dict[str, list[object]] = {path: [] for path in paths.values()}
        for table, column in tables.items():
            for owner, *row in database.execute(f"SELECT {column}, * FROM {table}"):
                found[paths[owner]].append((table, *row))
    return found


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with TemporaryDirectory() as folder:
        root, index = Path(folder) / "code", Path(folder) / "index"
        root.mkdir()
        write(root, count)
        started = time.perf_counter()
        documents = load_code(root).documents
        print(f"{count:,} files, {len(documents):,} documents: cut in {time.perf_counter() - started:.1f} s")
        pipeline = Pipeline({"bm25": BM25()}).index(documents)
        print(f"graph, all anew {timed(lambda: CodeGraph.for_code(root, index=index).close()):.1f} s")
        with CodeGraph.for_code(root, index=index) as graph:
            print(f"graph, nothing changed {timed(graph.update):.2f} s")
            print(f"first callers {timed(lambda: graph.callers('Service7')) * 1000:.1f} ms")
            draw = random.Random(2)
            numbers = [draw.randrange(count) for _ in range(200)]
            names = [f"{WORDS[n % 16]}_{n}" for n in numbers] + [f"Service{n}" for n in numbers]
            print(f"BM25 query: {each(partial(pipeline.search, n, k=5) for n in names)}")
            words = [f"{draw.choice(WORDS)} the {draw.choice(WORDS)} of {draw.choice(WORDS)}" for _ in names]
            print(f"BM25 query of words: {each(partial(pipeline.search, n, k=5) for n in words)}")
            print(f"callers: {each(partial(graph.callers, n) for n in names)}")
            print(f"callees: {each(partial(graph.callees, n) for n in names)}")
            paths = [f"p{n // PER_PACKAGE}/m{n}.py" for n in numbers]
            print(f"importers: {each(partial(graph.importers, n) for n in paths)}")
            starts = [f"Service{n}.start" for n in numbers]
            print(f"callers of a method of all classes: {each(partial(graph.callers, n) for n in starts)}")
            print(f"callers of all of these methods at once: {timed(lambda: graph.callers('start')):.2f} s")
            before = rows(index / "graph.sqlite")
            changed = root / paths[0]
            changed.write_text(changed.read_text() + "\n\ndef added() -> None:\n    added()\n")
            print(f"one file changed {timed(graph.update):.2f} s")
            after = rows(index / "graph.sqlite")
            print(f"rows changed of: {sorted(path for path in after if after[path] != before.get(path))}")
        print(f"graph {(index / 'graph.sqlite').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
