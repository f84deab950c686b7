"""What symbols cost on a generated repository of many files.

    python benchmarks/symbol_scale.py [FILES]

Writes the repository of graph_scale.py, makes its index with the default code pipeline, and prints
how much of the build goes to symbols, how long a look-up takes beside a BM25 query, and which rows
an edit of one file writes. Everything lies in a temporary folder. Build times are CPU seconds.
"""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graph_scale import PER_PACKAGE, WORDS, each, timed, write

from hybridrank import Pipeline, Query, SourceFile, SymbolTable, TreeSitterChunker
from hybridrank.code import chunk, definitions
from hybridrank.config import default_config, load_config


def rows(table: SymbolTable) -> set[tuple[Any, ...]]:
    """What the database holds, with the number of each row."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(table.data.tobytes())
        return set(database.execute("SELECT rowid, * FROM symbols"))


def seconds_of_symbols(root: Path) -> float:
    """CPU seconds that go to symbols while all files are cut."""
    spent = 0.0

    def watched(*args: Any) -> Any:
        nonlocal spent
        started = time.process_time()
        try:
            return definitions.symbols_in(*args)
        finally:
            spent += time.process_time() - started

    setattr(chunk, "symbols_in", watched)  # noqa: B010 - it is watched where it is called
    try:
        for file in root.rglob("*.py"):
            TreeSitterChunker().outline(SourceFile(file.name, file.read_text(), "python"))
    finally:
        setattr(chunk, "symbols_in", definitions.symbols_in)  # noqa: B010
    return spent


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    config = load_config(default_config("code"))
    with TemporaryDirectory() as folder:
        root, index = Path(folder) / "code", Path(folder) / "index"
        root.mkdir()
        write(root, count)
        with Pipeline.for_code(root, config=config, index=index) as made:
            # Files may have been cut in processes of their own.
            build = sum(os.times()[:4])
            found = seconds_of_symbols(root)
            started = time.process_time()
            SymbolTable.of(made.symbols)
            written = time.process_time() - started
            print(f"{count:,} files, {len(made.documents or ()):,} documents, {len(made.symbols):,} symbols")
            print(f"build {build:.1f} s, of it {found:.2f} s to find symbols and ", end="")
            print(f"{written:.2f} s to write them: {(found + written) / build:.1%}", flush=True)
        with Pipeline.load(index) as pipeline:
            print(f"first look-up {1000 * timed(lambda: pipeline.symbols.find('Service7')):.1f} ms")
            draw = random.Random(2)
            numbers = [draw.randrange(count) for _ in range(200)]
            names = [f"{WORDS[n % 16]}_{n}" for n in numbers] + [f"Service{n}" for n in numbers]
            words = [f"{draw.choice(WORDS)} the {draw.choice(WORDS)} of {draw.choice(WORDS)}" for _ in names]
            bm25, leg = pipeline.retrievers["bm25"], pipeline.retrievers["symbol"]
            print(f"BM25 leg, names: {each(partial(bm25.retrieve, Query(name), k=80) for name in names)}")
            print(f"BM25 leg, words: {each(partial(bm25.retrieve, Query(text), k=80) for text in words)}")
            print(f"symbol leg, names: {each(partial(leg.retrieve, Query(name), k=80) for name in names)}")
            print(f"table, names: {each(partial(pipeline.symbols.find, name) for name in names)}")
            qualified = [f"Service{n}.start" for n in numbers]
            print(f"table, Class.method: {each(partial(pipeline.symbols.find, name) for name in qualified)}")
            starts = [f"{name[:-1]}*" for name in names]
            print(f"table, beginnings: {each(partial(pipeline.symbols.find, name) for name in starts)}")
            before = rows(pipeline.symbols)
        path = f"p{numbers[0] // PER_PACKAGE}/m{numbers[0]}.py"
        changed = root / path
        changed.write_text(changed.read_text() + "\n\ndef added() -> None:\n    added()\n")
        with Pipeline.for_code(root, config=config, index=index) as made:
            after = rows(made.symbols)
        print(f"one file changed, rows of: {sorted({row[1] for row in before ^ after})} (changed: {path})")
        print(f"symbols {next(index.glob('data/*-symbols.sqlite')).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
