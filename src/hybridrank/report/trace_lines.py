"""The rank movement of a search as inline SVG: a column per stage, a line per candidate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .trace_view import RESULT, Candidate, View, safe

_TOP, _LEFT, _LABEL, _BOTTOM, _WIDTH = 46, 34, 300, 24, 1170
_HEIGHT, _PITCH, _LABEL_PITCH = 700, 24.0, 17.0
_COLOURS = 8
_LAYERS = {"left": 0, "rejected": 1, "hit": 2}


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where places stand: a column per stage, `pitch` apart; those of the last, labelled column further."""

    names: tuple[str, ...]
    column: int
    pitch: float
    last: float

    def x(self, at: int) -> int:
        return _LEFT + self.column * at

    def y(self, at: int, place: int) -> float:
        return _TOP + (place - 1) * (self.last if at == len(self.names) - 1 else self.pitch)


def movement(view: View, *, live: bool) -> str:
    """The lines of every candidate from stage to stage; `""` where there is nothing to draw.

    Args:
        live: lines can be clicked, and show their places when they are followed.
    """
    counts = {stage.name: len(stage.ids_out) for stage in view.stages if stage.ids_out}
    counts[RESULT] = hits = len(view.result.hits)
    longest = max(counts.values())
    if not longest:
        return ""
    pitch = min(_PITCH, max(4.0, _HEIGHT / longest))
    column = min(220, max(112, (_WIDTH - _LEFT - _LABEL) // max(1, len(counts) - 1)))
    last = max(pitch, min(_LABEL_PITCH, max(_HEIGHT, longest * pitch) / max(1, hits)))
    grid = _Grid(tuple(counts), column, pitch, last)
    height = _TOP + _BOTTOM + max(pitch * (longest - 1), last * (hits - 1))
    width = grid.x(len(counts) - 1) + _LABEL
    heads = "".join(_head(grid, at, name, count, height) for at, (name, count) in enumerate(counts.items()))
    # What matters is drawn over what does not.
    order = sorted(view.candidates.values(), key=lambda one: (_LAYERS[one.state], -one.number))
    lines = "".join(_line(view, grid, one, live) for one in order)
    return (
        f'<div class="wide lines"><svg viewBox="0 0 {width} {height:.0f}" width="{width}" '
        f'height="{height:.0f}" role="img" aria-label="rank of every candidate in every stage">'
        f"{heads}{lines}</svg></div>"
    )


def _head(grid: _Grid, at: int, name: str, count: int, height: float) -> str:
    x = grid.x(at)
    anchor = "middle" if at else "start"
    left = x if at else 6
    return (
        f'<g class="head"><line x1="{x}" x2="{x}" y1="{_TOP - 8}" y2="{height - 14:.1f}"/>'
        f'<text x="{left}" y="16" text-anchor="{anchor}">{safe(_short(name, grid.column // 8))}</text>'
        f'<text class="soft" x="{left}" y="31" text-anchor="{anchor}">{count:,}</text></g>'
    )


def _line(view: View, grid: _Grid, one: Candidate, live: bool) -> str:
    points: list[tuple[int, int]] = []
    for at, name in enumerate(grid.names):
        place = view.place(name, one.id)
        if place is not None:
            points.append((at, place))
    seen, reach, gap = [], [], ' class="gap"'
    for (at, place), (then, place_then) in pairwise(points):
        x, y, x_then, y_then = grid.x(at), grid.y(at, place), grid.x(then), grid.y(then, place_then)
        bend = (x_then - x) / 2
        curve = f"M{x} {y:.1f}C{x + bend:g} {y:.1f} {x_then - bend:g} {y_then:.1f} {x_then} {y_then:.1f}"
        # A dashed line passes a stage that did not give the candidate.
        seen.append(f'<path{gap if then > at + 1 else ""} d="{curve}"/>')
        reach.append(curve)
    radius = 3 if one.rank else 1.6
    dots = "".join(f'<circle cx="{grid.x(a)}" cy="{grid.y(a, p):.1f}" r="{radius}"/>' for a, p in points)
    reached = ""
    if live:
        dots += "".join(
            f'<text class="place" x="{grid.x(a) + 7}" y="{grid.y(a, p) - 5:.1f}">{p}</text>'
            for a, p in points
            if grid.names[a] != RESULT
        )
        reached = f'<path class="reach" d="{"".join(reach)}"/>'
    colour = "" if one.rank is None else f" k{(one.rank - 1) % _COLOURS}"
    return (
        f'<g class="way {one.state}{colour}" data-c="{one.number}">'
        f"<title>{safe(one.where)} {safe(one.symbol)}</title>"
        f"{''.join(seen)}{dots}{_label(grid, one)}{reached}</g>"
    )


def _label(grid: _Grid, one: Candidate) -> str:
    if one.rank is None or (grid.last < 11 and one.rank > 1):
        return ""
    at = len(grid.names) - 1
    told = _short(one.symbol or one.where, 40)
    y = grid.y(at, one.rank) + 4
    return f'<text class="name" x="{grid.x(at) + 14}" y="{y:.1f}">{one.rank}  {safe(told)}</text>'


def _short(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
