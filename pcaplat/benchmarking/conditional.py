"""Conditional throughput of trials: the bounds that they leave where losses invert."""

from collections.abc import Sequence
from itertools import groupby
from math import inf

from pcaplat.benchmarking.measuring import Trial
from pcaplat.benchmarking.summing import alike, place_of
from pcaplat.statistics.conditional_rate import (
    EXCEED_RATIO,
    Load,
    LoadTrial,
    conditional,
    forwarded,
    next_load,
    offered,
)
from pcaplat.tables.columns import Row


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
        for place, loads in ((key, list(map(_load, some))) for key, some in groups)
    }


def _bounds(name: str, loads: Sequence[Load], goal: float) -> Row:
    """Classify loads by one goal."""
    best, upper = conditional(loads, goal)
    lower = None if best is None else offered(best)
    return {
        f"{name}_conditional_pps": None if best is None else forwarded(best),
        f"{name}_lower_load": lower,
        f"{name}_upper_load": None if upper == inf else upper,
        f"{name}_next_load": next_load(lower, upper),
    }


def _load(trials: Sequence[Trial]) -> Load:
    rows = [one.row for one in trials]
    return [LoadTrial(row["offered_pps"], row["duration_s"], _loss(row)) for row in rows]


def _loss(row: Row) -> float:
    """Share of frames that were lost, or cannot be told from others."""
    missing = row["n_lost"] + row["n_undecided"]
    n = row["n_received"] + missing
    return float(missing / n) if n else 1.0
