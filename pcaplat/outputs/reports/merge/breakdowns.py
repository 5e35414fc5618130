"""Latencies by flow, size, codepoint, tunnel or window, and what a byte costs."""

from collections.abc import Iterator
from heapq import nlargest

from pcaplat.outputs.report import KEPT, Field, Grid, Paragraph, Section, optional
from pcaplat.outputs.reports.merge.figures import counts, durations, every_figure
from pcaplat.run.answer.view import half, one_way, two_way
from pcaplat.tables.columns import Row
from pcaplat.tables.results import loss_ratio
from pcaplat.units import format_count, format_frac, format_in, format_ns, format_number, unit_for

MOST_ROWS = 20
FIGURES = (
    ("mean", "mean_ns", KEPT),
    ("±", "mean_half_ns", 1),
    ("p50", "p50_ns", KEPT),
    ("p99", "p99_ns", KEPT),
    ("max", "max_ns", 2),
)


def breakdown_sections(document: Row) -> Iterator[Section]:
    """Give the breakdowns that were asked for, of each the rows with the most packets."""
    breakdowns = document.get("breakdowns", {})
    for name, rows in breakdowns.items():
        if name.startswith("by_") and rows:
            kind, n_more = name.removeprefix("by_"), max(len(rows) - MOST_ROWS, 0)
            top = _top(rows)
            yield from _latencies(kind, top, n_more)
            more = f", and {format_count(n_more)} more rows" if n_more else ""
            yield from every_figure(f"Segments by {kind}{more}", top)
            yield from _shares(kind, _top(breakdowns.get(f"round_trips_by_{kind}", [])))
            if kind == "size":
                yield from _fits(breakdowns["size_fits"])


def _top(rows: list[Row]) -> list[Row]:
    numbers = nlargest(MOST_ROWS, range(len(rows)), key=lambda at: rows[at]["n"])
    return [rows[at] for at in sorted(numbers)]


def _latencies(kind: str, rows: list[Row], n_more: int) -> Iterator[Section]:
    unit = unit_for(row["p99_ns"] for row in rows)
    halves = [row | {"mean_half_ns": half(row)} for row in rows]
    fields = [
        Field("segment", list(map(one_way, rows))),
        Field(kind, [row["key"] for row in rows]),
        Field("n", counts(rows)),
        *(Field(heading, durations(halves, name, unit), rank) for heading, name, rank in FIGURES),
        *optional("lost", [format_frac(loss_ratio(row)) for row in rows], format_frac(0.0)),
    ]
    yield Grid(f"Latency by {kind}, {unit}", fields, only="screen")
    if n_more:
        text = f"{format_count(n_more)} more rows, of fewer packets: --format json, "
        yield Paragraph(f"{text}or by_{kind}.parquet with -o", only="screen")


def _shares(kind: str, rows: list[Row]) -> Iterator[Section]:
    if not rows:
        return
    unit = unit_for(row["mean_ns"] for row in rows)
    fields = [
        Field("segment", list(map(two_way, rows))),
        Field(kind, [row["key"] for row in rows]),
        Field("n", counts(rows)),
        Field("mean", durations(rows, "mean_ns", unit)),
        Field("±", [format_in(half(row), unit) for row in rows]),
    ]
    yield Grid(f"Round-trip contribution by {kind}, {unit}", fields, only="screen")


def _fits(rows: list[Row]) -> Iterator[Section]:
    if not rows:
        return
    fields = [
        Field("segment", list(map(one_way, rows))),
        Field("bytes", [f"{row['min_bytes']}–{row['max_bytes']}" for row in rows], 1),
        Field("ns/byte", [format_number(row["slope_ns_per_byte"], 3) for row in rows]),
        Field("±", [format_number(half(row, "slope_{}_ns_per_byte"), 3) for row in rows]),
        Field("fixed", [format_ns(row["fixed_ns"]) for row in rows]),
        Field("± fixed", [format_ns(half(row, "fixed_{}_ns")) for row in rows]),
    ]
    heading = "What a byte costs, and what is fixed (line through latency by size)"
    yield Grid(heading, fields, only="screen")
