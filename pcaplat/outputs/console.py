"""Console: the path in one line, a table of segments, round trips, clocks, and what may mislead."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pcaplat.outputs import printable
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
    from pcaplat.study import Result

Row = dict[str, Any]
WIDTH_OF_A_PIPE = 100
GAP = 2
KEPT = 0
UNKNOWN = "–"
ARROWS = {"forward": "→", "reverse": "←"}
STATUSES = ("matched", "coalesced", "duplicate", "ambiguous", "unmatched", "undecoded")


@dataclass(frozen=True)
class Field:
    """One column as printed; of those that do not fit, the highest `rank` goes first."""

    heading: str
    cells: Sequence[str]
    rank: int = KEPT

    @property
    def width(self) -> int:
        """Columns of the terminal that the field needs."""
        return max(cell_len(text) for text in (self.heading, *self.cells)) + GAP


def show(result: "Result", stream: TextIO) -> None:
    """Write the result for people, as wide as the terminal is."""
    text = StringIO()
    console = _console(text, is_plain="NO_COLOR" in os.environ or not stream.isatty())
    document = result.document
    _show_path(console, document)
    _show_segments(console, document)
    _show_round_trips(console, document["round_trips"], document["path"])
    _show_clocks(console, document["clocks"])
    _show_slowest(console, result)
    n_captured = sum(row["n_frames"] for row in document["captures"])
    _show_matching(console, document["matching"], n_captured)
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
    unit = unit_for(row["p50_ns"] for row in document["segments"])
    n_points = len(document["path"])
    console.print(
        Text(f"Path of {n_points} points, order {how}; medians in {unit}, there and back")
    )
    console.print()
    for line in draw_path(document, unit, console.width - GAP):
        console.print(Text(" " * GAP + line, style="bold", no_wrap=True))
    console.print()


def draw_path(document: Row, unit: str, width: int) -> list[str]:
    """Draw points and segment medians: a line there and a line back, folded at `width`."""
    medians = {
        (row["near"], row["far"], row["direction"]): format_in(row["p50_ns"], unit)
        for row in reversed(document["segments"])
    }
    path, edges = document["path"], [(edge["near"], edge["far"]) for edge in document["edges"]]
    chains = [path] if edges == list(pairwise(path)) else edges
    return [line for chain in chains for line in _draw_chain(chain, medians, width)]


def _draw_chain(
    chain: Sequence[str], medians: dict[tuple[str, str, str], str], width: int
) -> list[str]:
    links = [[medians.get((near, far, way), "") for way in ARROWS] for near, far in pairwise(chain)]
    names = [printable(point) for point in chain]
    size = sum(map(cell_len, names)) + sum(max(map(len, link)) + 4 for link in links)
    gap = " " if size <= width else ""
    there, back, lines = names[0], " " * cell_len(names[0]), []
    for name, (forward, reverse) in zip(names[1:], links, strict=True):
        size = max(len(forward), len(reverse)) + 1
        link = f"{gap}{forward.rjust(size, '─')}→{gap}"
        if cell_len(there + link + name) > width:
            lines += [there, back]
            there = back = ""
        there += link + name
        answer = f"←{reverse.ljust(size, '─')}" if reverse else " " * (size + 1)
        back += gap + answer + gap + " " * cell_len(name)
    return [line.rstrip() for line in (*lines, there, back) if line.strip()]


def _show_segments(console: Console, document: Row) -> None:
    rows = document["segments"]
    if not rows:
        return
    unit = unit_for(row["p99_ns"] for row in rows)
    fields = [
        Field("segment", [_segment(row, ARROWS[row["direction"]]) for row in rows]),
        *_optional("class", [printable(row["class"]) for row in rows], "packet"),
        Field("n", [format_count(row["n"]) for row in rows]),
        Field("lost", [format_frac(row["lost_frac"]) for row in rows], 1),
        *_optional("lost bytes", _lost_bytes(rows), UNKNOWN, 1),
        *_optional("dup", [format_count(row["n_duplicated"]) for row in rows], "0", 4),
        *_optional("reord", [format_count(row["n_reordered"]) for row in rows], "0", 4),
        *(
            Field(heading, [format_in(row[name], unit) for row in rows], rank)
            for heading, name, rank in (
                ("min", "min_ns", 6),
                ("mean", "mean_ns", 5),
                ("p50", "p50_ns", KEPT),
                ("p90", "p90_ns", 3),
                ("p99", "p99_ns", KEPT),
                ("p99.9", "p999_ns", 2),
                ("max", "max_ns", 2),
            )
        ),
        *_optional("pdv p99", [format_in(row.get("pdv_p99_ns"), unit) for row in rows], UNKNOWN),
        *_optional("± clock", [_half_width(row, unit) for row in rows], "0"),
    ]
    title = f"Latency of each segment, {unit}"
    _print_table(console, title, fields, _whole_rows(rows, document["path"]))


def _lost_bytes(rows: Sequence[Row]) -> list[str]:
    """Loss in bytes, where packets are cut and joined, so that packets lost cannot tell it."""
    if all(row["class"] == "packet" for row in rows):
        return [UNKNOWN] * len(rows)
    totals = [row["matched_bytes"] + row["lost_bytes"] for row in rows]
    return [
        format_frac(row["lost_bytes"] / total if total else None)
        for row, total in zip(rows, totals, strict=True)
    ]


def _show_round_trips(console: Console, rows: Sequence[Row], path: Sequence[str]) -> None:
    if not rows:
        return
    unit = unit_for(row[name] for row in rows for name in ("mean_ns", "p99_ns"))
    fields = [Field("segment", [_segment(row, "⇄") for row in rows])]
    fields.append(Field("n", [format_count(row["n"]) for row in rows]))
    for heading, name, rank in (
        ("mean", "mean_ns", KEPT),
        ("±", "mean_half_width_ns", KEPT),
        ("p50", "p50_ns", KEPT),
        ("p90", "p90_ns", 1),
        ("p99", "p99_ns", 1),
    ):
        fields += _optional(heading, [format_in(row[name], unit) for row in rows], "–", rank)
    title = f"Share of the round trip, {unit} (needs no common clock)"
    _print_table(console, title, fields, _whole_rows(rows, path))


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
    _print_table(console, f"Clocks, as seen from {reference}", fields)


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
    _print_table(console, "Slowest packets, with their frames in each file", fields)


def _place(row: Row) -> str:
    return f"{printable(PurePath(row['file']).name)}:{row['frame']}"


def _show_matching(console: Console, matching: Row, n_captured: int) -> None:
    counts = [(status, matching[f"n_{status}"]) for status in STATUSES]
    text = ", ".join(f"{format_count(n)} {status}" for status, n in counts if n)
    false = matching["false_match_frac"]
    doubt = "" if false is None else f"; false matches: {format_frac(false)}"
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


def _whole_rows(rows: Sequence[Row], path: Sequence[str]) -> list[int]:
    """Give the first row of the whole path, if it is a row of its own."""
    if len(path) <= 2:  # noqa: PLR2004 - two points are one segment
        return []
    ends = (path[0], path[-1])
    return [at for at, row in enumerate(rows) if (row["near"], row["far"]) == ends][:1]


def _optional(heading: str, cells: Sequence[str], usual: str, rank: int = KEPT) -> list[Field]:
    """Give a field only if it says something: if a cell differs from what it usually holds."""
    return [Field(heading, cells, rank)] if any(cell != usual for cell in cells) else []


def _print_table(
    console: Console, title: str, fields: Sequence[Field], rule_above: Sequence[int] = ()
) -> None:
    kept = _fitting(fields, console.width)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for index, field in enumerate(kept):
        is_name = index == 0 or field.heading in ("class", "quality", "frames")
        table.add_column(field.heading, justify="left" if is_name else "right", overflow="fold")
    for index, cells in enumerate(zip(*(field.cells for field in kept), strict=True)):
        if index in rule_above and index:
            table.add_section()
        table.add_row(*map(Text, cells))
    console.print(Text(title, style="bold"))
    console.print(Padding(table, (0, 0, 1, GAP), expand=False))


def _fitting(fields: Sequence[Field], width: int) -> list[Field]:
    """Drop the least important fields until the rest fits."""
    kept = list(fields)
    while sum(field.width for field in kept) + GAP > width:
        last = max(range(len(kept)), key=lambda index: kept[index].rank)
        if kept[last].rank == KEPT:
            break
        del kept[last]
    return kept
