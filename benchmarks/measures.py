"""Seconds to score 10,000 queries of 100 hits: nDCG@10, MRR, Recall@10, from plain dicts to scores.

Beside ranx, after its compile step, and ir_measures (pytrec_eval), on the same judgements and rankings in one
process; what counts is the ratio. Each library starts from dicts that it documents.

    pip install -e ".[benchmarks]" && python benchmarks/measures.py
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import ir_measures

from hybridrank import score_run
from hybridrank.evaluation.scores import ranked

QUERIES, HITS, ROUNDS = 10_000, 100, 5

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def made_up(seed: int = 0) -> tuple[Qrels, Run]:
    """Judgements and a run with distinct scores, so that no library has a tie to break."""
    draw = random.Random(seed)
    pool = [f"d{place}" for place in range(5_000)]
    qrels: Qrels = {}
    run: Run = {}
    for place in range(QUERIES):
        hits = draw.sample(pool, HITS)
        run[f"q{place}"] = {id: 1 / rank for rank, id in enumerate(hits, 1)}
        relevant = [*draw.sample(hits, 3), *draw.sample(pool, 2)]
        qrels[f"q{place}"] = {id: draw.randint(1, 3) for id in relevant}
    return qrels, run


def with_ranx(qrels: Qrels, run: Run) -> dict[str, float]:
    import ranx

    names = ["ndcg@10", "mrr", "recall@10"]
    scores: dict[str, Any] = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names)
    return {name: float(scores[name]) for name in names}


def with_ir_measures(qrels: Qrels, run: Run) -> dict[str, float]:
    measures = [ir_measures.nDCG @ 10, ir_measures.RR, ir_measures.R @ 10]
    scores = ir_measures.calc_aggregate(measures, qrels, run)
    return {str(measure): scores[measure] for measure in measures}


def with_scores(qrels: Qrels, run: Run) -> dict[str, float]:
    return score_run(
        qrels, {query: ranked(scores) for query, scores in run.items()}, ["nDCG@10", "MRR", "Recall@10"]
    ).means


def main() -> None:
    qrels, run = made_up()
    rankings = {query: list(scores) for query, scores in run.items()}
    ways: dict[str, Callable[[], dict[str, float]]] = {
        "ranx, dicts of scores": lambda: with_ranx(qrels, run),
        "ir_measures, dicts of scores": lambda: with_ir_measures(qrels, run),
        "hybridrank, dicts of scores": lambda: with_scores(qrels, run),
        "hybridrank, lists of ids": lambda: score_run(qrels, rankings, ["nDCG@10", "MRR", "Recall@10"]).means,
    }
    warnings.simplefilter("ignore")
    for way in ways.values():
        way()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    values: dict[str, dict[str, float]] = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            started = perf_counter()
            values[name] = way()
            seconds[name].append(perf_counter() - started)
    base = median(seconds["ranx, dicts of scores"])
    for name in ways:
        told = ", ".join(f"{measure} {value:.6f}" for measure, value in values[name].items())
        middle = median(seconds[name])
        print(f"{name:<30} {middle:7.3f} s  {middle / base:6.2f} of ranx  {told}")


if __name__ == "__main__":
    main()
