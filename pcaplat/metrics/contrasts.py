"""Contrasts: a figure of a scenario, or the difference of two, with what its interval rests on.

With three runs a scenario or more the run is the unit of replication, for packets of one run share
whatever that run had of its own; runs of two scenarios that were made in turn are compared round
by round. With fewer, the interval is that within the runs, and run-to-run variance is unknown:
`notes` says so.
"""

from collections.abc import Sequence
from dataclasses import field, replace
from math import hypot
from typing import Protocol

from pcaplat.metrics.counted_quantiles import CountedQuantile, is_short, off_by_ranks
from pcaplat.metrics.latency import direction_of
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import SHARES, MetricQuery, Unavailable
from pcaplat.metrics.registry import metric_named, read_at_points
from pcaplat.metrics.runs import LEAST_RUNS, Scenario
from pcaplat.records import dataclass
from pcaplat.statistics.conditional_rate import RateBounds
from pcaplat.statistics.intervals import Estimate, across, pooled
from pcaplat.statistics.loss_pairs import of_losses
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.statistics.mean_pairs import MeanPair, RelativeChange, independent
from pcaplat.statistics.rounds import LEAST_ROUNDS, Times, of_rounds, rounds_of
from pcaplat.statistics.scattered_shares import ScatteredShares

RUNS, WITHIN = "runs", "within-run"
INTERLEAVED, ONE_AFTER_THE_OTHER, NO_ORDER = "interleaved", "in-a-row", "unknown"
UNREPLICATED = "fewer than three runs a scenario: run-to-run variance is unknown"
IN_A_ROW = (
    "the runs were not interleaved: those of one scenario came first, so that whatever else "
    "changed in between looks like the effect; run them in turn, or add --accept-order"
)
ACCEPTED = (
    "the runs of one scenario were not interleaved with the other's, and their order was accepted "
    "(--accept-order): if anything else changed in between, it is in the figure"
)
UNORDERED = (
    "the times of the runs show no order, so a change with time is not ruled out; if it does not "
    "matter, add --accept-order"
)

NEGATIVE = (
    "the baseline's latency is negative, so no relative change is reported; the clocks are off, or "
    "a declaration of them is wrong"
)

TOO_SHORT = (
    "too little data: fewer than 25 packets of a run lie beyond the quantile, so that a run does "
    "not have it itself, and neither has the difference of two; capture for longer"
)


LEAST_PAIRS_BEYOND, MANY_RUNS = 3, 6
"""Requests beyond a quantile that each run needs to have it itself. Fewer runs than so many show
too little of a long tail to bound it from above, unless `LEAST_BEYOND` lie beyond."""

FEW_PAIRS = (
    "too little data: a run has {n:,} packets or requests, of which fewer than 3 lie beyond the "
    "{name}, so that it does not have it itself; capture for longer"
)
OPEN_ABOVE = (
    "fewer than 25 packets or requests of a run lie beyond the {name}, which bounds it from below "
    "only; six runs, or longer ones, bound it from above"
)

ONE_RANK, HALF_A_RANK = 1.0, 0.5
"""How far each run's quantile may be off the same way: where the tails of two scenarios differ, not
all of it cancels."""

AnyEstimate = Estimate | LossEstimate | CountedQuantile | RelativeChange | RateBounds
"""A figure that knows how sure it is: each gives an interval, and the p-value of either side."""


@dataclass(frozen=True)
class Contrast:
    """What came out. Where nothing may be decided by it, `why` says what is missing.

    Without an estimate there is no interval at all. `order` is how runs of two scenarios lie in
    time; empty for one. `measurements` are those of the runs, of one scenario.
    """

    estimate: AnyEstimate | None = None
    value: float | None = None
    baseline: float | None = None
    treatment: float | None = None
    n_runs: int = 0
    replication: str = WITHIN
    n: int = 0
    n_effective: float = 0.0
    values: Sequence[float] = field(default=())
    notes: Sequence[str] = field(default=())
    why: str = ""
    order: str = ""
    measurements: Sequence[Measurement] = field(default=())


class Change(Protocol):
    """Takes the difference of two scenarios by one figure."""

    def __call__(self, query: MetricQuery, *, is_relative: bool = False) -> Contrast:
        """Take it, as `difference_of` does."""


def metric_of(scenario: Scenario, query: MetricQuery) -> Contrast:
    """Take a figure of one scenario."""
    answers = [read_at_points(run, query) for run in scenario.runs]
    missing = [one for one in answers if isinstance(one, Unavailable)]
    if missing:
        return Contrast(why=missing[0].why, n_runs=scenario.n_runs)
    measurements = [one for one in answers if isinstance(one, Measurement)]
    contrast, share = _of_runs(measurements), SHARES.get(query.statistic)
    is_scattered = not metric_named(query.metric).is_fixed
    if share is None or contrast.replication != RUNS or not is_scattered:
        return contrast
    short = _of_short_runs(scenario, query, measurements)
    if short is not None:
        return replace(contrast, estimate=short, value=short.value)
    return _of_quantiles(contrast, query.statistic, share)


