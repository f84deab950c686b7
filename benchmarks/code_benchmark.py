"""The code-search benchmark's files and its scoring rules, shared by codesearch.py and fit_priors.py."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

K = 10


@dataclass(frozen=True, eq=False)
class Question:
    """A query with the files, a few with lines, that answer it: each counts 1."""

    repo: str
    language: str
    category: str
    text: str
    targets: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Repository:
    """A repository of the corpus. Only `root` is indexed; hits are named from the repository's root."""

    name: str
    root: Path
    prefix: str
    questions: tuple[Question, ...]


def read_benchmark(
    corpus: Path, queries: Path, repos: Path, only: Sequence[str] = (), *, whole: bool = False
) -> list[Repository]:
    """The repositories with their queries, in the order of the files.

    Args:
        only: names of repositories; all if empty.
        whole: index whole repositories with tests, examples and documentation, not only the folder that the
            benchmark asks for; those of which it asks for the whole are left out then.
    """
    rows = [json.loads(line) for line in queries.read_text("utf-8").splitlines()]
    questions = [
        Question(r["repo"], r["language"], r["category"], r["query"], (*r["relevant"], *r["secondary"]))
        for r in rows
    ]
    found = []
    for repo in json.loads(repos.read_text("utf-8")):
        name, inner = repo["name"], repo["index_root"] or ""
        if (only and name not in only) or (whole and not inner):
            continue
        if whole:
            inner = ""
        asked = tuple(question for question in questions if question.repo == name)
        found.append(Repository(name, corpus / name / inner, f"{inner}/" if inner else "", asked))
    return found


def answers(path: str, target: Mapping[str, Any]) -> bool:
    """Whether a file is a target's: equal paths, or one a suffix of the other from a slash on."""
    wanted = target["path"]
    return bool(path == wanted or path.endswith("/" + wanted) or wanted.endswith("/" + path))


def covers(hit: Mapping[str, Any], target: Mapping[str, Any]) -> bool:
    """Whether a hit is the target's file and, where the target has lines, overlaps them."""
    if not answers(hit["path"], target):
        return False
    return "start_line" not in target or (
        hit["start_line"] <= target["end_line"] and target["start_line"] <= hit["end_line"]
    )


def ndcg(hits: Sequence[Mapping[str, Any]], targets: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """nDCG@10 and hit@1. A target stands where its first hit does; hits are not collapsed by file."""
    ranks = {next((r for r, hit in enumerate(hits, 1) if covers(hit, target)), 0) for target in targets}
    gained = sum(1 / math.log2(rank + 1) for rank in ranks if 0 < rank <= K)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(K, len(targets)) + 1))
    return gained / ideal, float(1 in ranks)


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def interval(differences: Sequence[float], samples: int = 10_000, seed: int = 0) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the mean of paired differences, one per repository."""
    values: NDArray[np.float64] = np.asarray(differences)
    drawn = np.random.default_rng(seed).integers(0, len(values), (samples, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)
