"""The times at which clocks are evaluated: between two of them everything is a straight line.

Evenly over the capture, and closer where a clock was slewed, for a line over its bend would leave
the interval.
"""

from collections.abc import Mapping

import numpy as np

from pcaplat.model.arrays import Bools, Ints, distinct
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.stages.align.interval import PairInterval

N_KNOTS = 257
"""Knots of an interval over the capture: clocks wander between them by nanoseconds only."""

MOST_KNOTS = 2048
"""So many are enough for slews that last a thousandth of the capture."""

OFF_NS = 1.0
OFF_FRAC = 0.02
"""An end may be off a line between two knots by this, or by this share of the interval."""


def even_knots(findings: Findings) -> Ints:
    """Times over all captures, on the clock of the path's first point."""
    start_ns, end_ns = findings.shared_time(findings.components[0])
    span_ns = max(end_ns - start_ns, 1)
    return distinct(np.linspace(0, span_ns, N_KNOTS).astype(np.int64)) + start_ns


def with_bends(knots_ns: Ints, intervals: Mapping[Pair, PairInterval]) -> Ints:
    """Add knots until every interval is nearly a straight line from each to the next."""
    bends_ns = [one.bends_ns for one in intervals.values()]
    inside = [one[(one > knots_ns[0]) & (one < knots_ns[-1])] for one in bends_ns]
    t_ns = distinct(np.concatenate([_middles(knots_ns[:-1], knots_ns[1:]), *inside]))
    t_ns = np.setdiff1d(t_ns, knots_ns, assume_unique=True)
    while len(t_ns) and len(knots_ns) < MOST_KNOTS:
        after = np.searchsorted(knots_ns, t_ns)
        around = knots_ns[after - 1], t_ns, knots_ns[after]
        is_bent = np.any([_is_bent(one, *around) for one in intervals.values()], axis=0)
        knots_ns = distinct(np.append(knots_ns, t_ns[is_bent]))
        at = np.searchsorted(knots_ns, t_ns[is_bent])
        starts = distinct(np.append(at - 1, at))
        t_ns = distinct(_middles(knots_ns[starts], knots_ns[starts + 1]))
        t_ns = np.setdiff1d(t_ns, knots_ns, assume_unique=True)
    return knots_ns


def _middles(first_ns: Ints, last_ns: Ints) -> Ints:
    return first_ns + (last_ns - first_ns) // 2


def _is_bent(interval: PairInterval, before_ns: Ints, t_ns: Ints, after_ns: Ints) -> Bools:
    """Whether an end of the interval is off the line between two times at one between them."""
    before, now, after = (interval.at(one) for one in (before_ns, t_ns, after_ns))
    share = (t_ns - before_ns) / (after_ns - before_ns)
    off = [
        np.abs(first + (last - first) * share - one)
        for first, one, last in zip(before, now, after, strict=True)
    ]
    width = now[1] - now[0]
    # of clocks that contradict each other there is no interval
    allowed = np.where(width < 0, np.inf, np.maximum(OFF_NS, OFF_FRAC * width))
    return np.asarray(np.maximum(*off) > allowed)