def _of_quantiles(contrast: Contrast, name: str, share: float) -> Contrast:
    """Allow for what each run's quantile is off; where that is much, nothing is decided."""
    n, n_runs = min(one.n for one in contrast.measurements), contrast.n_runs
    if is_short(n, share, LEAST_PAIRS_BEYOND):
        return replace(contrast, estimate=None, why=FEW_PAIRS.format(n=n, name=name))
    if not isinstance(contrast.estimate, Estimate):
        return contrast
    wider = off_by_ranks(ONE_RANK, n, share, n_runs) * contrast.estimate.se
    is_open = n_runs < MANY_RUNS and is_short(n, share)
    notes = (*contrast.notes, OPEN_ABOVE.format(name=name)) if is_open else contrast.notes
    estimate = replace(contrast.estimate, se=wider, is_open=is_open)
    return replace(contrast, estimate=estimate, notes=notes)


def _of_short_runs(
    scenario: Scenario, query: MetricQuery, measurements: Sequence[Measurement]
) -> CountedQuantile | None:
    """Take a quantile by counts where a run has too few packets beyond it; None elsewhere."""
    share = SHARES.get(query.statistic)
    if share is None or not any(is_short(one.n, share) for one in measurements):
        return None
    sides = [direction_of(run, query) for run in scenario.runs]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None
    is_variation = query.metric == "delay-variation"
    origins = [some.least_ns if is_variation else 0.0 for some in known]
    bias, least = max(one.bias for one in measurements), min(one.least for one in measurements)
    return CountedQuantile(known, origins, share, bias, _together, least)


def _together(counted: Sequence[Measurement]) -> LossEstimate | None:
    """Join shares of runs as losses of runs are."""
    found = _of_runs(counted).estimate
    return found if isinstance(found, LossEstimate) else None


def _of_runs(measurements: Sequence[Measurement]) -> Contrast:
    n_runs = len(measurements)
    is_replicated = n_runs >= LEAST_RUNS
    values = [one.value for one in measurements]
    own_notes = dict.fromkeys(one.note for one in measurements if one.note)
    notes = () if is_replicated else (UNREPLICATED, *own_notes)
    why = next((one.why for one in measurements if one.why), "")
    estimate = _replicated(measurements) if is_replicated else _within(measurements)
    return Contrast(
        estimate=estimate,
        value=sum(values) / n_runs if estimate is None else estimate.value,
        n_runs=n_runs,
        replication=RUNS if is_replicated else WITHIN,
        n=sum(one.n for one in measurements),
        n_effective=sum(one.n_effective for one in measurements),
        values=values,
        notes=notes,
        why="" if is_replicated else why,
        measurements=measurements,
    )


def _replicated(measurements: Sequence[Measurement]) -> Estimate | LossEstimate:
    bias = max(one.bias for one in measurements)
    least = min(one.least for one in measurements)
    runs = across([one.value for one in measurements], bias, least)
    losses = _losses(measurements)
    return runs if losses is None else replace(losses, runs=runs)


def _within(measurements: Sequence[Measurement]) -> Estimate | LossEstimate | None:
    losses = _losses(measurements)
    if losses is not None:
        several = len(measurements) > 1
        return (
            replace(losses, runs=across([one.value for one in measurements])) if several else losses
        )
    found = [one.within for one in measurements if isinstance(one.within, Estimate)]
    return pooled(found) if len(found) == len(measurements) else None


def _losses(measurements: Sequence[Measurement]) -> LossEstimate | None:
    losses = [one.within for one in measurements if isinstance(one.within, LossEstimate)]
    if not losses:
        return None
    n_lost, n = sum(one.n_lost for one in losses), sum(one.n for one in losses)
    n_more, n_fewer = sum(one.n_more for one in losses), sum(one.n_fewer for one in losses)
    # variances of counts add up
    clustered = sum(one.n_lost * one.clustering for one in losses)
    clustering = clustered / n_lost if n_lost else max(one.clustering for one in losses)
    df = min(one.df for one in losses)
    counts = [(float(one.n_lost), float(one.n)) for one in losses]
    scattered = ScatteredShares(counts) if len(counts) >= LEAST_RUNS else None
    return LossEstimate(
        n_lost,
        n,
        clustering=clustering,
        df=df,
        scattered=scattered,
        n_more=n_more,
        n_fewer=n_fewer,
        count_se=hypot(*(one.count_se for one in losses)),
    )


