"""HTML for notebooks: fragments without script, network or fixed colours. Everything is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..protocols import Weighted
from ..types import Event, Hit, Query, Ranking, Result, location
from .escape import code_lines, printable
from .explanation import Step, dropped_words, stage_names, steps
from .text import reasons, score_text

if TYPE_CHECKING:
    from ..pipeline import Pipeline

HITS, LINES, COLUMNS = 50, 24, 200
"""How many hits, lines of each and characters of each line are shown; what is cut off is counted."""

_STYLE = """<style>
.hybridrank{font-size:13px;line-height:1.45;color:inherit;max-width:min(100%,1000px);overflow-x:auto}
.hybridrank p{margin:.2em 0 .5em;overflow-wrap:anywhere}
.hybridrank small{opacity:.65;font-size:11px;font-weight:400}
.hybridrank table{border-collapse:collapse;border:0;margin:0;width:100%}
.hybridrank th,.hybridrank td{text-align:left;vertical-align:baseline;padding:3px 14px 3px 0;border:0;
 background:none;color:inherit;font-size:13px}
.hybridrank thead th{font-weight:600;font-size:11px;opacity:.65;border-bottom:1px solid currentColor}
.hybridrank tbody.hit td{border-top:1px solid rgba(128,128,128,.3)}
.hybridrank tbody.hit:first-of-type td,.hybridrank tr.more td{border-top:0}
.hybridrank tr.more td{padding-top:0}
.hybridrank td.what{min-width:12em;overflow-wrap:anywhere}
.hybridrank .n{width:1%;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.hybridrank .mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px}
.hybridrank .first{font-weight:700}
.hybridrank .none{opacity:.35}
.hybridrank .open{display:flex;flex-wrap:wrap;gap:0 14px}
.hybridrank details{margin:0 0 4px;min-width:0}
.hybridrank details[open]{flex-basis:100%}
.hybridrank details table{width:auto}
.hybridrank summary{cursor:pointer;opacity:.65;font-size:11px}
.hybridrank pre{margin:4px 0;padding:6px 10px;border-left:3px solid rgba(128,128,128,.4);
 background:rgba(128,128,128,.08);color:inherit;font-size:12px;line-height:1.4;overflow-x:auto;tab-size:4}
