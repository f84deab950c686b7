"""A process that does one thing and prints its peak memory in MB: `child.py CASE WHO SCALE`."""

from __future__ import annotations

import sys
from pathlib import Path


def main(case: str, who: str, scale: float) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from cases import data
    from cases.harness import Options, peak_mb
    from cases.peers import Bm25s
    from hybridrank import BM25

    if case != "tokens":
        raise SystemExit(f"unknown case {case!r}")
    lists = data.token_lists(Options(scale).size(200_000), 100, 100)
    built: object = BM25().index_tokens(lists) if who == "ours" else Bm25s(lists)
    peak = peak_mb()
    print(peak if built else 0.0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
