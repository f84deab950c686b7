"""Charts as SVG, drawn here: lines, points, intervals and bars. Colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from .escape import clip, printable, width

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 60, 18, 14, 44
COLOURS = 8
"""How many colours the style has: `.c0` to `.c7`."""
_CHARACTER = 6.6
_LABEL = 26


class Series(NamedTuple):
    """A line: its name and its points, from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


class Interval(NamedTuple):
    """A difference with its interval; `clear` where chance does not explain it."""

    name: str
    value: float
    low: float | None
    high: float | None
    clear: bool


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    x_title: str,
    y_title: str,
    x_ticks: Mapping[float, str],
    y_range: tuple[float, float] | None = None,
    log: bool = False,
) -> str:
    """Lines with a mark at each point where there are few, and a legend below.

    Args:
        x_ticks: labels by value of x.
        y_range: what the y axis spans; as much as the points need when None.
        log: a logarithmic x axis; x above 0.
    """
    xs = [x for one in series for x, _ in one.points] + list(x_ticks)
    low, high = y_range or _span([y for one in series for _, y in one.points])
    x_of = _scale(min(xs), max(xs), LEFT + 10, WIDTH - RIGHT - 10, log=log)
    y_of = _scale(low, high, HEIGHT - BOTTOM, TOP)
    body = [_y_axis(low, high, y_of), _x_axis(x_ticks, x_of), _titles(x_title, y_title)]
    for number, one in enumerate(series):
        points = [(x_of(x), y_of(y)) for x, y in one.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        body.append(f'<polyline class="line c{number % COLOURS} d{number // COLOURS % 3}" points="{path}"/>')
        if len(points) <= 12:
            body += [
                f'<circle class="dot c{number % COLOURS}" cx="{x:.1f}" cy="{y:.1f}" r="3.5">'
                f"<title>{_safe(one.name)}: {_number(value)}</title></circle>"
                for (x, y), (_, value) in zip(points, one.points, strict=True)
            ]
    return _figure(title, body, _legend([one.name for one in series]))


def point_chart(title: str, points: Sequence[tuple[str, float, float]], *, x_title: str, y_title: str) -> str:
    """One named point each: name, x (from 0), y."""
    right = _nice(max(x for _, x, _ in points) * 1.05)
    low, high = _span([y for _, _, y in points])
    x_of = _scale(0, right, LEFT, WIDTH - RIGHT)
    y_of = _scale(low, high, HEIGHT - BOTTOM, TOP)
    ticks = {tick: _number(tick) for tick in _ticks(0, right)}
    body = [_y_axis(low, high, y_of), _x_axis(ticks, x_of), _titles(x_title, y_title)]
    for number, (name, x, y) in enumerate(points):
        told = f"{_safe(name)}: {_number(x)}, {_number(y)}"
        body.append(
            f'<circle class="dot c{number % COLOURS}" cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="5">'
            f"<title>{told}</title></circle>"
        )
    return _figure(title, body, _legend([name for name, _, _ in points]))


def interval_chart(title: str, rows: Sequence[Interval], *, x_title: str) -> str:
    """One row each: a dot at the value, a bar over its interval, and a line at 0."""
    ends = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    reach = max(0.01, *(abs(end) for end in ends)) * 1.08
    names = [clip(printable(row.name), _LABEL) for row in rows]
    left = 16 + _CHARACTER * max(map(width, names))
    x_of = _scale(-reach, reach, left, WIDTH - RIGHT)
    height = TOP + 26 * len(rows) + BOTTOM
    ticks = {tick: f"{tick:+g}" if tick else "0" for tick in _ticks(-reach, reach)}
    bottom = height - BOTTOM
    body = [_x_axis(ticks, x_of, bottom)]
    body.append(f'<line class="zero" x1="{x_of(0):.1f}" x2="{x_of(0):.1f}" y1="{TOP}" y2="{bottom}"/>')
    body.append(_x_title(x_title, (left + WIDTH - RIGHT) / 2, height))
    for number, (row, name) in enumerate(zip(rows, names, strict=True)):
        y = TOP + 26 * number + 13
        kind = "clear" if row.clear else "unclear"
        told = f"{_safe(row.name)}: {row.value:+.4f}"
        if row.low is not None and row.high is not None:
            told += f" ({row.low:+.4f} to {row.high:+.4f})"
            body.append(
                f'<line class="bar {kind}" x1="{x_of(row.low):.1f}" x2="{x_of(row.high):.1f}" '
                f'y1="{y}" y2="{y}"/>'
            )
        body.append(
            f'<text class="name" x="{left - 10:.1f}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
        )
        body.append(
            f'<circle class="mean {kind}" cx="{x_of(row.value):.1f}" cy="{y}" r="4.5">'
            f"<title>{told}</title></circle>"
        )
    return _figure(title, body, "", height)


def bar_chart(title: str, bars: Sequence[tuple[str, int]]) -> str:
    """Horizontal bars with their counts."""
    most = max(1, *(count for _, count in bars))
    names = [clip(printable(name), _LABEL) for name, _ in bars]
    left = 16 + _CHARACTER * max(map(width, names))
    x_of = _scale(0, most, left, WIDTH - 50)
    body = []
    for number, ((_, count), name) in enumerate(zip(bars, names, strict=True)):
        y = TOP + 26 * number
        body.append(
            f'<text class="name" x="{left - 10:.1f}" y="{y + 17}" text-anchor="end">{escape(name)}</text>'
        )
        length = x_of(count) - left
        body.append(f'<rect class="c0 fill" x="{left:.1f}" y="{y + 4}" width="{length:.1f}" height="18"/>')
        body.append(f'<text x="{left + length + 6:.1f}" y="{y + 17}">{count}</text>')
    return _figure(title, body, "", TOP + 26 * len(bars) + 8)


def _figure(title: str, body: Iterable[str], legend: str, height: float = HEIGHT) -> str:
    return (
        f'<figure><figcaption>{_safe(title)}</figcaption><svg viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="{_safe(title)}">{"".join(body)}</svg>{legend}</figure>'
    )


def _legend(names: Sequence[str]) -> str:
    items = "".join(
        f'<li><svg viewBox="0 0 22 10" aria-hidden="true"><line class="line c{number % COLOURS} '
        f'd{number // COLOURS % 3}" x1="0" x2="22" y1="5" y2="5"/></svg>{_safe(name)}</li>'
        for number, name in enumerate(names)
    )
    return f'<ul class="legend">{items}</ul>'


class _Scale(NamedTuple):
    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def _scale(low: float, high: float, start: float, end: float, *, log: bool = False) -> _Scale:
    return _Scale(low, high, start, end, log)


def _y_axis(low: float, high: float, y_of: _Scale) -> str:
    return "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_of(tick):.1f}" y2="{y_of(tick):.1f}"/>'
        f'<text x="{LEFT - 8}" y="{y_of(tick) + 4:.1f}" text-anchor="end">{_number(tick)}</text>'
        for tick in _ticks(low, high)
    )


