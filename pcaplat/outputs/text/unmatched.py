"""Frames that stand in no match: at which point how many, and why, where that is much."""

from collections.abc import Iterator
from typing import Any

from pcaplat.printable import printable
from pcaplat.reasons import MEANINGS
from pcaplat.units import format_count, format_frac

MUCH_FRAC = 0.01
"""Of a point's frames, for one reason."""

LEFT_OUT = ("unmatched", "ambiguous", "undecoded")


def lines_of_reasons(document: dict[str, Any]) -> Iterator[str]:
    """Say why frames stand in no match, each reason that a point has for one in 100 or more."""
    for point in document.get("points", ()):
        for row in point["reasons"]:
            frac = row["n"] / point["n_frames"]
            if row["status"] in LEFT_OUT and frac >= MUCH_FRAC:
                meaning = MEANINGS[row["status"], row["reason"]]
                much = f"{format_count(row['n'])} {row['status']} ({format_frac(frac)})"
                yield f"{printable(point['point'])}: {much}: {meaning}"
