"""The Hodges–Lehmann shift of the two-way contribution: robust against a few odd blocks or runs."""

from typing import Any

import numpy as np

from pcaplat.metrics.latency import two_way
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.runs import LEAST_RUNS, MeasuredRun, Scenario
from pcaplat.model.arrays import Floats
from pcaplat.model.blocks import joined
from pcaplat.statistics.intervals import blocking, hodges_lehmann

LEAST_UNITS = 5
"""With fewer on a side, no order of ranks is rare enough for an interval."""

NOTHING = {"shift_ns": None, "shift_lo_ns": None, "shift_hi_ns": None}


def shift_of(
    baseline: Scenario,
    treatment: Scenario,
    ends: tuple[str, str],
    confidence: float,
    *,
    is_told: bool,
) -> dict[str, Any]:
    """Median of all differences of the units of replication: runs, else blocks within them.

    `is_told`: whether the order of the runs allows an interval.
    """
    is_replicated = min(baseline.n_runs, treatment.n_runs) >= LEAST_RUNS
    if is_replicated and not is_told:
        return dict(NOTHING)
    units = [
        np.concatenate([_units(run, ends, is_replicated=is_replicated) for run in scenario.runs])
        for scenario in (treatment, baseline)
    ]
    if min(map(len, units)) < LEAST_UNITS:
        return dict(NOTHING)
    shift, lo, hi = hodges_lehmann(units[0], units[1], confidence)
    return {"shift_ns": shift, "shift_lo_ns": lo, "shift_hi_ns": hi}


def _units(run: MeasuredRun, ends: tuple[str, str], *, is_replicated: bool) -> Floats:
    if is_replicated:
        answer = two_way(run, MetricQuery("two-way-contribution", ends=ends))
        return np.array([answer.value] if isinstance(answer, Measurement) else [])
    sides = [run.blocks.get((*ends, way)) for way in ("forward", "reverse")]
    known_sides = [side for side in sides if side is not None]
    chosen = blocking(np.sum([s.influence() for s in known_sides], axis=0)) if known_sides else None
    if chosen is None or len(known_sides) < len(sides):
        return np.array([])
    length = chosen.length
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [joined(side.sum_ns, length) / joined(side.n, length) for side in known_sides]
    both = np.asarray(np.sum(means, axis=0))
    return np.asarray(both[np.isfinite(both)])