def difference_of(
    baseline: Scenario,
    treatment: Scenario,
    query: MetricQuery,
    *,
    is_relative: bool = False,
    accepts_order: bool = False,
) -> Contrast:
    """Take treatment − baseline of a figure; or that as a share of the baseline's.

    Args:
        baseline: What is compared with.
        treatment: What is compared.
        query: The figure.
        is_relative: Whether the change is a share of the baseline.
        accepts_order: Whether runs that are not interleaved count as if nothing else had changed.
    """
    sides = metric_of(treatment, query), metric_of(baseline, query)
    missing = [one for one in sides if one.value is None]
    if missing:
        return replace(missing[0], n_runs=min(one.n_runs for one in sides))
    after, before = sides
    if any(_is_short(one) for one in sides):
        value = (after.value or 0.0) - (before.value or 0.0)
        n_runs = min(one.n_runs for one in sides)
        return Contrast(value=None if is_relative else value, n_runs=n_runs, why=TOO_SHORT)
    is_replicated = all(one.replication == RUNS for one in sides)
    contrast = Contrast(
        baseline=before.value,
        treatment=after.value,
        n_runs=min(one.n_runs for one in sides),
        replication=RUNS if is_replicated else WITHIN,
        n=min(one.n for one in sides),
        n_effective=min(one.n_effective for one in sides),
        notes=() if is_replicated else tuple(dict.fromkeys([*before.notes, *after.notes])),
        why="" if is_replicated else after.why or before.why,
    )
    means, why = _independent(sides), contrast.why
    if is_replicated and means is not None:
        means, order, text = _ordered(sides, query, _spans(treatment, baseline), means)
        if means is None and accepts_order:
            means, contrast = _independent(sides), replace(contrast, notes=(ACCEPTED,))
            text = ""
        contrast, why = replace(contrast, order=order), text
    if is_relative and metric_named(query.metric).base_unit == "ns" and (before.value or 0.0) < 0:
        return replace(contrast, why=NEGATIVE)
    return _changed(replace(contrast, why=why), means, is_relative=is_relative)


def _is_short(side: Contrast) -> bool:
    """Tell whether runs have too few packets beyond a quantile for a difference of two."""
    found = side.estimate
    is_open = isinstance(found, Estimate) and found.is_open
    return (
        is_open
        or isinstance(found, CountedQuantile)
        or (side.replication == RUNS and found is None)
    )


def _spans(treatment: Scenario, baseline: Scenario) -> Times:
    """When each run began and ended, of both."""
    both = [[(run.start_ns, run.end_ns) for run in one.runs] for one in (treatment, baseline)]
    return both[0], both[1]


def _ordered(
    sides: tuple[Contrast, Contrast], query: MetricQuery, times: Times, alone: MeanPair
) -> tuple[MeanPair | None, str, str]:
    """Join both sides as the order of their runs allows; say which it is, and why they cannot."""
    rounds = rounds_of((sides[0].values, sides[1].values), times)
    if not rounds:
        return None, NO_ORDER, UNORDERED
    if len(rounds) < LEAST_ROUNDS:
        return None, ONE_AFTER_THE_OTHER, IN_A_ROW
    # losses are few: what they scatter by is told by their number, not by their runs alone
    if isinstance(sides[0].estimate, LossEstimate):
        return alone, INTERLEAVED, ""
    return _off_by_ranks(of_rounds(rounds, alone.biases), sides, query), INTERLEAVED, ""


def _off_by_ranks(
    means: MeanPair, sides: tuple[Contrast, Contrast], query: MetricQuery
) -> MeanPair:
    """Allow for what runs' quantiles are off, where that does not cancel."""
    share = SHARES.get(query.statistic)
    if share is None:
        return means
    n = min(one.n for side in sides for one in side.measurements)
    n_runs = min(side.n_runs for side in sides)
    return means.widened(off_by_ranks(HALF_A_RANK, n, share, n_runs))


def _independent(sides: tuple[Contrast, Contrast]) -> MeanPair | None:
    after, before = (one.estimate for one in sides)
    if isinstance(after, LossEstimate) and isinstance(before, LossEstimate):
        return of_losses(after, before)
    if not isinstance(after, Estimate) or not isinstance(before, Estimate):
        return None
    return independent(after, before)


def _changed(contrast: Contrast, means: MeanPair | None, *, is_relative: bool) -> Contrast:
    """Give the change that two means tell, or its value alone."""
    before, after = contrast.baseline or 0.0, contrast.treatment or 0.0
    if not is_relative:
        if means is None:
            return replace(contrast, value=after - before)
        found = means.difference()
        return replace(contrast, estimate=found, value=found.value)
    value = after / before - 1 if before else None
    if means is None:
        return replace(contrast, value=value)
    change = means.relative_change()
    if change is None:
        why = "the baseline's figure may be 0, so no relative change is reported"
        return replace(contrast, value=value, why=why)
    return replace(contrast, estimate=change, value=change.value)
