"""Latency and loss of each segment, and what its intervals are."""

from collections.abc import Iterator, Sequence

from pcaplat.outputs.report import KEPT, Field, Grid, Paragraph, Section, optional
from pcaplat.outputs.reports.merge.figures import (
    UNKNOWN,
    counts,
    durations,
    every_figure,
    half,
    one_way,
    whole_rows,
)
from pcaplat.tables.columns import Row
from pcaplat.units import format_frac, format_in, unit_for

FIGURES = (
    ("min", "min_ns", 6),
    ("mean", "mean_ns", 5),
    ("±", "mean_half_ns", 5),
    ("p50", "p50_ns", KEPT),
    ("p90", "p90_ns", 3),
    ("p99", "p99_ns", KEPT),
    ("p99.9", "p999_ns", 2),
    ("max", "max_ns", 2),
)


def segment_sections(document: Row) -> Iterator[Section]:
    """Give the segments, forward and back."""
    rows = [row | {"mean_half_ns": half(row)} for row in document["segments"]]
    if not rows:
        return
    told = ("p99_ns", "pdv_p99_ns")
    unit = unit_for(next((row[n] for n in told if row[n] is not None), None) for row in rows)
    fields = [
        Field("segment", list(map(one_way, rows))),
        *_classes(rows),
        Field("n", counts(rows)),
        Field("lost", [format_frac(row["lost_frac"]) for row in rows], 1),
        *optional("lost bytes", _lost_bytes(rows), UNKNOWN, 1),
        *optional("dup", counts(rows, "n_duplicated"), "0", 4),
        *optional("reord", counts(rows, "n_reordered"), "0", 4),
        *(Field(heading, durations(rows, name, unit), rank) for heading, name, rank in FIGURES),
        *optional("pdv p99", [_variation(row, unit) for row in rows], UNKNOWN),
        *optional("± clock", [_half_width(row, unit) for row in rows], "0"),
    ]
    above = whole_rows(rows, document["path"])
    yield Grid(f"Latency of each segment, {unit}", fields, rule_above=above, only="screen")
    yield from every_figure("Segments", rows)


def _classes(rows: Sequence[Row]) -> list[Field]:
    classes = [row["class"] for row in rows]
    return [Field("class", classes, is_left=True)] if {*classes} != {"packet"} else []


def _lost_bytes(rows: Sequence[Row]) -> list[str]:
    """Loss in bytes, where packets are cut and joined, so that packets lost cannot tell it."""
    if all(row["class"] == "packet" for row in rows):
        return [UNKNOWN] * len(rows)
    totals = [row["matched_bytes"] + row["lost_bytes"] for row in rows]
    return [
        format_frac(row["lost_bytes"] / total if total else None)
        for row, total in zip(rows, totals, strict=True)
    ]


def _variation(row: Row, unit: str) -> str:
    """Stands where the clocks leave no latency."""
    return UNKNOWN if row["mean_ns"] is not None else format_in(row["pdv_p99_ns"], unit)


def _half_width(row: Row, unit: str) -> str:
    return format_in(row["clock_half_width_ns"], unit) if row["clock_half_width_ns"] else "0"


def interval_sections(document: Row) -> Iterator[Section]:
    """Say what ± is, and why some have none."""
    rows = [row for row in document["round_trips"] or document["segments"] if row["n"]]
    whys = dict.fromkeys(row["interval_reason"] for row in rows if row["mean_lo_ns"] is None)
    text = "±: 95 % interval of the mean; between clocks what they leave open is in it"
    if len(whys) == 1:
        text += f". {UNKNOWN} where none can be told: {next(iter(whys))}"
    elif whys:
        text += f". {UNKNOWN} where none can be told: interval_reason in --format json says why"
    yield Paragraph(text, only="screen")
