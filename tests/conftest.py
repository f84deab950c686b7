"""Profiles for Hypothesis: `HYPOTHESIS_PROFILE=full` searches ten times longer."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("fast", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("full", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
