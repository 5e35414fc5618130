"""Latency and loss of a run: the figures that scenarios are compared by and claims are about.

Terms as in RFC 5644 (segments), RFC 2681 (round trip), RFC 5481 (delay variation), RFC 7680 (loss).
A figure that a run cannot give is `Unavailable`, with the reason: a value, no exception.
"""

from dataclasses import replace
from math import hypot

import numpy as np

from pcaplat.metrics import undecided
from pcaplat.metrics.bias import drift_ns, waiting_ns
from pcaplat.metrics.bursts import loss_ratio
from pcaplat.metrics.means import Measurement, coarse_ns, of_means
from pcaplat.metrics.metric import BOTH, SHARES, Answer, Metric, MetricQuery, Unavailable
from pcaplat.metrics.quantiles import LEAST_PAIRED, of_quantile
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.blocks import Blocks
from pcaplat.statistics.intervals import Estimate
from pcaplat.statistics.loss_ratio import LossEstimate, count_se_of
from pcaplat.tables.results import n_judged


def _ends(run: MeasuredRun, query: MetricQuery) -> tuple[str, str]:
    near, far = query.ends or run.ends
    # a claim may name the ends the other way round
    is_turned = any(key[:2] == (far, near) for key in run.segments)
    return (far, near) if is_turned else (near, far)


def _not_crossed(run: MeasuredRun, ends: tuple[str, str], where: str) -> Unavailable:
    if ends == run.ends or any(key[:2] == ends for key in run.segments):
        return Unavailable(run.says(f"no packet was matched on {where}"))
    return _no_such_segment(run, ends)


def _no_such_segment(run: MeasuredRun, ends: tuple[str, str]) -> Unavailable:
    near, far = ends
    return Unavailable(
        f"{near} and {far} are no neighbours in {run.name}, nor the ends of its path"
    )


