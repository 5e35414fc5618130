"""CSV: one row for each segment, difference, claim, cell or finding; or for each packet."""

import csv
import re
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from pcaplat.outputs.report import Report
from pcaplat.tables import PACKETS, TABLES
from pcaplat.text import plain_name

if TYPE_CHECKING:
    import polars as pl

    from pcaplat.run.result import Result

SIGNS = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
"""How a formula begins in a spreadsheet, signs of full width too (OWASP, CSV Injection)."""

FORMULA = re.compile(f"{SIGNS}.")
"""A lone sign is none: `-` is what standard input is called."""


def show(report: Report, stream: TextIO) -> None:
    """Write the rows; an unknown figure is an empty cell."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(report.columns)
    writer.writerows([cell(row.get(name)) for name in report.columns] for row in report.rows)


def show_rows(name: str, result: "Result", stream: TextIO) -> None:
    """Write a table of a merge by its name: large ones as they come, else a list."""
    schema = next(table for table in TABLES if table.name == name)
    large = {
        "packets": result.packet_batches,
        "matches": result.match_batches,
        "lost": result.lost_batches,
    }
    if name in large:
        buffer = stream.buffer if hasattr(stream, "buffer") else stream
        save_rows(large[name](), cast("IO[bytes]", buffer), schema.names)
        return
    rows = result.document[name]
    columns = dict.fromkeys(column for row in rows for column in row)
    known = [*schema.names, *(column for column in columns if column not in schema.names)]
    show(Report(result.document, known, rows, ()), stream)


def cell(value: object) -> object:
    r"""Make a text cell harmless: no control characters, and no formula for a spreadsheet.

    Example:
        >>> cell("=HYPERLINK(1)"), cell("eth0\n"), cell(-1.5), cell(None), cell(True)
        ("'=HYPERLINK(1)", 'eth0\\x0a', -1.5, '', 'true')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = plain_name(value)
    return f"'{text}" if FORMULA.match(text) else text


def save_rows(
    batches: Iterable[Any], stream: IO[bytes], names: Sequence[str] = PACKETS.names
) -> None:
    """Write Arrow batches under one heading: of packets, unless it has other names."""
    import polars as pl

    frames = (pl.DataFrame(batch) for batch in batches)
    has_heading = False
    for frame in frames:
        # not straight into the stream: polars takes a pipe that was closed for an error of its own
        text = _harmless(frame).write_csv(include_header=not has_heading)
        stream.write(text.encode())
        has_heading = True
    if not has_heading:
        stream.write(f"{','.join(names)}\n".encode())


def _harmless(frame: "pl.DataFrame") -> "pl.DataFrame":
    import polars as pl

    texts = pl.col(pl.String)
    is_odd = texts.str.contains(rf"^{SIGNS}|[\p{{C}}\p{{Zl}}\p{{Zp}}]").any()
    odd = [column.name for column in frame.select(is_odd) if column.item()]
    # rare, so that a slow way will do
    return frame.with_columns(pl.col(name).map_elements(cell, pl.String) for name in odd)
