"""CSV: one row per claim."""

import csv
from typing import Any, TextIO

from pcaplat.outputs.csv import cell


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the verdicts; what is unknown is an empty cell."""
    rows = [row | {"assumes": "; ".join(row["assumes"])} for row in document["verdicts"]]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([cell(value) for value in row.values()] for row in rows)
