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

    @property
    def factor(self) -> float:
        """How many base units the unit is."""
        return float(UNITS[self.unit][1])

    def __str__(self) -> str:
        """Write it as "13 to 16 µs", "at most 0.01 %" or "at least 5 µs"."""
        ends = [None if abs(end) == inf else end / self.factor for end in (self.lo, self.hi)]
        return format_bounds(ends[0], ends[1], self.unit)

    def width(self, value: float) -> str:
        """Write a size in the same unit."""
        return format_bounds(value / self.factor, value / self.factor, self.unit)


def inside(measured: ClaimBounds, claim: ClaimBounds, confidence: float) -> str:
    """Say that a claim holds."""
    if not (claim.lo <= measured.lo and measured.hi <= claim.hi):
        return f"every packet lies inside {claim}, whatever the interval ({measured})"
    return f"{_level(measured, confidence)}, {measured}, lies inside {claim}"


def outside(measured: ClaimBounds, claim: ClaimBounds, confidence: float) -> str:
    """Say that a claim does not hold, and by how much."""
    by = max(measured.lo - claim.hi, claim.lo - measured.hi)
    if by < 0:
        return f"every packet lies outside {claim}, whatever the interval ({measured})"
    where = "above" if measured.lo > claim.hi else "below"
    level = _level(measured, confidence)
    more = " or more" if measured.lo < measured.hi else ""
    return f"{level}, {measured}, lies {where} {claim}, by {claim.width(by)}{more}"


def _level(measured: ClaimBounds, confidence: float) -> str:
    """Name an interval, or the value where nothing scatters."""
    is_interval = measured.lo < measured.hi
    return f"the {100 * confidence:.0f} % interval" if is_interval else "the measured value"


def with_notes(reason: str, notes: Sequence[str]) -> str:
    """Add what the verdict rests on."""
    return "; ".join([reason, *notes])
