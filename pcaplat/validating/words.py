"""Reasons of verdicts, in sentences."""

from collections.abc import Sequence
from math import inf

from pcaplat.metrics.dimensions import UNITS
from pcaplat.records import dataclass
from pcaplat.units import format_bounds


@dataclass(frozen=True)
class ClaimBounds:
    """An interval in base units, either end of which may be open, and the unit to show it in."""

    lo: float
    hi: float
    unit: str

    def __str__(self) -> str:
        """Write it as "13 to 16 µs", "at most 0.01 %" or "at least 5 µs"."""
        factor = float(UNITS[self.unit][1])
        ends = [None if abs(end) == inf else end / factor for end in (self.lo, self.hi)]
        return format_bounds(ends[0], ends[1], self.unit)

    def width(self, value: float) -> str:
        """Write a size in the same unit."""
        factor = float(UNITS[self.unit][1])
        return format_bounds(value / factor, value / factor, self.unit)


def inside(measured: ClaimBounds, claim: ClaimBounds, confidence: float) -> str:
    """Say that a claim holds."""
    return f"the {100 * confidence:.0f} % interval, {measured}, lies inside {claim}"


def outside(measured: ClaimBounds, claim: ClaimBounds, confidence: float) -> str:
    """Say that a claim does not hold, and by how much."""
    is_above = measured.lo > claim.hi
    by = measured.lo - claim.hi if is_above else claim.lo - measured.hi
    where = "above" if is_above else "below"
    level = f"the {100 * confidence:.0f} % interval"
    return f"{level}, {measured}, lies {where} {claim}, by {claim.width(by)} or more"


def with_notes(reason: str, notes: Sequence[str]) -> str:
    """Add what the verdict rests on."""
    return "; ".join([reason, *notes])
