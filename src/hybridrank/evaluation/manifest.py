"""The manifest of a run: when, with what, from what, into what."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..search import FAILED
from .method_rankings import MethodRankings
from .outcomes import percentile

MANIFEST_SCHEMA = 1


def run_id(started: datetime, config_sha256: str) -> str:
    """UTC time to the microsecond and the first eight digits of the configuration's hash."""
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%S%fZ}-{config_sha256[:8]}"


def utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def git_state(folder: str | Path) -> dict[str, Any] | None:
    """Commit and whether files differ from it, of the working tree around a folder; None without one."""
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain")
    if commit is None or changes is None:
        return None
    return {"commit": commit.strip(), "dirty": bool(changes.strip())}


def versions() -> dict[str, str]:
    """Of hybridrank, Python, numpy and scipy."""
    return {
        **{name: version(name) for name in ("hybridrank", "numpy", "scipy")},
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def event_counts(rankings: MethodRankings) -> dict[str, Any]:
    """Events by code, and how many of them were fallbacks and guardrails.

    Fallbacks are events whose code speaks of one, and stages that were left out; guardrail events are all
    other warnings. Where models' replies were read, also how much was dropped from them.
    """
    fallbacks = guardrails = 0
    for (level, code), times in rankings.events.items():
        if "fallback" in code or code == FAILED:
            fallbacks += times
        elif level == "warning":
            guardrails += times
    by_code: dict[str, int] = {}
    for (_, code), times in sorted(rankings.events.items()):
        by_code[code] = by_code.get(code, 0) + times
    return {
        "fallbacks": fallbacks,
        "guardrail_events": guardrails,
        "events_by_code": dict(sorted(by_code.items())),
        **({"dropped_from_replies": dict(sorted(rankings.dropped.items()))} if rankings.dropped else {}),
    }


def timings(rankings: MethodRankings, *, load: float) -> dict[str, Any]:
    """Seconds: reading and indexing, searches, and each stage over all searches."""
    seconds = rankings.seconds
    return {
        "load_and_index": load,
        "search_total": sum(seconds),
        "search_p50": percentile(seconds, 50) if seconds else None,
        "search_p95": percentile(seconds, 95) if seconds else None,
        "stages": dict(sorted(rankings.stages.items())),
    }


def sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with a digest over all the rest of it."""
    return {**manifest, "manifest_sha256": seal(manifest)}


def seal(manifest: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in manifest.items() if name != "manifest_sha256"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def command_of(arguments: Sequence[str]) -> list[str]:
    return ["hybridrank", *arguments]


def _git(folder: str | Path, *arguments: str) -> str | None:
    try:
        ran = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return ran.stdout
