"""Speed and memory beside the peers, in one run on one machine, after a check that results agree.

    python -m benchmarks [--only CASE ...] [--scale 0.1] [--rounds 5] [--corpus DIR] [--json FILE]

Prints a table of ratios (how many times more the peer took) and writes JSON with versions and machine, from
which `benchmarks/performance_page.py` makes the table and plots of docs/performance.md. DIR holds a folder of
source code per repository; without it, cases on real code are left out. Needs the extra `benchmarks`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from cases import CASES
from cases.growth import growth
from cases.harness import Options, Row, surroundings


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="*", choices=[*CASES, "growth"], metavar="CASE", help=", ".join(CASES)
    )
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full sizes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="CPU time, for a machine that others use too")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("HYBRIDRANK_CORPUS"))
    parser.add_argument("--repositories", type=int, default=12)
    parser.add_argument("--roots", type=Path, metavar="FILE", help="JSON: which folder of each is indexed")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    corpus = None if given.corpus is None else Path(given.corpus)
    options = Options(given.scale, given.rounds, given.cpu, corpus, given.repositories, given.roots)
    rows: list[Row] = []
    print(
        "| work | beside | ours | theirs | ratio | wanted |\n| --- | --- | --- | --- | --- | --- |",
        flush=True,
    )
    for name in given.only or CASES:
        for row in CASES[name](options) if name in CASES else ():
            rows.append(row)
            print(line(row), flush=True)
    curves = growth(options) if not given.only or "growth" in given.only else []
    for curve in curves:
        print(f"{curve['name']}: exponent {curve['exponent']:.2f}", flush=True)
    found = {
        "surroundings": surroundings(),
        "options": {"scale": given.scale, "rounds": given.rounds, "clock": "cpu" if given.cpu else "wall"},
        "rows": [{**asdict(row), "ratio": row.ratio} for row in rows],
        "growth": curves,
    }
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def line(row: Row) -> str:
    shown = [row.work, row.beside, amount(row.ours, row.unit), amount(row.theirs, row.unit)]
    return f"| {' | '.join([*shown, f'{row.ratio:.2f}', row.wanted])} |"


def amount(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:,.0f} {unit}"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"


if __name__ == "__main__":
    main()
