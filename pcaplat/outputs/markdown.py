"""Markdown: the tables of the summary, to paste into a report."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from pcaplat.outputs.text.breakdowns import top_rows
from pcaplat.outputs.text.budget import lines_of_budget
from pcaplat.outputs.text.checks import line_of_order, lines_of_checks
from pcaplat.text import printable
from pcaplat.units import format_count, format_frac, format_in, format_offset, format_ppm, unit_for

if TYPE_CHECKING:
    from pcaplat.run.merge import Result

Row = dict[str, Any]
MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
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


def show(result: "Result", stream: TextIO) -> None:
    """Write the path, segments, round trips, clocks and warnings."""
    document = result.document
    how = "found from the captures" if document["path_inferred"] else "as given"
    path = " → ".join(map(text_cell, document["path"]))
    stream.write(f"Path ({how}): {path}\n")
    if order := line_of_order(document):
        stream.write(f"\n{text_cell(order)}\n")
    _write_durations(stream, "Segments", document["segments"])
    for kind, rows, n_more in top_rows(document):
        more = f", and {format_count(n_more)} more rows" if n_more else ""
        _write_durations(stream, f"Segments by {kind}{more}", rows)
    _write_durations(stream, "Round trips", document["round_trips"])
    limits = [{"what limits the means": text_cell(line)} for line in lines_of_budget(document)]
    _write_table(stream, "Error budget", limits)
    stream.writelines(f"\n{text_cell(check)}\n" for check in lines_of_checks(document))
    _write_table(stream, "Clocks", [_clock(row) for row in document["clocks"]])
    _write_table(stream, "Frames", [_counts(document["matching"])])
    _write_table(stream, "Warnings", [_texts(row) for row in document["warnings"]])


def text_cell(text: str | None) -> str:
    r"""Make a stranger's text plain text in a table.

    Example:
        >>> text_cell("a|<b>")
        'a\\|\\<b\\>'
    """
    return MARKS.sub(r"\\\1", printable(text or ""))


def _write_durations(stream: TextIO, title: str, rows: Sequence[Row]) -> None:
    unit = unit_for(row[name] for row in rows for name in ("mean_ns", "p99_ns"))
    shown = [_texts(row) | _numbers(row) | _durations(row, unit) for row in rows]
    _write_table(stream, f"{title}, {unit}", shown)


def _texts(row: Row) -> Row:
    names = ("near", "far", "direction", "class", "key", "code", "point", "text")
    return {name: text_cell(row[name]) for name in names if name in row}


def _numbers(row: Row) -> Row:
    lost = {"lost": format_frac(row["lost_frac"])} if "lost_frac" in row else {}
    return {"n": format_count(row["n"])} | lost


def _durations(row: Row, unit: str) -> Row:
    return {DURATIONS[n]: format_in(row[n], unit) for n in DURATIONS if n in row}


def _clock(row: Row) -> Row:
    return {
        "point": text_cell(row["point"]),
        "reference": text_cell(row["reference"]),
        "offset": format_offset(row["offset_ns"], row["half_width_ns"]),
        "drift": format_ppm(row["drift_ppm"]),
        "steps": str(len(row["steps"])),
        "quality": text_cell(row["quality"]),
    }


def _counts(row: Row) -> Row:
    return {n.removeprefix("n_"): format_count(row[n]) for n in row if n.startswith("n_")}


def _write_table(stream: TextIO, title: str, rows: Sequence[Row]) -> None:
    if not rows:
        return
    names = list(rows[0])
    stream.write(f"\n### {title}\n\n")
    stream.write(f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n")
    stream.writelines(f"| {' | '.join(row.get(n, '') for n in names)} |\n" for row in rows)
