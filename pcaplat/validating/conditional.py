"""Rates at which only so much may be lost: each run of a scenario is a trial at one offered rate.

A load passes, or fails, by the rule of MLRsearch (pcaplat.statistics.conditional_rate), and only if
its losses show it: three trials or more, and the interval of their loss on one side of the goal. No
interval lies below a goal of no loss: there the trials themselves are counted, and they must be as
long as RFC 2544 has them, for buffers lose nothing at first. A load that shows neither may fail:
nothing above it counts as passed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

from pcaplat.metrics.contrasts import RUNS, Contrast, metric_of
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import read_at_points
from pcaplat.metrics.runs import LEAST_RUNS, MeasuredRun, Scenario
from pcaplat.published.claims import Claim
from pcaplat.records import dataclass
from pcaplat.statistics.conditional_rate import (
    LoadTrial,
    RateBounds,
    conditional,
    forwarded,
    next_load,
    offered,
    p_half_fail,
    passes,
    same_rates,
)
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.units import format_frac, format_ns
from pcaplat.validating.needs import CONFIDENCE, LEVEL
from pcaplat.validating.words import ClaimBounds

NS_PER_S = 1e9
LOSS = "loss-ratio"
FEW = f"too few; make {LEAST_RUNS} or more at each rate"

LEAST_TRIAL_S = 54.0
"""Trials of 60 s (RFC 2544 §24) are measured for so long, without warm-up at either end."""

LOSSLESS = (
    "{} of {} trials of {} or more lost nothing; that most trials lose nothing is shown by 6 of 6, "
    "each of 60 s (RFC 2544 §24)"
)


@dataclass(frozen=True)
class TestedLoad:
    """A load: its trials, whether their losses show that it passes or that it fails."""

    trials: Sequence[LoadTrial]
    passes: bool
    fails: bool
    doubt: str = ""

    @property
    def offered(self) -> float:
        """Mean rate of its trials."""
        return offered(self.trials)


def conditional_rate(
    claim: Claim, query: MetricQuery, scenario: Scenario, bounds: ClaimBounds
) -> Contrast:
    """Take the largest rate at which no more than the allowed share is lost.

    Args:
        claim: With the loss that its population allows.
        query: Which rate it is about.
        scenario: Each of whose runs is a trial.
        bounds: What the claim allows, for its unit.
    """
    allowed = claim.population.allowed_loss
    goal = 0.0 if allowed is None else allowed.share
    query = replace(query, direction=query.direction or "forward")
    known = [(trial, run) for run in scenario.runs if (trial := _trial(run, query)) is not None]
    if len(known) < scenario.n_runs:
        return replace(metric_of(scenario, query), estimate=None)
    known.sort(key=lambda one: one[0].offered)
    stretches = same_rates(trial.offered for trial, _ in known)
    loads = [
        _tested(known[some], query, goal, is_run=claim.scope.kind == "run") for some in stretches
    ]
    failed = min((one.offered for one in loads if one.fails), default=inf)
    doubtful = min((one.offered for one in loads if not one.passes), default=inf)
    best = max((one for one in loads if one.offered < doubtful), key=_offered, default=None)
    passed = 0.0 if best is None else forwarded(best.trials)
    further = next_load(None if best is None else best.offered, failed)
    likely, _ = conditional([one.trials for one in loads], goal)
    value = 0.0 if likely is None else forwarded(likely)
    return Contrast(
        RateBounds(value, passed, failed, further, [*_doubts(loads, bounds)]),
        value,
        n_runs=scenario.n_runs,
        replication=RUNS,
        values=[forwarded([trial]) for trial, _ in known],
    )


def _offered(load: TestedLoad) -> float:
    return load.offered


def _trial(run: MeasuredRun, query: MetricQuery) -> LoadTrial | None:
    rate, loss = (read_at_points(run, one) for one in (query, replace(query, metric=LOSS)))
    if not isinstance(rate, Measurement) or not isinstance(loss, Measurement) or loss.value >= 1:
        return None
    return LoadTrial(
        rate.value / (1 - loss.value), (run.end_ns - run.start_ns) / NS_PER_S, loss.value
    )


def _tested(
    known: Sequence[tuple[LoadTrial, MeasuredRun]],
    query: MetricQuery,
    goal: float,
    *,
    is_run: bool,
) -> TestedLoad:
    """Tell whether trials of one load show that it passes, or that it fails."""
    trials = [trial for trial, _ in known]
    if len(trials) < LEAST_RUNS and not is_run:
        return TestedLoad(trials, passes=False, fails=False, doubt=FEW)
    together = Scenario("", [run for _, run in known])
    found = metric_of(together, replace(query, metric=LOSS, statistic="mean")).estimate
    if not isinstance(found, LossEstimate):
        return TestedLoad(trials, passes=False, fails=False, doubt="their loss has no interval")
    lo, hi = found.interval(CONFIDENCE)
    does_pass = passes(trials, goal)
    if does_pass and (hi <= goal or (not goal and (is_run or _mostly_lose_nothing(trials)))):
        return TestedLoad(trials, passes=True, fails=False)
    if not does_pass and lo > goal:
        return TestedLoad(trials, passes=False, fails=True)
    if not goal:
        shortest = format_ns(min(trial.duration_s for trial in trials) * NS_PER_S)
        doubt = LOSSLESS.format(sum(not trial.loss for trial in trials), len(trials), shortest)
        return TestedLoad(trials, passes=False, fails=False, doubt=doubt)
    doubt = f"{format_frac(lo)} to {format_frac(hi)} may be lost, of {found.n:,} packets"
    return TestedLoad(trials, passes=False, fails=False, doubt=doubt)


def _mostly_lose_nothing(trials: Sequence[LoadTrial]) -> bool:
    """Tell whether trials are long enough, and surely more than half of all lose nothing."""
    is_long = min(trial.duration_s for trial in trials) >= LEAST_TRIAL_S
    return is_long and p_half_fail(trials, 0.0) <= LEVEL


def _doubts(loads: Sequence[TestedLoad], bounds: ClaimBounds) -> Iterator[str]:
    """Name the loads that decide nothing, by what they lack."""
    for doubt in dict.fromkeys(load.doubt for load in loads if load.doubt):
        rates = ", ".join(bounds.width(load.offered) for load in loads if load.doubt == doubt)
        yield f"trials at {rates} decide nothing: {doubt}"
