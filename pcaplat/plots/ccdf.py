"""The distribution of latencies on a segment: which share took longer, both axes logarithmic."""

from collections.abc import Sequence

import numpy as np

from pcaplat.model.arrays import Ints
from pcaplat.model.blocks import Blocks
from pcaplat.plots.figure import (
    ARROWS,
    DIRECTION,
    DOT,
    INTERVAL,
    OF_DIRECTION,
    Figure,
    Measured,
    Spec,
    by_direction,
    chart,
    format_known,
    layer,
    number,
    scaled,
    shift_text,
    tooltip,
    zoom,
)
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_in, format_ns, unit_for

LONGER = {"p50": 0.5, "p90": 0.1, "p99": 0.01, "p999": 0.001}
"""Share of the packets that took longer than each quantile."""
N_POINTS = 80
"""Points of a curve along each axis; more cannot be seen."""
HEIGHT = 240
PERCENTS = [100, 10, 1, 0.1, 0.01, 0.001, 0.0001, 0.00001]


def ccdf_figure(measured: Measured, near: str, far: str) -> Figure | None:
    """Draw both directions of a segment; None where neither latency nor variation is known."""
    rows = [row for way in ARROWS if (row := measured.segment(near, far, way))]
    sides = [(row, some) for row in rows if (some := measured.blocks_of(row)) is not None]
    if not sides:
        return None
    is_known = all(row["p50_ns"] is not None for row, _ in sides)
    unit = unit_for(row["p99_ns"] if is_known else row["pdv_p99_ns"] for row, _ in sides)
    curves = [point for row, some in sides for point in _curve(row, some, unit, is_known=is_known)]
    if not curves:
        return None
    marks = [point for row, _ in sides for point in _quantiles(row, unit)] if is_known else []
    what = "latency" if is_known else "latency above the least"
    return Figure(
        f"{near} ⇄ {far}",
        shift_text([row for row, _ in sides]),
        _spec(curves, marks, f"{what}, {unit}"),
        ["direction", "packets", *(f"{name}, {unit}" for name in _names(is_known=is_known))],
        [_cells(row, unit, is_known=is_known) for row, _ in sides],
        is_zoomable=True,
    )


def _curve(row: Row, blocks: Blocks, unit: str, *, is_known: bool) -> list[Row]:
    """Give points (latency, percent of packets with at least that), few enough to be drawn."""
    counts = blocks.bins.in_all
    values = blocks.bins.values - (0 if is_known else blocks.least_ns)
    percent = 100 * (counts.sum() - np.cumsum(counts) + counts) / counts.sum()
    return [
        {
            "direction": row["direction"],
            "latency": scaled(float(values[at]), unit),
            "percent": float(f"{percent[at]:.5g}"),
        }
        for at in _seen(values, percent).tolist()
        if is_known or values[at] > 0
    ]


def _seen(values: np.ndarray[tuple[int], np.dtype[np.float64]], percent: object) -> Ints:
    """Choose the points that differ on a drawing: in a step of either axis, the first."""
    positive = np.maximum(values, values[values > 0].min(initial=1.0))
    cells = [np.log(positive), np.log(np.asarray(percent, np.float64))]
    steps = [
        np.floor(N_POINTS * (cell - cell.min()) / max(float(np.ptp(cell)), 1e-9)) for cell in cells
    ]
    first = [np.unique(step, return_index=True)[1] for step in steps]
    return np.unique(np.concatenate([*first, [len(values) - 1]]))


def _quantiles(row: Row, unit: str) -> list[Row]:
    """Give the quantiles that a row has packets enough for."""
    return [
        {
            "direction": row["direction"],
            "name": name.replace("p999", "p99.9"),
            "latency": scaled(row[f"{name}_ns"], unit),
            "percent": 100 * longer,
            "lo": scaled(row[f"{name}_lo_ns"], unit),
            "hi": scaled(row[f"{name}_hi_ns"], unit),
            "text": _interval_text(row, name),
        }
        for name, longer in LONGER.items()
        if row["n"] * longer >= 1
    ]


def _interval_text(row: Row, name: str) -> str:
    lo, hi = row[f"{name}_lo_ns"], row[f"{name}_hi_ns"]
    interval = "" if lo is None else f" ({format_ns(lo)} to {format_ns(hi)})"
    return f"{format_ns(row[f'{name}_ns'])}{interval}"


def _names(*, is_known: bool) -> list[str]:
    return ["min", "p50", "p90", "p99", "p99.9", "max", "± clocks"] if is_known else ["p50", "p99"]


def _cells(row: Row, unit: str, *, is_known: bool) -> list[str]:
    """Write a row of the table; a quantile without packets enough is a dash."""
    names = ("min", *LONGER, "max") if is_known else ("p50", "p99")
    prefix = "" if is_known else "pdv_"
    values = [
        row[f"{prefix}{name}_ns"] if row["n"] * LONGER.get(name, 1) >= 1 else None for name in names
    ]
    half = [format_in(row["clock_half_width_ns"], unit)] if is_known else []
    return [row["direction"], format_count(row["n"]), *format_known(row, values, unit), *half]


def _spec(curves: Sequence[Row], marks: Sequence[Row], title: str) -> Spec:
    least = min(row["latency"] for row in curves)
    is_log = least > 0
    scale = {"type": "log" if is_log else "linear", "zero": False, "nice": False}
    x = number("latency", title, scale=scale, axis={"tickCount": 6})
    y = number(
        "percent", "packets that took longer, %", scale={"type": "log"}, axis={"values": PERCENTS}
    )
    color = by_direction()
    line = {"type": "line", "interpolate": "step-before", "strokeWidth": 2, "clip": True}
    about = tooltip(direction="direction", quantile="name", latency="text")
    ends = {"x": x | {"field": "lo"}, "x2": {"field": "hi"}, "y": y, "color": color}
    known = [row | {"lo": max(row["lo"], least)} for row in marks if row["lo"] is not None]
    return chart(
        HEIGHT,
        layer(curves, line, {"x": x, "y": y, "color": color}, OF_DIRECTION)
        | {"params": [zoom("x")]},
        layer(known, INTERVAL, ends, OF_DIRECTION),
        layer(marks, DOT, {"x": x, "y": y, "color": color, "tooltip": about}, OF_DIRECTION),
        params=[DIRECTION],
    )
