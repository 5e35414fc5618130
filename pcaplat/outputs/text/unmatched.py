"""Frames that stand in no match, why, and pairs that are false."""

from collections.abc import Iterator
from typing import Any

from pcaplat.model.reasons import MEANINGS
from pcaplat.text import printable
from pcaplat.units import format_count, format_frac

MUCH_FRAC = 0.01
"""Of a point's frames, for one reason."""

MOST_FALSE_FRAC = 0.1
"""What is only known to be below this is not known."""

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


def false_matches(frac: float | None, upper_frac: float | None) -> str:
    """How many pairs are false; of none that was found, how many there are at most.

    Example:
        >>> false_matches(2e-4, 5e-4), false_matches(0.0, 0.01), false_matches(0.0, 1e-10)
        ('; false matches: 0.02 %', '; false matches: below 1 %', '; false matches: < 0.000001 %')
        >>> false_matches(0.0, 1.0)
        '; false matches: too few pairs to tell'
    """
    if frac is None or upper_frac is None:
        return ""
    if not frac and upper_frac >= MOST_FALSE_FRAC:
        return "; false matches: too few pairs to tell"
    share = format_frac(frac or upper_frac)
    return f"; false matches: {share if frac or '<' in share else f'below {share}'}"
