"""Bursts of loss: how much a loss ratio scatters where losses come together.

Losses are counted by the block of time of their packet's last observation. Where they lie in blocks
as independent ones would, their number tells the interval; where they cluster, the resampled blocks
do (docs/method/compare.md).
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isinf, sqrt

import numpy as np

from pcaplat.metrics.means import Measurement, of_ratio
from pcaplat.model.arrays import Floats
from pcaplat.model.blocks import Blocks
from pcaplat.statistics.intervals import Estimate
from pcaplat.statistics.loss_ratio import LossEstimate

MOST_LIKELY = 3
"""Counts of independent losses hardly ever scatter by more standard deviations."""

IN_BURSTS = "losses come in bursts: {n} losses count as one independent loss"


def loss_ratio(losses: LossEstimate, sides: Sequence[Blocks]) -> Measurement:
    """Give the measurement of a loss ratio (RFC 7680).

    Args:
        losses: Packets lost, of those that were sent.
        sides: Blocks of the directions that it is of.
    """
    n_effective = losses.n / losses.clustering
    return of_losses(Measurement(losses.value, losses, losses.n, n_effective, 0.0), sides)


def of_losses(measurement: Measurement, sides: Sequence[Blocks]) -> Measurement:
    """Give the measurement of a loss ratio the interval that its bursts leave.

    Args:
        measurement: The ratio, and the interval of independent losses.
        sides: Blocks of the directions that it is of.

    Returns:
        The same where losses are independent, or fewer than two, or not told by time.
    """
    alone = measurement.within
    known = [(side.n_judged, side.n_lost) for side in sides if side.n_lost is not None]
    if not isinstance(alone, LossEstimate) or not known or len(known) < len(sides):
        return measurement
    lost = np.sum([n_lost for _, n_lost in known], axis=0).astype(np.float64)
    entered = lost + np.sum([n for n, _ in known], axis=0)
    # one loss is no burst
    if not 1 < lost.sum() < entered.sum():
        return measurement
    share = float(lost.sum() / entered.sum())
    of_blocks = of_ratio(lost, entered, alone.n)
    spread = of_blocks.within
    if not isinstance(spread, Estimate):
        return measurement
    if isinf(of_blocks.n_times) and not is_clustered(lost, entered):
        return measurement
    clustering = spread.se**2 * float(entered.sum()) / (share * (1 - share))
    if clustering <= 1:
        return measurement
    note = IN_BURSTS.format(n=f"{clustering:.2g}")
    within = replace(alone, clustering=clustering * alone.clustering, df=spread.df)
    notes = "; ".join(filter(None, (note, of_blocks.note)))
    return replace(measurement, within=within, why=of_blocks.why, note=notes)


def is_clustered(lost: Floats, entered: Floats) -> bool:
    """Tell whether losses lie in blocks more unevenly than by chance (Pearson's statistic).

    Its mean and variance are those of a multinomial with cells of unequal chance.

    Example:
        >>> import numpy as np
        >>> one_by_one, together = np.zeros(256), np.zeros(256)
        >>> one_by_one[::32], together[7] = 1, 8
        >>> entered = np.full(256, 100.0)
        >>> is_clustered(one_by_one, entered), is_clustered(together, entered)
        (False, True)
    """
    some = entered > 0
    shares = entered[some] / entered.sum()
    n, m = float(lost.sum()), len(shares)
    off = float((((lost[some] - n * shares) ** 2) / (n * shares)).sum()) - (m - 1)
    variance = 2 * (m - 1) + (float((1 / shares).sum()) - m * m - 2 * m + 2) / n
    return off > MOST_LIKELY * sqrt(max(variance, 0.0))
