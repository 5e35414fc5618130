"""Packets that have no latency: lost on the way, kept out of a capture, or left out by an option.

A capture that drops the slow packets makes a path look fast. Where many are missing, a verdict on
latencies stands only if it would stand had they been as slow as the slowest of the others, or as
fast as the fastest one. Who chooses a sample or a waiting time may choose away the packets that a
claim is about.
"""

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from statistics import median
from typing import Any

from pcaplat.metrics.contrasts import Contrast
from pcaplat.metrics.metric import SHARES, MetricQuery
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.published.claims import Claim
from pcaplat.tables.results import n_judged
from pcaplat.units import format_frac
from pcaplat.validating.needs import CONFIDENCE
from pcaplat.validating.words import ClaimBounds

BOTH_WAYS = ("two-way-contribution", "rtt", "transaction-time")
LATENCIES = (*BOTH_WAYS, "one-way-latency", "delay-variation")

LEAST_MISSING = 0.01
"""Fewer are lost on many a path, and move no mean by much."""

MOST_MISSING = 0.1
"""Of more, the slowest percent of the others does not tell how slow they would have been."""

SHARE_OF_A_TAIL = 0.1
"""Of the packets beyond a quantile, a larger share moves it."""

TCP_SHARE = 0.9
"""With so many frames of TCP, what was lost is sent again, in the same transaction."""

PAIRED = ("p50", "p90", "p95", "p99")
"""Quantiles that are known of requests paired with their responses."""

EXTREMES = {"min": "least", "max": "greatest"}

Shift = tuple[float, float]
"""How much lower and higher a figure would be, were the missing packets as fast, or as slow."""


def are_samples(scenarios: Sequence[Scenario]) -> bool:
    """Tell whether a run holds a sample of its packets: then the others may lie anywhere."""
    return any(run.is_sample for scenario in scenarios for run in scenario.runs)


def left_out(query: MetricQuery, scenarios: Sequence[Scenario]) -> str:
    """Say that packets which an option leaves out may turn a verdict; "" where they may not.

    Args:
        query: Which figure is judged.
        scenarios: The one it is about, or the treatment and its baseline.
    """
    if query.metric not in LATENCIES:
        return ""
    found = (_left_out(run, query) for scenario in scenarios for run in scenario.runs)
    return next((text for text in found if text), "")


def _left_out(run: MeasuredRun, query: MetricQuery) -> str:
    chosen = run.choices or {}
    if run.is_sample and query.statistic in EXTREMES:
        return run.says(
            f"--sample {chosen['sample']} leaves packets out, and the {EXTREMES[query.statistic]} "
            "latency of all may be that of one of them; merge all packets"
        )
    wait = chosen.get("lost_after")
    if wait and share_lost(run, query):
        return run.says(
            f"with --lost-after {wait}, slower packets count as lost, and packets were lost: had "
            "they been slower, their latencies would count; leave the option out"
        )
    return ""


def is_open_at(claim: Claim, query: MetricQuery, scenarios: Sequence[Scenario]) -> bool:
    """Tell whether so many packets lack a latency that those that have one show no extreme."""
    if claim.metric not in LATENCIES or claim.scope.kind == "run":
        return False
    return max(map(share_missing, scenarios, [query] * len(scenarios))) >= _least(query.statistic)


def share_missing(scenario: Scenario, query: MetricQuery) -> float:
    """Share of packets without a latency, in the usual run, the larger one of both directions."""
    return median(_share(run, query) for run in scenario.runs)


def _least(statistic: str) -> float:
    """Give the share that may be missing and moves the figure by little."""
    share = SHARES.get(statistic)
    return LEAST_MISSING if share is None else min(LEAST_MISSING, SHARE_OF_A_TAIL * (1 - share))


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
    if estimate is None or not is_open_at(claim, query, scenarios):
        return ""
    lo, hi = estimate.interval(CONFIDENCE)
    word = _word(lo, hi, bounds)
    if word == "":
        return ""
    shares = [share_missing(one, query) for one in scenarios]
    share, worst = max(zip(shares, scenarios, strict=True), key=lambda one: one[0])
    ends = scenarios[0].ends if query.ends is None else query.ends
    missing = (
        f"{worst.name}: {format_frac(share)} of the packets between {ends[0]} and {ends[1]} "
        "have no latency: they were lost, or not captured at one end"
    )
    if claim.metric == "transaction-time" and not all(map(_sends_again, scenarios)):
        return f"{missing}; a transaction that lacks one looks like a part of the next"
    down, up = _together(claim, query, scenarios, contrast)
    if _word(lo - down, hi + up, bounds) == word:
        return ""
    if not isfinite(down + up):
        return (
            f"{missing}; so many may be the slowest ones or the fastest, and the {claim.statistic} "
            "of all packets may then be any; capture without loss"
        )
    return (
        f"{missing}; had they been as slow as the slowest percent, or as fast as the fastest, the "
        f"{claim.statistic} would be {bounds.width(down)} lower to {bounds.width(up)} higher, and "
        "the verdict another; capture without loss"
    )


