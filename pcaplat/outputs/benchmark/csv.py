"""CSV: one row per size and offered rate."""

import csv
from typing import Any, TextIO

from pcaplat.outputs.csv import cell


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the table; what is unknown is an empty cell."""
    writer = csv.writer(stream, lineterminator="\n")
    rows = document["cells"]
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([cell(value) for value in row.values()])
