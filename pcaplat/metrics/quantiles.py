"""Quantiles of one run: of a direction's latencies, and how sure they are from it alone.

The validity gate is that of means (pcaplat.metrics.means); what a quantile's packets are worth is
told by how evenly those below it are spread over time.
"""

from dataclasses import replace
from math import sqrt

import numpy as np

from pcaplat.metrics.means import TRIMMED_AWAY, Measurement, gated, resampled_error
from pcaplat.model.arrays import Floats
from pcaplat.model.blocks import Blocks, joined
from pcaplat.model.latencies.histogram import Bins
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import Blocking, Estimate, blocking

LEAST_BEYOND = 25
"""Independent packets beyond a quantile that its interval needs."""

LEAST_PAIRED = 1.5
"""With fewer requests beyond a quantile it is next to the greatest of them, which tells nothing."""

MANY_BEYOND = 40
"""With fewer packets beyond a quantile, an interval reaches as far to both sides as it must to the
farther one."""

N_RESAMPLES_OF_QUANTILES = 400

REACH = 8
"""Standard errors beyond which no resampled quantile lies."""

BIN_ERROR = 2.0**-11
"""The middle of a histogram's bin is off by this share at most (rust/src/base/histogram.rs)."""


def of_quantile(blocks: Blocks, share: float, bias: float) -> Measurement:
    """Quantile of one direction's latencies."""
    bins = blocks.bins
    value = float(quantiles(bins.values, bins.totals(len(blocks.n))[None], share)[0])
    n = blocks.n_all
    worth = worth_of_quantile(blocks, value, share)
    if worth is None:
        return Measurement(value, None, n, 0.0, bias, TRIMMED_AWAY)
    values, counts = _nearby(bins, worth.blocks.length, share)
    reached = np.cumsum(counts, axis=1)
    # the value is the middle of a bin
    bias += abs(value) * BIN_ERROR

    def resampled(weights: Floats) -> Floats:
        return _reaching(values, weights[:N_RESAMPLES_OF_QUANTILES] @ reached, share)

    se, df = resampled_error(resampled, len(counts))
    se *= worth.wider
    n_beyond = worth.n * min(share, 1 - share)
    if n_beyond < MANY_BEYOND:
        se = max(se, _farther_side(values, counts, value, share, worth.n))
    measurement = Measurement(value, Estimate(value, se, df, bias), n, worth.n, bias)
    found = gated(measurement, worth.blocks, n_beyond / LEAST_BEYOND)
    return replace(found, within=None, note="") if found.why else found


def _farther_side(values: Floats, counts: Floats, value: float, share: float, n: float) -> float:
    """How far a standard error of its share takes a quantile, to the farther side.

    Where few packets lie beyond, and the tail is long, resampling knows the near side only.

    Source: R. S. Woodruff, Confidence Intervals for Medians and Other Position Measures, 1952.
    """
    off = sqrt(share * (1 - share) / n)
    reached = np.cumsum(counts.sum(axis=0))
    ends = [float(_reaching(values, reached[None], each)[0]) for each in (share - off, share + off)]
    return max(value - ends[0], ends[1] - value)


@dataclass(frozen=True)
class Worth:
    """How many independent packets would tell a quantile as well, and the blocks that say so.

    `wider` is how much more the likeness of fine blocks tells than the spread of joined ones.
    """

    n: float
    blocks: Blocking
    wider: float


def worth_of_quantile(blocks: Blocks, value: float, share: float) -> Worth | None:
    """Tell a quantile's worth by how evenly what lies below it is spread over time.

    Returns:
        None where there are too few blocks.
    """
    below = blocks.bins.below(int(np.searchsorted(blocks.bins.values, value, side="right")))
    n = blocks.n_all
    influence = (below - below.sum() / n * blocks.n) / n
    of_share, of_mean = blocking(influence), blocking(blocks.influence())
    if of_share is None or of_mean is None:
        return None
    sums = joined(influence, max(of_share.length, of_mean.length))
    spread = sqrt(float(sums @ sums) * len(sums) / (len(sums) - 1))
    se = max(spread, of_share.se)
    chosen = Blocking(
        max(of_share.length, of_mean.length), of_share.se, min(of_share.n_times, of_mean.n_times)
    )
    n_effective = min(1.0, share * (1 - share) / n / se**2) * n if se else float(n)
    return Worth(n_effective, chosen, se / spread if spread else 1.0)


def _nearby(bins: Bins, length: int, share: float) -> tuple[Floats, Floats]:
    """Give the bins that resampled quantiles reach, in blocks of `length` fine ones.

    By how much the blocks' shares below the quantile scatter, with room to spare; the counts of all
    others go to the ends.
    """
    reached = np.cumsum(bins.totals(bins.n_blocks // length * length))
    n = reached[-1]
    at = int(np.searchsorted(reached, np.ceil(share * n)))
    below, everything = (joined(bins.below(end), length) for end in (at + 1, len(bins.values)))
    off = below - reached[at] / n * everything
    reach = REACH * sqrt(float(off @ off)) + 1
    first = int(np.searchsorted(reached, share * n - reach))
    last = min(int(np.searchsorted(reached, share * n + reach)), len(bins.values) - 1)
    return bins.values[first : last + 1], bins.joined(length, first, last)


def quantiles(values: Floats, counts: Floats, share: float) -> Floats:
    """Inverse of each row's distribution (Hyndman and Fan's type 1).

    Args:
        values: Ascending.
        counts: How often each stands, one distribution a row.
        share: Of what the quantile does not fall short of.
    """
    return _reaching(values, np.cumsum(counts, axis=1), share)


def _reaching(values: Floats, reached: Floats, share: float) -> Floats:
    """Give the first values at which as many are reached, of all that are at the last."""
    at = (reached < np.ceil(share * reached[:, -1:])).sum(axis=1)
    return np.asarray(values[np.minimum(at, len(values) - 1)])
