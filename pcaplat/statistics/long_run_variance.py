"""Long-run variance: how a sum of values scatters whose neighbours are alike.

It is told from a few slow waves in one run: half a period, one period, one and a half. Each is
summed against the values, and its square says how much changes as slowly as that. The slowest say
how the whole sum scatters from run to run. Few waves are few degrees of freedom, so that an
interval widens by itself.

Source: E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson, HAR Inference: Recommendations for
Practice, 2018 (equal-weighted cosines). Why so: docs/project/decisions/0036.
"""

from functools import lru_cache
from math import inf, sqrt

import numpy as np

from pcaplat import _native
from pcaplat.model.arrays import Floats
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import fisher_tail

LEAST_WAVES, MOST_WAVES = 2, 32
WAVES_IN_TIME = 0.15
"""Waves that are used, by the autocorrelation times that the values hold: faster ones are weaker
where neighbours are alike."""

VALUES_IN_WAVE = 2
"""Values that there are at least for each wave."""

LEAST_TOLD, UNKNOWN_LIKENESS = 32, 1.5**2
"""Fewer values do not tell whether they are alike: the variance is then so many times as large."""

SLOWEST, FASTER, LEAST_FASTER = 4, 60, 12
"""Waves that show changes as slow as the run is long, and how many faster ones they are held
against, at most and at least."""

PARTS = 256
"""Parts of the run, of equal variance, that the slowest waves are told from."""

SLOWER_STILL = 2.0
"""Where most changes take a quarter of the run, the variance of the sum is so many times as large
as its slowest waves show."""


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
    factor = 1 if m >= LEAST_TOLD else UNKNOWN_LIKENESS
    variance = factor * float(_waves(values, n_waves).mean())
    return LongRunVariance(variance, float(n_waves), n_times)


@dataclass(frozen=True)
class SlowChanges:
    """The slowest waves of values: `ratio` times as large as faster ones.

    Values that change no more slowly than quickly show such a ratio, or a larger one, with this
    `chance`. `variance` is that of their sum, told from the slowest waves alone, on `df` degrees of
    freedom.
    """

    variance: float
    df: float
    ratio: float
    chance: float


def slow_changes(values: Floats, spread: Floats) -> SlowChanges | None:
    """Hold the slowest waves of values against faster ones (F-test).

    A little that changes slowly adds hardly anything to how neighbours are alike, and to all but
    the slowest waves, and yet may move the mean of the run the most.

    Args:
        values: What is summed, in order of time, less its mean: it sums to 0.
        spread: The variance of each, were packets independent. It is the time of the waves, so that
            bursts in a silent run are as many waves as traffic all the time.

    Returns:
        None where there are too few values, or they never change.

    Example:
        >>> alternating = slow_changes(np.tile([1.0, -1.0], 32), np.ones(64))
        >>> alternating.ratio < 1 and alternating.chance > 0.5
        True
    """
    total = float(spread.sum())
    if not total:
        return None
    n_values = total**2 / float(spread @ spread)
    n_faster = min(int(n_values) // VALUES_IN_WAVE - SLOWEST, FASTER)
    if n_faster < LEAST_FASTER:
        return None
    at = (np.cumsum(spread) - spread / 2) / total
    parts = np.asarray(np.bincount((at * PARTS).astype(np.int64), values, PARTS), np.float64)
    waves = _waves(parts, SLOWEST + n_faster)
    slowest, faster = float(waves[:SLOWEST].mean()), float(waves[SLOWEST:].mean())
    if not faster:
        return None
    chance = fisher_tail(slowest / faster, SLOWEST, n_faster)
    return SlowChanges(SLOWER_STILL * slowest, float(SLOWEST), slowest / faster, chance)


def _waves(values: Floats, n_waves: int) -> Floats:
    """Give what each wave says of the variance of the sum, from the slowest on."""
    return np.asarray(2 * (_cosines(n_waves, len(values)) @ values) ** 2)


@lru_cache(maxsize=16)
def _cosines(n_waves: int, n_values: int) -> Floats:
    """The waves, one a row: nearly all sums of a run are of as many values."""
    phase = (np.arange(n_values) + 0.5) * np.pi / n_values
    return np.asarray(np.cos(np.outer(np.arange(1, n_waves + 1), phase)))