def _x_axis(ticks: Mapping[float, str], x_of: _Scale, bottom: float = HEIGHT - BOTTOM) -> str:
    marks = []
    for value, label in ticks.items():
        x = f"{x_of(value):.1f}"
        marks.append(f'<line class="tick" x1="{x}" x2="{x}" y1="{bottom:g}" y2="{bottom + 4:g}"/>')
        shown = _safe(clip(label, 14))
        marks.append(f'<text x="{x}" y="{bottom + 17:g}" text-anchor="middle">{shown}</text>')
    return "".join(marks)


def _titles(x_title: str, y_title: str) -> str:
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return _x_title(x_title, (LEFT + WIDTH - RIGHT) / 2, HEIGHT) + (
        f'<text class="title" transform="translate(13 {middle:g}) rotate(-90)" text-anchor="middle">'
        f"{_safe(y_title)}</text>"
    )


def _x_title(title: str, x: float, height: float) -> str:
    return f'<text class="title" x="{x:.1f}" y="{height - 7:g}" text-anchor="middle">{_safe(title)}</text>'


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Round ends around the values, at least a tenth apart."""
    low, high = min(values), max(values)
    pad = max(0.0, 0.1 - (high - low)) / 2
    step = _step(high - low + 2 * pad)
    bottom, top = math.floor((low - pad) / step) * step, math.ceil((high + pad) / step) * step
    # Measures lie between 0 and 1; the axis shows no more than there can be.
    return (max(0.0, bottom), min(1.0, top)) if low >= 0 and high <= 1 else (bottom, top)


def _ticks(low: float, high: float) -> list[float]:
    step = _step(high - low)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def _step(span: float) -> float:
    """A round step that divides the span into about five."""
    if span <= 0:
        return 1.0
    raw = span / 5
    power = 10.0 ** math.floor(math.log10(raw))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.8))


def _nice(value: float) -> float:
    return math.ceil(value / _step(value)) * _step(value) if value > 0 else 1.0


def _number(value: float) -> str:
    return f"{value:.4g}"


def _safe(text: str) -> str:
    return escape(printable(" ".join(text.split())))
