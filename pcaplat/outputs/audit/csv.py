"""CSV: every cell of every table, one row each."""

import csv
from typing import Any, TextIO

from pcaplat.outputs.csv import cell as harmless

COLUMNS = (
    "table",
    "row",
    "column",
    "published_lo",
    "published_hi",
    "recomputed",
    "unit",
    "agrees",
    "deviation_frac",
    "reason",
    "convention",
    "rounding_lo",
    "rounding_hi",
    "is_within_rounding",
)


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the cells; what cannot be recomputed is an empty cell."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for table in document["tables"]:
        for cell in table["cells"]:
            row = {"table": table["id"], **cell}
            writer.writerow([_text(row[name]) for name in COLUMNS])


def _text(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else harmless(value)
