"""Console: the path in one line, a table of segments, round trips, clocks, and what may mislead."""

import os
import shutil
from collections.abc import Sequence
from io import StringIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pcaplat.outputs.text.breakdowns import show_breakdowns
from pcaplat.outputs.text.budget import lines_of_budget
from pcaplat.outputs.text.checks import line_of_order, lines_of_checks
from pcaplat.outputs.text.fields import GAP, KEPT, Field, optional, print_table
from pcaplat.outputs.text.path import ARROWS, draw_path, whole_rows
from pcaplat.outputs.text.traffic import show_traffic
from pcaplat.outputs.text.translations import show_translations
from pcaplat.outputs.text.trips import show_round_trips
from pcaplat.outputs.text.unmatched import false_matches, lines_of_reasons
from pcaplat.text import printable
from pcaplat.units import (
    format_count,
    format_frac,
    format_in,
    format_ns,
    format_offset,
    format_ppm,
    unit_for,
)

if TYPE_CHECKING:
    from pcaplat.run.merge import Result

Row = dict[str, Any]
WIDTH_OF_A_PIPE = 100
UNKNOWN = "–"
STATUSES = ("matched", "coalesced", "duplicate", "ambiguous", "unmatched", "undecoded")


def show(result: "Result", stream: TextIO) -> None:
    """Write the result for people, as wide as the terminal is."""
    text = StringIO()
    console = _console(text, is_plain="NO_COLOR" in os.environ or not stream.isatty())
    document = result.document
    _show_path(console, document)
    _show_segments(console, document)
    show_breakdowns(console, document)
    show_round_trips(console, document)
    _show_why(console, document)
    _show_budget(console, document)
    _show_clocks(console, document["clocks"])
    show_translations(console, document["translations"])
    _show_slowest(console, result)
    show_traffic(console, document)
    n_captured = sum(row["n_frames"] for row in document["captures"])
    _show_matching(console, document["matching"], n_captured)
    for line in lines_of_reasons(document):
        console.print(Padding(Text(line), (0, 0, 0, GAP)))
    _show_warnings(console, document["warnings"])
    stream.writelines(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _console(text: TextIO, *, is_plain: bool) -> Console:
    return Console(
        file=text,
        width=shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns,
        force_terminal=not is_plain,
        color_system=None if is_plain else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


def _show_path(console: Console, document: Row) -> None:
    how = "found from the captures" if document["path_inferred"] else "as given"
    medians_ns = [row["p50_ns"] for row in document["segments"] if row["p50_ns"] is not None]
    unit, n_points = unit_for(medians_ns), len(document["path"])
    medians = f"medians in {unit}, there and back" if medians_ns else "no latency can be told"
    console.print(Text(f"Path of {n_points} points, order {how}; {medians}"))
    console.print()
    for line in draw_path(document, unit, console.width - GAP):
        console.print(Text(" " * GAP + line, style="bold", no_wrap=True))
    console.print()
    if order := line_of_order(document):
        console.print(Text(f"{order}\n"))


def _show_segments(console: Console, document: Row) -> None:
    rows = [row | {"mean_half_ns": _half(row)} for row in document["segments"]]
    if not rows:
        return
    told = ("p99_ns", "pdv_p99_ns")
    unit = unit_for(next((row[n] for n in told if row[n] is not None), None) for row in rows)
    fields = [
        Field("segment", [_segment(row, ARROWS[row["direction"]]) for row in rows]),
        *optional("class", [printable(row["class"]) for row in rows], "packet"),
        Field("n", [format_count(row["n"]) for row in rows]),
        Field("lost", [format_frac(row["lost_frac"]) for row in rows], 1),
        *optional("lost bytes", _lost_bytes(rows), UNKNOWN, 1),
        *optional("dup", [format_count(row["n_duplicated"]) for row in rows], "0", 4),
        *optional("reord", [format_count(row["n_reordered"]) for row in rows], "0", 4),
        *(
            Field(heading, [format_in(row[name], unit) for row in rows], rank)
            for heading, name, rank in (
                ("min", "min_ns", 6),
                ("mean", "mean_ns", 5),
                ("±", "mean_half_ns", 5),
                ("p50", "p50_ns", KEPT),
                ("p90", "p90_ns", 3),
                ("p99", "p99_ns", KEPT),
                ("p99.9", "p999_ns", 2),
                ("max", "max_ns", 2),
            )
        ),
        *optional("pdv p99", [_variation(row, unit) for row in rows], UNKNOWN),
        *optional("± clock", [_half_width(row, unit) for row in rows], "0"),
    ]
    title = f"Latency of each segment, {unit}"
    print_table(console, title, fields, whole_rows(rows, document["path"]))


def _half(row: Row) -> float | None:
    """Half of the mean's interval; None where it cannot be told."""
    lo, hi = row["mean_lo_ns"], row["mean_hi_ns"]
    return None if lo is None else (hi - lo) / 2


def _variation(row: Row, unit: str) -> str:
    """Stands where the clocks leave no latency."""
    return UNKNOWN if row["mean_ns"] is not None else format_in(row["pdv_p99_ns"], unit)


def _show_why(console: Console, document: Row) -> None:
    """Say what ± is, and why some have none."""
    rows = [row for row in document["round_trips"] or document["segments"] if row["n"]]
    whys = dict.fromkeys(row["interval_reason"] for row in rows if row["mean_lo_ns"] is None)
    text = "±: 95 % interval of the mean; between clocks what they leave open is in it"
    if len(whys) == 1:
        text += f". {UNKNOWN} where none can be told: {next(iter(whys))}"
    elif whys:
        text += f". {UNKNOWN} where none can be told: interval_reason in --format json says why"
    console.print(Text(f"{text}\n"))


def _show_budget(console: Console, document: Row) -> None:
    lines = list(lines_of_budget(document))
    for check in lines_of_checks(document):
        console.print(Text(f"{check}\n"))
    if lines:
        console.print(Text("What limits the means", style="bold"))
        for line in lines:
            console.print(Padding(Text(line), (0, 0, 0, GAP)))
        console.print()


def _lost_bytes(rows: Sequence[Row]) -> list[str]:
    """Loss in bytes, where packets are cut and joined, so that packets lost cannot tell it."""
    if all(row["class"] == "packet" for row in rows):
        return [UNKNOWN] * len(rows)
    totals = [row["matched_bytes"] + row["lost_bytes"] for row in rows]
    return [
        format_frac(row["lost_bytes"] / total if total else None)
        for row, total in zip(rows, totals, strict=True)
    ]


def _show_clocks(console: Console, rows: Sequence[Row]) -> None:
    if len(rows) > 1 and all(row["quality"] == "same-clock" for row in rows):
        console.print(Text("Clocks: all points share one clock\n"))
        return
    fields = [
        Field("point", [printable(row["point"]) for row in rows]),
        Field(
            "offset from the reference",
            [format_offset(row["offset_ns"], row["half_width_ns"]) for row in rows],
        ),
        Field("drift", [_drift(row) for row in rows], 1),
        Field("steps", [str(len(row["steps"])) for row in rows], 2),
        Field("quality", [printable(row["quality"]) for row in rows]),
    ]
    reference = printable(rows[0]["reference"]) if rows else "none"
    print_table(console, f"Clocks, as seen from {reference}", fields)


def _drift(row: Row) -> str:
    half_width = row["drift_half_width_ppm"]
    text = format_ppm(row["drift_ppm"])
    return text if half_width is None else f"{text} ± {format_ppm(half_width).lstrip('+')}"


def _show_slowest(console: Console, result: "Result") -> None:
    slowest = result.slowest
    if slowest is None or not len(slowest):
        return
    packets: dict[tuple[Any, ...], list[Row]] = {}
    for row in slowest.iter_rows(named=True):
        key = (row["near"], row["far"], row["direction"], row["rank"])
        packets.setdefault(key, []).append(row)
    firsts = [rows[0] for rows in packets.values()]
    fields = [
        Field("segment", [_segment(row, ARROWS[row["direction"]]) for row in firsts]),
        Field("latency", [format_ns(row["latency_ns"]) for row in firsts]),
        Field("frames", [", ".join(map(_place, rows)) for rows in packets.values()]),
    ]
    print_table(console, "Slowest packets, with their frames in each file", fields)


def _place(row: Row) -> str:
    return f"{printable(PurePath(row['file']).name)}:{row['frame']}"


def _show_matching(console: Console, matching: Row, n_captured: int) -> None:
    counts = [(status, matching[f"n_{status}"]) for status in STATUSES]
    text = ", ".join(f"{format_count(n)} {status}" for status, n in counts if n)
    doubt = false_matches(matching["false_match_frac"], matching["false_match_upper_frac"])
    frames = format_count(matching["n_frames"])
    if matching["n_frames"] < n_captured:
        frames += f" of {format_count(n_captured)} asked for"
    console.print(Text(f"Frames: {frames}, of them {text}{doubt}"))


def _show_warnings(console: Console, warnings: Sequence[Row]) -> None:
    for warning in warnings:
        point = f" at {printable(warning['point'])}" if warning["point"] else ""
        line = Text(f"\n{printable(warning['code'])}{point}: ", style="yellow")
        console.print(line.append(printable(warning["text"]), style="default"))


def _segment(row: Row, arrow: str) -> str:
    return f"{printable(row['near'])} {arrow} {printable(row['far'])}"


def _half_width(row: Row, unit: str) -> str:
    return format_in(row["clock_half_width_ns"], unit) if row["clock_half_width_ns"] else "0"
