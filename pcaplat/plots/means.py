"""Means of runs, in their order: whether repetitions agree, and whether they drift."""

from collections.abc import Sequence

from pcaplat.plots.figure import (
    COLORS,
    DOT,
    INTERVAL,
    Figure,
    Measured,
    Spec,
    chart,
    layer,
    number,
    scaled,
    tooltip,
)
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_in, format_ns, unit_for

HEIGHT = 200


def means_figure(runs: Sequence[Measured], near: str, far: str) -> Figure | None:
    """Draw the mean two-way contribution of a segment in each run; None where none has one."""
    found = [(at, row) for at, run in enumerate(runs, 1) if (row := _row(run, near, far))]
    if not found:
        return None
    unit = unit_for(row["mean_ns"] for _, row in found)
    return Figure(
        f"Runs in order, {near} ⇄ {far}",
        "Mean round-trip contribution of each run; clock offsets cancel. Bars: 95 % intervals, "
        "where the packets suffice for one.",
        _spec([_drawn(at, row, unit) for at, row in found], unit),
        ["run", "packets", *(f"{name}, {unit}" for name in ("mean", "from", "to"))],
        [
            [str(at), format_count(row["n"])]
            + [format_in(row[f"{name}_ns"], unit) for name in ("mean", "mean_lo", "mean_hi")]
            for at, row in found
        ],
    )


def _row(run: Measured, near: str, far: str) -> Row | None:
    rows = run.document["round_trips"]
    return next((row for row in rows if {row["near"], row["far"]} == {near, far}), None)


def _drawn(at: int, row: Row, unit: str) -> Row:
    return {
        "run": at,
        "mean": scaled(row["mean_ns"], unit),
        "lo": scaled(row["mean_lo_ns"], unit),
        "hi": scaled(row["mean_hi_ns"], unit),
        "text": format_ns(row["mean_ns"]),
        "name": str(at),
    }


def _spec(rows: Sequence[Row], unit: str) -> Spec:
    x = {"field": "run", "type": "ordinal", "axis": {"title": "run", "labelAngle": 0}}
    y = number("mean", f"mean, {unit}", scale={"zero": False}, axis={"tickCount": 5})
    color = {"color": COLORS["forward"]}
    known = [row for row in rows if row["lo"] is not None]
    return chart(
        HEIGHT,
        layer(known, INTERVAL | color, {"x": x, "y": y | {"field": "lo"}, "y2": {"field": "hi"}}),
        layer(rows, DOT | color, {"x": x, "y": y, "tooltip": tooltip(run="name", mean="text")}),
    )
