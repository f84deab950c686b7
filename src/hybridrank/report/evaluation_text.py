"""Evaluations and comparisons as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .escape import clip, printable, width
from .evaluation_tables import (
    Table,
    comparison_heading,
    comparison_tables,
    evaluation_heading,
    evaluation_tables,
)

if TYPE_CHECKING:
    from ..evaluation.comparison import Comparison
    from ..evaluation.outcomes import Evaluation

COLUMNS = 60
"""The widest a cell of words becomes."""


def evaluation_text(evaluation: Evaluation) -> str:
    """Means over all and per category, latency, warnings, errors, gaps."""
    return "\n".join([evaluation_heading(evaluation), *map(table_text, evaluation_tables(evaluation))])


def comparison_text(comparison: Comparison) -> str:
    """Means and latency per method, differences from the baseline, notes, warnings, errors, gaps."""
    tables = map(table_text, comparison_tables(comparison))
    return "\n".join([comparison_heading(comparison), *tables, *comparison.notes])


def table_text(table: Table) -> str:
    """The table in aligned columns, its title above."""
    return "\n".join(_lines(table))


def _lines(table: Table) -> Iterator[str]:
    if table.title:
        yield printable(table.title)
    cells = [[_cell(cell) for cell in row] for row in (table.head, *table.rows)]
    used = [column for column in range(len(table.head)) if any(row[column] for row in cells[1:])]
    widths = {column: max(width(row[column]) for row in cells) for column in used}
    for row in cells:
        shown = []
        for column in used:
            space = " " * (widths[column] - width(row[column]))
            shown.append(row[column] + space if column < table.words else space + row[column])
        yield ("  " + "  ".join(shown)).rstrip()


def _cell(text: str) -> str:
    return clip(printable(" ".join(text.split())), COLUMNS)
