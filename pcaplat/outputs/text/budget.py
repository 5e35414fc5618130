"""What limits the figures, in a line for each kind of error."""

from collections.abc import Iterator, Mapping
from typing import Any

from pcaplat.units import format_ns

NAMES = {
    "statistical": "too few independent packets",
    "resolution": "coarse stamps, or batches of them",
    "clock": "the clocks",
    "drift": "the clocks' drift",
    "mirror_queue": "frames that wait in a mirror",
    "stamp_convention": "what stamps stand for, first bit or last",
    "ambiguity": "packets that cannot be told apart",
}


def lines_of_budget(document: Mapping[str, Any]) -> Iterator[str]:
    """Say what is uncertain most: of one-way latencies, then of two-way contributions."""
    for title, is_one_way in (("one-way latency", True), ("two-way contribution", False)):
        rows = [
            row
            for row in document.get("error_budget", [])
            if (row["direction"] is not None) == is_one_way
        ]
        for largest in dict.fromkeys(row["largest"] for row in rows):
            mine = [row for row in rows if row["largest"] == largest]
            sizes = [row[f"{largest}_ns"] for row in mine if row[f"{largest}_ns"] is not None]
            size = f", up to ± {format_ns(max(sizes))}" if sizes else ""
            if sizes and not max(sizes):
                continue
            yield (
                f"{title}, {len(mine)} of {len(rows)}: mostly {NAMES[largest]}{size}; "
                f"{mine[0]['remedy']}"
            )
