"""The path: its points from top to bottom, and on each link the latency of both directions."""

from collections.abc import Mapping, Sequence

from pcaplat.plots.figure import (
    ARROWS,
    DIRECTION,
    INK,
    OF_DIRECTION,
    Figure,
    Measured,
    Spec,
    by_direction,
    chart,
    format_known,
    is_bound,
    layer,
    number,
    scaled,
    tooltip,
)
from pcaplat.tables.columns import Row
from pcaplat.tables.results import loss_ratio
from pcaplat.units import format_count, format_frac, format_in, format_ns, unit_for

POINT_HEIGHT, BAR_HEIGHT = 24, 17
"""Of the line of a point, and of each bar between two of them."""
BAR: Spec = {"type": "bar", "orient": "horizontal", "size": BAR_HEIGHT - 5}
CLOCKS: Spec = {"type": "rule", "strokeWidth": 1.5, "color": INK, "opacity": 0.7}
SPINE: Spec = {"type": "rule", "strokeWidth": 2, "color": INK}
POINT: Spec = {"type": "point", "filled": True, "size": 110, "color": INK, "opacity": 1}
VALUE: Spec = {"type": "text", "align": "left", "dx": 8, "fontSize": 11}
FROM_OTHER: Spec = {"type": "text", "align": "right", "dx": -14, "fontSize": 11, "limit": 220}
NAME: Spec = FROM_OTHER | {"fontSize": 12, "fontWeight": "bold"}


def path_figure(measured: Measured) -> Figure:
    """Draw the points of the path, and the median latency of each link there and back."""
    links = _links(measured)
    rows = [row for both in links.values() for row in both]
    unit = unit_for(_largest(row) for row in rows)
    points, bars, height = _placed(measured, links, unit)
    whole = (measured.document["path"][0], measured.document["path"][-1])
    ends = [row for way in ARROWS if whole not in links and (row := measured.segment(*whole, way))]
    return Figure(
        "Median latency of each segment",
        "Forward is downwards. Thin lines: what the clocks leave possible.",
        _spec(points, bars, height, unit),
        [
            "segment",
            "packets",
            "lost",
            *(f"{name}, {unit}" for name in ("p50", "p99", "mean", "± clocks")),
        ],
        [_cells(row, unit) for row in (*rows, *ends)],
    )


def _links(measured: Measured) -> dict[tuple[str, str], list[Row]]:
    """Give the rows of both directions of each link of neighbours, in path order."""
    edges = [(edge["near"], edge["far"]) for edge in measured.document["edges"]]
    both = {ends: [measured.segment(*ends, way) for way in ARROWS] for ends in edges}
    return {ends: [row for row in rows if row] for ends, rows in both.items()}


def _largest(row: Row) -> float | None:
    return None if row["p50_ns"] is None else row["p50_ns"] + row["clock_half_width_ns"]


def _placed(
    measured: Measured, links: Mapping[tuple[str, str], Sequence[Row]], unit: str
) -> tuple[list[Row], list[Row], float]:
    """Give points, and bars above the point that each link leads to, each with its height."""
    points: list[Row] = []
    bars: list[Row] = []
    at = POINT_HEIGHT / 2
    for point in measured.document["path"]:
        for (near, far), rows in links.items():
            if far != point:
                continue
            of_other = "" if measured.is_chain else f"{near} to {far}"
            for row in rows:
                bars.append(_bar(row, unit) | {"y": at + BAR_HEIGHT / 2, "of_other": of_other})
                at, of_other = at + BAR_HEIGHT, ""
        middle = at + POINT_HEIGHT / 2
        # from the point above, where a link leads here: the branches of a fork stand apart
        before = points[-1] if points and (points[-1]["name"], point) in links else None
        begin = before["y"] if before else middle
        points.append({"name": point, "y": middle, "zero": 0, "begin": begin})
        at += POINT_HEIGHT
    return points, bars, at + POINT_HEIGHT / 2


