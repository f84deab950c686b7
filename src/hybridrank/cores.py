"""How many threads or processes work side by side."""

from __future__ import annotations

import os

MOST = 8
"""More would only wait for each other."""


def cores() -> int:
    """Cores that this process may use, at most 8."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST)
