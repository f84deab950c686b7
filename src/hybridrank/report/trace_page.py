"""One search as one page of HTML that loads nothing: every step, and every candidate's way through them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InvalidValueError
from ..types import Result
from .page_sections import anchor
from .page_style import STYLE, policy
from .trace_sections import sections, steps_table
from .trace_style import PAGE_STYLE, TRACE_SCRIPT, TRACE_STYLE
from .trace_view import Candidate, View, breakable, marked_text, safe

LINES = 80
"""How many lines of a candidate's text are shown."""


def result_page(result: Result, *, title: str = "", query_line: int = 1) -> str:
    """A page with the query, the candidates of each leg, the union, the reranking, the verdicts, the outcome.

    A click on a candidate follows it through all of them; a filter keeps 160 usable. Without JavaScript the
    page reads from top to bottom. The texts and matched terms of candidates that are no hits, and the
    query's tokens, are there after `search(..., explain="all")`.

    Args:
        title: of the page; the query when empty.
        query_line: number of the first line, where the query is a piece of a file.

    Raises:
        InvalidValueError: it is no Result.
    """
    if not isinstance(result, Result):
        raise InvalidValueError(f"result is {type(result).__name__}; give what Pipeline.search returns")
    view = View(result, query_line)
    heading = _first_line(title or result.query.typed)
    parts = sections(view, linked=True)
    legs = sum(stage.kind == "retriever" for stage in view.stages)
    numbered = [
        f'<section id="{anchor(name)}"><h2><span class="no">{number}</span>{safe(name)}</h2>{body}</section>'
        for number, (name, body) in enumerate(parts, 1)
    ]
    # The query first, then the legs side by side.
    body = (
        f'{numbered[0]}<div class="grid2">{"".join(numbered[1 : 1 + legs])}</div>'
        f"{''.join(numbered[1 + legs :])}{_cards(view, len(parts) + 1)}"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(TRACE_SCRIPT)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(heading)}</title><style>{STYLE}{TRACE_STYLE}{PAGE_STYLE}</style></head>"
        f'<body><main class="trace"><h1>{safe(heading)}</h1>{_flow(view)}{_events(view)}'
        f"{_tools(view)}{body}</main>"
        '<aside id="followed" class="trace" hidden><div><div class="bar2"><div class="title"></div>'
        '<button type="button" title="Esc">close</button></div><div class="content"></div></div></aside>'
        f"<script>{TRACE_SCRIPT}</script></body></html>\n"
    )


def write_result_page(path: str | Path, result: Result, *, title: str = "", query_line: int = 1) -> None:
    """`result_page` in a file.

    Raises:
        InvalidValueError: it is no Result.
        OSError: the file cannot be written.
    """
    Path(path).write_bytes(result_page(result, title=title, query_line=query_line).encode())


def _first_line(text: str) -> str:
    lines = text.strip().splitlines() or [""]
    line = lines[0].strip()
    cut = len(line) > 120 or len(lines) > 1
    return line[:120] + (" …" if cut else "")


def _flow(view: View) -> str:
    """The stages in order, with how many documents they gave and how long they took."""
    items = []
    for stage in view.result.trace.stages:
        warned = ' class="warn"' if any(event.level == "warning" for event in stage.events) else ""
        given = "" if stage.kind == "normalizer" else f"{len(stage.ids_out):,} · "
        items.append(
            f'<li{warned} title="{stage.kind}"><b>{safe(stage.name)}</b>'
            f"{given}{1000 * stage.seconds:,.1f} ms</li>"
        )
    hits = len(view.result.hits)
    items.append(f"<li><b>result</b>{hits:,} hit{'' if hits == 1 else 's'}</li>")
    return f'<ol class="flow">{"".join(items)}</ol>'


def _events(view: View) -> str:
    """Warnings and fallbacks openly, everything else folded."""
    warnings = [event for event in view.result.events if event.level == "warning"]
    others = [event for event in view.result.events if event.level != "warning"]
    told = "".join(
        f'<p class="note"><b>{safe(event.stage)}</b> {safe(" ".join(event.message.split()))}</p>'
        for event in warnings
    )
    if others:
        items = "".join(
            f"<li><small>{safe(event.stage)}</small> {safe(' '.join(event.message.split()))}</li>"
            for event in others
        )
        count = f"{len(others)} event{'' if len(others) == 1 else 's'}"
        opened = "" if view.result.hits else " open"
        told += f"<details{opened}><summary>{count}</summary><ul>{items}</ul></details>"
    return told


def _tools(view: View) -> str:
    legs = [stage.name for stage in view.of_kind("retriever")]
    options = [("", "all candidates"), ("hit", "hits"), ("rejected", "rejected"), ("left", "neither")]
    options += [(f"by:{leg}", f"found by {leg}") for leg in legs]
    options += [(f"only:{leg}", f"only by {leg}") for leg in legs if len(legs) > 1]
    offered = "".join(f'<option value="{safe(value)}">{safe(told)}</option>' for value, told in options)
    return (
        '<div class="tools"><input id="filter-text" type="search" autocomplete="off" '
        'placeholder="filter: path, symbol, term, text" aria-label="filter">'
        f'<select id="filter-state" aria-label="which">{offered}</select>'
        '<span id="filter-count" class="soft"></span>'
        '<span class="soft hint">Click a candidate to follow it.</span></div>'
    )


def _cards(view: View, number: int) -> str:
    cards = "".join(_card(view, one) for one in view.candidates.values())
    if not cards:
        return ""
    return (
        f'<section id="candidates"><h2><span class="no">{number}</span>Every candidate</h2>{cards}</section>'
    )


def _card(view: View, one: Candidate) -> str:
    spans: Sequence[tuple[int, int]] = ()
    judged = ""
    if one.verdict is not None:
        spans = [quote.in_document for quote in one.verdict.quotes if quote.in_document]
        told = f"{one.verdict.answer}: {' '.join(one.verdict.reason.split())}"
        judged = f'<p class="verdict-of"><b>verdict</b> {safe(told)}</p>'
    text = '<p class="soft">Its text is not in this result.</p>'
    if one.document is not None:
        inside = marked_text(one.document.text, spans, first=one.document.start_line, limit=LINES)
        text = f'<pre class="box">{inside}</pre>'
    legs = safe(" ".join(one.legs))
    tag = {"hit": f"hit {one.rank}", "rejected": "rejected", "left": "not taken"}[one.state]
    kind = f" <small>{safe(one.kind)}</small>" if one.kind else ""
    return (
        f'<details class="card" id="c{one.number}" data-c="{one.number}" data-state="{one.state}" '
        f'data-legs="{legs}"><summary><span class="tag {one.state}">{tag}</span> '
        f'<span class="mono">{breakable(one.where)} <b>{breakable(one.symbol)}</b>{kind}</span></summary>'
        f'<div class="body">{steps_table(view, one)}{text}{judged}</div></details>'
    )