def _bar(row: Row, unit: str) -> Row:
    half_ns, p50_ns = row["clock_half_width_ns"], row["p50_ns"]
    text = format_ns(p50_ns)
    if p50_ns is None:
        text = "not known: clocks" if row["n"] else "no packet seen at both"
    elif is_bound(row):
        text = f"≤ {format_ns(p50_ns + half_ns)}"
    is_open = p50_ns is not None and half_ns
    return {
        "direction": row["direction"],
        "zero": 0,
        "value": scaled(p50_ns, unit),
        "end": scaled(max(p50_ns + half_ns, 0), unit) if is_open else scaled(p50_ns or 0, unit),
        # no packet arrives before it left
        "lo": scaled(max(p50_ns - half_ns, min(p50_ns, 0)), unit) if is_open else None,
        "hi": scaled(p50_ns + half_ns, unit) if is_open else None,
        "label": f"{ARROWS[row['direction']]} {text}",
        "segment": f"{row['near']} {ARROWS[row['direction']]} {row['far']}",
        "p50": format_ns(p50_ns),
        "p99": format_ns(row["p99_ns"]),
        "clock": "–" if half_ns is None else f"± {format_ns(half_ns)}",
        "packets": format_count(row["n"]),
        "lost": format_frac(loss_ratio(row)),
    }


def _spec(points: Sequence[Row], bars: Sequence[Row], height: float, unit: str) -> Spec:
    x = number("zero", f"median latency, {unit}", scale=_reach(bars), axis={"tickCount": 5})
    down = {"domain": [height, 0], "nice": False, "zero": False}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": down}
    at: Spec = {"x": x, "y": y}
    return chart(
        height,
        *_of_links(bars, at),
        layer(points, SPINE, at | {"y2": {"field": "begin"}}),
        layer(points, POINT, at),
        layer(points, NAME, at | {"text": {"field": "name"}}),
        params=[DIRECTION],
    )


def _of_links(bars: Sequence[Row], at: Spec) -> list[Spec]:
    """Draw a bar for each direction of a link, what the clocks leave open, and the median."""
    x = at["x"]
    about = tooltip(
        segment="segment", p50="p50", p99="p99", clocks="clock", packets="packets", lost="lost"
    )
    bar = at | {"x": x | {"field": "value"}, "x2": {"field": "zero"}, "color": by_direction()}
    is_open = [row for row in bars if row["lo"] is not None]
    from_other = [row for row in bars if row["of_other"]]
    ends = at | {"x": x | {"field": "lo"}, "x2": {"field": "hi"}, "tooltip": about}
    beside = at | {"x": x | {"field": "end"}, "text": {"field": "label"}}
    return [
        layer(bars, BAR, bar | {"tooltip": about}, OF_DIRECTION),
        layer(is_open, CLOCKS, ends, OF_DIRECTION),
        layer(bars, VALUE, beside, OF_DIRECTION),
        layer(from_other, FROM_OTHER, at | {"text": {"field": "of_other"}}),
    ]


def _reach(bars: Sequence[Row]) -> Spec:
    """Give the scale of latencies, with room for what is written beside the bars."""
    least = min([0, *(bar["lo"] or bar["value"] or 0 for bar in bars)])
    most = max(bar["end"] for bar in bars) if any(bar["end"] for bar in bars) else 1
    return {"domain": [least, 1.45 * most], "nice": False}


def _cells(row: Row, unit: str) -> list[str]:
    """Write a row of the table, as bounds where the clocks leave no more."""
    known = [row[f"{name}_ns"] for name in ("p50", "p99", "mean")]
    return [
        f"{row['near']} {ARROWS[row['direction']]} {row['far']}",
        format_count(row["n"]),
        format_frac(loss_ratio(row)),
        *format_known(row, known, unit),
        format_in(row["clock_half_width_ns"], unit),
    ]
