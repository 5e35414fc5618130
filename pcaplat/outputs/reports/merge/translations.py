"""What translators do, in a line for each segment, and a few of their flows."""

from collections.abc import Iterator, Sequence

from pcaplat.outputs.report import Entries, Entry, Field, Grid, Section, optional
from pcaplat.outputs.reports.merge.figures import counts
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_instant, format_ns

FEW = 5
CHANGES = {
    "src": "source address",
    "src_port": "source port",
    "dst": "destination address",
    "dst_port": "destination port",
}
ECHO = (1, 58)
"""IP protocols whose "port" is an echo's identifier."""


def translation_sections(rows: Sequence[Row]) -> Iterator[Section]:
    """Say what changes on which segment in how many flows, and show the first of them."""
    if not rows:
        return
    few = rows[:FEW]
    first = f", the first {FEW} of {format_count(len(rows))}" if len(rows) > FEW else ""
    fields = [
        Field("at", [row[end] for row in few for end in ("near", "far")]),
        Field("flow, forward", [_flow(row, end) for row in few for end in ("near", "far")]),
        Field("packets", _by_two(counts(few)), 3),
        Field("from, UTC", _by_two([format_instant(row["first_t_ns"])[11:26] for row in few]), 1),
        Field("for", _by_two([format_ns(row["last_t_ns"] - row["first_t_ns"]) for row in few]), 2),
        *optional(
            "seq ahead", [_ahead(row, "seq_shift", end) for row in few for end in (0, 1)], ""
        ),
        *optional(
            "ack ahead", [_ahead(row, "ack_shift", end) for row in few for end in (0, 1)], ""
        ),
    ]
    above = range(0, 2 * len(few), 2)
    yield Grid(f"Translated flows{first}", fields, rule_above=above, only="verbose")
    yield Entries([Entry("", list(_lines(rows)))], only="screen")


def _by_two(cells: Sequence[str]) -> list[str]:
    """Cells of flows, each of which takes two lines."""
    return [text for cell in cells for text in (cell, "")]


def _ahead(row: Row, name: str, end: int) -> str:
    shift = row[name] if end else 0
    return format_count(shift) if shift else ""


def _flow(row: Row, end: str) -> str:
    src, dst = (_end(row, f"{end}_{side}") for side in ("src", "dst"))
    return f"{src} → {dst}"


def _end(row: Row, name: str) -> str:
    port = row[f"{name}_port"]
    if port is None:
        return str(row[name])
    return f"{row[name]} {'id ' if row['protocol'] in ECHO else ''}{port}"


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    """Tell per segment how many flows leave it with what changed."""
    for near, far in dict.fromkeys((row["near"], row["far"]) for row in rows):
        mine = [row for row in rows if (row["near"], row["far"]) == (near, far)]
        n_changed = {
            name: sum(row[f"near_{side}"] != row[f"far_{side}"] for row in mine)
            for side, name in CHANGES.items()
        }
        n_changed["sequence numbers"] = sum(
            bool(row["seq_shift"] or row["ack_shift"]) for row in mine
        )
        told = ", ".join(f"{name} of {format_count(n)}" for name, n in n_changed.items() if n)
        flows = f"{format_count(len(mine))} flow{'s' if len(mine) > 1 else ''}"
        yield f"{near} → {far} changes {flows}: {told}"
