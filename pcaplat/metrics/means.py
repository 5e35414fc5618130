"""Measurements of one run: means and quantiles of its blocks, and how sure they are from it alone.

The validity gates are here: how many independent packets an interval needs
(docs/method/compare.md).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf, isfinite, sqrt

import numpy as np

from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.blocks import KINDS_OF_FAMILY, N_BLOCKS, Blocks, Strata, joined
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import (
    CONFIDENCE,
    Blocking,
    Estimate,
    blocking,
    resamples,
    spread_of,
)
from pcaplat.statistics.long_run_variance import SlowChanges, slow_changes
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.statistics.post_stratification import (
    Cells,
    ErrorsByKind,
    StratifiedError,
    Stratum,
    stratified_error,
)

LEAST_EFFECTIVE = 50
"""Independent packets that the interval of a mean needs, and that of a median."""

LEAST_SHARE = 0.6
"""With less than this share of the packets that an interval needs, nothing is decided."""

SURELY_ENOUGH = 1.5
"""With fewer than so many times the packets needed, or fewer than `SURE_TIMES`, an interval is made
as much wider as they are fewer where neighbours are alike: runs that just suffice look better than
they are (docs/project/decisions/0020)."""

LEAST_TIMES, SURE_TIMES = 25, 75
"""Autocorrelation times that a run must hold, and should: of fewer, they cannot be told from its
blocks."""

WIDEST = 4
"""An interval is made so many times wider at most, and a guess always."""

LEAST_EFFECTIVE_OF_MIX, LEAST_TIMES_OF_MIX = 5, 3
"""Independent packets, and autocorrelation times, that the interval of a mix of traffic needs
(docs/project/decisions/0036)."""

SLOW_TIMES, SLOW_POWER, WIDEST_OF_MIX = 12.5, 1.4, 5
"""Of so many autocorrelation times of a usual kind, the interval of a mix is twice as wide, and so
many times at most: the slowest waves that a run shows are weaker than those it is too short for."""

HARDLY_WIDER = 1.2
"""Intervals that are made wider by more than this are called approximate."""

FEW_PACKETS = 2 * N_BLOCKS
"""With fewer packets, how alike neighbours are is known too badly for an interval as it is."""

FEW_FACTOR, FEW_ALIKE_FACTOR = 1.1, 1.5
"""So many times wider an interval of few packets is; the latter where neighbours are alike."""

SELDOM = 0.01
"""With so little chance that its slowest changes are as large as they are, the interval of a mean
is told from these alone (docs/project/decisions/0036)."""


@dataclass(frozen=True)
class Measurement:
    """A figure of one run: its value, and how sure it is from this run alone.

    `within` is None where this run's packets are too few or too much alike: `why` says so, and
    `note` what else to know. `n_effective` counts independent packets, `n_times` autocorrelation
    times, `n_times_of_kind` those of a usual kind of a mix. The truth is `least` or more. `slow`
    changes made the interval wider, if not None.
    """

    value: float
    within: Estimate | LossEstimate | None
    n: int
    n_effective: float
    bias: float
    why: str = ""
    note: str = ""
    n_times: float = inf
    n_times_of_kind: float = inf
    least: float = -inf
    slow: SlowChanges | None = None

    def not_below(self, least: float) -> "Measurement":
        """Know of what is measured that it is no less."""
        within = self.within
        if isinstance(within, Estimate):
            within = replace(within, least=least)
        return replace(self, within=within, least=least)


def of_means(
    run: MeasuredRun,
    points: Sequence[str],
    sides: list[Blocks],
    least_ns: float = 0.0,
    clock_ns: float = 0.0,
) -> Measurement:
    """Sum of the sides' means: of one direction, or of both.

    Args:
        run: What was measured.
        points: Where it was: the ends of a segment.
        sides: The blocks, one or both directions.
        least_ns: What is taken off.
        clock_ns: How far clocks may shift it.
    """
    value = sum(side.mean_ns for side in sides) - least_ns
    n = min(side.n_all for side in sides)
    bias = clock_ns + coarse_ns(run, points, sides)
    influence = np.sum([side.influence() for side in sides], axis=0)
    columns = [column for side in sides for column in (side.sum_ns, side.n)]

    def means(*sums: Floats) -> Floats:
        each = [total / count for total, count in zip(sums[::2], sums[1::2], strict=True)]
        return np.asarray(np.sum(each, axis=0))

    alone = sqrt(sum(side.variance / side.n_all for side in sides))
    found = of_sums(Measurement(value, None, n, n, bias), alone, influence, columns, means)
    spread = np.sum([side.n * (side.variance / side.n_all**2) for side in sides], axis=0)
    kinds = [_errors_by_kind(run, side) for side in sides if side.strata is not None]
    if len(kinds) == len(sides):
        cells = Cells.joined([one.cells for one in kinds])
        error = stratified_error(kinds, cells, len(influence))
        found = _of_mix(found, error, max(one.n_kinds for one in kinds))
        influence, spread = cells.influence, cells.spread
    return _of_slow_changes(found, slow_changes(influence, spread), float(spread.sum()))


def _of_mix(found: Measurement, error: StratifiedError | None, n_kinds: int) -> Measurement:
    """Take the interval for the mix of traffic that was seen, unless that of all stands.

    Where kinds take turns, how they differ may hide that each changes slowly: what the mix does not
    tell, all together do not either.
    """
    if error is None or (not found.why and n_kinds == 1):
        return found
    mix = of_error(found, error)
    return found if found.why and mix.why else mix


def _of_slow_changes(found: Measurement, slow: SlowChanges | None, alone: float) -> Measurement:
    """Take the interval of the slowest changes, where chance seldom makes them so large.

    Where a run holds few autocorrelation times, its slowest waves are too weak themselves. `alone`
    is the variance of the mean, were packets independent.
    """
    within = found.within
    if slow is None or slow.chance > SELDOM or found.why or not isinstance(within, Estimate):
        return found
    told = replace(within, se=sqrt(slow.variance), df=slow.df)
    before, after = within.half_width(CONFIDENCE), told.half_width(CONFIDENCE)
    if after < before and found.n_times_of_kind < SLOW_TIMES:
        return found
    return replace(
        found,
        within=told,
        n_effective=found.n * min(1.0, alone / slow.variance),
        note=SLOW,
        slow=slow if after > HARDLY_WIDER * before else None,
    )


def of_error(found: Measurement, error: StratifiedError) -> Measurement:
    """Widen the interval of a mix by how little is known of neighbours that are alike."""
    n_effective = found.n * min(1.0, (error.alone / error.se) ** 2) if error.se else float(found.n)
    too_alike = n_effective < LEAST_EFFECTIVE_OF_MIX
    if too_alike or error.n_times < LEAST_TIMES_OF_MIX:
        guess = Estimate(found.value, error.se, error.df, found.bias)
        return _wider(found, guess, WIDEST, SCANT, TOO_ALIKE if too_alike else TOO_SLOW)
    factor = min(1 + (SLOW_TIMES / error.n_times_of_kind) ** SLOW_POWER, WIDEST_OF_MIX)
    note = APPROXIMATE if factor > HARDLY_WIDER else ""
    if found.n < FEW_PACKETS:
        factor, note = factor * FEW_FACTOR, FEW
    return replace(
        found,
        within=Estimate(found.value, error.se * factor, max(error.df, 1.0), found.bias),
        n_effective=n_effective,
        n_times=error.n_times,
        n_times_of_kind=error.n_times_of_kind,
        why="",
        note=note,
    )


def _errors_by_kind(run: MeasuredRun, side: Blocks) -> ErrorsByKind:
    """Measure the kinds of a direction; the run keeps it, for round trips ask for it again."""
    key = next((key for key, own in run.blocks.items() if own is side), None)
    known = None if key is None else run.answers.get(key)
    if not isinstance(known, ErrorsByKind):
        strata = Strata.none() if side.strata is None else side.strata
        known = ErrorsByKind.of(list(_kinds(strata)))
        if key is not None:
            run.answers[key] = known
    return known


def _kinds(strata: Strata) -> Iterator[Stratum]:
    """Give the cells of each kind."""
    edges = np.flatnonzero(np.diff(strata.kind, prepend=-1))
    for of in np.split(np.arange(len(strata.kind)), edges[1:]):
        sums = strata.sum_ns[of].astype(np.float64)
        family = int(strata.kind[of[0]]) // KINDS_OF_FAMILY
        yield Stratum(family, strata.at[of], strata.n[of], sums, strata.sum_of_squares[of])


def of_sums(
    measurement: Measurement,
    alone: float,
    influence: Floats,
    columns: Sequence[Floats | Ints],
    statistic: Callable[..., Floats],
) -> Measurement:
    """Figure that is made of sums over blocks of time.

    Args:
        measurement: Of all blocks, without an interval yet.
        alone: Its standard error, were packets independent.
        influence: What each block adds to its error; sums to 0.
        columns: What is summed, block by block.
        statistic: Makes the figure of the columns' sums.
    """
    blocks = blocking(influence)
    if blocks is None:
        return replace(measurement, n_effective=0.0, why=TRIMMED_AWAY)
    joint = [joined(column, blocks.length) for column in columns]

    def resampled(weights: Floats) -> Floats:
        return statistic(*(weights @ column for column in joint))

    se, df = resampled_error(resampled, len(influence) // blocks.length)
    se = max(se, blocks.se)
    n_effective = measurement.n * min(1.0, (alone / se) ** 2) if se else float(measurement.n)
    within = Estimate(measurement.value, se, df, measurement.bias)
    measurement = replace(measurement, within=within, n_effective=n_effective)
    return gated(measurement, blocks, n_effective / LEAST_EFFECTIVE)


def of_ratio(parts: Floats, wholes: Floats, n: int) -> Measurement:
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
        return Measurement(value, None, n, 0.0, 0.0, TRIMMED_AWAY)
    length = blocks.length

    def ratios(weights: Floats) -> Floats:
        return np.asarray((weights @ joined(parts, length)) / (weights @ joined(wholes, length)))

    n_blocks = len(parts) // length
    se, df = resampled_error(ratios, n_blocks)
    se = max(se, blocks.se)
    measurement = Measurement(value, Estimate(value, se, df), n, float(n_blocks), 0.0)
    # what never changes is known however little of it there is
    return gated(measurement, blocks, inf) if se else measurement


def resampled_error(statistic: Callable[[Floats], Floats], n_blocks: int) -> tuple[float, float]:
    """Give the standard error of a statistic, blocks resampled, and its degrees of freedom."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = statistic(resamples(n_blocks))
    return spread_of(values, n_blocks), n_blocks - 1


