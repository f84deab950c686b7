"""Whole processes: an import, and a search on a warm index."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from . import data
from .harness import Options, Row, interleaved, row

_COUNT = "import sys; before = len(sys.modules); import hybridrank; print(len(sys.modules) - before)"


def run(*command: str, **environment: str) -> str:
    """Standard output of a process, which may write bytecode: else what pip compiled would be ahead."""
    surroundings = {**os.environ, **environment}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=surroundings)
    return done.stdout


def imports(options: Options) -> Iterator[Row]:
    clock = Options(options.scale, options.rounds)
    modules = {"ours": "hybridrank", "bm25s": "bm25s", "semble": "semble", "nothing": "sys"}
    calls = {
        name: lambda m=module: run(sys.executable, "-c", f"import {m}") for name, module in modules.items()
    }
    times = interleaved(clock, calls)
    start = min(times["nothing"])
    for peer in ("bm25s", "semble"):
        net = {name: [max(one - start, 1e-4) for one in times[name]] for name in ("ours", peer)}
        note = (
            f"{run(sys.executable, '-c', _COUNT).strip()} new modules; without {start:.3f} s of bare Python"
        )
        yield row("import", peer, "3", net, peer, note=note)


def warm_search(options: Options) -> Iterator[Row]:
    if options.corpus is None:
        return
    clock = Options(options.scale, options.rounds)
    with TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        chunks = _about(options.corpus, root, options.size(10_000, 200))
        places = {
            "HYBRIDRANK_CACHE": f"{folder}/ours",
            "SEMBLE_CACHE_LOCATION": f"{folder}/semble",
            "XDG_CACHE_HOME": f"{folder}/cache",
            "SEMBLE_MODEL_NAME": str(data.random_model(Path(folder) / "model")),
            "HF_HUB_OFFLINE": "1",
        }
        beside = Path(sys.executable).parent
        ours = (str(beside / "hybridrank"), "search", "open a connection", str(root))
        semble = (str(beside / "semble"), "search", "open a connection", str(root))
        run(str(beside / "hybridrank"), "index", str(root), **places)
        run(*semble, **places)
        times = interleaved(
            clock, {"ours": lambda: run(*ours, **places), "semble": lambda: run(*semble, **places)}
        )
        work = f"search on a warm index of {chunks:,} chunks, whole process"
        yield row(work, "semble's command line", "2", times, "semble")


def _about(corpus: Path, root: Path, chunks: int) -> int:
    """Copies files of the corpus until they hold about so many chunks."""
    from hybridrank.code.chunk import TreeSitterChunker
    from hybridrank.code.corpus import read_file, scan

    found, _ = scan(corpus, max_bytes=100_000)
    chunker, total = TreeSitterChunker(), 0
    for item in found:
        result = read_file(item.path, item.file, chunker, max_bytes=100_000, generated=False)
        if not result.documents:
            continue
        place = root / item.path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(item.file, place)
        total += len(result.documents)
        if total >= chunks:
            break
    return total
