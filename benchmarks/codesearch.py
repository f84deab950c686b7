"""Search quality on a public code-search benchmark, with the default pipeline and hits as any user gets them.

    python benchmarks/codesearch.py CORPUS QUERIES.jsonl REPOS.json --run run.jsonl
        [--published FILE.tsv] [--ablations] [--config FILE] [--only NAME ...]

CORPUS holds one folder per repository; QUERIES one JSON object per line with repo, language, category, query,
relevant and secondary (path, optionally start_line and end_line); REPOS name and index_root. The run file has
one object per query, {"repo", "query", "hits": [{"path", "start_line", "end_line"}]}, paths relative to the
repository's root.

Prints nDCG@10 and hit@1 overall and by category, language and repository (each the mean over repositories of
their means), and the times. With --published, a table with a column per system and a row per repository, and
the difference to each system with its paired bootstrap interval over repositories. With --ablations, the same
for each leg alone, without each reranker and without each single feature of the code priors: ten minutes.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from code_benchmark import K, Question, Repository, interval, mean, ndcg, read_benchmark

from hybridrank import CodePriors, CodePriorsWeights, Pipeline, Result

Scores = dict[Question, tuple[float, float]]


def rows_of(result: Result, prefix: str) -> list[dict[str, Any]]:
    return [
        {
            "path": prefix + hit.document.path,
            "start_line": hit.document.start_line,
            "end_line": hit.document.end_line,
        }
        for hit in result
    ]


def ask(pipeline: Pipeline, repository: Repository, scores: Scores) -> Iterator[dict[str, Any]]:
    """Runs the repository's queries, keeps their scores, and yields lines of the run file."""
    for question in repository.questions:
        hits = rows_of(pipeline.search(question.text, k=K), repository.prefix)
        scores[question] = ndcg(hits, question.targets)
        yield {"repo": repository.name, "query": question.text, "hits": hits}


def variants(pipeline: Pipeline) -> Iterator[tuple[str, Pipeline]]:
    """The pipeline with one thing taken out, each with a name."""
    for leg in pipeline.retrievers:
        alone = pipeline.without(*(other for other in pipeline.retrievers if other != leg))
        yield f"{leg} alone", alone
        yield f"{leg} alone, no rerankers", alone.with_(rerankers={})
    yield "no rerankers", pipeline.with_(rerankers={})
    for name, reranker in pipeline.rerankers.items():
        yield f"without {name}", pipeline.without(name)
        if not isinstance(reranker, CodePriors):
            continue
        for field in fields(CodePriorsWeights):
            if getattr(reranker.all_weights, field.name):
                changed = {**reranker.weights, field.name: 0.0}
                part = CodePriors(weights=changed, tokenizer=reranker.tokenizer, depth=reranker.depth)
                yield f"without {field.name}", pipeline.with_(rerankers={**pipeline.rerankers, name: part})


def by_repository(scores: Scores, place: int = 0, **wanted: str) -> dict[str, float]:
    """Mean of each repository's queries; only of those whose attributes are as wanted."""
    groups: dict[str, list[float]] = defaultdict(list)
    for question, values in scores.items():
        if all(getattr(question, name) == value for name, value in wanted.items()):
            groups[question.repo].append(values[place])
    return {repo: mean(values) for repo, values in groups.items()}


def report(scores: Scores) -> None:
    print(f"\n| {'group':<24} | queries | nDCG@10 | hit@1 |\n| {'-' * 24} | ------- | ------- | ----- |")
    for key in ("category", "language", "repo"):
        for value in sorted({getattr(question, key) for question in scores}):
            shown(value, {q: s for q, s in scores.items() if getattr(q, key) == value})
    shown("all", scores)


def shown(name: str, scores: Scores) -> None:
    gain, first = (mean(by_repository(scores, place).values()) for place in (0, 1))
    print(f"| {name:<24} | {len(scores):>7} | {gain:.4f}  | {first:.3f} |")


