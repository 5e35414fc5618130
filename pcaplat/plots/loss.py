"""Loss, late packets, duplicates and reordering of each segment and direction."""

from collections.abc import Sequence

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
    layer,
    names,
    number,
    tooltip,
)
from pcaplat.tables.columns import Row
from pcaplat.tables.results import loss_ratio
from pcaplat.units import format_count, format_frac

ROW_HEIGHT = 20
MOST_DRAWN = 40
SEEN_NOWHERE = (
    "Share of the packets that entered a segment and were seen nowhere behind it. Bars: 95 % "
    "intervals."
)
COLUMNS = (
    *("segment", "packets", "lost", "loss ratio", "95 % interval"),
    *("late", "duplicated", "reordered"),
)


def loss_figure(measured: Measured) -> Figure:
    """Draw the loss ratio of each segment that lost packets, with its interval."""
    rows = [row for row in measured.document["segments"] if row["class"] == "packet"]
    drawn = [_drawn(row) for row in rows if row["n_lost"]][:MOST_DRAWN]
    return Figure(
        "Loss ratio",
        SEEN_NOWHERE if drawn else "No packet was lost.",
        _spec(drawn) if drawn else None,
        COLUMNS,
        [_cells(row) for row in rows],
    )


def _name(row: Row) -> str:
    return f"{row['near']} {ARROWS[row['direction']]} {row['far']}"


def _percent(value_frac: float | None) -> float | None:
    return None if value_frac is None else float(f"{100 * value_frac:.6g}")


def _interval(row: Row) -> str:
    lo, hi = row["lost_lo_frac"], row["lost_hi_frac"]
    return "–" if lo is None else f"{format_frac(lo)} to {format_frac(hi)}"


def _drawn(row: Row) -> Row:
    return {
        "segment": _name(row),
        "direction": row["direction"],
        "lost": _percent(loss_ratio(row)),
        "lo": _percent(row["lost_lo_frac"]),
        "hi": _percent(row["lost_hi_frac"]),
        "text": f"{format_frac(loss_ratio(row))} ({_interval(row)})",
        "count": format_count(row["n_lost"]),
    }


def _spec(rows: Sequence[Row]) -> Spec:
    x = number("lost", "lost packets, %", axis={"tickCount": 6})
    at: Spec = {"y": names("segment", [row["segment"] for row in rows]), "color": by_direction()}
    about = tooltip(segment="segment", loss_ratio="text", packets="count")
    known = [row for row in rows if row["lo"] is not None]
    return chart(
        ROW_HEIGHT * len(rows),
        layer(
            known, INTERVAL, at | {"x": x | {"field": "lo"}, "x2": {"field": "hi"}}, OF_DIRECTION
        ),
        layer(rows, DOT, at | {"x": x, "tooltip": about}, OF_DIRECTION),
        params=[DIRECTION],
    )


def _cells(row: Row) -> list[str]:
    counts = [format_count(row[name]) for name in ("n_late", "n_duplicated", "n_reordered")]
    return [
        _name(row),
        format_count(row["n"]),
        format_count(row["n_lost"]),
        format_frac(loss_ratio(row)),
        _interval(row),
        *counts,
    ]
