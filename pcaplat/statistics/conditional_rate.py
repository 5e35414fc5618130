"""Conditional throughput: which loads pass where losses invert.

A device may lose frames at a slower rate and none at a faster one. RFC 2544 does not say which rate
counts then. MLRsearch does: of all loads that fail, the slowest is the upper bound; of those that
pass, the fastest below it is the lower bound, and its forwarding rate is the conditional
throughput. A load fails if more than half of its trials' time lost more than the goal allows.

Source: draft-ietf-bmwg-mlrsearch, Multiple Loss Ratio Search.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from pcaplat import _native
from pcaplat.records import dataclass

SAME_RATE = 0.01
"""Trials whose offered rates differ by no more than this share are repetitions of one."""

EXCEED_RATIO = 0.5
"""So much of a load's trials, by their duration, may lose more than the goal allows."""

GOAL_WIDTH = 0.005
"""Bounds that are no farther apart, as a share of the upper one, need no trial between them."""


@dataclass(frozen=True)
class LoadTrial:
    """One trial: the rate that was offered, its duration, and the share that was lost."""

    offered: float
    duration_s: float
    loss: float


Load = Sequence[LoadTrial]


def same_rates(rates: Iterable[float]) -> Iterator[slice]:
    """Cut ascending rates into stretches of one load.

    Example:
        >>> list(same_rates([100, 100.5, 200]))
        [slice(0, 2, None), slice(2, 3, None)]
    """
    known = list(rates)
    start = 0
    for at, rate in enumerate(known):
        if rate > known[start] * (1 + SAME_RATE):
            yield slice(start, at)
            start = at
    if known:
        yield slice(start, len(known))


def passes(load: Load, goal: float) -> bool:
    """Tell whether enough of a load's time lost no more than the goal."""
    whole = sum(one.duration_s for one in load)
    bad = sum(one.duration_s for one in load if one.loss > goal)
    return bad <= EXCEED_RATIO * whole


def p_half_fail(load: Load, goal: float) -> float:
    """Give the p-value of "half of all trials, or more, lose more than the goal" (sign test).

    Example:
        >>> round(p_half_fail(6 * [LoadTrial(100.0, 60.0, 0.0)], 0.0), 6)
        0.015625
    """
    n_bad = sum(one.loss > goal for one in load)
    n_good = len(load) - n_bad
    return _native.beta_cdf(n_good, n_bad + 1, 0.5) if n_good else 1.0


def offered(load: Load) -> float:
    """Mean rate that a load's trials were offered."""
    return sum(one.offered for one in load) / len(load)


def forwarded(load: Load) -> float:
    """Forwarding rate by the loss that the goal's share of the time does not exceed."""
    whole, done = sum(one.duration_s for one in load), 0.0
    trials = sorted(load, key=lambda one: one.loss)
    for trial in trials:
        done += trial.duration_s
        if done >= (1 - EXCEED_RATIO) * whole:
            return offered(load) * (1 - trial.loss)
    return offered(load) * (1 - trials[-1].loss)


def conditional(loads: Sequence[Load], goal: float) -> tuple[Load | None, float]:
    """Give the load of the conditional throughput, if one passes, and the slowest that fails."""
    upper = min((offered(load) for load in loads if not passes(load, goal)), default=inf)
    passing = [load for load in loads if passes(load, goal) and offered(load) < upper]
    return max(passing, key=offered, default=None), upper


def next_load(lower: float | None, upper: float) -> float | None:
    """Load to try next: between both bounds, else twice or half of the only one."""
    if lower is None:
        return None if upper == inf else upper / 2
    if upper == inf:
        return 2 * lower
    return (lower + upper) / 2 if upper - lower > GOAL_WIDTH * upper else None


@dataclass(frozen=True)
class RateBounds:
    """The largest rate that passes, between loads that surely do and surely do not.

    Asked like an `Estimate`. `value` is the conditional throughput of the trials. `passed` is the
    forwarding rate of the fastest load below all that may fail, `failed` the slowest load that
    surely fails; 0 and infinite where there is none. `further` is the load to try next, `doubts`
    are what other loads lack.
    """

    value: float
    passed: float
    failed: float
    further: float | None = None
    doubts: Sequence[str] = ()
    bias: float = 0.0

    def interval(self, _: float) -> tuple[float, float]:
        """Give both bounds: loads were tested, each at the level of a verdict."""
        return self.passed, self.failed

    def p_not_below(self, limit: float) -> float:
        """Give 0 if the truth is surely less than `limit`, else 1."""
        return 0.0 if self.failed <= limit else 1.0

    def p_not_above(self, limit: float) -> float:
        """Give 0 if the truth is surely `limit` or more, else 1."""
        return 0.0 if self.passed >= limit else 1.0