def against_published(scores: Scores, published: Path) -> None:
    ours = by_repository(scores)
    with published.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["repo"] in ours]
    systems = [name for name in rows[0] if name not in ("repo", "language", "queries", "at_pinned_revision")]
    print(f"\n| repository | language | hybridrank | {' | '.join(systems)} |")
    print("| --- " * (3 + len(systems)) + "|")
    for row in rows:
        cells = " | ".join(f"{float(row[system]):.3f}" for system in systems)
        print(f"| {row['repo']} | {row['language']} | {ours[row['repo']]:.3f} | {cells} |")
    print("\n| system | nDCG@10 | hybridrank minus it | 95 % interval |\n| --- | --- | --- | --- |")
    for system in systems:
        differences = [ours[row["repo"]] - float(row[system]) for row in rows]
        low, high = interval(differences)
        figure = mean(float(row[system]) for row in rows)
        print(f"| {system} | {figure:.4f} | {mean(differences):+.4f} | {low:+.4f} to {high:+.4f} |")
    for language in sorted({row["language"] for row in rows}):
        of_language = [row for row in rows if row["language"] == language]
        gap = mean(ours[row["repo"]] - float(row[systems[0]]) for row in of_language)
        if gap < 0:
            print(f"\n{language}: {gap:+.4f} against {systems[0]}")


def against_whole(whole: Scores, found: Mapping[str, Scores]) -> None:
    base = by_repository(whole)
    print("\n| pipeline | nDCG@10 | change | 95 % interval |\n| --- | --- | --- | --- |")
    print(f"| default | {mean(base.values()):.4f} | | |")
    for name, scores in found.items():
        theirs = by_repository(scores)
        differences = [theirs[repo] - base[repo] for repo in base]
        low, high = interval(differences)
        print(
            f"| {name} | {mean(theirs.values()):.4f} | {mean(differences):+.4f} | {low:+.4f} to {high:+.4f} |"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--published", type=Path, help="figures of other systems per repository")
    parser.add_argument("--ablations", action="store_true", help="measure with one thing taken out at a time")
    parser.add_argument("--config", type=Path, help="another pipeline than the default one")
    parser.add_argument("--ablation", help="one of the configuration's own variants")
    parser.add_argument("--only", nargs="*", default=(), metavar="NAME")
    options = parser.parse_args(arguments)
    scores: Scores = {}
    found: dict[str, Scores] = {}
    stages: dict[str, float] = defaultdict(float)
    indexing = 0.0
    with options.run.open("w", encoding="utf-8") as run:
        for repository in read_benchmark(options.corpus, options.queries, options.repos, options.only):
            started = time.perf_counter()
            pipeline = Pipeline.for_code(repository.root, config=options.config, ablation=options.ablation)
            indexed = time.perf_counter()
            for row in ask(pipeline, repository, scores):
                run.write(json.dumps(row) + "\n")
            done = time.perf_counter()
            indexing += indexed - started
            print(
                f"{repository.name}: {len(pipeline.documents or ())} documents, indexed in "
                f"{indexed - started:.2f} s, "
                f"{1000 * (done - indexed) / max(len(repository.questions), 1):.1f} ms a query",
                flush=True,
            )
            for question in repository.questions:
                for stage in pipeline.search(question.text, k=K).trace.stages:
                    stages[stage.name] += stage.seconds
            if options.ablations:
                for name, variant in variants(pipeline):
                    for _ in ask(variant, repository, found.setdefault(name, {})):
                        pass
    report(scores)
    told = ", ".join(f"{name} {1000 * seconds / len(scores):.2f}" for name, seconds in stages.items())
    print(f"\nindexed in {indexing:.1f} s; ms a query: {told}")
    if options.published:
        against_published(scores, options.published)
    if options.ablations:
        against_whole(scores, found)


if __name__ == "__main__":
    main()
