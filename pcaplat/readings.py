"""Readings of one run: means and quantiles of its blocks, and how sure they are from it alone.

The validity gates are here: how many independent packets an interval needs
(docs/stages/compare.md).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt

import numpy as np

from pcaplat.blocks import Blocks, joined
from pcaplat.intervals import Blocking, Estimate, Floats, blocking, resamples, spread_of
from pcaplat.loss import LossEstimate
from pcaplat.scenario import MeasuredRun

LEAST_EFFECTIVE = 50
"""Independent packets that a mean's interval needs; a median's too."""

LEAST_BEYOND = 25
"""Independent packets beyond a quantile that its interval needs."""

APPROXIMATE_SHARE = 0.2
"""Of the packets needed: with so many an interval is approximate, with fewer nothing is decided."""

APPROXIMATE_FACTOR, SCANT_FACTOR = 2, 3
"""So much wider it is then, for blocks are alike themselves."""

N_RESAMPLES_OF_QUANTILES = 400

REACH = 8
"""Standard errors beyond which no resampled quantile lies."""

BIN_ERROR = 2.0**-11
"""A bin's middle is off by that share at most (rust/src/histogram.rs)."""


@dataclass(frozen=True)
class Reading:
    """A figure of one run: its value, and how sure it is from this run alone.

    `within` is None where this run's packets are too few or too much alike: `why` says so, and
    `note` what else to know. `n_effective` counts independent packets, `n_times` autocorrelation
    times.
    """

    value: float
    within: Estimate | LossEstimate | None
    n: int
    n_effective: float
    bias: float
    why: str = ""
    note: str = ""
    n_times: float = inf