def gated(measurement: Measurement, blocks: Blocking, enough: float) -> Measurement:
    """Widen an interval where packets hardly suffice, and say where they do not.

    There is no other gate: a summary, a comparison and a verdict are equally sure of a figure.

    Args:
        measurement: With the interval as it was resampled.
        blocks: What was resampled.
        enough: Independent packets, by those that are needed; infinite: they do not limit it.
    """
    measurement = replace(measurement, n_times=blocks.n_times)
    within = measurement.within
    if not isinstance(within, Estimate) or not isfinite(within.se):
        return replace(measurement, within=None, n_effective=0.0, why=TOO_FEW)
    is_alike = isfinite(blocks.n_times)
    if enough < LEAST_SHARE:
        return _wider(measurement, within, WIDEST, SCANT, TOO_ALIKE)
    if blocks.n_times < LEAST_TIMES:
        return _wider(measurement, within, WIDEST, SCANT, TOO_SLOW)
    factor = _doubtful(enough, blocks.n_times) if is_alike else 1.0
    if measurement.n < FEW_PACKETS and isfinite(enough):
        factor *= FEW_ALIKE_FACTOR if is_alike else FEW_FACTOR
        return _wider(measurement, within, min(factor, WIDEST), FEW)
    if factor > 1 or enough < 1:
        return _wider(measurement, within, min(factor, WIDEST), APPROXIMATE)
    return measurement


