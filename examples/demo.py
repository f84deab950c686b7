"""Index the installed httpx package and answer four kinds of query: no model, no server.

Another source tree can be given: python examples/demo.py PATH
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path

from hybridrank import Pipeline

QUERIES = {
    "an identifier": "raise_for_status",
    "an intent": "where are redirects followed",
    "mixed languages": "raise_for_status 在哪被调用",
    "a paraphrase": "waited too long for a free connection",
}


def httpx_folder() -> Path:
    """Where the installed httpx package is: real source code that comes with the dependencies."""
    spec = find_spec("httpx")
    if spec is None or spec.origin is None:
        sys.exit("error: httpx is not installed; run: pip install httpx")
    return Path(spec.origin).parent


def show(step: str, done: int, total: int | None) -> None:
    """One line on stderr for each step, rewritten as it moves on."""
    end = "\n" if done == total else ""
    print(f"\r{step}: {done}/{total or '?'}".ljust(60), end=end, file=sys.stderr, flush=True)


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else httpx_folder()
    started = time.perf_counter()
    pipeline = Pipeline.for_code(root, progress=show)
    seconds = time.perf_counter() - started
    print(f"{pipeline}\n\nindexed {root.name} in {seconds:.1f} s")
    for kind, query in QUERIES.items():
        result = pipeline.search(query, k=5)
        print(f"\n{kind}: {query}")
        for hit in result:
            document = hit.document
            where = f"{document.path}:{document.start_line}-{document.end_line}"
            print(f"  [{hit.score:.4f}] {where}  {document.qualified_name} ({document.kind})")


if __name__ == "__main__":
    main()
