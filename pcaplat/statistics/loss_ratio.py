"""Intervals of a loss ratio: losses are few, so nothing is normal about them."""

from dataclasses import replace
from math import hypot, inf, sqrt

from pcaplat import _native
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import Estimate, t_quantile
from pcaplat.statistics.scattered_shares import ScatteredShares

TAIL = 0.975


@dataclass(frozen=True)
class LossEstimate:
    """`n_lost` of `n`, with Clopper and Pearson's interval.

    Losses that come in bursts tell less than as many that come one by one: `clustering` is how many
    of them are worth one (the variance of the ratio over blocks of time by that of independent
    losses), told on `df` degrees of freedom; the interval is that of so many fewer (Korn and
    Graubard 1998). `runs` is what the runs' scatter says, where there are enough, and `scattered`
    what they may scatter by that seldom lose much: the widest of all holds. Of `n`, `n_more` may be
    lost too, as far as is known, and `n_fewer` of those lost may not be. `count_se` is the standard
    error of `n_lost` where it is a difference, because a capture missed packets, or a share of what
    was lost on one of several branches.
    """

    n_lost: int
    n: int
    runs: Estimate | None = None
    clustering: float = 1.0
    df: float = inf
    scattered: ScatteredShares | None = None
    n_more: int = 0
    n_fewer: int = 0
    count_se: float = 0.0

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
        least, most, n = self._worth
        lo = 0.0 if least == 0 else _native.beta_quantile(least, n - least + 1, tail)
        hi = 1.0 if most == n else _native.beta_quantile(most + 1, n - most, 1 - tail)
        if self.runs is None:
            return lo, hi
        low, high = self.runs.interval(confidence)
        if self.scattered is not None and self.n_lost:
            high = max(high, self.scattered.upper(tail))
        return max(0.0, min(lo, low)), min(1.0, max(hi, high))

    @property
    def _worth(self) -> tuple[float, float, float]:
        """Independent losses: the fewest that these may be worth, the most, and packets."""
        off = t_quantile(TAIL, inf) * self.count_se
        n_least = max(self.n_lost - self.n_fewer - off, 0.0)
        counts = n_least, min(self.n_lost + self.n_more + off, self.n), self.n
        if self.clustering <= 1:
            return counts
        # that they cluster so much is an estimate itself
        known = (t_quantile(TAIL, inf) / t_quantile(TAIL, self.df)) ** 2
        least, most, n = (count * known / self.clustering for count in counts)
        return least, most, n

    def p_not_below(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or more"."""
        _, most, n = self._worth
        if limit <= 0:
            alone = 1.0
        elif most == n:
            alone = 1.0 if limit <= 1 else 0.0
        else:
            alone = _native.beta_cdf(n - most, most + 1, 1 - min(limit, 1.0))
        told = [alone] if self.runs is None else [alone, self.runs.p_not_below(limit)]
        if self.scattered is not None and self.n_lost:
            told.append(self.scattered.p_not_below(limit))
        return max(told)

    def p_not_above(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or less"."""
        if limit < 0:
            return 0.0
        least, _, n = self._worth
        alone = _native.beta_cdf(least, n - least + 1, min(limit, 1.0)) if least else 1.0
        return alone if self.runs is None else max(alone, self.runs.p_not_above(limit))

    def normal(self) -> Estimate:
        """Give an estimate that differences can be taken of (Agresti and Caffo 2000)."""
        _, _, n = self._worth
        share = (self.value * n + 1) / (n + 2)
        se = hypot(sqrt(share * (1 - share) / (n + 2)), self.count_se / self.n)
        bias = max(self.n_more, self.n_fewer) / self.n
        if self.runs is not None and self.runs.se > se:
            return replace(self.runs, bias=max(self.runs.bias, bias))
        return Estimate(self.value, se, inf, bias)


def count_se_of(n_lost: int, spread: float) -> float:
    """Give the standard error that a count of losses has beside their own chance.

    Example:
        >>> count_se_of(4, 2.0), count_se_of(0, 5.0), count_se_of(9, 1.0)
        (2.0, 2.0, 0.0)

    Args:
        n_lost: Losses; a difference that came out below 1 counts as one.
        spread: How many times the variance of as many independent losses it has.
    """
    return sqrt(max(spread - 1, 0.0) * max(n_lost, 1))
