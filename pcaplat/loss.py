"""Intervals of a loss ratio: losses are few, so nothing is normal about them."""

from dataclasses import dataclass
from math import inf, sqrt

from scipy.special import bdtr, bdtrc, betaincinv  # type: ignore[import-untyped]

from pcaplat.intervals import Estimate


@dataclass(frozen=True)
class LossEstimate:
    """`n_lost` of `n`, each loss by itself, with Clopper and Pearson's interval.

    `runs` is what the runs' scatter says, where there are enough: the wider of both holds.
    """

    n_lost: int
    n: int
    runs: Estimate | None = None

    @property
    def value(self) -> float:
        """The ratio."""
        return self.n_lost / self.n

    @property
    def bias(self) -> float:
        """Nothing systematic is known."""
        return 0.0

    def half_width(self, confidence: float) -> float:
        """Half the interval's width."""
        lo, hi = self.interval(confidence)
        return (hi - lo) / 2

    def interval(self, confidence: float) -> tuple[float, float]:
        """Give the interval that holds the truth with this confidence."""
        tail = (1 - confidence) / 2
        k, n = self.n_lost, self.n
        lo = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
        hi = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))
        if self.runs is None:
            return lo, hi
        low, high = self.runs.interval(confidence)
        return max(0.0, min(lo, low)), min(1.0, max(hi, high))

    def p_not_below(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or more"."""
        alone = 1.0 if limit <= 0 else float(bdtr(self.n_lost, self.n, min(limit, 1.0)))
        return alone if self.runs is None else max(alone, self.runs.p_not_below(limit))

    def p_not_above(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or less"."""
        if limit < 0:
            return 0.0
        alone = 1.0 if not self.n_lost else float(bdtrc(self.n_lost - 1, self.n, limit))
        return alone if self.runs is None else max(alone, self.runs.p_not_above(limit))

    def normal(self) -> Estimate:
        """Give an estimate that differences can be taken of (Agresti and Caffo 2000)."""
        share = (self.n_lost + 1) / (self.n + 2)
        se = sqrt(share * (1 - share) / (self.n + 2))
        if self.runs is not None and self.runs.se > se:
            return self.runs
        return Estimate(self.value, se, inf)
