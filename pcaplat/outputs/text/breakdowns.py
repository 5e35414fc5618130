"""Console: latencies by flow, size, codepoint, tunnel or window, and what a byte costs."""

from collections.abc import Iterator
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from rich.text import Text

from pcaplat.outputs.text.fields import KEPT, Field, optional, print_table
from pcaplat.outputs.text.path import ARROWS
from pcaplat.text import printable
from pcaplat.units import format_count, format_frac, format_in, format_ns, format_number, unit_for

if TYPE_CHECKING:
    from rich.console import Console

Row = dict[str, Any]
MOST_ROWS = 20
FIGURES = (
    ("mean", "mean_ns", KEPT),
    ("±", "mean_half_ns", 1),
    ("p50", "p50_ns", KEPT),
    ("p99", "p99_ns", KEPT),
    ("max", "max_ns", 2),
)


def top_rows(document: Row) -> Iterator[tuple[str, list[Row], int]]:
    """Give of each breakdown its name, the rows with the most packets, and how many more it has."""
    for name, rows in document.get("breakdowns", {}).items():
        if name.startswith("by_") and rows:
            numbers = nlargest(MOST_ROWS, range(len(rows)), key=lambda at: rows[at]["n"])
            yield (
                name.removeprefix("by_"),
                [rows[at] for at in sorted(numbers)],
                max(len(rows) - MOST_ROWS, 0),
            )


def show_breakdowns(console: "Console", document: Row) -> None:
    """Write the breakdowns that were asked for."""
    for kind, rows, n_more in top_rows(document):
        _show(console, kind, rows, n_more)
        _show_round_trips(console, kind, document["breakdowns"].get(f"round_trips_by_{kind}", []))
        if kind == "size":
            _show_fits(console, document["breakdowns"]["size_fits"])


def _show(console: "Console", kind: str, rows: list[Row], n_more: int) -> None:
    unit = unit_for(row["p99_ns"] for row in rows)
    halves = [row | {"mean_half_ns": _half(row, "mean_{}_ns")} for row in rows]
    fields = [
        Field("segment", [_segment(row) for row in rows]),
        Field(kind, [printable(row["key"]) for row in rows]),
        Field("n", [format_count(row["n"]) for row in rows]),
        *(
            Field(heading, [format_in(row[name], unit) for row in halves], rank)
            for heading, name, rank in FIGURES
        ),
        *optional("lost", [format_frac(row["lost_frac"]) for row in rows], format_frac(0.0)),
    ]
    print_table(console, f"Latency by {kind}, {unit}", fields)
    if n_more:
        text = f"{format_count(n_more)} more rows, of fewer packets: --format json, "
        text += f"or by_{kind}.parquet with -o"
        console.print(Text(f"{text}\n"))


def _show_round_trips(console: "Console", kind: str, rows: list[Row]) -> None:
    if not rows:
        return
    largest = nlargest(MOST_ROWS, range(len(rows)), key=lambda at: rows[at]["n"])
    few = [rows[at] for at in sorted(largest)]
    unit = unit_for(row["mean_ns"] for row in few)
    fields = [
        Field("segment", [f"{printable(row['near'])} ⇄ {printable(row['far'])}" for row in few]),
        Field(kind, [printable(row["key"]) for row in few]),
        Field("n", [format_count(row["n"]) for row in few]),
        Field("mean", [format_in(row["mean_ns"], unit) for row in few]),
        Field("±", [format_in(_half(row, "mean_{}_ns"), unit) for row in few]),
    ]
    print_table(console, f"Share of the round trip by {kind}, {unit}", fields)


def _show_fits(console: "Console", rows: list[Row]) -> None:
    if not rows:
        return
    fields = [
        Field("segment", [_segment(row) for row in rows]),
        Field("bytes", [f"{row['min_bytes']}–{row['max_bytes']}" for row in rows], 1),
        Field("ns/byte", [format_number(row["slope_ns_per_byte"], 3) for row in rows]),
        Field("±", [format_number(_half(row, "slope_{}_ns_per_byte"), 3) for row in rows]),
        Field("fixed", [format_ns(row["fixed_ns"]) for row in rows]),
        Field("± fixed", [format_ns(_half(row, "fixed_{}_ns")) for row in rows]),
    ]
    print_table(
        console, "What a byte costs, and what is fixed (line through latency by size)", fields
    )


def _half(row: Row, name: str) -> float | None:
    lo, hi = row[name.format("lo")], row[name.format("hi")]
    return None if lo is None else (hi - lo) / 2


def _segment(row: Row) -> str:
    return f"{printable(row['near'])} {ARROWS[row['direction']]} {printable(row['far'])}"