def _sends_again(scenario: Scenario) -> bool:
    known = [run.contents for run in scenario.runs]
    ends = scenario.ends
    return all(one is not None and one.share_of(ends[0], "tcp") >= TCP_SHARE for one in known)


def _together(
    claim: Claim, query: MetricQuery, scenarios: Sequence[Scenario], contrast: Contrast
) -> Shift:
    """Shift of what is judged: a figure, the difference of two, or their ratio."""
    (down, up), *others = [_usual(one, query) for one in scenarios]
    if not others:
        return down, up
    ((other_down, other_up),) = others
    if not claim.relative:
        return down + other_up, up + other_down
    after, before = contrast.treatment or 0.0, contrast.baseline or 0.0
    ratio = after / before
    highest = (after + up) / (before - other_down) if before > other_down else inf
    return ratio - (after - down) / (before + other_up), highest - ratio


def _word(lo: float, hi: float, bounds: ClaimBounds) -> str:
    if bounds.lo <= lo and hi <= bounds.hi:
        return "held"
    return "refuted" if hi < bounds.lo or lo > bounds.hi else ""


def _ways(query: MetricQuery) -> tuple[str, ...]:
    return ("forward", "reverse") if query.metric in BOTH_WAYS else (query.direction or "forward",)


def _share(run: MeasuredRun, query: MetricQuery) -> float:
    """Share of packets that have no latency, the larger one of both directions."""
    return max((_missing(run, query, way) for way in _ways(query)), default=0.0)


def share_lost(run: MeasuredRun, query: MetricQuery) -> float:
    """Share of packets that were lost, the larger one of both directions."""
    return max((_lost(run, query, way) for way in _ways(query)), default=0.0)


def _lost(run: MeasuredRun, query: MetricQuery, way: str) -> float:
    row = _row(run, query, way)
    n_lost, n = (row["n_lost"], n_judged(row)) if row else (0, 0)
    return float(n_lost / max(n, 1))


def _missing(run: MeasuredRun, query: MetricQuery, way: str) -> float:
    unseen = [_unseen(run, ends, way) for ends in _steps(run, query)]
    return max([_lost(run, query, way), *unseen])


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
    if query.statistic == "mean":
        return _of_mean(run, query)
    if query.statistic not in SHARES:
        # one packet makes an extreme, and any of the missing may be it
        return (inf, 0.0) if query.statistic == "min" else (0.0, inf)
    share, missing = SHARES[query.statistic], _share(run, query)
    if query.metric in BOTH_WAYS:
        # either half of a pair may be missing
        missing = min(sum(_missing(run, query, way) for way in _ways(query)), 1.0)
    lowest, highest = _reached(share, missing)
    if query.metric in BOTH_WAYS:
        return _of_pairs(run, query, lowest, highest)
    return _of_packets(run, query, share, (lowest, highest))


def _reached(share: float, missing: float) -> tuple[float, float]:
    """Share of the known packets below the quantile, if all that is missing lies beside it.

    Below 0 or above 1 the quantile is one of the missing packets.
    """
    known = max(1 - missing, 1e-9)
    return (share - missing) / known, share / known


def _of_packets(
    run: MeasuredRun, query: MetricQuery, share: float, reached: tuple[float, float]
) -> Shift:
    near, far = query.ends or run.ends
    way = _ways(query)[0]
    blocks = run.blocks.get((near, far, way)) or run.blocks.get((far, near, way))
    if blocks is None:
        return 0.0, 0.0
    value = blocks.quantile_ns(share) or 0.0
    low, high = (blocks.quantile_ns(at) if 0 < at < 1 else None for at in reached)
    return (inf if low is None else value - low), (inf if high is None else high - value)


def _of_pairs(run: MeasuredRun, query: MetricQuery, lowest: float, highest: float) -> Shift:
    """Of pairs some quantiles are known: the next one that is lower, and the next higher one."""
    row = _paired(run, query)
    if row is None or row.get(f"{query.statistic}_ns") is None:
        return 0.0, 0.0
    known = [(SHARES[name], float(row[f"{name}_ns"])) for name in PAIRED if row.get(f"{name}_ns")]
    value = float(row[f"{query.statistic}_ns"])
    low = max((at for share, at in known if share <= lowest), default=-inf)
    high = min((at for share, at in known if share >= highest), default=inf)
    return value - low, high - value


def _paired(run: MeasuredRun, query: MetricQuery) -> Mapping[str, Any] | None:
    ends = query.ends or run.ends
    if query.metric == "transaction-time":
        times = run.document.get("transaction_times", ())
        rows = [row for row in times if row["side"] == "client" and row["point"] in ends]
    else:
        trips = run.document["round_trips"]
        rows = [row for row in trips if (row["near"], row["far"]) in {ends, ends[::-1]}]
    return rows[0] if rows else None


def _of_mean(run: MeasuredRun, query: MetricQuery) -> Shift:
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
        up = inf if share > MOST_MISSING else up
    return down, up
