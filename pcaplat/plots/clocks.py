"""Clocks over time: how far each may be from the reference's, drift and steps taken out."""

from collections.abc import Sequence

import numpy as np

from pcaplat.plots.figure import (
    CLOCK_STEP,
    COLORS,
    Figure,
    Measured,
    Spec,
    chart,
    layer,
    number,
    scaled,
    tooltip,
    zoom,
)
from pcaplat.tables.columns import Row
from pcaplat.units import NS_PER, format_ns, format_number, format_offset, format_ppm, unit_for

HEIGHT = 130
N_ROWS = 8
"""About so many of them are in the table."""
FEW = 3
"""Clock steps that the table writes."""
MOST_KNOTS = 150
"""Instants of a band that are drawn; between them it is linear."""


def clock_table(measured: Measured) -> Figure:
    """Give the clocks as a table."""
    return Figure(
        "Clocks",
        "Offset of each clock from the reference, in the middle of the common capture interval.",
        None,
        ["point", "offset", "frequency offset", "steps", "quality"],
        [_cells(row) for row in measured.document["clocks"]],
    )


def _cells(row: Row) -> list[str]:
    drift, half = row["drift_ppm"], row["drift_half_width_ppm"]
    steps = ", ".join(format_ns(step["step_ns"]) for step in row["steps"][:FEW])
    more = f" and {len(row['steps']) - FEW} more" if len(row["steps"]) > FEW else ""
    return [
        row["point"],
        format_offset(row["offset_ns"], row["half_width_ns"]),
        "–" if drift is None else f"{format_ppm(drift)} ± {half:.3f} ppm",
        f"{steps}{more}" or "none",
        row["quality"],
    ]


def clock_figures(measured: Measured) -> list[Figure]:
    """Draw the band of each clock that is not the reference's own and can be related to it."""
    rows = {row["point"]: row for row in measured.document["clocks"]}
    by_point: dict[str, list[Row]] = {}
    for row in measured.clock_bands:
        by_point.setdefault(row["point"], []).append(row)
    drawn: dict[str, Figure] = {}
    for point, bands in by_point.items():
        row = rows[point]
        if row["point"] != row["reference"] and row["quality"] == "bounded" and len(bands) > 1:
            drawn.setdefault(row["domain"], _figure(row, bands))
    return [*drawn.values()]


def _figure(row: Row, bands: Sequence[Row]) -> Figure:
    t_ns = np.array([one["t_ns"] for one in bands], np.int64)
    offset = np.array([one["offset_ns"] for one in bands], np.int64)
    rest = (offset - offset[0]).astype(np.float64)
    since = (t_ns - t_ns[0]).astype(np.float64)
    rest -= rest[-1] * since / max(float(since[-1]), 1.0)
    lo = rest - np.array([one["below_ns"] for one in bands])
    hi = rest + np.array([one["above_ns"] for one in bands])
    unit = unit_for([float(np.abs(lo).max()), float(np.abs(hi).max())])
    clock = next((one for one in ("min", "s") if since[-1] >= 2 * NS_PER[one]), "ms")
    chosen = np.unique(np.linspace(0, len(bands) - 1, MOST_KNOTS).astype(int)).tolist()
    band = [
        {
            "t": float(f"{since[at] / NS_PER[clock]:.6g}"),
            "value": scaled(float(rest[at]), unit),
            "lo": scaled(float(lo[at]), unit),
            "hi": scaled(float(hi[at]), unit),
        }
        for at in chosen
    ]
    steps = [_step(one, int(t_ns[0]), clock) for one in row["steps"]]
    return Figure(
        f"{row['point']} against {row['reference']}",
        f"Straight line: {format_ppm(row['drift_ppm'])}.",
        _spec(band, steps, unit, clock),
        [f"time, {clock}", *(f"{name}, {unit}" for name in ("offset minus line", "from", "to"))],
        [
            [f"{one['t']:g}", *(format_number(one[name], 2) for name in ("value", "lo", "hi"))]
            for one in band[:: max(1, len(band) // N_ROWS)]
        ],
        is_zoomable=True,
    )


def _step(step: Row, start_ns: int, clock: str) -> Row:
    at = (step["t_ns"] - start_ns) / NS_PER[clock]
    return {"at": at, "size": format_ns(step["step_ns"]), "when": f"{at:.4g} {clock}"}


def _spec(band: Sequence[Row], steps: Sequence[Row], unit: str, clock: str) -> Spec:
    x = number("t", f"time since the start, {clock}", scale={"nice": False})
    y = number("lo", f"offset minus line, {unit}", scale={"zero": False}, axis={"tickCount": 5})
    color = COLORS["forward"]
    area = {"type": "area", "color": color, "opacity": 0.3, "clip": True}
    line = {"type": "line", "color": color, "strokeWidth": 2, "clip": True}
    about = tooltip(step="size", time="when")
    return chart(
        HEIGHT,
        layer(band, area, {"x": x, "y": y, "y2": {"field": "hi"}}) | {"params": [zoom("x")]},
        layer(band, line, {"x": x, "y": y | {"field": "value"}}),
        layer(steps, CLOCK_STEP, {"x": x | {"field": "at"}, "tooltip": about}),
    )
