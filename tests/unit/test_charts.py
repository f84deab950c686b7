"""Charts: what is drawn stands where the numbers say, and text stays text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from hybridrank.report.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Interval,
    Series,
    _span,
    _ticks,
    bar_chart,
    interval_chart,
    line_chart,
    point_chart,
)

HOSTILE = "<script>alert(1)</script>&\"'\x1b\u202e"


def elements(figure: str, kind: str) -> list[dict[str, str]]:
    """The attributes of all elements of a kind; the figure must be well-formed."""
    return [dict(element.attrib) for element in ElementTree.fromstring(figure).iter(kind)]


def test_lines_go_through_their_points() -> None:
    figure = line_chart(
        "t",
        [Series("up", [(1, 0.0), (10, 0.5), (100, 1.0)])],
        x_title="k",
        y_title="recall",
        x_ticks={1: "1", 10: "10", 100: "100"},
        y_range=(0, 1),
        log=True,
    )
    (line,) = elements(figure, "polyline")
    points = [tuple(map(float, point.split(","))) for point in line["points"].split()]
    # Ten and a hundred are as far apart as one and ten.
    assert [round(x) for x, _ in points] == [LEFT + 10, round((LEFT + WIDTH - RIGHT) / 2), WIDTH - RIGHT - 10]
    assert [y for _, y in points] == [HEIGHT - BOTTOM, (HEIGHT - BOTTOM + TOP) / 2, TOP]
    assert len(elements(figure, "circle")) == 3


def test_many_points_have_no_dots_and_many_lines_differ_by_dashes() -> None:
    points = [(float(x), 0.5) for x in range(30)]
    figure = line_chart(
        "t", [Series(str(n), points) for n in range(10)], x_title="x", y_title="y", x_ticks={0: "0"}
    )
    assert elements(figure, "circle") == []
    assert len({line["class"] for line in elements(figure, "polyline")}) == 10


def test_intervals_lie_around_nought() -> None:
    rows = [Interval("a", 0.1, 0.0, 0.2, True), Interval("b", -0.2, None, None, False)]
    figure = interval_chart("t", rows, x_title="x")
    circles, lines = elements(figure, "circle"), elements(figure, "line")
    zero = float(next(line for line in lines if line["class"] == "zero")["x1"])
    (bar,) = [line for line in lines if line["class"].startswith("bar")]
    assert bar["class"] == "bar clear"
    assert float(bar["x1"]) == pytest.approx(zero, abs=0.1)
    first, second = (float(circle["cx"]) for circle in circles)
    assert float(bar["x1"]) < first < float(bar["x2"])
    assert zero - second == pytest.approx(2 * (first - zero), abs=0.2)
    assert [circle["class"] for circle in circles] == ["mean clear", "mean unclear"]


def test_intervals_of_nothing_still_draw() -> None:
    assert len(elements(interval_chart("t", [Interval("a", 0, 0, 0, False)], x_title="x"), "circle")) == 1


def test_points_and_bars() -> None:
    figure = point_chart("t", [("a", 10.0, 0.5), ("b", 0.0, 0.6)], x_title="x", y_title="y")
    first, second = elements(figure, "circle")
    assert float(second["cx"]) == LEFT < float(first["cx"]) <= WIDTH - RIGHT
    assert float(second["cy"]) < float(first["cy"])
    bars = elements(bar_chart("t", [("one", 1), ("two", 2), ("none", 0)]), "rect")
    lengths = [float(bar["width"]) for bar in bars]
    assert lengths[1] == pytest.approx(2 * lengths[0], abs=0.2)
    assert lengths[2] == 0
    assert len(elements(bar_chart("t", [("none", 0)]), "rect")) == 1
    assert elements(point_chart("t", [("a", 0.0, 0.0)], x_title="x", y_title="y"), "circle")


@pytest.mark.parametrize(
    ("values", "span"),
    [
        ([0.0, 1.0], (0.0, 1.0)),
        ([0.5], (0.44, 0.56)),
        ([0.0, 0.02], (0.0, 0.06)),
        ([1.0], (0.94, 1.0)),
        ([10.0, 20.0], (10.0, 20.0)),
    ],
)
def test_axes_span_the_values_and_measures_stay_in_range(
    values: list[float], span: tuple[float, float]
) -> None:
    assert _span(values) == pytest.approx(span)


def test_ticks_are_round() -> None:
    assert _ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert _ticks(-0.3, 0.3) == [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]
    assert len(_ticks(0, 0.0001)) <= 8
    assert _ticks(0, 37) == [0, 10, 20, 30]


def test_hostile_names_stay_text() -> None:
    figures = [
        line_chart(
            HOSTILE, [Series(HOSTILE, [(0, 1)])], x_title=HOSTILE, y_title=HOSTILE, x_ticks={0: HOSTILE}
        ),
        point_chart(HOSTILE, [(HOSTILE, 1, 1)], x_title=HOSTILE, y_title=HOSTILE),
        interval_chart(HOSTILE, [Interval(HOSTILE, 0.1, None, None, True)], x_title=HOSTILE),
        bar_chart(HOSTILE, [(HOSTILE, 1)]),
    ]
    for figure in figures:
        assert elements(figure, "script") == []
        assert re.findall(r"[\x1b\u202e]", figure) == []
        assert "&lt;script&gt;" in figure
