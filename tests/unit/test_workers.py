"""Files cut in several processes."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hybridrank import Document, Pipeline
from hybridrank.code import workers
from hybridrank.code.corpus import load_code
from hybridrank.types import SourceFile

SAMPLES = Path(__file__).parents[1] / "samples"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    shutil.copytree(SAMPLES, root)
    (root / "binary.py").write_bytes(b"\0\1\2")
    (root / "empty.py").write_bytes(b"")
    (root / "latin.py").write_bytes("# gr\u00fcn\nx = 1\n".encode("latin-1"))
    (root / "broken.py").write_text("def f(:\n    pass\n\ndef g():\n    return 1\n")
    return root


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_LEAST_BYTES", 0)
    monkeypatch.setattr(workers, "_BATCH_ITEMS", 5)


def _keep(steps: list[tuple[str, int, int | None]], *step: Any) -> None:
    steps.append(step)


def test_any_number_of_processes_gives_the_same_corpus(
    tree: Path, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv(workers.WORKERS, count)
        steps: list[tuple[str, int, int | None]] = []
        found.append(load_code(tree, progress=partial(_keep, steps)))
        assert steps[-1] == ("chunk", len(steps) // 2, len(steps) // 2)
    assert found[0] == found[1] == found[2]
    assert len(found[0].documents) > 100
    assert not [one for one in threading.enumerate() if one.name.startswith("hybridrank-files")]


@pytest.mark.slow
def test_any_number_of_processes_gives_the_same_index(
    tree: Path, eager: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prints = set()
    for count in ("1", "2"):
        monkeypatch.setenv(workers.WORKERS, count)
        config = {"retrievers": {"bm25": {"use": "bm25"}}}
        prints.add(Pipeline.for_code(tree, index=tmp_path / count, config=config).fingerprint())
    assert len(prints) == 1


def test_small_corpora_and_other_chunkers_stay_here(
    tree: Path, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Whole:
        def chunk(self, source: SourceFile, /) -> list[Document]:
            return [Document(source.path, source.text, source.path)] if source.text else []

    monkeypatch.setattr(workers, "_Process", None)
    monkeypatch.setenv(workers.WORKERS, "2")
    assert len(load_code(tree, chunker=Whole()).documents) > 20
    monkeypatch.setattr(workers, "_LEAST_BYTES", 10_000_000)
    assert load_code(tree).documents


def test_a_process_that_ends_is_told_and_nothing_is_lost(
    tree: Path, eager: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(workers.WORKERS, "1")
    expected = load_code(tree)
    monkeypatch.setenv(workers.WORKERS, "2")
    monkeypatch.setattr(workers, "_PROGRAM", "import sys; sys.exit(3)")
    with caplog.at_level(logging.WARNING, "hybridrank"):
        assert load_code(tree) == expected
    assert "a process that cuts files ended" in caplog.text


@pytest.mark.slow
def test_a_program_without_a_guard_may_index(tree: Path, tmp_path: Path) -> None:
    """It is not run again by the processes, as it would be by `multiprocessing`."""
    script = tmp_path / "script.py"
    script.write_text(
        "from hybridrank.code import workers\n"
        "from hybridrank.code.corpus import load_code\n"
        "workers._LEAST_BYTES = 0\n"
        f"print(len(load_code({str(tree)!r}).documents))\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, workers.WORKERS: "2"},
    )
    assert run.stderr == ""
    assert int(run.stdout) > 100
