"""Power: how often so many runs decide, and how many runs decide often enough.

Runs (or rounds of them) scatter normally about the value; an interval decides where all of it lies
inside the claim's bounds, or outside.
"""

from functools import lru_cache
from math import erfc, sqrt

from pcaplat import _native
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import t_quantile

N_POINTS = 64
"""Quantiles of the scatter that a few runs show, over which chances are averaged."""

MOST_RUNS = 1000
"""More are no advice."""

LEAST_RUNS = 3
USUAL_POWER, HIGH_POWER = 0.8, 0.95


@dataclass(frozen=True)
class Target:
    """A value, the bounds that it is judged by, and what one run (or round) scatters by."""

    value: float
    lo: float
    hi: float
    sd: float

    @property
    def is_inside(self) -> bool:
        """Whether the claim is true of the value."""
        return self.lo <= self.value <= self.hi

    def chance(self, n_runs: int, level: float) -> float:
        """Chance that so many runs decide, and rightly."""
        error, reach = self.sd / sqrt(n_runs), t_quantile(1 - level, n_runs - 1)
        if not error:
            return 1.0
        ends = [(edge - self.value) / error for edge in (self.lo, self.hi)]
        found = [self._chance(ends, reach * scatter) for scatter in _scatters(n_runs - 1)]
        return sum(found) / N_POINTS

    def _chance(self, ends: list[float], half: float) -> float:
        lo, hi = ends
        if self.is_inside:
            return max(_below(hi - half) - _below(lo + half), 0.0)
        return 1 - _below(hi + half) if self.value > self.hi else _below(lo - half)


def runs_needed(target: Target, power: float, level: float) -> int | None:
    """Give the least number of runs that decide so often; None if more than `MOST_RUNS`.

    Args:
        target: What is judged.
        power: The share of studies that should decide.
        level: Of an error on one side.

    Example:
        >>> runs_needed(Target(14.5, 13.3, 15.7, 0.7), 0.8, 0.025)
        6
    """
    low, high = LEAST_RUNS, LEAST_RUNS
    while target.chance(high, level) < power:
        low, high = high, 2 * high
        if low > MOST_RUNS:
            return None
    while low < high:
        middle = (low + high) // 2
        if target.chance(middle, level) < power:
            low = middle + 1
        else:
            high = middle
    return high if high <= MOST_RUNS else None


@lru_cache(maxsize=1024)
def _scatters(df: int) -> list[float]:
    """Quantiles of what runs show of their scatter, by what it is."""
    middles = ((at + 0.5) / N_POINTS for at in range(N_POINTS))
    return [sqrt(_native.gamma_quantile(df / 2, chance) * 2 / df) for chance in middles]


def _below(z: float) -> float:
    """Chance that a normal value lies below z."""
    return erfc(-z / sqrt(2)) / 2
