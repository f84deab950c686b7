"""What lexical evidence accepts at several thresholds: chunks of the source's own lines, or of other code.

    python benchmarks/evidence_threshold.py

Takes windows of 40 lines from the top modules of four installed packages, and scores the 80 chunks that BM25
finds for each among all chunks of five packages. A chunk that shares lines with the window is evidence for
sure; one of another package almost never is; what lies between (same file, same package) may be either.
"""

from __future__ import annotations

import random
import sysconfig
from dataclasses import replace
from pathlib import Path

from hybridrank import BM25, Document, Query, load_code
from hybridrank.text.corpus_tokens import CorpusTokens
from hybridrank.text.evidence import Source

PACKAGES = ("anyio", "click", "httpx", "rich")
CORPUS = (*PACKAGES, "hypothesis")
LINES, WINDOWS, CANDIDATES, SEED = 40, 15, 80, 7
THRESHOLDS = (0.2, 0.25, 0.3, 1 / 3, 0.4)


def chunks(site: Path) -> tuple[Document, ...]:
    return tuple(
        replace(document, id=f"{package}/{document.id}", path=f"{package}/{document.path}")
        for package in CORPUS
        for document in load_code(site / package).documents
    )


def windows(site: Path) -> list[tuple[str, int, str]]:
    """Path, first line and text of each; files of less than 60 lines give none."""
    chosen = random.Random(SEED)
    found = []
    for package in PACKAGES:
        files = sorted((site / package).glob("*.py"))
        for _ in range(WINDOWS):
            file = chosen.choice(files)
            lines = file.read_text(encoding="utf-8").split("\n")
            if len(lines) >= 60:
                first = chosen.randrange(len(lines) - LINES)
                found.append((f"{package}/{file.name}", first + 1, "\n".join(lines[first : first + LINES])))
    return found


def relation(document: Document, path: str, first: int) -> str:
    if document.path == path:
        overlaps = document.start_line < first + LINES and document.end_line >= first
        return "own lines" if overlaps else "same file"
    same = document.path.split("/")[0] == path.split("/")[0]
    return "same package" if same else "other package"


def main() -> None:
    site = Path(sysconfig.get_path("purelib"))
    corpus, sources = chunks(site), windows(site)
    tokens, bm25 = CorpusTokens.of(corpus), BM25().index(corpus)
    scores: dict[str, list[float]] = {
        "own lines": [],
        "same file": [],
        "same package": [],
        "other package": [],
    }
    for path, first, text in sources:
        source = Source(text, tokens)
        for hit in bm25.retrieve(Query(text), k=CANDIDATES):
            scores[relation(hit.document, path, first)].append(source.overlap(hit.document.text).score)
    print(f"{len(sources)} windows, {len(corpus):,} chunks")
    print("threshold  " + "  ".join(f"{name:>13}" for name in scores))
    for threshold in THRESHOLDS:
        accepted = [sum(score >= threshold for score in of) for of in scores.values()]
        print(f"{threshold:9.3f}  " + "  ".join(f"{count:>13}" for count in accepted))
    print("      all  " + "  ".join(f"{len(of):>13,}" for of in scores.values()))


if __name__ == "__main__":
    main()
