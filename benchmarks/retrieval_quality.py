"""MAP and nDCG@10 on judged collections: of BM25 by tokenizer, options and query normaliser, and of the
default text pipeline against each of its legs.

    python benchmarks/retrieval_quality.py [--collections DIR]

DIR holds a folder per collection, with corpus.jsonl (_id, title, text), queries.jsonl (_id, text) and
qrels.tsv (query-id, corpus-id, score, with a header). Prints the table of docs/retrieval-quality.md, and
that of prose in docs/quality.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hybridrank import BM25, Document, Pipeline, Query, Tokenizer, normalize_query
from hybridrank.config import default_config

STEMMED = Tokenizer(stem="english")
SETTINGS: Mapping[str, BM25] = {
    "words: `Tokenizer(parts=False)`": BM25(tokenizer=Tokenizer(parts=False)),
    "and their parts: `Tokenizer()`, the default": BM25(),
    'stemmed: `Tokenizer(stem="english")`': BM25(tokenizer=STEMMED),
    'stemmed, `k1=1.5, query_terms="count"`': BM25(tokenizer=STEMMED, k1=1.5, query_terms="count"),
}


@dataclass(frozen=True)
class Collection:
    """Documents, queries, and for each query the grades of its relevant documents."""

    name: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    grades: Mapping[str, Mapping[str, int]]


def find_collections(given: str | None = None) -> Path | None:
    """The folder given, else $HYBRIDRANK_COLLECTIONS, else `../shared/collections` beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "collections"
    folder = Path(given or os.environ.get("HYBRIDRANK_COLLECTIONS") or beside)
    return folder if folder.is_dir() else None


def read_collection(folder: Path) -> Collection:
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            grades[query][document] = int(grade)
    return Collection(
        folder.name,
        tuple(Document(row["_id"], f"{row['title']}\n{row['text']}") for row in corpus),
        tuple(Query(row["text"], id=row["_id"]) for row in queries if row["_id"] in grades),
        grades,
    )


def average_precision(ids: Sequence[str], grades: Mapping[str, int]) -> float:
    """Over the whole ranking; a relevant document that was not found counts as precision 0."""
    precisions: list[float] = []
    for rank, id in enumerate(ids, 1):
        if id in grades:
            precisions.append((len(precisions) + 1) / rank)
    return sum(precisions) / len(grades)


def ndcg(ids: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """Linear gain, discount log2(rank + 1), ideal ranking cut at k."""
    gained = [grades.get(id, 0) for id in ids[:k]]
    ideal = sorted(grades.values(), reverse=True)[:k]
    return _discounted(gained) / _discounted(ideal)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def measure(collection: Collection, bm25: BM25, normalize: bool) -> tuple[float, float]:
    """MAP and mean nDCG@10; a query that found nothing counts 0."""
    index = bm25.index(collection.documents)
    precision = gain = 0.0
    for query in collection.queries:
        asked = Query(normalize_query(query.text).text) if normalize else query
        ids = index.retrieve(asked, k=len(collection.documents)).ids
        precision += average_precision(ids, collection.grades[query.id])
        gain += ndcg(ids, collection.grades[query.id])
    return precision / len(collection.queries), gain / len(collection.queries)


def text_pipelines() -> dict[str, Pipeline]:
    """The default text pipeline and each of its legs alone, not yet indexed."""
    whole = Pipeline.from_config(default_config("text"))
    legs = list(whole.retrievers)
    alone = {f"{leg} alone": whole.without(*(other for other in legs if other != leg)) for leg in legs}
    return {**alone, "default text pipeline": whole}


def measure_pipeline(collection: Collection, pipeline: Pipeline) -> tuple[float, float]:
    """MAP within its `recall` and mean nDCG@10."""
    index = pipeline.index(collection.documents)
    precision = gain = 0.0
    for result in index.search_batch(collection.queries, k=pipeline.recall):
        precision += average_precision(result.ids, collection.grades[result.query.id])
        gain += ndcg(result.ids, collection.grades[result.query.id])
    return precision / len(collection.queries), gain / len(collection.queries)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--collections", metavar="DIR", help="default: $HYBRIDRANK_COLLECTIONS")
    folder = find_collections(parser.parse_args().collections)
    if folder is None:
        sys.exit("no such folder of collections; give --collections DIR or set HYBRIDRANK_COLLECTIONS")
    print("| collection | BM25 over | query normaliser | MAP | nDCG@10 |")
    print("| --- | --- | --- | --- | --- |")
    places = sorted(path.parent for path in folder.glob("*/qrels.tsv"))
    for place in places:
        collection = read_collection(place)
        for name, bm25 in SETTINGS.items():
            for normalize in (False, True):
                precision, gain = measure(collection, bm25, normalize)
                row = (collection.name, name, "on" if normalize else "off", f"{precision:.3f}", f"{gain:.3f}")
                print(f"| {' | '.join(row)} |", flush=True)
    print("\n| collection | pipeline | MAP | nDCG@10 |\n| --- | --- | --- | --- |")
    for place in places:
        for name, pipeline in text_pipelines().items():
            precision, gain = measure_pipeline(read_collection(place), pipeline)
            print(f"| {place.name} | {name} | {precision:.3f} | {gain:.3f} |", flush=True)


if __name__ == "__main__":
    main()
