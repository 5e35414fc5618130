"""CSV: every finding, one row each."""

import csv
from typing import Any, TextIO

from pcaplat.outputs.csv import cell

COLUMNS = ("code", "severity", "file", "point", "evidence", "consequence", "remedy")


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the findings; what is of no file or point in particular has an empty cell there."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for finding in document["findings"]:
        writer.writerow([cell(finding[name]) for name in COLUMNS])
