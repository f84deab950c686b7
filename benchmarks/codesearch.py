"""Search quality on a public code-search benchmark, with the default pipeline and hits as any user gets them.

    python benchmarks/codesearch.py CORPUS QUERIES.jsonl REPOS.json --run run.jsonl [--config FILE] [--only NAME ...]

CORPUS holds one folder per repository; QUERIES one JSON object per line with repo, language, category, query,
relevant and secondary (path, optionally start_line and end_line); REPOS name and index_root. The run file has
one object per query, {"repo", "query", "hits": [{"path", "start_line", "end_line"}]}, paths relative to the
repository's root.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from hybridrank import Pipeline, Result


def rows_of(result: Result, prefix: str) -> list[dict[str, Any]]:
    return [
        {
            "path": prefix + hit.document.path,
            "start_line": hit.document.start_line,
            "end_line": hit.document.end_line,
        }
        for hit in result
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--ablation")
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    queries = [json.loads(line) for line in options.queries.read_text("utf-8").splitlines()]
    with options.run.open("w", encoding="utf-8") as run:
        for repo in json.loads(options.repos.read_text("utf-8")):
            name, inner = repo["name"], repo["index_root"]
            if options.only and name not in options.only:
                continue
            root = options.corpus / name / (inner or "")
            started = time.perf_counter()
            pipeline = Pipeline.for_code(root, config=options.config, ablation=options.ablation)
            indexed = time.perf_counter()
            asked = [query for query in queries if query["repo"] == name]
            for query in asked:
                result = pipeline.search(query["query"], k=options.k)
                hits = rows_of(result, f"{inner}/" if inner else "")
                run.write(json.dumps({"repo": name, "query": query["query"], "hits": hits}) + "\n")
            done = time.perf_counter()
            documents = len(pipeline.documents or ())
            print(
                f"{name}: {documents} documents, indexed in {indexed - started:.2f} s, "
                f"{1000 * (done - indexed) / max(len(asked), 1):.1f} ms a query",
                file=sys.stderr,
            )


if __name__ == "__main__":
    main()
