"""Columns of durations that several tables of a merge have, and rows of the whole path."""

from collections.abc import Iterable, Sequence

from pcaplat.outputs.report import Field, Grid, fields_of
from pcaplat.run.answer.view import BOTH_WAYS, HALF, PAIRED, UNKNOWN, LatencyLine
from pcaplat.tables.columns import Row
from pcaplat.tables.results import loss_ratio
from pcaplat.units import Scale, format_count, format_frac, format_in, unit_for

TEXTS = ("near", "far", "direction", "class", "key")
INTERVAL = "±: half of the 95 % interval of the mean"
NO_INTERVAL = "; –: none, because packets are too few or too strongly correlated"
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
        | ({"lost": format_frac(loss_ratio(row))} if "lost_frac" in row else {})
        | {DURATIONS[name]: format_in(row[name], unit) for name in DURATIONS if name in row}
        for row in rows
    ]
    return [Grid(f"{title}, {unit}", fields_of(texts), only="paper")] if rows else []


def counts(rows: Sequence[Row], name: str = "n") -> list[str]:
    """Write a count of each row."""
    return [format_count(row[name]) for row in rows]


def durations(rows: Sequence[Row], name: str, unit: str) -> list[str]:
    """Write a duration of each row."""
    return [format_in(row[name], unit) for row in rows]


def whole_rows(rows: Sequence[Row], path: Sequence[str]) -> list[int]:
    """Give the first row of the whole path, if it is a row of its own."""
    if len(path) <= 2:  # noqa: PLR2004 - two points are one segment
        return []
    ends = (path[0], path[-1])
    return [at for at, row in enumerate(rows) if (row["near"], row["far"]) == ends][:1]


def figure_fields(
    headings: Iterable[tuple[str, str, int]], lines: Sequence[LatencyLine], scale: Scale
) -> list[Field]:
    """Give a field for each figure that one of the lines has."""
    found = []
    for heading, name, rank in headings:
        cells = [_cell(line, name, scale) for line in lines]
        if not {*cells} <= {"", UNKNOWN}:
            found.append(Field(heading, cells, rank))
    return found


def _cell(line: LatencyLine, name: str, scale: Scale) -> str:
    """Write a figure, or half the interval of the mean; nothing where there is no such figure."""
    if name == HALF:
        return scale.text(line.half_ns)
    return "" if line.way == BOTH_WAYS and name not in PAIRED else line.text(name, scale)
