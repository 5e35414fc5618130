"""Figures of traffic: rates, sizes, transactions and overhead of a run.

A rate is taken where packets come out: at the far end forward, at the near end in reverse. A frame
size where they go in. Terms as in RFC 1242 and RFC 2285: a rate at which frames are lost is a
forwarding rate, and no throughput.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from pcaplat.metrics.means import Measurement, of_ratio
from pcaplat.metrics.metric import SHARES, Answer, Metric, MetricQuery, Unavailable
from pcaplat.metrics.quantiles import LEAST_PAIRED
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.metrics.traffic_blocks import Rates, TrafficRow, TrafficSeries
from pcaplat.model.blocks import N_BLOCKS
from pcaplat.tables.results import n_judged

FCS_BYTES = 4
LINE_BYTES = 24
"""FCS, preamble and least gap, which a frame takes on the line besides what is captured."""

RATES: dict[str, tuple[str, int, int]] = {
    "packet-rate": ("n_frames", 1, 0),
    "throughput-l1": ("frame_bytes", 8, LINE_BYTES),
    "throughput-l2": ("frame_bytes", 8, FCS_BYTES),
    "throughput-l3": ("l3_bytes", 8, 0),
    "goodput": ("payload_bytes", 8, 0),
}
"""Each rate: what is counted, how many units one is, and the bytes a frame has besides."""

OF_THE_LINE = ("throughput-l1", "throughput-l2")
GAPS = {"throughput-l3": "n_l3_unknown", "goodput": "n_payload_unknown"}
UNCOUNTED = (
    "the traffic of {name} was not counted, for only a sample of its packets was taken, or an "
    "earlier version wrote it; merge its captures again, whole"
)


def rate(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Give frames or bits a second, where packets come out."""
    passed = _place(run, query, is_out=True)
    if isinstance(passed, Unavailable):
        return passed
    flow, row = passed
    if query.statistic != "mean":
        return Unavailable(f"the {query.statistic} of a rate depends on how long it is taken over")
    if query.metric in OF_THE_LINE and row["l2_bps"] is None:
        return Unavailable(f"{row['point']} was not captured as Ethernet, so its line is not known")
    gap = GAPS.get(query.metric)
    if gap and row[gap]:
        what = "an IP packet" if query.metric == "throughput-l3" else "a payload"
        return Unavailable(f"{row[gap]} frames at {row['point']} are not known to carry {what}")
    column, factor, besides = RATES[query.metric]
    counts = factor * (flow.counts[column] + besides * flow.counts["n_frames"])
    seconds = np.full(len(counts), flow.length_ns / 1e9)
    measurement = of_ratio(counts.astype(np.float64), seconds, int(flow.counts["n_frames"].sum()))
    return replace(
        measurement, note="; ".join(filter(None, (measurement.note, _lossy(run, query))))
    )


def _lossy(run: MeasuredRun, query: MetricQuery) -> str:
    """Name a rate at which frames were lost as what it is."""
    row = run.segments.get((*(query.ends or run.ends), query.direction or "forward"))
    if row is None or not row["n_lost"]:
        return ""
    percent = 100 * row["n_lost"] / n_judged(row)
    return (
        f"{row['n_lost']} frames were lost, so this is PDR({percent:.2g} %), the rate at that "
        "loss, and no throughput (RFC 1242 §3.17)"
    )


