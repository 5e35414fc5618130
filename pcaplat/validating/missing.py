"""Packets that have no latency: lost on the way, or kept out of a capture.

A capture that drops the slow packets makes a path look fast. Where many are missing, a verdict on a
mean latency stands only if it would stand had they been as slow as the slowest percent of the
others, or as fast as the fastest one.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from pcaplat.metrics.contrasts import Contrast
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.published.claims import Claim
from pcaplat.statistics.intervals import Estimate
from pcaplat.units import format_frac, format_ns
from pcaplat.validating.needs import CONFIDENCE
from pcaplat.validating.words import ClaimBounds

BOTH_WAYS = ("two-way-contribution", "rtt")
LATENCIES = (*BOTH_WAYS, "one-way-latency")

LEAST_MISSING = 0.01
"""Fewer are lost on many a path, and move no mean by much."""

Shift = tuple[float, float]
"""How much lower and higher a mean would be, were the missing packets as fast, or as slow."""


def too_many_missing(
    claim: Claim,
    query: MetricQuery,
    scenarios: Sequence[Scenario],
    contrast: Contrast,
    bounds: ClaimBounds,
) -> str:
    """Say that packets without a latency may turn the verdict; "" where they may not.

    Args:
        claim: What is judged.
        query: Which figure it is about.
        scenarios: The one it is about, or the treatment and its baseline.
        contrast: What was measured.
        bounds: What the claim allows.
    """
    estimate = contrast.estimate
    is_judged = isinstance(estimate, Estimate) and not claim.relative and claim.statistic == "mean"
    if claim.metric not in LATENCIES or claim.scope.kind == "run" or not is_judged:
        return ""
    shares = [median(_share(run, query) for run in one.runs) for one in scenarios]
    if max(shares) < LEAST_MISSING or not isinstance(estimate, Estimate):
        return ""
    shifts = [_usual(one, query) for one in scenarios]
    down = shifts[0][0] + sum(up for _, up in shifts[1:])
    up = shifts[0][1] + sum(down for down, _ in shifts[1:])
    lo, hi = estimate.interval(CONFIDENCE)
    word = _word(lo, hi, bounds)
    if word == "" or _word(lo - down, hi + up, bounds) == word:
        return ""
    worst = max(zip(shares, scenarios, strict=True), key=lambda one: one[0])
    ends = scenarios[0].ends if query.ends is None else query.ends
    return (
        f"{worst[1].name}: {format_frac(worst[0])} of the packets between {ends[0]} and {ends[1]} "
        "have no latency: they were lost, or not captured at one end; had they been as slow as the "
        f"slowest percent, or as fast as the fastest, the mean would be {format_ns(down)} lower to "
        f"{format_ns(up)} higher, and the verdict another; capture without loss"
    )


def _word(lo: float, hi: float, bounds: ClaimBounds) -> str:
    if bounds.lo <= lo and hi <= bounds.hi:
        return "held"
    return "refuted" if hi < bounds.lo or lo > bounds.hi else ""


def _ways(query: MetricQuery) -> tuple[str, ...]:
    return ("forward", "reverse") if query.metric in BOTH_WAYS else (query.direction or "forward",)


def _share(run: MeasuredRun, query: MetricQuery) -> float:
    """Share of packets that have no latency, the larger one of both directions."""
    return max((_missing(run, query, way) for way in _ways(query)), default=0.0)


def _missing(run: MeasuredRun, query: MetricQuery, way: str) -> float:
    row = _row(run, query, way)
    n, n_lost = (row["n"], row["n_lost"]) if row else (0, 0)
    unseen = [_unseen(run, ends, way) for ends in _steps(run, query)]
    return max([n_lost / max(n + n_lost, 1), *unseen])


def _row(run: MeasuredRun, query: MetricQuery, way: str) -> Mapping[str, Any] | None:
    near, far = query.ends or run.ends
    return run.segments.get((near, far, way)) or run.segments.get((far, near, way))


def _steps(run: MeasuredRun, query: MetricQuery) -> list[tuple[str, str]]:
    """Neighbours between the ends, where the path is one chain; else none."""
    edges = [(edge["near"], edge["far"]) for edge in run.document["edges"]]
    ends = query.ends or run.ends
    if ends in edges:
        return [ends]
    is_chain = len(edges) == len(run.path) - 1 and ends == run.ends
    return edges if is_chain else []


def _unseen(run: MeasuredRun, ends: tuple[str, str], way: str) -> float:
    """Share of the frames that came out of a segment and were not captured where they went in."""
    row = run.segments.get((*ends, way))
    place = (ends[way == "forward"], way)
    out = None if run.rates is None else run.rates.row(place)
    # of what was joined or split on the way, frames are no packets
    if row is None or out is None or not out["n_frames"] or run.document["matching"]["n_coalesced"]:
        return 0.0
    known = row["n"] + (row.get("n_undecided") or 0)
    return float(max(1 - known / out["n_frames"], 0.0))


def _usual(scenario: Scenario, query: MetricQuery) -> Shift:
    shifts = [_shift(run, query) for run in scenario.runs]
    return median(down for down, _ in shifts), median(up for _, up in shifts)


def _shift(run: MeasuredRun, query: MetricQuery) -> Shift:
    """Of both directions together; what no clocks relate has variation alone."""
    down = up = 0.0
    for way in _ways(query):
        row = _row(run, query, way)
        if row is None:
            continue
        share = _missing(run, query, way)
        mean, least, high = (row[f"{name}_ns"] for name in ("mean", "min", "p99"))
        wide = row.get("pdv_p99_ns") or 0.0
        down += share * (wide if mean is None or least is None else mean - least)
        up += share * (wide if mean is None or high is None else high - mean)
    return down, up
