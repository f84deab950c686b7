"""Peak memory of builds, and loading a saved index: time, and memory before and after asking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hybridrank import BM25, Pipeline
from hybridrank.retrievers.numbered import NumberedDocuments

from . import data
from .harness import Options, Row, in_child, interleaved, row
from .peers import Bm25s
from .starting import run

# Modules are imported before the clock starts on either side.
_OURS = """
import sys, time
sys.path.insert(0, {here!r})
from cases.harness import peak_mb
import hybridrank.config, hybridrank.registry, hybridrank.store.saving
from hybridrank import BM25, Pipeline
Pipeline.from_config({{"retrievers": {{"bm25": {{"use": "bm25"}}}}}})
started = time.perf_counter()
pipeline = Pipeline.load({folder!r})
print(time.perf_counter() - started)
print(peak_mb())
pipeline.search("t5 t900", k=10)
print(peak_mb())
"""
_BM25S = """
import sys, time
sys.path.insert(0, {here!r})
from cases.harness import peak_mb
import bm25s
started = time.perf_counter()
index = bm25s.BM25.load({folder!r}, mmap=True, show_progress=False)
print(time.perf_counter() - started)
print(peak_mb())
index.retrieve([["t5", "t900"]], k=10, show_progress=False)
print(peak_mb())
"""


def peaks(options: Options) -> Iterator[Row]:
    """See `child.py`; what the data takes is part of both."""
    size = options.size(200_000)
    ours, theirs = (in_child("tokens", who, options) for who in ("ours", "bm25s"))
    work = f"peak memory, BM25 build, {size:,} documents × 100 tokens"
    yield Row(work, "bm25s (numba)", "> 1", ours, theirs, "MB", note="the token lists are in both")


def loading(options: Options) -> Iterator[Row]:
    size = options.size(1_000_000, 20_000)
    with TemporaryDirectory() as folder:
        lists = data.token_lists(size, 20, 39)
        ours, theirs = str(Path(folder) / "ours"), str(Path(folder) / "bm25s")
        bm25 = BM25(tokenizer=None)
        indexed = bm25.index_tokens(lists)
        pipeline = Pipeline({"bm25": bm25}, normalizer=None)
        pipeline._filled(
            NumberedDocuments(size), None, lambda name, part: indexed if name == "bm25" else part
        )
        pipeline.save(ours)
        Bm25s(lists).index.save(theirs, show_progress=False)
        del lists, pipeline
        told: dict[str, list[list[float]]] = {"ours": [], "bm25s": []}

        def ask(name: str, script: str, place: str) -> None:
            out = run(sys.executable, "-c", script.format(folder=place, here=str(Path(__file__).parents[1])))
            told[name].append([float(line) for line in out.split()[:3]])

        interleaved(
            Options(options.scale, options.rounds),
            {"ours": lambda: ask("ours", _OURS, ours), "bm25s": lambda: ask("bm25s", _BM25S, theirs)},
        )
    seconds = {name: [one[0] for one in rows] for name, rows in told.items()}
    before, after = told["ours"][0][1:]
    note = f"{before:.0f} MB resident after loading, {after:.0f} MB after a query, imports included"
    work = f"load a saved index of {size:,} documents"
    yield row(work, "bm25s mmap", "> 1", seconds, "bm25s", note=note)
    resident = {name: [one[2] for one in rows] for name, rows in told.items()}
    yield row(f"{work}: resident after a query", "bm25s mmap", "> 1", resident, "bm25s", unit="MB")
