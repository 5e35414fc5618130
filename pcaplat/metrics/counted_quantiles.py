"""Quantiles of runs that are too short to have them: by counts, over all runs.

The 0.999 of 160 packets is the greatest of them, and lies below the true one more often than not;
no mean over runs mends that. A quantile is at most a bound if no larger share of the packets lies
beyond it, and shares are counted (David and Nagaraja, Order Statistics, 2003, §7.1).
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import inf, sqrt

import numpy as np

from pcaplat.metrics.means import Measurement
from pcaplat.metrics.quantiles import LEAST_BEYOND
from pcaplat.model.arrays import Floats
from pcaplat.model.blocks import Blocks
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import CONFIDENCE, t_quantile
from pcaplat.statistics.loss_ratio import LossEstimate

FAR_RANKS = 2.0
"""So many ranks more, shared by the packets beyond, a quantile of few packets is off."""

ROUNDING = 1e-6
"""1 − 0.99 is no round number."""

Joined = Callable[[Sequence[Measurement]], LossEstimate | None]
"""Joins what runs lost, or had beyond a bound."""


def is_short(n: float, share: float, least: float = LEAST_BEYOND) -> bool:
    """Tell whether so few packets lie beyond a quantile that a run does not have it itself."""
    return n * min(share, 1 - share) < least - ROUNDING


def off_by_ranks(ranks: float, n: float, share: float, n_runs: int) -> float:
    """How much wider an interval over runs is where each run's quantile is off by some ranks.

    A quantile of `n` packets lies up to a rank too low, on the average, and the mean over runs
    does, too. Among packets a rank is the quantile's standard deviation / √(n p (1 − p)), and runs
    scatter by that or more (David and Nagaraja, Order Statistics, 2003, §4.6). Of the few packets
    beyond it the next may be far.

    Example:
        >>> round(off_by_ranks(1.0, 2500, 0.99, 6), 2)
        1.21
    """
    n_beyond = n * min(share, 1 - share)
    far = ranks * (1 + FAR_RANKS / n_beyond)
    rank = sqrt(n_runs / (n * share * (1 - share)))
    return 1 + far * rank / t_quantile(0.5 + CONFIDENCE / 2, n_runs - 1)


@dataclass(frozen=True)
class CountedQuantile:
    """A quantile over runs, asked like an `Estimate`.

    `sides` are the latencies of each run, less `origins`; `joined` makes one share of those of the
    runs. It is `least` or more.
    """

    sides: Sequence[Blocks]
    origins: Sequence[float]
    share: float
    bias: float
    joined: Joined
    least: float = -inf

    @cached_property
    def value(self) -> float:
        """The quantile of all packets together."""
        values, counts = self._packets
        reached = np.cumsum(counts)
        return float(values[np.searchsorted(reached, np.ceil(self.share * reached[-1]))])

    @cached_property
    def _packets(self) -> tuple[Floats, Floats]:
        each = [some.bins.values - least for some, least in self._runs]
        counts = [some.bins.in_all for some, _ in self._runs]
        values, at = np.unique(np.concatenate(each), return_inverse=True)
        return values, np.asarray(np.bincount(at, np.concatenate(counts)), np.float64)

    @property
    def _runs(self) -> list[tuple[Blocks, float]]:
        return list(zip(self.sides, self.origins, strict=True))

    @property
    def se(self) -> float:
        """Standard error, by the interval's width; infinite where that is open."""
        return self.half_width(CONFIDENCE) / t_quantile(0.5 + CONFIDENCE / 2, inf)

    def half_width(self, confidence: float) -> float:
        """Half the interval's width."""
        lo, hi = self.interval(confidence)
        return (hi - lo) / 2

    def interval(self, confidence: float) -> tuple[float, float]:
        """Give the interval; open where all packets may well lie on one side of the quantile."""
        level, values = (1 - confidence) / 2, self._packets[0]
        low, high = values - self.bias, values + self.bias
        n_low = _first(len(values), lambda at: self.p_not_above(float(low[at])) > level)
        n_high = _first(len(values), lambda at: self.p_not_below(float(high[at])) <= level)
        lo = max(float(low[n_low]), self.least) if n_low else -inf
        hi = float(high[n_high]) if n_high < len(values) else inf
        return lo, hi

    def p_not_below(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or more": small, if it is surely less."""
        beyond = self._counted(limit - self.bias, is_above=True)
        return 1.0 if beyond is None else beyond.p_not_below(1 - self.share)

    def p_not_above(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or less"."""
        if limit < self.least <= self.value:
            return 0.0
        below = self._counted(limit + self.bias, is_above=False)
        return 1.0 if below is None else below.p_not_below(self.share)

    def _counted(self, limit: float, *, is_above: bool) -> LossEstimate | None:
        """Share of the packets above a limit, or of those up to it."""
        found = [_beyond(some, limit + least, is_above=is_above) for some, least in self._runs]
        return self.joined(found)


def _first(n: int, is_true: Callable[[int], bool]) -> int:
    """Find the first of `n` places of which something is true; `n` if it is of none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if is_true(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _beyond(blocks: Blocks, limit: float, *, is_above: bool) -> Measurement:
    """Count packets beyond a limit, as losses are; that bursts tell less, runs show by scatter."""
    at = int(np.searchsorted(blocks.bins.values, limit, side="right"))
    n, n_within = blocks.n_all, int(blocks.bins.in_all[:at].sum())
    counted = n - n_within if is_above else n_within
    return Measurement(counted / n, LossEstimate(counted, n), n, n, 0.0)
