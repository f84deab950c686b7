"""Fusing two long lists."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hybridrank import RRF, Document, Query, Ranking

from .harness import Options, Row, interleaved, once, row

_TIMES = 20


def rrf(options: Options) -> Iterator[Row]:
    from ranx import Run, fuse

    rng = np.random.default_rng(0)
    lists = [[f"d{number:05d}" for number in rng.permutation(1500)[:1000].tolist()] for _ in range(2)]
    weights = {"a": 1.0, "b": 0.5}
    query = Query("q")

    def ours() -> list[str]:
        rankings = {
            name: Ranking.from_order(query, (Document(id, "") for id in ids))
            for name, ids in zip(weights, lists, strict=True)
        }
        return list(RRF(weights=weights).fuse(rankings, k=1000).ids)

    def theirs() -> list[str]:
        # ranx has no weights in its reciprocal rank fusion: the same work without them.
        runs = [
            Run({"q": {id: 1000.0 - place for place, id in enumerate(ids)}}, name=name)
            for name, ids in zip(weights, lists, strict=True)
        ]
        found = fuse(runs=runs, norm=None, method="rrf").to_dict()["q"]
        return sorted(found, key=lambda id: -found[id])[:1000]

    def unweighted() -> list[str]:
        rankings = {
            name: Ranking.from_order(query, (Document(id, "") for id in ids))
            for name, ids in zip(weights, lists, strict=True)
        }
        return list(RRF().fuse(rankings, k=1000).ids)

    compiling, peers = once(options, theirs)
    if set(unweighted()[:300]) != set(peers[:300]):
        raise AssertionError("fusion: results differ")
    times = interleaved(
        options,
        {
            "ours": lambda: [ours() for _ in range(_TIMES)],
            "ranx": lambda: [theirs() for _ in range(_TIMES)],
        },
    )
    yield row(
        f"weighted RRF of 2 × 1,000 hits, from plain id lists, {_TIMES} times",
        "ranx",
        "> 1",
        times,
        "ranx",
        agreement="same first 300 without weights, which ranx's has not",
        note=f"compiled before: {compiling:.1f} s",
    )
