"""Long-run variance: how a sum of values scatters whose neighbours are alike.

It is told from a few slow waves in one run: half a period, one period, one and a half. Each is
summed against the values, and its square says how much changes as slowly as that. The slowest say
how the whole sum scatters from run to run. Few waves are few degrees of freedom, so that an
interval widens by itself.

Source: E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson, HAR Inference: Recommendations for
Practice, 2018 (equal-weighted cosines). Why so: docs/project/decisions/0036.
"""

from math import inf, sqrt

import numpy as np

from pcaplat import _native
from pcaplat.model.arrays import Floats
from pcaplat.records import dataclass

LEAST_WAVES, MOST_WAVES = 2, 32
WAVES_IN_TIME = 0.15
"""Waves that are used, by the autocorrelation times that the values hold: faster ones are weaker
where neighbours are alike."""

VALUES_IN_WAVE = 2
"""Values that there are at least for each wave."""

LEAST_TOLD, UNKNOWN_LIKENESS = 32, 1.5**2
"""Fewer values do not tell whether they are alike: the variance is then so many times as large."""


@dataclass(frozen=True)
class LongRunVariance:
    """Variance of a sum on `df` degrees of freedom, and what it was told from.

    `n_times` is how many autocorrelation times the values hold; infinite where they are not alike.
    """

    variance: float
    df: float
    n_times: float = inf


def long_run_variance(values: Floats) -> LongRunVariance:
    """Tell how a sum scatters, of which one run of values is known.

    Args:
        values: What is summed, in order of time, less its mean: it sums to 0. At least four.

    Example:
        >>> alternating = long_run_variance(np.tile([1.0, -1.0], 32))
        >>> alternating.df, alternating.variance < 64
        (9.0, True)
    """
    m = len(values)
    likeness, time = _native.autocorrelation_of(np.asarray(values, np.float64).tobytes())
    is_alike = m >= LEAST_TOLD and bool(values.any()) and abs(likeness) >= 2 / sqrt(m)
    n_times = m / time if is_alike else inf
    wanted = max(int(min(WAVES_IN_TIME * n_times, MOST_WAVES)), LEAST_WAVES)
    n_waves = min(wanted, m // VALUES_IN_WAVE)
    phase = (np.arange(m) + 0.5) * np.pi / m
    sums = np.cos(np.outer(np.arange(1, n_waves + 1), phase)) @ values
    variance = 2 * float(sums @ sums) / n_waves * (1 if m >= LEAST_TOLD else UNKNOWN_LIKENESS)
    return LongRunVariance(variance, float(n_waves), n_times)
