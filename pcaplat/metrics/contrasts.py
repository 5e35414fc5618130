"""Contrasts: a figure of a scenario, or the difference of two, with what its interval rests on.

With five runs a scenario or more the run is the unit of replication, for packets of one run share
whatever that run had of its own. With fewer, the interval is that within the runs, and run-to-run
variance is unknown: `notes` says so.
"""

from collections.abc import Sequence
from dataclasses import field, replace

from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery, Unavailable
from pcaplat.metrics.registry import read
from pcaplat.metrics.runs import LEAST_RUNS, Scenario
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import (
    Estimate,
    RunOrder,
    across,
    difference,
    difference_of_runs,
    pooled,
    relative_change,
)
from pcaplat.statistics.loss_ratio import LossEstimate

RUNS, WITHIN = "runs", "within-run"
UNREPLICATED = "fewer than five runs a scenario: run-to-run variance is unknown"
DRIFTING = "runs change with time; a line over their order is taken out"
IN_A_ROW = (
    "the runs of one scenario were not interleaved with the other's, so a change with time could "
    "look like the effect; a line over their order is taken out, and the interval is wider for it"
)
UNORDERED = "the runs' times tell no order, so a change with time is not ruled out"


@dataclass(frozen=True)
class Contrast:
    """What came out. Where nothing may be decided by it, `why` says what is missing.

    Without an estimate there is no interval at all.
    """

    estimate: Estimate | LossEstimate | None = None
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


def metric_of(scenario: Scenario, query: MetricQuery) -> Contrast:
    """Take a figure of one scenario."""
    measurements = [read(run, query) for run in scenario.runs]
    missing = [one for one in measurements if isinstance(one, Unavailable)]
    if missing:
        return Contrast(why=missing[0].why, n_runs=scenario.n_runs)
    return _of_runs([one for one in measurements if isinstance(one, Measurement)])


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
    )


def _replicated(measurements: Sequence[Measurement]) -> Estimate | LossEstimate:
    runs = across([one.value for one in measurements], max(one.bias for one in measurements))
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
    # variances of counts add up
    clustered = sum(one.n_lost * one.clustering for one in losses)
    clustering = clustered / n_lost if n_lost else max(one.clustering for one in losses)
    df = min(one.df for one in losses)
    return LossEstimate(n_lost, n, clustering=clustering, df=df)


def difference_of(
    baseline: Scenario, treatment: Scenario, query: MetricQuery, *, is_relative: bool = False
) -> Contrast:
    """Take treatment − baseline of a figure; or that as a share of the baseline's."""
    sides = metric_of(treatment, query), metric_of(baseline, query)
    missing = [one for one in sides if one.value is None]
    if missing:
        return replace(missing[0], n_runs=min(one.n_runs for one in sides))
    after, before = sides
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
    starts = ([run.start_ns for run in treatment.runs], [run.start_ns for run in baseline.runs])
    estimate, notes = _difference(sides, starts, is_replicated=is_replicated)
    contrast = replace(contrast, notes=(*contrast.notes, *notes))
    if is_relative:
        return _relative(contrast, estimate, sides)
    value = (after.value or 0.0) - (before.value or 0.0)
    found = value if estimate is None else estimate.value
    return replace(contrast, estimate=estimate, value=found)


def _difference(
    sides: tuple[Contrast, Contrast], starts: tuple[list[int], list[int]], *, is_replicated: bool
) -> tuple[Estimate | None, tuple[str, ...]]:
    plain = _normal(sides)
    if plain is None:
        return None, ()
    alone = difference(*plain)
    if not is_replicated or isinstance(sides[0].estimate, LossEstimate):
        return alone, ()
    found, order = difference_of_runs(sides[0].values, sides[1].values, starts)
    return replace(found, bias=alone.bias), _notes_on(order)


def _normal(sides: tuple[Contrast, Contrast]) -> tuple[Estimate, Estimate] | None:
    found = [
        one.estimate.normal() if isinstance(one.estimate, LossEstimate) else one.estimate
        for one in sides
    ]
    after, before = found
    return None if after is None or before is None else (after, before)


def _relative(
    contrast: Contrast, effect: Estimate | None, sides: tuple[Contrast, Contrast]
) -> Contrast:
    plain = _normal(sides)
    if effect is None or plain is None:
        before, after = contrast.baseline, contrast.treatment
        if not before or after is None:
            return contrast
        return replace(contrast, value=(after - before) / abs(before))
    change = relative_change(effect, plain[1])
    if change is None:
        why = "the baseline's figure may well be 0, so a change relative to it says nothing"
        return replace(contrast, why=why)
    return replace(contrast, estimate=change, value=change.value)


def _notes_on(order: RunOrder) -> tuple[str, ...]:
    if order.is_interleaved is None:
        return (UNORDERED,)
    if not order.is_interleaved:
        return (IN_A_ROW,)
    return (DRIFTING,) if order.is_drifting else ()
