"""What was captured live: packets and drops of each point, its files, and lint's findings."""

from collections.abc import Iterator
from pathlib import Path

from pcaplat.outputs.report import Grid, Remarks, Report, Section, fields_of
from pcaplat.outputs.reports.lint import sections_of
from pcaplat.tables.columns import Row
from pcaplat.units import format_amount, format_count

COLUMNS = (
    "point",
    "source",
    "clock",
    "n_packets",
    "n_bytes",
    "n_received",
    "n_dropped",
    "n_dropped_by_interface",
    "n_outside",
    "problem",
)
LEFT = ("point", "source", "file")
DROPPED = (
    "{point}: the kernel's buffer had no room for {n} of {all} packets, so that their loss on the "
    "path is unknown; capture with a larger --buffer, a narrower --filter or a shorter --snaplen"
)


def report(document: Row) -> Report:
    """Say what each point captured; a row for each point."""
    return Report(document, COLUMNS, document["points"], _sections(document))


def _sections(document: Row) -> Iterator[Section]:
    points = document["points"]
    yield Grid("", fields_of([_texts(row) for row in points], LEFT), [""] * len(points))
    yield Remarks("", [*_problems(points)])
    if document["findings"] is not None:
        yield from sections_of(document["findings"])


def _texts(row: Row) -> dict[str, str]:
    return {
        "point": row["point"],
        "source": row["source"],
        "packets": format_count(row["n_packets"]),
        "size": format_amount(row["n_bytes"], "B"),
        "dropped": format_count(row["n_dropped"]),
        "dropped by interface": format_count(row["n_dropped_by_interface"]),
        "file": _file_text(row["files"]),
    }


def _file_text(files: list[str]) -> str:
    if not files:
        return "–"
    more = f" and {len(files) - 1} before it" if len(files) > 1 else ""
    return f"{Path(files[-1]).name}{more}"


def _problems(points: list[Row]) -> Iterator[str]:
    for row in points:
        if row["problem"]:
            yield f"ended early: {row['problem']}"
        if row["n_dropped"] and row["n_received"]:
            n, n_received = (format_count(row[name]) for name in ("n_dropped", "n_received"))
            yield DROPPED.format(point=row["point"], n=n, all=n_received)
