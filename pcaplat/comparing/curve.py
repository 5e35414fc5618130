"""The curve of quantile differences: where in the distribution the effect lies.

Of one-way latencies, which have quantiles without pairing requests with responses. The band holds
for all of the curve at once.
"""

from typing import Any

import numpy as np

from pcaplat.metrics.quantiles import (
    LEAST_BEYOND,
    N_RESAMPLES_OF_QUANTILES,
    quantiles,
    worth_of_quantile,
)
from pcaplat.metrics.runs import LEAST_RUNS, MeasuredRun, Scenario
from pcaplat.model.arrays import Floats
from pcaplat.model.blocks import Blocks, Key
from pcaplat.statistics.intervals import blocking, resamples, t_quantile

SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def quantile_curve(
    baseline: Scenario, treatment: Scenario, key: Key, confidence: float
) -> list[dict[str, Any]]:
    """Difference of each quantile, with a band; only quantiles that packets suffice for.

    Returns:
        Rows of share, delta_ns, lo_ns, hi_ns; none where clocks cannot be related, for then a
        one-way latency cannot be told.
    """
    is_replicated = min(baseline.n_runs, treatment.n_runs) >= LEAST_RUNS
    of_runs = _of_runs if is_replicated else _of_blocks
    sides = [of_runs(scenario, key) for scenario in (treatment, baseline)]
    clock_ns = [_clock_ns(scenario, key) for scenario in (treatment, baseline)]
    if any(side is None for side in sides) or any(half is None for half in clock_ns):
        return []
    found = [side for side in sides if side is not None]
    bias_ns = sum(half for half in clock_ns if half is not None)
    delta = found[0][0] - found[1][0]
    if is_replicated:
        half = _band_of_runs(found[0][1], found[1][1], confidence)
    else:
        half = _band_of_blocks(found[0][1] - found[1][1], delta, confidence)
    enough = _is_enough(baseline, treatment, key)
    return [
        {
            "share": share,
            "delta_ns": float(delta[at]),
            "lo_ns": float(delta[at] - half[at] - bias_ns),
            "hi_ns": float(delta[at] + half[at] + bias_ns),
        }
        for at, share in enumerate(SHARES)
        if enough[at] and np.isfinite(half[at])
    ]


def _clock_ns(scenario: Scenario, key: Key) -> float | None:
    halves = [run.segments[key]["clock_half_width_ns"] for run in scenario.runs]
    return None if any(half is None for half in halves) else max(halves)


def _of_run(run: MeasuredRun, key: Key) -> Floats | None:
    blocks = run.blocks.get(key)
    if blocks is None:
        return None
    values, counts = blocks.histograms(1)
    return np.asarray(_curve(values, counts.sum(axis=0)[None, :])[0])


def _curve(values: Floats, counts: Floats) -> Floats:
    return np.stack([quantiles(values, counts, share) for share in SHARES], axis=1)


def _of_runs(scenario: Scenario, key: Key) -> tuple[Floats, Floats] | None:
    """Mean curve, and every run's."""
    curves = [_of_run(run, key) for run in scenario.runs]
    found = [curve for curve in curves if curve is not None]
    if len(found) < len(curves):
        return None
    return np.mean(found, axis=0), np.array(found)


def _of_blocks(scenario: Scenario, key: Key) -> tuple[Floats, Floats] | None:
    """Mean curve, and that of every resample, whose runs are resampled alike."""
    sides = [_resampled(run.blocks.get(key)) for run in scenario.runs]
    found = [side for side in sides if side is not None]
    curves = [_of_run(run, key) for run in scenario.runs]
    if len(found) < len(sides):
        return None
    return np.mean([c for c in curves if c is not None], axis=0), np.mean(found, axis=0)


def _resampled(blocks: Blocks | None) -> Floats | None:
    chosen = None if blocks is None else blocking(blocks.influence())
    if blocks is None or chosen is None:
        return None
    values, counts = blocks.histograms(chosen.length)
    return _curve(values, resamples(len(counts), N_RESAMPLES_OF_QUANTILES) @ counts)


def _band_of_runs(treatment: Floats, baseline: Floats, confidence: float) -> Floats:
    """Half-width that covers all quantiles together, by Bonferroni: runs are few."""
    variances = [runs.var(axis=0, ddof=1) / len(runs) for runs in (treatment, baseline)]
    df = min(len(treatment), len(baseline)) - 1
    reach = t_quantile(1 - (1 - confidence) / (2 * len(SHARES)), df)
    return np.asarray(reach * np.sqrt(sum(variances)))


def _band_of_blocks(resampled: Floats, delta: Floats, confidence: float) -> Floats:
    """Half-width by the largest deviation over the curve, in standard errors."""
    se = np.maximum(resampled.std(axis=0), 1e-9)
    largest = np.max(np.abs(resampled - delta) / se, axis=1)
    return np.asarray(np.quantile(largest, confidence) * se)


def _is_enough(baseline: Scenario, treatment: Scenario, key: Key) -> list[bool]:
    worths = [
        np.sum([_worth(run.blocks[key]) for run in scenario.runs], axis=0)
        for scenario in (baseline, treatment)
    ]
    beyond = np.minimum(*worths) * np.minimum(SHARES, 1 - np.array(SHARES))
    return [bool(n >= LEAST_BEYOND) for n in beyond]


def _worth(blocks: Blocks) -> list[float]:
    """Independent packets that tell each quantile as well."""
    values, counts = blocks.histograms(1)
    curve = _curve(values, counts.sum(axis=0)[None, :])[0]
    worths = [worth_of_quantile(blocks, at, share) for at, share in zip(curve, SHARES, strict=True)]
    return [0.0 if worth is None else worth.n for worth in worths]
