"""How many times as much one command takes as another, round by round."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Ratio:
    """Of all rounds."""

    least: float
    median: float
    most: float

    def __str__(self) -> str:
        """Put it into a table."""
        return f"{self.median:.2f} [{self.least:.2f}, {self.most:.2f}]"


def ratio_of(ours: Row, other: Row, name: str = "wall_s") -> Ratio:
    """Compare two commands of one run; what reads a share of the frames is scaled to all."""
    found = [a / (b / other["share"]) for a, b in zip(ours[name], other[name], strict=True)]
    return Ratio(min(found), statistics.median(found), max(found))


def ratio_of_slopes(ours: tuple[Row, Row], other: tuple[Row, Row]) -> Ratio:
    """Compare what a larger set takes more than a smaller one."""
    slopes = [
        [large - small for small, large in zip(small_row["wall_s"], row["wall_s"], strict=True)]
        for small_row, row in (ours, other)
    ]
    found = [a / max(b, 1e-9) for a, b in zip(*slopes, strict=True)]
    return Ratio(min(found), statistics.median(found), max(found))