def frame_size(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Give a statistic of frame sizes with FCS, as RFC 2544 counts them, where packets go in."""
    passed = _place(run, query, is_out=False)
    if isinstance(passed, Unavailable):
        return passed
    flow, row = passed
    if row["l2_bps"] is None:
        return Unavailable(
            f"{row['point']} was not captured as Ethernet, so its frames are not known"
        )
    n_frames = int(flow.counts["n_frames"].sum())
    if query.statistic == "mean":
        n = flow.counts["n_frames"].astype(np.float64)
        return of_ratio(flow.counts["frame_bytes"] + FCS_BYTES * n, n, n_frames)
    value = _statistic(run.rates.sizes if run.rates else (), row, query.statistic) + FCS_BYTES
    why = f"an interval for the {query.statistic} of frame sizes needs three runs"
    return Measurement(value, None, n_frames, n_frames, 0.0, why)


def _statistic(sizes: Sequence[TrafficRow], row: TrafficRow, statistic: str) -> float:
    place = (row["point"], row["direction"])
    mine = [one for one in sizes if (one["point"], one["direction"]) == place]
    values = np.array([one["frame_bytes"] for one in mine])
    counts = np.array([one["n_frames"] for one in mine])
    if statistic in {"min", "max"}:
        return float(values.min() if statistic == "min" else values.max())
    order = np.argsort(values)
    reached = np.cumsum(counts[order])
    at = np.searchsorted(reached, ceil(SHARES[statistic] * reached[-1]))
    return float(values[order][at])


def overhead(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Give the bytes that frames are longer at the far end than at the near end."""
    if run.rates is None:
        return Unavailable(UNCOUNTED.format(name=run.name))
    way = query.direction or "forward"
    ends = query.ends or run.ends
    rows = [row for row in run.rates.overhead if row["direction"] == way]
    chosen, sign = _along(rows, ends, run)
    if not chosen:
        return Unavailable(f"{run.name}: no packet was seen at both ends of {ends[0]} → {ends[1]}")
    n = min(row["n"] for row in chosen)
    column = {"mean": "mean_bytes", "p50": "usual_bytes"}.get(query.statistic)
    column = column or f"{query.statistic}_bytes"
    if len(chosen) > 1 and column != "mean_bytes":
        return Unavailable("only means add up along a path; name a segment")
    if column not in chosen[0]:
        return Unavailable(f"the {query.statistic} of the overhead is not measured")
    value = sign * sum(row[column] for row in chosen)
    is_constant = all(row["min_bytes"] == row["max_bytes"] for row in chosen)
    if is_constant:
        # every packet says the same
        ones = np.ones(N_BLOCKS)
        return of_ratio(value * ones, ones, n)
    why = "packets of this run grow by different sizes; an interval for their mean needs three runs"
    return Measurement(value, None, n, n, 0.0, why)


def _along(
    rows: list[TrafficRow], ends: tuple[str, str], run: MeasuredRun
) -> tuple[list[TrafficRow], int]:
    """Find the segments between two points, and whether they are named the other way round."""
    for turned, sign in ((ends, 1), (ends[::-1], -1)):
        direct = [row for row in rows if (row["near"], row["far"]) == turned]
        if direct:
            return direct, sign
    steps = [(edge["near"], edge["far"]) for edge in run.document["edges"]]
    if ends == run.ends and len(steps) == len(run.path) - 1:
        found = [row for step in steps for row in rows if (row["near"], row["far"]) == step]
        return (found if len(found) == len(steps) else []), 1
    return [], 1


def transaction_rate(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Transactions a second of all connections together, nearest the client."""
    return _of_transactions(run, query, lambda rows: sum(row["rate_tps"] or 0.0 for row in rows))


def transaction_time(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Time of a transaction, as seen at the point nearest the client."""
    if query.statistic != "mean":
        return _time_quantile(run, query)

    def mean_ns(rows: list[TrafficRow]) -> float:
        n = sum(row["n_transactions"] for row in rows)
        total_ns = sum((row["mean_ns"] or 0.0) * row["n_transactions"] for row in rows)
        return float(total_ns / n)

    return _of_transactions(run, query, mean_ns)


def _time_quantile(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Quantile over requests paired with their responses, as the client's end saw them."""
    rows = [row for row in run.document.get("transaction_times", ()) if row["side"] == "client"]
    column = f"{query.statistic}_ns"
    if query.ends:
        rows = [row for row in rows if row["point"] in query.ends]
    if not rows or rows[0].get(column) is None:
        return Unavailable(f"{run.name}: no {query.statistic} of requests is measured here")
    if len(rows) > 1:
        named = ", ".join(row["kind"] for row in rows)
        return Unavailable(f"{run.name}: requests of several kinds ({named}); --filter takes one")
    (row,) = rows
    if row["n"] * (1 - SHARES[query.statistic]) < LEAST_PAIRED:
        text = f"{row['n']:,} requests are too few for the {query.statistic} of transactions"
        return Unavailable(run.says(f"{text}: hardly one lies beyond it; capture for longer"))
    why = f"an interval for the {query.statistic} of transactions needs three runs"
    return Measurement(float(row[column]), None, row["n"], row["n"], 0.0, why)


def _of_transactions(
    run: MeasuredRun, query: MetricQuery, take: Callable[[list[TrafficRow]], float]
) -> Answer:
    if run.rates is None:
        return Unavailable(UNCOUNTED.format(name=run.name))
    if query.statistic != "mean":
        return Unavailable(f"the {query.statistic} of transactions is not measured; their mean is")
    # forward leaves the end that opens most flows
    point = (query.ends or run.ends)[0]
    rows = [
        row
        for row in run.rates.transactions
        if row["point"] == point and row["kind"] in {"rr", "crr"} and row["rate_tps"]
    ]
    kinds = sorted({(row["kind"], row["protocol"]) for row in rows})
    if not kinds:
        return Unavailable(f"{run.name}: no transactions (rr or crr) are recognised at {point}")
    if len(kinds) > 1:
        named = ", ".join(f"{kind} of IP protocol {number}" for kind, number in kinds)
        return Unavailable(
            f"{run.name}: transactions of several kinds ({named}); --filter takes one"
        )
    n = sum(row["n_transactions"] for row in rows)
    why = "an interval for a transaction rate needs three runs"
    return Measurement(float(take(rows)), None, n, n, 0.0, why)


def _place(
    run: MeasuredRun, query: MetricQuery, *, is_out: bool
) -> tuple[TrafficSeries, TrafficRow] | Unavailable:
    """Find what passed the point that a figure is taken at."""
    rates: Rates | None = run.rates
    if rates is None:
        return Unavailable(UNCOUNTED.format(name=run.name))
    way = query.direction or "forward"
    near, far = query.ends or run.ends
    point = far if (way == "forward") == is_out else near
    flow, row = rates.flows.get((point, way)), rates.row((point, way))
    if flow is None or row is None or not flow.counts["n_frames"].sum():
        return Unavailable(f"{run.name}: no packet was seen at {point} going {way}")
    return flow, row


METRICS = (
    Metric(
        "packet-rate",
        "packets per second that leave the segment or path",
        ("packet rate",),
        rate,
        is_of_frames=True,
        is_rate=True,
    ),
    Metric(
        "throughput-l1",
        "bits per second that leave it, with preamble and gap between frames",
        ("bit rate",),
        rate,
        is_of_frames=True,
        is_rate=True,
    ),
    Metric(
        "throughput-l2",
        "bits per second that leave it, in frames with their FCS",
        ("bit rate",),
        rate,
        is_of_frames=True,
        is_rate=True,
    ),
    Metric(
        "throughput-l3",
        "bits per second that leave it, in IP packets",
        ("bit rate",),
        rate,
        is_of_frames=True,
        is_rate=True,
    ),
    Metric(
        "goodput",
        "payload bits per second that leave it, without headers",
        ("bit rate",),
        rate,
        is_of_frames=True,
        is_rate=True,
    ),
    Metric(
        "frame-size",
        "bytes of a frame with its FCS, where it enters",
        ("size",),
        frame_size,
        is_of_frames=True,
    ),
    Metric(
        "encapsulation-overhead",
        "bytes by which a frame is longer at the far end than at the near end",
        ("size",),
        overhead,
        is_of_frames=True,
        is_fixed=True,
        is_signed=True,
    ),
    Metric(
        "transaction-rate",
        "transactions per second of all connections together",
        ("transaction rate",),
        transaction_rate,
        is_of_frames=True,
        is_rate=True,
    ),
    Metric(
        "transaction-time",
        "time from a request to its response, as the point nearest the client saw it",
        ("duration",),
        transaction_time,
        is_round_trip=True,
        is_of_frames=True,
    ),
)
"""Metrics of the traffic of a run. L1 counts preamble and gap, L2 the frame with its FCS, L3 the IP
packet, goodput the payload."""


def other_frames(run: MeasuredRun, query: MetricQuery, frame_bytes: list[int]) -> str:
    """Say that a run's frames are not those that a claim is about; empty where they may be.

    Args:
        run: What was measured.
        query: What is asked of it.
        frame_bytes: Sizes with FCS that the claim is about.
    """
    # a rate is one of the frames that come out, which a tunnel on the way makes longer or shorter
    passed = _place(run, query, is_out=query.metric in RATES)
    if isinstance(passed, Unavailable) or run.rates is None:
        return ""
    place = (passed[1]["point"], passed[1]["direction"])
    rows = [row for row in run.rates.sizes if (row["point"], row["direction"]) == place]
    n = sum(row["n_frames"] for row in rows)
    n_meant = sum(row["n_frames"] for row in rows if row["frame_bytes"] + FCS_BYTES in frame_bytes)
    if n_meant >= LEAST_SHARE * n:
        return ""
    asked = ", ".join(map(str, frame_bytes))
    return (
        f"{run.name}: {100 * n_meant / n:.0f} % of the frames at {place[0]} have the claim's size "
        f"({asked} bytes with FCS), median {passed[1]['p50_frame_bytes'] + FCS_BYTES} bytes; "
        "use traffic of that size, or --filter"
    )


LEAST_SHARE = 0.9
"""This share of the frames must have a size that the claim is about."""
