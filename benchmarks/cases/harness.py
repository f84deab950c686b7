"""How a case is measured: beside its peers, in turns, and only after the results agree."""

from __future__ import annotations

import gc
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "hybridrank", "numpy", "scipy", "bm25s", "numba", "tantivy", "rank-bm25", "semble", "model2vec",
    "ranx", "faiss-cpu",
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """How large and how often.

    Attributes:
        scale: every corpus has this share of its size; below 1 for a quick run.
        rounds: how often each thing is measured.
        cpu: measure CPU time of this process and its ended children instead of the clock: for a machine that
            others use too.
        corpus: a folder with a folder of source code for each repository; None leaves out what needs it.
        repositories: how many of these are indexed, the first by name.
        roots: JSON: a list of objects with `name` and `index_root`, which of its folders counts (null: all).
    """

    scale: float = 1.0
    rounds: int = 5
    cpu: bool = False
    corpus: Path | None = None
    repositories: int = 12
    roots: Path | None = None

    def size(self, full: int, least: int = 100) -> int:
        return max(least, round(full * self.scale))

    def clock(self) -> float:
        if not self.cpu:
            return time.perf_counter()
        used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(frozen=True)
class Row:
    """One comparison: `ratio` is how many times more the peer took.

    Attributes:
        wanted: the ratio that is aimed at.
        ours, theirs: medians, in seconds or what `unit` says.
        agreement: how it was checked that the results are the same.
        note: a compile step, what else one should know.
    """

    work: str
    beside: str
    wanted: str
    ours: float
    theirs: float
    unit: str = "s"
    agreement: str = ""
    note: str = ""
    rounds: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours if self.ours else float("inf")


Call = Callable[[], Any]


def interleaved(options: Options, calls: Mapping[str, Call]) -> dict[str, list[float]]:
    """Seconds of each call in each round; the calls take turns, so that a slow minute harms all alike."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for number in range(options.rounds):
        for name in names if number % 2 == 0 else reversed(names):
            gc.collect()
            started = options.clock()
            result = calls[name]()
            found[name].append(options.clock() - started)
            del result
    return found


def each(
    options: Options, asked: Sequence[Any], answers: Mapping[str, Callable[[Any], Any]]
) -> dict[str, list[float]]:
    """Seconds of each answer: all questions in turns, `rounds` times; before that all once, uncounted."""
    for ask in answers.values():
        for question in asked:
            ask(question)
    found: dict[str, list[float]] = {name: [] for name in answers}
    for _ in range(options.rounds):
        for question in asked:
            for name, ask in answers.items():
                started = options.clock()
                ask(question)
                found[name].append(options.clock() - started)
    return found


def once(options: Options, call: Call) -> tuple[float, Any]:
    started = options.clock()
    result = call()
    return options.clock() - started, result


def row(
    work: str, beside: str, wanted: str, times: Mapping[str, Sequence[float]], peer: str, **more: Any
) -> Row:
    """A row from the times of `ours` and of a peer."""
    ours, theirs = statistics.median(times["ours"]), statistics.median(times[peer])
    rounds = {name: [round(one, 6) for one in times[name][:50]] for name in ("ours", peer)}
    return Row(work, beside, wanted, ours, theirs, rounds=rounds, **more)


def agree(
    ours: Sequence[tuple[str, float]], theirs: Sequence[tuple[str, float]], tolerance: float = 1e-4
) -> bool:
    """Whether two rankings hold the same ids up to ties: equal scores place by place, and where an id stands
    in one ranking only, its score is that of the last place."""
    if len(ours) != len(theirs):
        return False
    if any(abs(a - b) > tolerance * max(1.0, abs(a)) for (_, a), (_, b) in zip(ours, theirs, strict=True)):
        return False
    if not ours:
        return True
    last = ours[-1][1]
    alone = {id for id, _ in ours} ^ {id for id, _ in theirs}
    scores = {**dict(ours), **dict(theirs)}
    return all(abs(scores[id] - last) <= tolerance * max(1.0, abs(last)) for id in alone)


def check(name: str, pairs: Sequence[tuple[Sequence[tuple[str, float]], Sequence[tuple[str, float]]]]) -> str:
    """The text for `Row.agreement`; raises where results differ, since times would mean nothing then."""
    for ours, theirs in pairs:
        if not agree(ours, theirs):
            raise AssertionError(f"{name}: results differ: {list(ours)[:3]} and {list(theirs)[:3]}")
    return f"same ids up to ties in {len(pairs)} of {len(pairs)} queries"


def in_child(case: str, what: str, options: Options) -> float:
    """Peak resident memory in MB of a new process that does one thing, see `memory.py`."""
    command = [sys.executable, str(Path(__file__).with_name("child.py")), case, what, str(options.scale)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
    return float(run.stdout.strip().splitlines()[-1])


def peak_mb() -> float:
    """Peak resident memory of this process; that which a parent had before it does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        found = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines() if ":" in line)
        return int(found["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1 << 20 if sys.platform == "darwin" else 1024
    )


def surroundings() -> dict[str, Any]:
    """Versions and machine."""
    versions: dict[str, str] = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "missing"
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
