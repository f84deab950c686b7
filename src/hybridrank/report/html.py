"""HTML for notebooks."""

from __future__ import annotations

from ..types import Ranking, Result


def ranking_html(ranking: Ranking) -> str:
    raise NotImplementedError


def result_html(result: Result) -> str:
    raise NotImplementedError
