"""A figure of each run, in the order in which the runs were made, scenarios apart by colour."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

from pcaplat.plots.figure import (
    COLORS,
    DOT,
    INTERVAL,
    Figure,
    Spec,
    chart,
    layer,
    number,
    scaled,
    tooltip,
)
from pcaplat.tables.columns import Row
from pcaplat.units import NS_PER, format_bounds, format_count, format_number, unit_for

HEIGHT = 200
MOST_RUNS = 200
"""Runs that are drawn, so that a page stays small: the last of them."""
HOW_TO_READ = (
    "Each run by itself, in order of its start. Bars: 95 % intervals of the run, where its "
    "packets suffice for one."
)


def run_figure(title: str, rows: Sequence[Row], unit: str) -> Figure | None:
    """Draw a figure of each run; None where fewer than two runs have it.

    Args:
        title: What the figure is of.
        rows: Of scenario, run, n, value, lo, hi, by start.
        unit: Of value, lo and hi.
    """
    if len(rows) < 2:  # noqa: PLR2004 - a run alone is in no order
        return None
    drawn, shown = _in_one_unit(rows[-MOST_RUNS:], unit)
    return Figure(
        title,
        HOW_TO_READ,
        _spec(drawn, "µs" if shown == "us" else shown),
        ["run", "scenario", "n", f"value, {shown}", f"from, {shown}", f"to, {shown}"],
        [_cells(row, _n_decimals(drawn)) for row in drawn],
    )


def _in_one_unit(rows: Sequence[Row], unit: str) -> tuple[list[Row], str]:
    """Write durations in the unit in which they read well; other values keep theirs."""
    factor = NS_PER.get("µs" if unit == "us" else unit)
    shown = unit_for(row["value"] * factor for row in rows) if factor else unit
    drawn: list[Row] = []
    for at, row in enumerate(rows, 1):
        ends = {name: row[name] for name in ("value", "lo", "hi")}
        if factor:
            ends = {
                name: None if end is None else scaled(end * factor, shown)
                for name, end in ends.items()
            }
        text = format_bounds(ends["value"], ends["value"], shown)
        names = {"scenario": row["scenario"], "run": row["run"], "n": row["n"]}
        drawn.append(names | ends | {"at": at, "text": text})
    return drawn, shown


def _cells(row: Row, n_decimals: int) -> list[str]:
    ends = [format_number(row[name], n_decimals) for name in ("value", "lo", "hi")]
    return [row["run"], row["scenario"], format_count(row["n"]), *ends]


def _n_decimals(rows: Sequence[Row]) -> int:
    """Count the decimals that give the largest value four digits."""
    largest = max(abs(row["value"]) for row in rows)
    return max(0, 3 - floor(log10(largest))) if largest else 2


def _spec(rows: Sequence[Row], unit: str) -> Spec:
    x: Spec = {"field": "at", "type": "ordinal", "axis": {"title": "run, by start"}}
    x["axis"] |= {"labelAngle": 0}
    y = number("value", f"value, {unit}", scale={"zero": False}, axis={"tickCount": 5})
    color = _by_scenario(rows)
    known = [row for row in rows if row["lo"] is not None]
    about = tooltip(run="run", scenario="scenario", value="text")
    ends = {"x": x, "y": y | {"field": "lo"}, "y2": {"field": "hi"}, "color": color}
    return chart(
        HEIGHT,
        layer(known, INTERVAL, ends),
        layer(rows, DOT, {"x": x, "y": y, "color": color, "tooltip": about}),
    )


def _by_scenario(rows: Sequence[Row]) -> dict[str, Any]:
    names = [*dict.fromkeys(row["scenario"] for row in rows)]
    scale = {"domain": names, "range": [*COLORS.values()][: len(names)]}
    legend = {"title": None, "symbolOpacity": 1, "symbolType": "square"}
    return {"field": "scenario", "type": "nominal", "scale": scale, "legend": legend}
