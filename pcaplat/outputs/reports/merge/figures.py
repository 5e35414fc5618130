"""Columns of durations that several tables of a merge have, and rows of the whole path."""

from collections.abc import Iterable, Sequence

from pcaplat.outputs.report import Grid, fields_of
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_frac, format_in, unit_for

ARROWS = {"forward": "→", "reverse": "←"}
UNKNOWN = "–"
TEXTS = ("near", "far", "direction", "class", "key")
DURATIONS = {
    "min_ns": "min",
    "mean_ns": "mean",
    "mean_lo_ns": "mean from",
    "mean_hi_ns": "mean to",
    "p50_ns": "p50",
    "p90_ns": "p90",
    "p99_ns": "p99",
    "p99_lo_ns": "p99 from",
    "p99_hi_ns": "p99 to",
    "p999_ns": "p99.9",
    "max_ns": "max",
    "clock_half_width_ns": "± clock",
}


def every_figure(title: str, rows: Sequence[Row]) -> Iterable[Grid]:
    """Give durations with all that is known of them, for paper; nothing of no rows."""
    unit = unit_for(row[name] for row in rows for name in ("mean_ns", "p99_ns"))
    texts = [
        {name: row[name] or "" for name in TEXTS if name in row}
        | {"n": format_count(row["n"])}
        | ({"lost": format_frac(row["lost_frac"])} if "lost_frac" in row else {})
        | {DURATIONS[name]: format_in(row[name], unit) for name in DURATIONS if name in row}
        for row in rows
    ]
    return [Grid(f"{title}, {unit}", fields_of(texts), only="paper")] if rows else []


def one_way(row: Row) -> str:
    """Name a segment and a direction of it."""
    return f"{row['near']} {ARROWS.get(row['direction'], '?')} {row['far']}"


def two_way(row: Row) -> str:
    """Name a segment."""
    return f"{row['near']} ⇄ {row['far']}"


def counts(rows: Sequence[Row], name: str = "n") -> list[str]:
    """Write a count of each row."""
    return [format_count(row[name]) for row in rows]


def durations(rows: Sequence[Row], name: str, unit: str) -> list[str]:
    """Write a duration of each row."""
    return [format_in(row[name], unit) for row in rows]


def half(row: Row, name: str = "mean_{}_ns") -> float | None:
    """Give half of an interval; None where it cannot be told."""
    lo, hi = row.get(name.format("lo")), row.get(name.format("hi"))
    return None if lo is None else (hi - lo) / 2


def whole_rows(rows: Sequence[Row], path: Sequence[str]) -> list[int]:
    """Give the first row of the whole path, if it is a row of its own."""
    if len(path) <= 2:  # noqa: PLR2004 - two points are one segment
        return []
    ends = (path[0], path[-1])
    return [at for at, row in enumerate(rows) if (row["near"], row["far"]) == ends][:1]
