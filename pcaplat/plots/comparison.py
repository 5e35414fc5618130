"""A comparison: what the second set-up costs, and where in the distribution it costs it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pcaplat.plots.figure import (
    COLORS,
    DIRECTION,
    DOT,
    INK,
    INTERVAL,
    OF_DIRECTION,
    Figure,
    Spec,
    by_direction,
    chart,
    layer,
    names,
    number,
    scaled,
    tooltip,
)
from pcaplat.plots.run_values import run_figure
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_frac, format_in, format_ns, unit_for

ROW_HEIGHT, HEIGHT = 26, 220
MOST_CURVES, MOST_OF_RUNS = 6, 3
MEANS = ("baseline_mean", "treatment_mean", "delta_mean", "lo", "hi")
NOTHING: Spec = {"type": "rule", "color": INK, "strokeWidth": 1}


def comparison_figures(document: Mapping[str, Any]) -> list[Figure]:
    """Draw what `compare` found."""
    both: dict[tuple[str, str], list[Row]] = {}
    for row in document["segments"]:
        both.setdefault((row["near"], row["far"]), []).append(row)
    curves = [_curve(rows) for rows in both.values() if any(row["quantiles"] for row in rows)]
    return [_differences(document), *curves[-MOST_CURVES:]]


def compared_run_figures(document: Mapping[str, Any]) -> list[Figure]:
    """Draw the mean of each run, of the whole path and of what changed most."""
    by_ends: dict[tuple[str, str], list[Row]] = {}
    for row in document.get("runs", ()):
        values = {"value": row["mean_ns"], "lo": row["lo_ns"], "hi": row["hi_ns"]}
        by_ends.setdefault((row["near"], row["far"]), []).append(row | values)
    changes = {
        (row["near"], row["far"]): abs(row["delta_mean_ns"] or 0.0)
        for row in document["round_trips"]
    }
    # the whole path stands last
    most = sorted([*by_ends][:-1], key=lambda ends: -changes.get(ends, 0.0))
    chosen = [*[*by_ends][-1:], *most][:MOST_OF_RUNS]
    figures = (
        run_figure(f"Mean round-trip contribution of each run, {' ⇄ '.join(ends)}", rows, "ns")
        for ends in chosen
        for rows in [by_ends[ends]]
    )
    return [each for each in figures if each]


def loss_change_figure(document: Mapping[str, Any]) -> Figure | None:
    """Give the loss of both scenarios as a table."""
    rows = [row for row in document["rates"] if row["metric"] == "loss-ratio"]
    if not rows:
        return None
    names = [document[one]["name"] for one in ("baseline", "treatment")]
    cells = [
        [_name(row)]
        + [_lost(row, side) for side in ("baseline", "treatment")]
        + [format_frac(row[f"{end}_frac"]) for end in ("delta", "lo", "hi")]
        for row in rows
    ]
    text = "Lost packets of both directions, and the difference of the loss ratios."
    return Figure("Loss", text, None, ["segment", *names, "difference", "from", "to"], cells)


def _lost(row: Row, side: str) -> str:
    n_lost = row[f"{side}_n_lost"]
    n = format_count(row[f"{side}_n"] + n_lost)
    return f"{format_frac(row[side])} ({format_count(n_lost)} of {n})"


def _differences(document: Mapping[str, Any]) -> Figure:
    rows = document["round_trips"]
    baseline, treatment = (document[one]["name"] for one in ("baseline", "treatment"))
    unit = unit_for(row["delta_mean_ns"] for row in rows)
    drawn = [_drawn(row, unit) for row in rows if row["delta_mean_ns"] is not None]
    durations = (baseline, treatment, "difference", "from", "to")
    return Figure(
        f"{treatment} less {baseline}",
        "Difference of the mean of each segment, both directions together. Bars: intervals of "
        f"{format_frac(rows[0]['confidence'])}."
        if drawn
        else "No segment was crossed both ways in both.",
        _spec(drawn, unit) if drawn else None,
        ["segment", *(f"{name}, {unit}" for name in durations), "packets"],
        [[_name(row), *_cells(row, MEANS, unit), format_count(row["n"])] for row in rows],
    )


def _name(row: Row) -> str:
    return f"{row['near']} ⇄ {row['far']}"


def _cells(row: Row, columns: Sequence[str], unit: str) -> list[str]:
    return [format_in(row[f"{name}_ns"], unit) for name in columns]


def _drawn(row: Row, unit: str) -> Row:
    lo, hi = row["lo_ns"], row["hi_ns"]
    interval = "" if lo is None else f" ({format_ns(lo)} to {format_ns(hi)})"
    return {
        "segment": f"{row['near']} ⇄ {row['far']}",
        "delta": scaled(row["delta_mean_ns"], unit),
        "lo": scaled(lo, unit),
        "hi": scaled(hi, unit),
        "text": f"{format_ns(row['delta_mean_ns'])}{interval}",
    }


def _spec(rows: Sequence[Row], unit: str) -> Spec:
    title = f"difference of the means, {unit}"
    x = number("delta", title, scale={"zero": True}, axis={"tickCount": 6})
    y = names("segment", [row["segment"] for row in rows])
    known = [row for row in rows if row["lo"] is not None]
    color = {"color": COLORS["forward"]}
    about = tooltip(segment="segment", difference="text")
    return chart(
        ROW_HEIGHT * len(rows),
        layer([{"zero": 0}], NOTHING, {"x": x | {"field": "zero"}}),
        layer(known, INTERVAL | color, {"x": x | {"field": "lo"}, "x2": {"field": "hi"}, "y": y}),
        layer(rows, DOT | color, {"x": x, "y": y, "tooltip": about}),
    )


def _curve(both: Sequence[Row]) -> Figure:
    points = [(row["direction"], point) for row in both for point in row["quantiles"]]
    unit = unit_for(point["delta_ns"] for _, point in points)
    return Figure(
        f"Differences of quantiles, {_name(both[0])}",
        "How much longer each share of the packets takes, one way. A band holds for all of its "
        "curve at once.",
        _spec_of_curve([_point(direction, point, unit) for direction, point in points], unit),
        ["direction", "quantile", *(f"{name}, {unit}" for name in ("difference", "from", "to"))],
        [
            [direction, format_frac(point["share"]), *_cells(point, ("delta", "lo", "hi"), unit)]
            for direction, point in points
        ],
    )


def _point(direction: str, point: Row, unit: str) -> Row:
    return {
        "direction": direction,
        "percent": 100 * point["share"],
        **{name: scaled(point[f"{name}_ns"], unit) for name in ("delta", "lo", "hi")},
        "text": format_ns(point["delta_ns"]),
        "name": format_frac(point["share"]),
    }


def _spec_of_curve(rows: Sequence[Row], unit: str) -> Spec:
    x = number("percent", "quantile, %", scale={"domain": [0, 100]})
    y = number("delta", f"difference, {unit}", axis={"tickCount": 6})
    at: Spec = {"x": x, "y": y, "color": by_direction()}
    about = tooltip(direction="direction", quantile="name", difference="text")
    ends = {"y": y | {"field": "lo"}, "y2": {"field": "hi"}}
    return chart(
        HEIGHT,
        layer(rows, {"type": "area", "opacity": 0.25}, at | ends, OF_DIRECTION),
        layer(rows, {"type": "line", "strokeWidth": 2}, at, OF_DIRECTION),
        layer(rows, DOT, at | {"tooltip": about}, OF_DIRECTION),
        params=[DIRECTION],
    )
