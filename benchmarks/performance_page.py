"""The table and plots of docs/performance.md from the JSON that `python -m benchmarks --json FILE` wrote.

    python benchmarks/performance_page.py FILE [--page docs/performance.md]

Replaces what stands between the page's markers and writes the plots beside it, as SVG.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
PLOT = "growth.svg"
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 360, 70, 40, 20, 50
_COLOURS = ("#1b6ca8", "#c2410c", "#15803d", "#7e22ce", "#a16207")


def table(found: Mapping[str, Any]) -> str:
    """Rows of ratios, then what they were measured with."""
    lines = ["| work | beside | ours | theirs | ratio | wanted | results |", "| --- " * 7 + "|"]
    for row in found["rows"]:
        ours, theirs = (amount(row[name], row["unit"]) for name in ("ours", "theirs"))
        told = "; ".join(filter(None, (row["agreement"], row["note"])))
        cells = [row["work"], row["beside"], ours, theirs, f"{row['ratio']:.2f}", row["wanted"], told]
        lines.append(f"| {' | '.join(cells)} |")
    around, options = found["surroundings"], found["options"]
    packages = ", ".join(f"{name} {version}" for name, version in around["packages"].items())
    clock = "CPU seconds" if options["clock"] == "cpu" else "seconds"
    lines += [
        "",
        f"Medians of {options['rounds']} interleaved rounds, {clock}, at scale {options['scale']:g}: "
        f"{around['system']} {around['machine']}, {around['processor']}, {around['cores']} cores, Python "
        f"{around['python']}; {packages}. Where repositories are indexed, rounds are half as many.",
    ]
    if found["growth"]:
        lines += ["", f"![Seconds by size of the corpus, both axes logarithmic]({PLOT})", ""]
        lines += ["| work | exponent |", "| --- | --- |"]
        lines += [f"| {curve['name']} | {curve['exponent']:.2f} |" for curve in found["growth"]]
    return "\n".join(lines)


def amount(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:,.0f} {unit}"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def plot(curves: Sequence[Mapping[str, Any]]) -> str:
    """Seconds by size, both axes logarithmic, a line for each curve."""
    sizes = [size for curve in curves for size in curve["sizes"]]
    seconds = [second for curve in curves for second in curve["seconds"]]
    left, right = math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes)))
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))

    def x(size: float) -> float:
        return _LEFT + (math.log10(size) - left) / max(right - left, 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(second: float) -> float:
        return (
            _HEIGHT - _BOTTOM - (math.log10(second) - low) / max(high - low, 1) * (_HEIGHT - _BOTTOM - _TOP)
        )

    height = _HEIGHT + 18 * len(curves)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        f'font-size="12"><rect width="{_WIDTH}" height="{height}" fill="white"/>'
    ]
    for power in range(left, right + 1):
        at = x(10.0**power)
        parts.append(f'<path d="M{at:.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="#ddd"/>')
        label = f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{10**power:,}</text>'
        parts.append(label)
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<path d="M{_LEFT} {at:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 14}" text-anchor="middle">documents</text>')
    for number, curve in enumerate(curves):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [(x(a), y(b)) for a, b in zip(curve["sizes"], curve["seconds"], strict=True)]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        at = _HEIGHT + 18 * number
        parts.append(f'<rect x="{_LEFT}" y="{at - 9}" width="12" height="12" fill="{colour}"/>')
        name = escape(f"{curve['name']}, exponent {curve['exponent']:.2f}")
        parts.append(f'<text x="{_LEFT + 18}" y="{at + 2}">{name}</text>')
    return "".join(parts) + "</svg>\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("json", type=Path)
    default = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
    parser.add_argument("--page", type=Path, default=default)
    given = parser.parse_args(arguments)
    found = json.loads(given.json.read_text(encoding="utf-8"))
    text = given.page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    given.page.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{after}", encoding="utf-8")
    if found["growth"]:
        (given.page.parent / PLOT).write_text(plot(found["growth"]), encoding="utf-8")


if __name__ == "__main__":
    main()
