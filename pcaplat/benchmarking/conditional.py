"""Conditional throughput: the bounds that trials leave where losses invert.

A device may lose frames at a slower rate and none at a faster one. RFC 2544 does not say which rate
counts then. MLRsearch does: of all loads that fail, the slowest is the upper bound; of those that
pass, the fastest below it is the lower bound, and its forwarding rate is the conditional
throughput. A load fails if more than half of its trials' time lost more than the goal allows.

Source: draft-ietf-bmwg-mlrsearch, Multiple Loss Ratio Search.
"""

from collections.abc import Sequence
from itertools import groupby
from math import inf

from pcaplat.benchmarking.measuring import Trial
from pcaplat.benchmarking.summing import alike, place_of
from pcaplat.tables.columns import Row

EXCEED_RATIO = 0.5
"""So much of a load's trials, by their duration, may lose more than the goal allows."""

GOAL_WIDTH = 0.005
"""Bounds that are no farther apart, as a share of the upper one, need no trial between them."""

Load = Sequence[Trial]


def conditional_rates(trials: Sequence[Trial], tolerance: float) -> dict[tuple[object, int], Row]:
    """Give the bounds of each direction and size, without loss and with a tolerated one.

    Args:
        trials: All of them.
        tolerance: Share of frames that may be lost at the PDR.

    Returns:
        By direction and size: conditional rates, their bounds, and the load to try next.
    """
    groups = groupby(alike(trials), key=lambda some: place_of(some[0]))
    return {
        place: {"exceed_ratio": EXCEED_RATIO}
        | _bounds("throughput", loads, 0.0)
        | _bounds("pdr", loads, tolerance)
        for place, loads in ((key, list(some)) for key, some in groups)
    }


def _bounds(name: str, loads: Sequence[Load], goal: float) -> Row:
    """Classify loads by one goal."""
    failing = [load for load in loads if not _passes(load, goal)]
    upper = min((_offered(load) for load in failing), default=inf)
    passing = [load for load in loads if _passes(load, goal) and _offered(load) < upper]
    best = max(passing, key=_offered, default=None)
    lower = None if best is None else _offered(best)
    return {
        f"{name}_conditional_pps": None if best is None else _forwarded(best),
        f"{name}_lower_load": lower,
        f"{name}_upper_load": None if upper == inf else upper,
        f"{name}_next_load": _next(lower, upper),
    }


def _next(lower: float | None, upper: float) -> float | None:
    """Load to try next: between both bounds, else twice or half of the only one."""
    if lower is None:
        return None if upper == inf else upper / 2
    if upper == inf:
        return 2 * lower
    return (lower + upper) / 2 if upper - lower > GOAL_WIDTH * upper else None


def _offered(load: Load) -> float:
    return float(sum(one.row["offered_pps"] for one in load) / len(load))


def _passes(load: Load, goal: float) -> bool:
    whole = sum(one.row["duration_s"] for one in load)
    bad = sum(one.row["duration_s"] for one in load if _loss(one) > goal)
    return bool(bad <= EXCEED_RATIO * whole)


def _forwarded(load: Load) -> float:
    """Forwarding rate by the loss that the goal's share of the time does not exceed."""
    whole, done = sum(one.row["duration_s"] for one in load), 0.0
    trials = sorted(load, key=_loss)
    for trial in trials:
        done += trial.row["duration_s"]
        if done >= (1 - EXCEED_RATIO) * whole:
            return _offered(load) * (1 - _loss(trial))
    return _offered(load) * (1 - _loss(trials[-1]))


def _loss(trial: Trial) -> float:
    """Share of frames that were lost, or cannot be told from others."""
    missing = trial.row["n_lost"] + trial.row["n_undecided"]
    n = trial.row["n_received"] + missing
    return missing / n if n else 1.0
