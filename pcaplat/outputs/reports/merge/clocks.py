"""Clocks: the offset of each from the reference, its drift, and how it is known."""

from collections.abc import Iterator, Sequence

from pcaplat.outputs.report import Field, Grid, Paragraph, Section
from pcaplat.tables.columns import Row
from pcaplat.units import format_offset, format_ppm


def clock_sections(rows: Sequence[Row]) -> Iterator[Section]:
    """Give every point's clock, or say that they are one."""
    points = Field("point", [row["point"] for row in rows])
    offsets = [format_offset(row["offset_ns"], row["half_width_ns"]) for row in rows]
    steps = [str(len(row["steps"])) for row in rows]
    quality = Field("quality", [row["quality"] or "" for row in rows], is_left=True)
    if len(rows) > 1 and all(row["quality"] == "same-clock" for row in rows):
        yield Paragraph("Clocks: all points share one clock", only="clocks")
    else:
        reference = rows[0]["reference"] if rows else "none"
        fields = [
            points,
            Field("offset from the reference", offsets),
            Field("frequency offset", [_drift(row) for row in rows], 1),
            Field("steps", steps, 2),
            quality,
        ]
        yield Grid(f"Clocks, as seen from {reference}", fields, only="clocks")
    fields = [
        points,
        Field("reference", [row["reference"] or "" for row in rows]),
        Field("offset", offsets),
        Field("drift", [format_ppm(row["drift_ppm"]) for row in rows]),
        Field("steps", steps),
        quality,
    ]
    if rows:
        yield Grid("Clocks", fields, only="paper")


def _drift(row: Row) -> str:
    half_width = row["drift_half_width_ppm"]
    text = format_ppm(row["drift_ppm"])
    return text if half_width is None else f"{text} ± {format_ppm(half_width).lstrip('+')}"