def of_means(
    run: MeasuredRun,
    ends: tuple[str, str],
    sides: list[Blocks],
    least_ns: float = 0.0,
    clock_ns: float = 0.0,
) -> Reading:
    """Sum of the sides' means: of one direction, or of both.

    Args:
        run: What was measured.
        ends: Of the segment.
        sides: Its blocks, one or both directions.
        least_ns: What is taken off.
        clock_ns: How far clocks may shift it.
    """
    value = sum(side.mean_ns for side in sides) - least_ns
    n = min(side.n_all for side in sides)
    bias = clock_ns + coarse_ns(run, ends, sides)
    influence = np.sum([side.influence() for side in sides], axis=0)
    blocks = blocking(influence)
    if blocks is None:
        return Reading(value, None, n, 0.0, bias, _TOO_SHORT)
    length = blocks.length

    def means(weights: Floats) -> Floats:
        each = [
            (weights @ joined(side.sum_ns, length)) / (weights @ joined(side.n, length))
            for side in sides
        ]
        return np.asarray(np.sum(each, axis=0))

    se, df = _resampled(means, len(influence) // length)
    alone = sqrt(sum(side.variance / side.n_all for side in sides))
    n_effective = n * min(1.0, (alone / se) ** 2) if se else float(n)
    estimate = Estimate(value, se, df, bias)
    return _gated(estimate, n, n_effective / LEAST_EFFECTIVE, n_effective, blocks)


def of_ratio(parts: Floats, wholes: Floats, n: int) -> Reading:
    """Ratio of two sums over blocks of time: a rate, or a mean size.

    Args:
        parts: What is counted in each block.
        wholes: What it is counted by: seconds, frames.
        n: Frames.
    """
    total = float(wholes.sum())
    value = float(parts.sum()) / total
    blocks = blocking((parts - value * wholes) / total)
    if blocks is None:
        return Reading(value, None, n, 0.0, 0.0, _TOO_SHORT)
    length = blocks.length

    def ratios(weights: Floats) -> Floats:
        return np.asarray((weights @ joined(parts, length)) / (weights @ joined(wholes, length)))

    n_blocks = len(parts) // length
    se, df = _resampled(ratios, n_blocks)
    reading = Reading(value, Estimate(value, se, df), n, float(n_blocks), 0.0)
    return reading if blocks.is_enough else _approximate(reading)


def _approximate(reading: Reading) -> Reading:
    within = reading.within
    if not isinstance(within, Estimate):
        return reading
    return replace(
        reading, within=replace(within, se=within.se * APPROXIMATE_FACTOR), note=APPROXIMATE
    )


def of_quantile(blocks: Blocks, share: float, bias: float) -> Reading:
    """Quantile of one direction's latencies."""
    chosen = blocking(blocks.influence())
    whole, counts = blocks.histograms(1)
    value = float(quantiles(whole, counts.sum(axis=0)[None, :], share)[0])
    n = blocks.n_all
    if chosen is None:
        return Reading(value, None, n, 0.0, bias, _TOO_SHORT)
    values, counts = _nearby(*blocks.histograms(chosen.length), share)
    n_effective = mean_n_effective(blocks)
    # the value is the middle of a bin
    bias += abs(value) * BIN_ERROR

    def resampled(weights: Floats) -> Floats:
        return quantiles(values, weights[:N_RESAMPLES_OF_QUANTILES] @ counts, share)

    se, df = _resampled(resampled, len(counts))
    enough = n_effective * min(share, 1 - share) / LEAST_BEYOND
    reading = _gated(Estimate(value, se, df, bias), n, enough, n_effective, chosen)
    return replace(reading, within=None, note="") if reading.why else reading


def _nearby(values: Floats, counts: Floats, share: float) -> tuple[Floats, Floats]:
    """Leave out bins that no resampled quantile reaches; their counts go to the ends.

    By how much the blocks' shares below the quantile scatter, with room to spare.
    """
    reached = np.cumsum(counts.sum(axis=0))
    n = reached[-1]
    at = int(np.searchsorted(reached, np.ceil(share * n)))
    off = counts[:, : at + 1].sum(axis=1) - reached[at] / n * counts.sum(axis=1)
    reach = REACH * sqrt(float(off @ off)) + 1
    first = int(np.searchsorted(reached, share * n - reach))
    last = min(int(np.searchsorted(reached, share * n + reach)), len(values) - 1)
    kept = counts[:, first : last + 1].copy()
    kept[:, 0] += counts[:, :first].sum(axis=1)
    kept[:, -1] += counts[:, last + 1 :].sum(axis=1)
    return values[first : last + 1], kept


def mean_n_effective(blocks: Blocks) -> float:
    """How many independent packets would tell the mean as well; 0 if blocks cannot say."""
    chosen = blocking(blocks.influence())
    if chosen is None:
        return 0.0
    sums = joined(blocks.influence(), chosen.length)
    error = float(sums @ sums)
    return blocks.n_all * (min(1.0, blocks.variance / blocks.n_all / error) if error else 1.0)


def quantiles(values: Floats, counts: Floats, share: float) -> Floats:
    """Inverse of each row's distribution (Hyndman and Fan's type 1).

    Args:
        values: Ascending.
        counts: How often each stands, one distribution a row.
        share: Of what the quantile does not fall short of.
    """
    reached = np.cumsum(counts, axis=1)
    at = (reached < np.ceil(share * reached[:, -1:])).sum(axis=1)
    return np.asarray(values[np.minimum(at, len(values) - 1)])


def _resampled(statistic: Callable[[Floats], Floats], n_blocks: int) -> tuple[float, float]:
    """Give the standard error of a statistic, blocks resampled, and its degrees of freedom."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = statistic(resamples(n_blocks))
    return spread_of(values, n_blocks), n_blocks - 1


def _gated(
    estimate: Estimate, n: int, enough: float, n_effective: float, blocks: Blocking
) -> Reading:
    """Widen an interval where packets hardly suffice, and say where they do not."""
    value, bias = estimate.value, estimate.bias
    reading = Reading(value, estimate, n, n_effective, bias, n_times=blocks.n_times)
    if not isfinite(estimate.se):
        return replace(reading, within=None, n_effective=0.0, why=_TOO_SHORT)
    if enough >= 1 and blocks.is_enough:
        return reading
    if enough >= APPROXIMATE_SHARE:
        wide = replace(estimate, se=estimate.se * APPROXIMATE_FACTOR)
        return replace(reading, within=wide, note=APPROXIMATE)
    wide = replace(estimate, se=estimate.se * SCANT_FACTOR)
    return replace(reading, within=wide, why=TOO_ALIKE, note=SCANT)


SCANT = "where neighbours are very much alike the interval is a guess, and made three times as wide"
APPROXIMATE = (
    "where neighbours are alike for long the interval is approximate, and made twice as wide"
)
TOO_ALIKE = (
    "too little data: neighbours are so much alike, or drift so much, that the packets are worth "
    "fewer than ten independent ones; capture for longer, or one kind of traffic (--filter)"
)
_TOO_SHORT = "the run is too short to tell how alike neighbours are; leave less out with --warm-up"


def coarse_ns(
    run: MeasuredRun, ends: tuple[str, str], sides: list[Blocks], *, is_single: bool = False
) -> float:
    """Bound what coarse stamps may do to a mean: nothing, where latencies scatter enough.

    A mean over stamps of 1 µs is right if the phases of the packets are spread over a µs; where
    latencies scatter by less than half of that, traffic may keep step with the stamps. A quantile
    (`is_single`) is off by a stamp in any case.
    """
    steps_ns = [run.resolution_ns(point) for point in ends]
    step_ns = max(steps_ns)
    rounding = step_ns**2 / 6
    scatters = all(side.variance - rounding > (step_ns / 2) ** 2 for side in sides)
    return sum(steps_ns) if step_ns and (is_single or not scatters) else 0.0
