"""CSV: one row per segment and figure."""

import csv
from collections.abc import Iterator
from typing import Any, TextIO

from pcaplat.outputs.csv import cell

COLUMNS = (
    *("figure", "near", "far", "direction", "baseline", "treatment", "delta", "lo", "hi"),
    *("confidence", "n", "n_effective", "unit", "reason"),
)


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write all rows; what is unknown is an empty cell."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in _rows(document):
        writer.writerow([cell(row.get(name)) for name in COLUMNS])


def _rows(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key, figure in (("round_trips", "two-way-contribution"), ("segments", "one-way-latency")):
        for row in document[key]:
            ends = {"lo": row["lo_ns"], "hi": row["hi_ns"], "delta": row["delta_mean_ns"]}
            means = {"baseline": row["baseline_mean_ns"], "treatment": row["treatment_mean_ns"]}
            yield row | ends | means | {"figure": figure, "unit": "ns"}
    for row in document["rates"]:
        ends = {"lo": row["lo_frac"], "hi": row["hi_frac"], "delta": row["delta_frac"]}
        # of a loss ratio the difference itself, of anything else a share of the baseline
        yield row | ends | {"figure": row["metric"], "unit": "frac"}
