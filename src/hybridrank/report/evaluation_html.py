"""Evaluations and comparisons as HTML for notebooks; everything is escaped, nothing is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from .escape import printable
from .evaluation_tables import (
    Table,
    comparison_heading,
    comparison_tables,
    evaluation_heading,
    evaluation_tables,
    query_table,
)
from .html import HITS, _box

if TYPE_CHECKING:
    from ..evaluation.comparison import Comparison
    from ..evaluation.outcomes import Evaluation

CHARACTERS = 200


def evaluation_html(evaluation: Evaluation) -> str:
    """Means over all and per category, latency, warnings, errors, gaps, and the cases one by one."""
    cases = _table(query_table(evaluation, HITS))
    return _page(
        evaluation_heading(evaluation),
        evaluation_tables(evaluation),
        [f"<details><summary>one by one</summary>{cases}</details>"],
    )


def comparison_html(comparison: Comparison) -> str:
    """Means and latency per method, differences from the baseline, warnings, errors, gaps, notes."""
    notes = [f"<p>{_safe(note)}</p>" for note in comparison.notes]
    return _page(comparison_heading(comparison), comparison_tables(comparison), notes)


def _page(heading: str, tables: Iterable[Table], more: Iterable[str]) -> str:
    return _box(f"<p><b>{_safe(heading)}</b></p>", *map(_table, tables), *more)


def _table(table: Table) -> str:
    used = [column for column in range(len(table.head)) if any(row[column] for row in table.rows)]

    def cells(row: Iterable[str], tag: str) -> str:
        given = list(row)
        kinds = [
            "" if column < table.words else " class='n' style='width:auto'" for column in range(len(given))
        ]
        return "".join(f"<{tag}{kinds[column]}>{_safe(given[column])}</{tag}>" for column in used)

    title = f"<p><small>{_safe(table.title)}</small></p>" if table.title else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table.rows)
    head = f"<thead><tr>{cells(table.head, 'th')}</tr></thead>"
    return f"{title}<table style='width:auto'>{head}<tbody>{body}</tbody></table>"


def _safe(text: str) -> str:
    folded = " ".join(text.split())
    return escape(printable(folded if len(folded) <= CHARACTERS else folded[:CHARACTERS] + "…"))