def _doubtful(enough: float, n_times: float) -> float:
    """How much wider for how little is known of neighbours that are alike."""
    return max(1.0, SURELY_ENOUGH / enough) * max(1.0, SURE_TIMES / n_times)


def _wider(
    measurement: Measurement, within: Estimate, factor: float, note: str, why: str = ""
) -> Measurement:
    return replace(measurement, within=replace(within, se=within.se * factor), note=note, why=why)


NOT_ASKED = "not asked for: --no-intervals"
SCANT = "consecutive latencies are strongly correlated: the interval is a guess, four times as wide"
APPROXIMATE = "the effective sample size hardly suffices: the interval is approximate, and wider"
SLOW = "latency changes slowly, and the run is short for it: the interval is approximate"
FEW = "too few packets to estimate the correlation of consecutive latencies: the interval is wider"
TOO_ALIKE = (
    "effective sample size too small: consecutive latencies are strongly correlated or drift; "
    "capture for longer, or one kind of traffic (--filter)"
)
TOO_SLOW = (
    "effective sample size too small: latency changes so slowly that the run is shorter than "
    "twenty-five correlation times; capture for longer"
)
TOO_FEW = "too few packets to estimate the correlation of consecutive latencies; capture for longer"
TRIMMED_AWAY = (
    "too little is left of the run to estimate correlation; leave less out with --warm-up"
)


def coarse_ns(
    run: MeasuredRun, points: Sequence[str], sides: list[Blocks], *, is_single: bool = False
) -> float:
    """Bound what coarse stamps may do to a mean: nothing, where latencies scatter enough.

    A mean over stamps of 1 µs is right if the phases of the packets are spread over a µs; where
    latencies scatter by less than half of that, traffic may keep step with the stamps. Stamps that
    are cut are half a step early on average: of one direction, that cancels only between ends of
    the same resolution. A quantile (`is_single`) is off by a stamp in any case.
    """
    steps_ns = [run.resolution_ns(point) for point in points]
    step_ns = max(steps_ns)
    rounding = step_ns**2 / 6
    scatters = all(side.variance - rounding > (step_ns / 2) ** 2 for side in sides)
    if is_single or not scatters:
        return sum(steps_ns)
    return (step_ns - min(steps_ns)) / 2 if len(sides) == 1 else 0.0
