"""The same bytes from the command line under any hash seed and number of BLAS threads, on a real package."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = Path(sysconfig.get_path("scripts")) / "hybridrank"


def httpx() -> Path:
    spec = find_spec("httpx")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def answer(query: str, seed: int, threads: int) -> bytes:
    done = subprocess.run(
        [SCRIPT, "search", query, httpx(), "--json", "--explain", "--show", "--k", "40"],
        env={
            **os.environ,
            "PYTHONHASHSEED": str(seed),
            "OPENBLAS_NUM_THREADS": str(threads),
            "OMP_NUM_THREADS": str(threads),
        },
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("query", ["where are redirects followed"])
def test_the_same_bytes(query: str) -> None:
    first = answer(query, seed=0, threads=1)
    assert first.count(b'"rank"') > 40
    assert answer(query, seed=0, threads=2) == first
    assert answer(query, seed=1, threads=2) == first
