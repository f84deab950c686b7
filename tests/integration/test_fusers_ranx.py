"""Agreement with ranx on random runs, for the fusers that both define alike."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hybridrank.fusers.positional import ISR, Borda
from hybridrank.fusers.rrf import RRF
from hybridrank.fusers.scores import CombMNZ, CombSUM
from hybridrank.protocols import Fuser
from hybridrank.types import Document, Query, Ranking

# ranx compiles for some ten seconds when it is first used, and numba warns of what it compiles.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

QUERIES = [f"q{number}" for number in range(40)]
LEGS = ["a", "b", "c"]
Runs = dict[str, dict[str, dict[str, float]]]


def runs(*, same_candidates: bool, seed: int) -> Runs:
    """Scores by leg, query and document, best first, no two equal in one list: ranx breaks ties otherwise."""
    chance = random.Random(seed)
    made: Runs = {leg: {} for leg in LEGS}
    for query in QUERIES:
        pool = [f"d{number}" for number in range(chance.randint(2, 30))]
        for leg in LEGS:
            ids = pool if same_candidates else chance.sample(pool, chance.randint(2, len(pool)))
            scores = sorted({chance.uniform(0.01, 30) for _ in ids}, reverse=True)
            chance.shuffle(ids := list(ids))
            made[leg][query] = dict(zip(ids, scores, strict=True))
    return made


def ours(fuser: Fuser, made: Runs, query: str) -> dict[str, float]:
    rankings = {
        leg: Ranking.from_scores(
            Query(query), [(Document(id, id), score) for id, score in run[query].items()]
        )
        for leg, run in made.items()
    }
    return {hit.id: hit.score for hit in fuser.fuse(rankings, k=100)}


def theirs(made: Runs, method: str, norm: str | None, **params: Any) -> dict[str, dict[str, float]]:
    from ranx import Run, fuse

    fused = fuse([Run(made[leg], name=leg) for leg in LEGS], norm=norm, method=method, params=params or None)
    return {query: dict(fused.to_dict()[query]) for query in QUERIES}


@pytest.mark.parametrize(
    ("fuser", "method", "norm", "params"),
    [
        (RRF(), "rrf", None, {"k": 60}),
        (CombSUM(), "sum", "min-max", {}),
        (CombMNZ(), "mnz", "min-max", {}),
        (CombSUM(normalization="max"), "sum", "max", {}),
        (CombMNZ(normalization="max"), "mnz", "max", {}),
        (CombSUM(weights={"a": 0.5, "b": 2}), "wsum", "min-max", {"weights": [0.5, 2.0, 1.0]}),
        (Borda(), "bordafuse", None, {}),
        (Borda(weights={"a": 0.5, "b": 2}), "w_bordafuse", None, {"weights": [0.5, 2.0, 1.0]}),
        (ISR(), "isr", None, {}),
    ],
    ids=repr,
)
@pytest.mark.parametrize("same_candidates", [False, True])
def test_same_scores(
    fuser: Fuser, method: str, norm: str | None, params: dict[str, Any], same_candidates: bool
) -> None:
    made = runs(same_candidates=same_candidates, seed=len(method))
    expected = theirs(made, method, norm, **params)
    for query in QUERIES:
        assert ours(fuser, made, query) == pytest.approx(expected[query], rel=1e-9, abs=1e-12)


def test_z_scores_differ_by_one_number_where_all_legs_found_all() -> None:
    """ranx counts from the mean, hybridrank from the lowest hit: no two documents change places."""
    made = runs(same_candidates=True, seed=3)
    expected = theirs(made, "sum", "zmuv")
    for query in QUERIES:
        found = ours(CombSUM(normalization="z-score"), made, query)
        first = next(iter(found))
        offset = found[first] - expected[query][first]
        assert found == pytest.approx({id: score + offset for id, score in expected[query].items()}, rel=1e-9)
