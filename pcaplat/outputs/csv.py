"""CSV: the segments of the summary, one row each."""

import csv
from typing import TYPE_CHECKING, TextIO

from pcaplat.outputs import printable
from pcaplat.tables import SEGMENTS

if TYPE_CHECKING:
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
