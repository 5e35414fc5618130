"""Compare: two scenarios become the difference, with its interval.

    baseline, treatment → comparison

The headline is the difference of the means of the two-way contribution: it needs no common clock,
and means add up along a path. Beside it stand the Hodges–Lehmann shift, the curve of quantile
differences of the one-way latencies, and loss. See docs/method/compare.md.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from pcaplat.comparing.curve import quantile_curve
from pcaplat.comparing.diagnostics import check_runs
from pcaplat.comparing.limits import Limit, limit_rows
from pcaplat.comparing.rates import rate_rows
from pcaplat.comparing.shift import shift_of
from pcaplat.errors import EvidenceError
from pcaplat.metrics.bias import between_scenarios
from pcaplat.metrics.contrasts import (
    INTERLEAVED,
    RUNS,
    UNREPLICATED,
    WITHIN,
    Change,
    Contrast,
    difference_of,
)
from pcaplat.metrics.cross_checks import cross_check_rows, cross_check_warnings
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.run_values import values_of_runs
from pcaplat.metrics.runs import LEAST_RUNS, Scenario
from pcaplat.model.blocks import Key
from pcaplat.statistics.intervals import CONFIDENCE
from pcaplat.tables.columns import Row
from pcaplat.tables.results import n_judged

SCHEMA = "pcaplat.comparison/1"


def compare(
    baseline: Scenario,
    treatment: Scenario,
    *,
    confidence: float = CONFIDENCE,
    accepts_order: bool = False,
    limit: Limit | None = None,
) -> dict[str, Any]:
    """Take the difference of two scenarios.

    Args:
        baseline: What is compared with.
        treatment: What is compared.
        confidence: Of every interval.
        accepts_order: Give intervals for runs that are not interleaved too.
        limit: How much slower the treatment may be.

    Returns:
        The document `pcaplat.comparison/1`; what has no interval says why.

    Raises:
        EvidenceError: No segment was measured in both.
    """
    keys = _common(baseline, treatment)
    pairs = list(dict.fromkeys(key[:2] for key in keys))
    is_replicated = min(baseline.n_runs, treatment.n_runs) >= LEAST_RUNS
    scenarios = (baseline, treatment)
    change: Change = partial(difference_of, *scenarios, accepts_order=accepts_order)
    contrasts = [change(MetricQuery("two-way-contribution", ends=ends)) for ends in pairs]
    document: Row = {
        "schema": SCHEMA,
        "baseline": {"name": baseline.name, "n_runs": baseline.n_runs},
        "treatment": {"name": treatment.name, "n_runs": treatment.n_runs},
        "replication": RUNS if is_replicated else WITHIN,
        "round_trips": [
            _ends(ends)
            | _means(contrast, confidence)
            | shift_of(*scenarios, ends, confidence, is_told=contrast.estimate is not None)
            for ends, contrast in zip(pairs, contrasts, strict=True)
        ],
        "segments": [_segment(*scenarios, key, confidence, change) for key in keys],
        "rates": [
            *(_losses(*scenarios, ends, confidence, change) for ends in pairs),
            *rate_rows(*scenarios, confidence, change),
        ],
    }
    document["limits"] = limit_rows(limit, pairs, treatment.ends, change, confidence)
    document["terms"] = between_scenarios([*baseline.runs, *treatment.runs])
    cross_checks = cross_check_rows(scenarios)
    document["witnesses"] = cross_checks
    document["runs"] = [row for ends in pairs for row in _runs(scenarios, ends, confidence)]
    warnings = _warnings(scenarios, contrasts, is_replicated=is_replicated)
    document["warnings"] = [*warnings, *cross_check_warnings(cross_checks)]
    return document


def _common(baseline: Scenario, treatment: Scenario) -> list[Key]:
    """Segments and directions that every run of both has, in path order, the whole path last."""
    runs = [*baseline.runs, *treatment.runs]
    keys = [key for key in baseline.runs[0].segments if all(key in run.segments for run in runs)]
    if not keys:
        raise EvidenceError.nothing_to_compare(
            (baseline.name, baseline.runs[0].path), (treatment.name, treatment.runs[0].path)
        )
    return keys


def _ends(ends: tuple[str, str]) -> Row:
    return {"near": ends[0], "far": ends[1]}


def _means(contrast: Contrast, confidence: float) -> Row:
    lo, hi = (None, None) if contrast.estimate is None else contrast.estimate.interval(confidence)
    return {
        "delta_mean_ns": contrast.value,
        "lo_ns": lo,
        "hi_ns": hi,
        "confidence": confidence,
        "baseline_mean_ns": contrast.baseline,
        "treatment_mean_ns": contrast.treatment,
        "n": contrast.n,
        "n_effective": round(contrast.n_effective, 1),
        "reason": contrast.why or None,
    }


def _segment(
    baseline: Scenario, treatment: Scenario, key: Key, confidence: float, change: Change
) -> Row:
    ends, direction = key[:2], key[2]
    query = MetricQuery("one-way-latency", ends=ends, direction=direction)
    contrast = change(query)
    row = _ends(ends) | {"direction": direction} | _means(contrast, confidence)
    is_told = contrast.replication == WITHIN or contrast.estimate is not None
    curve = quantile_curve(baseline, treatment, key, confidence) if is_told else []
    return row | {"quantiles": curve}


def _runs(scenarios: Sequence[Scenario], ends: tuple[str, str], confidence: float) -> list[Row]:
    """Give the mean of each run by itself: whether repetitions agree, and whether they drift."""
    query = MetricQuery("two-way-contribution", ends=ends)
    names = {"value": "mean_ns", "lo": "lo_ns", "hi": "hi_ns"}
    rows = values_of_runs(scenarios, query, confidence)
    return [_ends(ends) | {names.get(key, key): row[key] for key in row} for row in rows]


def _losses(
    baseline: Scenario,
    treatment: Scenario,
    ends: tuple[str, str],
    confidence: float,
    change: Change,
) -> Row:
    contrast = change(MetricQuery("loss-ratio", ends=ends))
    lo, hi = (None, None) if contrast.estimate is None else contrast.estimate.interval(confidence)
    row: Row = {"metric": "loss-ratio", "point": None} | _ends(ends)
    for name, scenario, value in (
        ("baseline", baseline, contrast.baseline),
        ("treatment", treatment, contrast.treatment),
    ):
        n, n_lost = _judged(scenario, ends)
        row |= {name: value, f"{name}_n": n - n_lost, f"{name}_n_lost": n_lost}
    return row | {"delta_frac": contrast.value, "lo_frac": lo, "hi_frac": hi}


def _judged(scenario: Scenario, ends: tuple[str, str]) -> tuple[int, int]:
    """Count the packets of which it is known whether they were lost, and those that were."""
    of_runs = (run.segments.items() for run in scenario.runs)
    rows = [row for of_run in of_runs for key, row in of_run if key[:2] == ends]
    return sum(map(n_judged, rows)), sum(row["n_lost"] for row in rows)


def _warnings(
    both: tuple[Scenario, Scenario], contrasts: Iterable[Contrast], *, is_replicated: bool
) -> list[Row]:
    listed = list(contrasts)
    notes = dict.fromkeys(note for contrast in listed for note in contrast.notes)
    notes |= dict.fromkeys(
        one.why for one in listed if one.order not in {"", INTERLEAVED} and one.why
    )
    if not is_replicated:
        notes.setdefault(UNREPLICATED)
    rows = [{"code": "replication", "point": None, "text": note} for note in notes]
    return rows + [
        {"code": diagnostic.code, "point": diagnostic.point, "text": diagnostic.text}
        for diagnostic in check_runs(both)
    ]
