"""CSV: the segments of the summary, or packets, one row each."""

import csv
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any, TextIO

from pcaplat.outputs import printable
from pcaplat.tables import PACKETS, SEGMENTS

if TYPE_CHECKING:
    import polars as pl

    from pcaplat.study import Result

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def show(result: "Result", stream: TextIO) -> None:
    """Write the segments; an unknown figure is an empty cell."""
    rows = result.document["segments"]
    more = [name for row in rows for name in row if name not in SEGMENTS.names]
    names = [*SEGMENTS.names, *dict.fromkeys(more)]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([cell(row.get(name)) for name in names] for row in rows)


def cell(value: object) -> object:
    """Make a text cell harmless: no control characters, and no formula for a spreadsheet.

    Example:
        >>> cell("=1+1"), cell(-1.5), cell(None)
        ("'=1+1", -1.5, '')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(STARTS_FORMULA) else printable(value)


def save_rows(batches: Iterable[Any], stream: IO[bytes]) -> None:
    """Write Arrow batches of packets under one heading."""
    import polars as pl  # noqa: PLC0415 - slow to import, and no summary needs it

    frames = (pl.DataFrame(batch) for batch in batches)
    has_heading = False
    for frame in frames:
        # not straight into the stream: polars takes a pipe that was closed for an error of its own
        text = _harmless(frame).write_csv(include_header=not has_heading)
        stream.write(text.encode())
        has_heading = True
    if not has_heading:
        stream.write(f"{','.join(PACKETS.names)}\n".encode())


def _harmless(frame: "pl.DataFrame") -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415 - see above

    texts = pl.col(pl.String)
    is_odd = texts.str.contains(r"^[=+\-@]|[\p{Cc}\p{Cf}]").any()
    odd = [column.name for column in frame.select(is_odd) if column.item()]
    # rare, so that a slow way will do
    return frame.with_columns(pl.col(name).map_elements(cell, pl.String) for name in odd)
