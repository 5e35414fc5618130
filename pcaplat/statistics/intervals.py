"""Intervals: how sure a mean, a quantile or a difference is when neighbours are alike.

Latencies of neighbouring packets are alike, so packets are never counted as independent: what is
resampled are blocks of time that are long against that likeness, or whole runs. Every function
here takes plain arrays; what they hold is the caller's affair. Why so: docs/method/compare.md.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, inf, sqrt

import numpy as np

from pcaplat import _native
from pcaplat.model.arrays import Floats
from pcaplat.records import dataclass

CONFIDENCE = 0.95
N_RESAMPLES = 2000
SEED = 20_261_120
"""Seed of resampling: the same captures give the same interval, to the last digit."""

SHORT_BLOCK = 4
"""Fine blocks that are joined in one, where the fine ones show no likeness."""

LONG_BLOCKS = (16, 32)
"""Fine blocks that are joined in one, at least and at most, where neighbours are alike: fewer and
longer blocks win."""

TIMES_IN_BLOCK = 10
"""Integrated autocorrelation times that a block should hold."""

LEAST_BLOCKS = 8
"""With fewer blocks, their spread says nothing."""


@dataclass(frozen=True)
class Estimate:
    """A value, its standard error on `df` degrees of freedom, and what no data can shrink.

    `bias` bounds the systematic error: clocks, and stamps that are too coarse. The truth is
    `least` or more: no latency is below 0, however far runs scatter. A value below it contradicts
    that, and is left as it is. Of what `is_open` nothing is known from above.
    """

    value: float
    se: float
    df: float
    bias: float = 0.0
    least: float = -inf
    is_open: bool = False

    def half_width(self, confidence: float) -> float:
        """Half the interval's width."""
        return self.bias + t_quantile(0.5 + confidence / 2, self.df) * self.se

    def interval(self, confidence: float) -> tuple[float, float]:
        """Give the interval that holds the truth with this confidence."""
        half = self.half_width(confidence)
        low, high = self.value - half, self.value + half
        high = inf if self.is_open else high
        return (max(low, self.least) if self.value >= self.least else low), high

    def p_not_below(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or more": small, if it is surely less."""
        return 1.0 if self.is_open else t_tail(limit - self.value - self.bias, self.se, self.df)

    def p_not_above(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or less"."""
        if limit < self.least <= self.value:
            return 0.0
        return t_tail(self.value - limit - self.bias, self.se, self.df)

    def scaled(self, factor: float) -> "Estimate":
        """Give the same in another unit."""
        size, least = abs(factor), self.least * factor if factor > 0 else -inf
        return Estimate(self.value * factor, self.se * size, self.df, self.bias * size, least)


def t_quantile(share: float, df: float) -> float:
    """Quantile of Student's t; of the normal distribution for infinite `df`.

    Example:
        >>> round(t_quantile(0.975, 10), 3), round(t_quantile(0.95, float("inf")), 3)
        (2.228, 1.645)
    """
    return _native.student_quantile(df, share)


def t_tail(distance: float, se: float, df: float) -> float:
    """Chance that an error of this standard error exceeds a distance."""
    if se == 0:
        return 0.0 if distance > 0 else 1.0
    return _native.student_cdf(df, -distance / se)


def fisher_tail(ratio: float, df: float, df_below: float) -> float:
    """Chance that the ratio of two estimates of one variance exceeds a value (F-test).

    Example:
        >>> round(fisher_tail(3.0, 4, 60), 3)
        0.025
    """
    return _native.beta_cdf(df_below / 2, df / 2, df_below / (df_below + df * ratio))


def across(values: Sequence[float], bias: float = 0.0, least: float = -inf) -> Estimate:
    """Estimate the mean that runs scatter about; each run is one value.

    Example:
        >>> across([1.0, 2.0, 3.0]).value
        2.0
    """
    se = float(np.std(values, ddof=1)) / sqrt(len(values))
    return Estimate(float(np.mean(values)), se, len(values) - 1, bias, least)


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """Mean of a few estimates; where they disagree by more than their errors, that counts."""
    n = len(estimates)
    value = float(np.mean([one.value for one in estimates]))
    bias, least = max(one.bias for one in estimates), min(one.least for one in estimates)
    se, df = _joined([one.se / n for one in estimates], [one.df for one in estimates])
    within = Estimate(value, se, df, bias, least)
    between = across([one.value for one in estimates], bias, least) if n > 1 else within
    return max(within, between, key=lambda one: one.half_width(CONFIDENCE))


def _joined(errors: Sequence[float], dfs: Sequence[float]) -> tuple[float, float]:
    """Standard error of a sum, and Welch and Satterthwaite's degrees of freedom."""
    variances = [error**2 for error in errors]
    total = sum(variances)
    spread = sum(v**2 / df for v, df in zip(variances, dfs, strict=True) if v)
    return sqrt(total), (total**2 / spread if spread else inf)


@dataclass(frozen=True)
class Blocking:
    """How many fine blocks make one, and what the likeness of neighbours says itself.

    Where neighbours are alike, `se` is the figure's standard error by the autocorrelation of the
    fine blocks, for where the run holds few times of it joined blocks alone tell too little;
    `n_times` is how many autocorrelation times the run holds.
    """

    length: int
    se: float = 0.0
    n_times: float = inf


def blocking(influence: Floats) -> Blocking | None:
    """Choose blocks that are long against the likeness of neighbours.

    Args:
        influence: What each fine block adds to the error of the figure; sums to 0.

    Returns:
        None where there are too few fine blocks to say anything.
    """
    return _blocking(np.asarray(influence, np.float64).tobytes())


@lru_cache(maxsize=64)
def _blocking(bytes_of_influence: bytes) -> Blocking | None:
    """Keep what was chosen: a mean's blocks are asked for with each of its quantiles."""
    influence = np.frombuffer(bytes_of_influence)
    m = len(influence)
    if m < LEAST_BLOCKS * SHORT_BLOCK:
        return None
    likeness, time = _native.autocorrelation_of(bytes_of_influence)
    if not influence.any() or abs(likeness) < 2 / sqrt(m):
        return Blocking(SHORT_BLOCK)
    least, most = LONG_BLOCKS
    length = min(max(ceil(TIMES_IN_BLOCK * time), least), most, m // LEAST_BLOCKS)
    return Blocking(length, sqrt(time * float(influence @ influence)), m / time)


def autocorrelation_time(values: Floats) -> float:
    """Integrated autocorrelation time by Geyer's initial positive sequence, at least 1."""
    return _native.autocorrelation_of(np.asarray(values, np.float64).tobytes())[1]


@lru_cache(maxsize=32)
def resamples(n_blocks: int, n: int = N_RESAMPLES) -> Floats:
    """How often each block stands in each resample: (n, n_blocks), always the same."""
    return _native.resamples(n_blocks, n)


def spread_of(resampled: Floats, n_blocks: int) -> float:
    """Give the standard error that resampled values tell, of few blocks too."""
    # a resample of too little divides by 0, or by a rounding beside it
    is_known = np.isfinite(resampled)
    told = resampled if is_known.all() else resampled[is_known]
    return float(told.std()) * sqrt(n_blocks / (n_blocks - 1))


def hodges_lehmann(x: Floats, y: Floats, confidence: float) -> tuple[float, float, float]:
    """Shift of x against y: the median of all differences, and Mann and Whitney's interval.

    Example:
        >>> hodges_lehmann(np.array([5.0, 6, 7, 8, 9]), np.array([1.0, 2, 3, 4, 5]), 0.95)
        (4.0, 1.0, 7.0)
    """
    differences = np.sort(np.subtract.outer(x, y).ravel())
    n, m = len(x), len(y)
    # one rank of continuity
    reach = t_quantile(0.5 + confidence / 2, inf) * sqrt(n * m * (n + m + 1) / 12) + 0.5
    below = min(max(int(n * m / 2 - reach), 0), len(differences) - 1)
    lo, hi = differences[below], differences[len(differences) - 1 - below]
    return float(np.median(differences)), float(lo), float(hi)


def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Tell which of several findings stand together at a level (Holm 1979).

    Example:
        >>> holm([0.04, 0.01, 0.6], 0.05), holm([0.02, 0.01, 0.04], 0.05)
        ([False, True, False], [True, True, True])
    """
    stands = [False] * len(p_values)
    for n_done, at in enumerate(np.argsort(p_values)):
        if p_values[at] > level / (len(p_values) - n_done):
            break
        stands[at] = True
    return stands
