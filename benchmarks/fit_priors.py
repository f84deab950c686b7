"""Fits the weights of the code priors to a judged code-search benchmark, and tells how well they carry over.

    python benchmarks/fit_priors.py CORPUS QUERIES.jsonl REPOS.json [--penalty 0.003]

The files are those of benchmarks/codesearch.py. Every query gives one ranking of files by a linear score; the
weights make its target files likely under a softmax over the candidates (a multinomial logit, McFadden 1974;
ListNet's top-one loss, Cao et al. 2007), every repository counting the same, with a ridge penalty.

Each repository is read twice: only the folder that the benchmark indexes, and whole, since users search whole
repositories: there tests, examples and documentation compete with the code. Prints the weights rounded to
0.05, as they stand in `CodePriorsWeights`, and nDCG@10 of files in folders and in whole repositories: fitted,
with the rounded weights, and for each repository or language with weights fitted without it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from code_benchmark import K, Question, answers, mean, read_benchmark
from numpy.typing import NDArray
from scipy.optimize import minimize

from hybridrank import CodePriors, CodePriorsWeights, Pipeline, Query, Ranking

F64 = NDArray[np.float64]
STEP = 0.05
NAMES = [field.name for field in fields(CodePriorsWeights) if not field.name.startswith("chunk_")]


@dataclass(frozen=True, eq=False)
class Example:
    """One query's candidate files: their features and which of them are targets."""

    question: Question
    features: F64
    targets: NDArray[np.bool_]


class Recorder:
    """Stands where the code priors do and keeps what they would be given."""

    def __init__(self) -> None:
        self.given = Ranking(Query(""))

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        self.given = ranking
        return ranking.cut(k)


def read_examples(corpus: Path, queries: Path, repos: Path, *, whole: bool) -> list[Example]:
    examples: list[Example] = []
    for repository in read_benchmark(corpus, queries, repos, whole=whole):
        pipeline = Pipeline.for_code(repository.root)
        recorder = Recorder()
        name, priors = next((n, r) for n, r in pipeline.rerankers.items() if isinstance(r, CodePriors))
        recording = pipeline.with_(rerankers={**pipeline.rerankers, name: recorder})
        for question in repository.questions:
            recorder.given = Ranking(Query(question.text))
            recording.search(question.text, k=1)
            if not recorder.given:
                continue
            files, features = priors.features(recorder.given)
            paths = [repository.prefix + file for file in files]
            hit = [any(answers(path, target) for target in question.targets) for path in paths]
            examples.append(Example(question, features, np.array(hit)))
        print(f"{repository.name}: {len(repository.questions)} queries", file=sys.stderr, flush=True)
    return examples


def fit(examples: Sequence[Example], penalty: float, start: F64 | None = None) -> F64:
    """The weights that make targets most likely, less penalty / 2 times their squares."""
    used = [example for example in examples if example.targets.any() and not example.targets.all()]
    sizes = np.array([len(example.targets) for example in used])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    features = np.vstack([example.features for example in used])
    wanted = np.concatenate([example.targets / example.targets.sum() for example in used])
    per_repository = {e.question.repo: sum(o.question.repo == e.question.repo for o in used) for e in used}
    share = np.array([1.0 / per_repository[example.question.repo] for example in used])
    share = np.repeat(share / share.sum(), sizes)

    def loss(weights: F64) -> tuple[float, F64]:
        scores = features @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, starts), sizes)
        powers = np.exp(scores)
        sums = np.repeat(np.add.reduceat(powers, starts), sizes)
        value = -float(np.sum(share * wanted * (scores - np.log(sums))))
        gradient = features.T @ (share * (powers / sums - wanted))
        return value + penalty / 2 * float(weights @ weights), gradient + penalty * weights

    first = np.zeros(len(NAMES)) if start is None else start
    return np.asarray(minimize(loss, first, jac=True, method="L-BFGS-B").x)


def ndcg(example: Example, weights: F64) -> float:
    """nDCG@10 of the files by falling score; equal scores keep their order."""
    order = np.argsort(-(example.features @ weights), kind="stable")[:K]
    discounts = 1.0 / np.log2(np.arange(2, K + 2))
    gained = discounts[: len(order)][example.targets[order]].sum()
    return float(gained / discounts[: min(K, len(example.question.targets))].sum())


def quality(examples: Sequence[Example], weights: Callable[[Example], F64]) -> float:
    """Mean over repositories of the mean nDCG@10 of their queries."""
    groups: dict[str, list[float]] = {}
    for example in examples:
        groups.setdefault(example.question.repo, []).append(ndcg(example, weights(example)))
    return mean(map(mean, groups.values()))


def left_out(examples: Sequence[Example], key: str, penalty: float, whole: F64) -> dict[str, F64]:
    """For each group the weights that were fitted without it."""
    fitted: dict[str, F64] = {}
    for group in sorted({getattr(example.question, key) for example in examples}):
        others = [example for example in examples if getattr(example.question, key) != group]
        fitted[group] = fit(others, penalty, whole)
    return fitted


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--penalty", type=float, default=0.003)
    options = parser.parse_args()
    files = (options.corpus, options.queries, options.repos)
    folders, wholes = (read_examples(*files, whole=whole) for whole in (False, True))
    examples = [*folders, *wholes]
    weights = fit(examples, options.penalty)
    rounded = np.round(np.round(weights / STEP) * STEP, 2) + 0.0
    values = dict(zip(NAMES, rounded.tolist(), strict=True))
    for name, value in values.items():
        print(f"    {name}: float = {value}")
    landed = CodePriorsWeights()
    print(f"these are the weights of this version: {replace(landed, **values) == landed}")
    ours = np.array([getattr(landed, name) for name in NAMES])
    print(f"{'nDCG@10 of files':<28} folders  whole repositories")

    def told(name: str, weights_of: Callable[[Example], F64]) -> None:
        print(
            f"{name:<28} {quality(folders, weights_of):.4f}   {quality(wholes, weights_of):.4f}", flush=True
        )

    told("fitted", lambda _: weights)
    told("rounded", lambda _: rounded)
    told("this version's", lambda _: ours)
    for key, name in (("repo", "repository"), ("language", "language")):
        fitted = left_out(examples, key, options.penalty, weights)
        told(f"leave one {name} out", lambda example, f=fitted, k=key: f[getattr(example.question, k)])  # type: ignore[misc]


if __name__ == "__main__":
    main()