def two_way(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Mean forward plus mean reverse: needs no common clock (RFC 2681 §2.7.1)."""
    ends = _ends(run, query)
    if query.statistic != "mean":
        return _paired(run, query, ends)
    sides = [run.blocks.get((*ends, direction)) for direction in ("forward", "reverse")]
    found = [side for side in sides if side is not None]
    if len(found) < len(sides):
        return _not_crossed(run, ends, f"{ends[0]} ⇄ {ends[1]} both ways")
    rows = [run.segments.get((*ends, direction)) for direction in ("forward", "reverse")]
    off_ns = drift_ns(run, ends, found) + waiting_ns(run, ends)
    off_ns += sum(undecided.of_mean_ns(row) for row in rows if row)
    return of_means(run, ends, found, clock_ns=off_ns)


def _paired(run: MeasuredRun, query: MetricQuery, ends: tuple[str, str]) -> Answer:
    """Quantile over requests paired with their responses; the mean needs no pairs."""
    rows = [row for row in run.document["round_trips"] if (row["near"], row["far"]) == ends]
    value = rows[0].get(f"{query.statistic}_ns") if rows else None
    sides = [run.blocks.get((*ends, direction)) for direction in ("forward", "reverse")]
    found = [side for side in sides if side is not None]
    if value is None or not found:
        return Unavailable(
            f"the {query.statistic} of a round trip needs every request paired with its response, "
            "as between two neighbouring points and on the whole path; name such points, or claim "
            "the mean"
        )
    n = rows[0]["n_paired"]
    if n * (1 - SHARES[query.statistic]) < LEAST_PAIRED:
        text = f"{n:,} requests are too few for the {query.statistic} of a round trip"
        return Unavailable(run.says(f"{text}: hardly one lies beyond it; capture for longer"))
    off_ns = coarse_ns(run, ends, found, is_single=True) + waiting_ns(run, ends)
    why = f"an interval for the {query.statistic} of round trips needs three runs"
    return Measurement(float(value), None, n, n, off_ns, why)


def one_way(run: MeasuredRun, query: MetricQuery) -> Answer:
    """One statistic of the one-way latency, and the clocks' half-width beside it."""
    return _of_direction(run, query, is_variation=False)


def variation(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Delay variation: above the least latency (RFC 5481 §4.2); needs no common clock."""
    return _of_direction(run, query, is_variation=True)


def direction_of(run: MeasuredRun, query: MetricQuery) -> Blocks | None:
    """Latencies of one direction, block by block; None if that is not what is asked for."""
    if query.metric not in {"one-way-latency", "delay-variation"}:
        return None
    return run.blocks.get((*_ends(run, query), query.direction or "forward"))


def _of_direction(run: MeasuredRun, query: MetricQuery, *, is_variation: bool) -> Answer:
    ends, way = _ends(run, query), query.direction or "forward"
    blocks, row = run.blocks.get((*ends, way)), run.segments.get((*ends, way))
    if row is None or blocks is None:
        return _not_crossed(run, ends, f"{ends[0]} → {ends[1]} {way}")
    clock_ns = row["clock_half_width_ns"]
    if clock_ns is None and not is_variation:
        return Unavailable(
            run.says(
                f"the clocks of {ends[0]} and {ends[1]} cannot be related, so no one-way latency "
                "is reported; capture both directions, or use synchronised clocks"
            )
        )
    least_ns = blocks.least_ns if is_variation else 0.0
    waiting = waiting_ns(run, ends)
    off_ns = waiting if is_variation else clock_ns + waiting
    if query.statistic == "mean":
        return of_means(run, ends, [blocks], least_ns, off_ns + undecided.of_mean_ns(row))
    if query.statistic in SHARES:
        share = SHARES[query.statistic]
        off_ns += undecided.of_quantile_ns(row, blocks, share)
        measurement = of_quantile(blocks, share, coarse_ns(run, ends, [blocks], is_single=True))
        return _shifted(measurement, least_ns, off_ns)
    extreme_ns = float(row[f"{query.statistic}_ns"] or 0.0) if clock_ns is not None else np.nan
    if np.isnan(extreme_ns):
        extreme_ns = float(blocks.middles_ns.max() if query.statistic == "max" else least_ns)
    why = f"an interval for the {query.statistic} needs three runs"
    return Measurement(extreme_ns - least_ns, None, blocks.n_all, blocks.n_all, off_ns, why)


def _shifted(measurement: Measurement, least_ns: float, bias: float) -> Measurement:
    value, total = measurement.value - least_ns, measurement.bias + bias
    within = measurement.within
    if isinstance(within, Estimate):
        within = replace(within, value=value, bias=total)
    return replace(measurement, value=value, within=within, bias=total)


def lost(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Loss ratio (RFC 7680), of both directions together unless one is asked for."""
    ends = _ends(run, query)
    ways = [query.direction] if query.direction else ["forward", "reverse"]
    rows = [run.segments[key] for way in ways if (key := (*ends, way)) in run.segments]
    if not rows:
        return _no_such_segment(run, ends)
    n_lost = sum(row["n_lost"] for row in rows)
    n = sum(n_judged(row) for row in rows)
    if not n:
        return Unavailable(
            run.says(
                f"the captures at {ends[0]} and {ends[1]} are shorter than the waiting time of a "
                "lost packet; capture for longer, or set --lost-after"
            )
        )
    sides = [run.blocks.get((*ends, way)) for way in ways]
    n_more, n_fewer = (
        sum(row.get(name) or 0 for row in rows) for name in ("n_maybe_lost", "n_maybe_late")
    )
    # results that an older version wrote have no spread
    spreads = [(row["n_lost"], row.get("lost_spread") or 1.0) for row in rows]
    count_se = hypot(*(count_se_of(*one) for one in spreads))
    losses = LossEstimate(n_lost, n, n_more=n_more, n_fewer=n_fewer, count_se=count_se)
    return loss_ratio(losses, [side for side in sides if side is not None])


METRICS = (
    Metric(
        "two-way-contribution",
        "time that a segment, or the path, adds to a round trip: mean forward + mean reverse "
        "latency; quantiles over pairs of a request and its response",
        ("duration",),
        two_way,
        is_round_trip=True,
        ways=BOTH,
    ),
    Metric(
        "one-way-latency",
        "one-way delay of packets in one direction (RFC 7679)",
        ("duration",),
        one_way,
    ),
    Metric(
        "rtt",
        "the same as two-way-contribution: the time behind the last point is not in it",
        ("duration",),
        two_way,
        is_round_trip=True,
        ways=BOTH,
    ),
    Metric(
        "delay-variation",
        "one-way delay above the least one (RFC 5481: PDV)",
        ("duration",),
        variation,
    ),
    Metric(
        "loss-ratio",
        "lost packets ÷ (lost + received) packets (RFC 7680)",
        ("share",),
        lost,
        ways=BOTH,
    ),
)
"""Metrics of the packets that crossed a segment, and of those that did not."""