.hybridrank pre i{opacity:.45;font-style:normal;user-select:none}
.hybridrank ul{margin:.3em 0;padding-left:1.2em;font-size:12px}
</style>"""


def ranking_html(ranking: Ranking) -> str:
    """A ranking as a table: place, location, symbol, kind, score, and its rank in each leg and stage."""
    title = f"ranking of {ranking.source}" if ranking.source else "ranking"
    names = stage_names(ranking)
    rows = [_hit(rank, hit, names, {}, []) for rank, hit in _shown(ranking.hits)]
    return _box(
        _heading(ranking.query, f"{title}, {_count(len(ranking.hits), 'hit')}"),
        _hits(names, rows, ranking),
        _events(ranking.events),
    )


def result_html(result: Result) -> str:
    """A table like a ranking's, with each hit's way through the stages, the events, and every step."""
    names = stage_names(result)
    rows = []
    for rank, hit in _shown(result.hits):
        way = steps(result, hit)
        told = way if result.explanations.get(hit.id) else []
        rows.append(_hit(rank, hit, names, {step.stage: step for step in way}, told))
    notes = [_count(len(result.hits), "hit")]
    dropped = dropped_words(result)
    if dropped:
        notes.append("not searched for: " + ", ".join(dropped))
    heading = _heading(result.query, "; ".join(notes))
    return _box(heading, _hits(names, rows, result), _events(result.events), _every_step(result))


def _every_step(result: Result) -> str:
    """What the page of a search shows, folded and without its script."""
    if not result.trace.stages:
        return ""
    from .trace_sections import sections
    from .trace_style import NOTEBOOK_COLOURS, TRACE_STYLE
    from .trace_view import View

    body = "".join(
        f"<p><b>{_safe(title)}</b></p>{content}" for title, content in sections(View(result), linked=False)
    )
    return (
        f'<style>{NOTEBOOK_COLOURS}{TRACE_STYLE}</style><details class="steps"><summary>every step</summary>'
        f'<div class="trace">{body}</div></details>'
    )


def pipeline_html(pipeline: Pipeline) -> str:
    """The parts of a pipeline in the order in which they run, with the weights of the legs."""
    weights = pipeline.fuser.weights if isinstance(pipeline.fuser, Weighted) else {}
    rows: list[tuple[str, str, object, str]] = []
    if pipeline.normalizer is not None:
        rows.append(("normalizer", "", pipeline.normalizer, ""))
    for name, leg in pipeline.retrievers.items():
        rows.append(("retriever", name, leg, f"weight {weights.get(name, 1.0):g}" if weights else ""))
    rows.append(("fuser", "", pipeline.fuser, ""))
    for name, reranker in pipeline.rerankers.items():
        depth = getattr(reranker, "depth", None)
        rows.append(("reranker", name, reranker, "" if depth is None else f"depth {depth}"))
    if pipeline.validator is not None:
        rows.append(("validator", "", pipeline.validator, ""))
    body = "".join(
        f'<tr><td><small>{kind}</small></td><td class="first">{_safe(name)}</td>'
        f'<td class="mono">{_safe(repr(part))}</td><td class="n">{_safe(note)}</td></tr>'
        for kind, name, part, note in rows
    )
    indexed = "not indexed" if pipeline.documents is None else _count(len(pipeline.documents), "document")
    heading = f"<p><b>Pipeline</b> <small>{indexed}, {pipeline.recall} hits per leg</small></p>"
    return _box(heading, f"<table><tbody>{body}</tbody></table>")


def _box(*parts: str) -> str:
    return f'<div class="hybridrank">{_STYLE}{"".join(parts)}</div>'


def _heading(query: Query, note: str) -> str:
    typed = " ".join(query.typed.split())
    return f"<p><b>{_safe(_cut(typed))}</b> <small>{_safe(note)}</small></p>"


def _shown(hits: Sequence[Hit]) -> Iterable[tuple[int, Hit]]:
    return enumerate(hits[:HITS], 1)


def _hits(names: Sequence[str], rows: Sequence[str], answer: Ranking | Result) -> str:
    if not rows:
        return "<p><small>no hits</small></p>"
    heads = "".join(f'<th class="n">{_safe(name)}</th>' for name in names)
    head = f'<thead><tr><th class="n">#</th><th>hit</th><th class="n">score</th>{heads}</tr></thead>'
    left = len(answer.hits) - len(rows)
    more = f"<p><small>{left} more</small></p>" if left else ""
    return f"<table>{head}{''.join(rows)}</table>{more}"


def _hit(rank: int, hit: Hit, names: Sequence[str], way: dict[str, Step], told: Sequence[Step]) -> str:
    document = hit.document
    symbol = f'<b class="mono">{_breakable(document.qualified_name or document.name)}</b>'
    where = f'<span class="mono">{_breakable(location(document))}</span>'
    named = document.qualified_name or document.name
    what = f"{where}<br>{symbol} <small>{_safe(document.kind)}</small>" if named or document.kind else where
    places = "".join(_place(hit, name, way.get(name)) for name in names)
    return (
        f'<tbody class="hit"><tr><td class="n">{rank}</td><td class="what">{what}</td>'
        f'<td class="n">{score_text(hit.score)}</td>{places}</tr>'
        f'<tr class="more"><td></td><td colspan="{len(names) + 2}"><div class="open">'
        f"{_code(hit)}{_told(told)}</div></td></tr></tbody>"
    )


def _place(hit: Hit, name: str, step: Step | None) -> str:
    component = hit.components.get(name)
    if component is None:
        return '<td class="n none" title="not found here">·</td>'
    moved = ""
    if step is not None and step.rank_before is not None and step.rank_before != component.rank:
        up = step.rank_before - component.rank
        moved = f" <small>{'↑' if up > 0 else '↓'}{abs(up)}</small>"
    first = " first" if component.rank == 1 else ""
    return f'<td class="n{first}" title="score {score_text(component.score)}">{component.rank}{moved}</td>'


def _code(hit: Hit) -> str:
    lines = code_lines(hit.document.text)
    first = hit.document.start_line
    size = len(str(first + len(lines)))
    shown = [
        (f"<i>{number:>{size}}  </i>" if first else "") + _safe(_cut(line), keep="\t")
        for number, line in enumerate(lines[:LINES], first)
    ]
    if len(lines) > LINES:
        shown.append(f"<i>… {_count(len(lines) - LINES, 'more line')}</i>")
    summary = "code" if hit.document.language or hit.document.path else "text"
    return f"<details><summary>{summary}</summary><pre>{chr(10).join(shown)}</pre></details>"


def _told(way: Sequence[Step]) -> str:
    rows = "".join(
        f'<tr><td><small>{_safe(step.stage)}</small></td><td class="n">{_moved(step)}</td>'
        f'<td class="n">{"" if step.score is None else score_text(step.score)}</td>'
        f"<td>{escape(', '.join(reasons(step)))}</td></tr>"
        for step in way
    )
    return (
        f"<details><summary>why here</summary><table><tbody>{rows}</tbody></table></details>" if rows else ""
    )


def _moved(step: Step) -> str:
    if step.rank is None:
        return f"<small>not in top {step.size}</small>"
    if step.rank_before is None or step.rank_before == step.rank:
        return str(step.rank)
    return f"{step.rank_before} → {step.rank}"


def _events(events: Sequence[Event]) -> str:
    items = "".join(
        f"<li>{'<b>warning</b> ' if event.level == 'warning' else ''}"
        f"<small>{_safe(event.stage)}</small> {_safe(' '.join(event.message.split()))}</li>"
        for event in events
    )
    return f"<ul>{items}</ul>" if items else ""


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _safe(text: str, keep: str = "") -> str:
    return escape(printable(text, keep=keep))


def _breakable(text: str) -> str:
    """A path or a qualified name that may wrap behind a slash, a dot or a colon, and not elsewhere first."""
    return re.sub(r"([/.:])", r"\1<wbr>", _safe(text))


def _cut(text: str) -> str:
    return text if len(text) <= COLUMNS else text[:COLUMNS] + "…"
