"""Figures of cost: busy processors and used memory, for each unit of traffic and in all.

Samples are intervals of an instrument's time; the traffic in each is counted from the
captures, so that the ratio is that of the same time. What the host does besides is in it.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pcaplat.instruments import NS_PER_S, UsageSamples
from pcaplat.metrics.means import Measurement, of_ratio
from pcaplat.metrics.metric import OF_HOST, Answer, Metric, MetricQuery, Unavailable
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.metrics.traffic import FCS_BYTES, UNCOUNTED, transaction_rate
from pcaplat.metrics.traffic_blocks import TrafficSeries
from pcaplat.model.arrays import Floats
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import LEAST_BLOCKS, SHORT_BLOCK, Estimate

NO_SAMPLES = (
    "{name}: no {what} samples; name them in the study file: [instruments.{key}] "
    "(docs/prove/instruments.md)"
)
COARSE = "{what} samples have timestamps in whole seconds; traffic up to a second away may count"
OF_MEMORY = "memory-"

LEAST_SAMPLES = LEAST_BLOCKS * SHORT_BLOCK
FEW = (
    "{n} {what} samples are too few for an interval, which takes {least}; sample more often or for "
    "longer, or make three runs"
)


@dataclass(frozen=True)
class Joined:
    """Samples that lie wholly in the captures' time: load times seconds, and the seconds."""

    load_s: Floats
    seconds: Floats
    edges_ns: tuple[np.ndarray, np.ndarray]
    note: str


def used(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Give the mean over the time that the captures cover."""
    return _per(run, query, lambda _, joined: joined.seconds)


def per_100kpps(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Give the load per 100,000 packets a second, at the near end, both ways unless one is said."""
    return _per_traffic(run, query, lambda flow: flow.counts["n_frames"] / 1e5)


def per_gbps(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Give the load per Gb/s on L2 (frames with FCS), as `per_100kpps` does per packets."""

    def gigabits(flow: TrafficSeries) -> Floats:
        n_bytes = flow.counts["frame_bytes"] + FCS_BYTES * flow.counts["n_frames"]
        return np.asarray(n_bytes * 8e-9)

    return _per_traffic(run, query, gigabits)


def per_ktps(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Give the load per thousand transactions a second."""
    rate = transaction_rate(run, replace(query, metric="transaction-rate"))
    load = used(run, query)
    if isinstance(rate, Unavailable) or isinstance(load, Unavailable):
        return rate if isinstance(rate, Unavailable) else load
    factor = 1000 / rate.value
    within = load.within.scaled(factor) if isinstance(load.within, Estimate) else None
    return replace(load, value=load.value * factor, within=within)


def _per_traffic(
    run: MeasuredRun, query: MetricQuery, count: Callable[[TrafficSeries], Floats]
) -> Answer:
    def units(flows: list[TrafficSeries], joined: Joined) -> Floats:
        each = [_between(flow, count(flow), *joined.edges_ns) for flow in flows]
        return np.asarray(np.sum(each, axis=0))

    return _per(run, query, units)


def _per(
    run: MeasuredRun, query: MetricQuery, count: Callable[[list[TrafficSeries], Joined], Floats]
) -> Answer:
    if query.statistic != "mean":
        return Unavailable(f"the {query.statistic} of a cost is not measured; its mean is")
    flows = _flows(run, query)
    joined = flows if isinstance(flows, Unavailable) else _joined(run, query, flows[0])
    if isinstance(flows, Unavailable):
        return flows
    if isinstance(joined, Unavailable):
        return joined
    units = count(flows, joined)
    if not units.any():
        return Unavailable(f"{run.name}: no traffic passed while {_what(query)} was sampled")
    return _noted(of_ratio(joined.load_s, units, len(units)), joined, _what(query))


def _what(query: MetricQuery) -> str:
    return "memory" if query.metric.startswith(OF_MEMORY) else "CPU"


def _noted(measurement: Measurement, joined: Joined, what: str) -> Measurement:
    few = FEW.format(n=measurement.n, what=what, least=LEAST_SAMPLES)
    why = few if measurement.within is None else measurement.why
    notes = filter(None, (measurement.note, joined.note))
    return replace(measurement, why=why, note="; ".join(notes))


def _flows(run: MeasuredRun, query: MetricQuery) -> list[TrafficSeries] | Unavailable:
    if run.rates is None:
        return Unavailable(UNCOUNTED.format(name=run.name))
    point = (query.ends or run.ends)[0]
    ways = [query.direction] if query.direction else ["forward", "reverse"]
    flows = [flow for way in ways if (flow := run.rates.flows.get((point, way))) is not None]
    return flows or Unavailable(f"{run.name}: no packet was seen at {point}")


def _joined(run: MeasuredRun, query: MetricQuery, flow: TrafficSeries) -> Joined | Unavailable:
    """Take the samples that the captures cover."""
    what = _what(query)
    samples: UsageSamples | None = run.samples if what == "CPU" else run.memory
    if samples is None:
        return Unavailable(NO_SAMPLES.format(name=run.name, what=what, key=what.lower()))
    if query.unit is not None and query.unit != samples.unit:
        return Unavailable(f"{samples.where} is in {samples.unit}, and {query.unit} is asked for")
    ends = np.array(samples.end_ns, dtype=np.int64)
    begins = ends - np.array(samples.length_ns, dtype=np.int64)
    first, last = flow.start_ns, flow.start_ns + len(flow.counts["n_frames"]) * flow.length_ns
    inside = (begins >= first) & (ends <= last)
    if not inside.any():
        apart_s = max(first - int(ends.max()), int(begins.min()) - last, 0) / NS_PER_S
        return Unavailable(
            f"{run.name}: none of {len(ends)} {what} samples of {samples.where} lies in the time "
            f"of the captures ({apart_s:.0f} s apart); check zone and offset in the study file"
        )
    seconds = (ends - begins)[inside] / NS_PER_S
    load_s = np.array(samples.busy)[inside] * seconds
    note = COARSE.format(what=what) if samples.step_ns >= NS_PER_S else ""
    return Joined(load_s, seconds, (begins[inside], ends[inside]), note)


def _between(flow: TrafficSeries, counts: Floats, begins: np.ndarray, ends: np.ndarray) -> Floats:
    """Count what passed in each interval; blocks that it cuts count by their share."""
    edges = np.arange(len(counts) + 1) * flow.length_ns
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    lo, hi = (np.interp(at - flow.start_ns, edges, sums) for at in (begins, ends))
    return np.asarray(hi - lo)


CPU = ("cores", "clock rate")
MEMORY = ("memory",)
METRICS = (
    Metric(
        "cpu-per-100kpps",
        "busy processors of a host per 100,000 packets per second",
        CPU,
        per_100kpps,
        ways=OF_HOST,
    ),
    Metric(
        "cpu-per-ktps",
        "busy processors per 1,000 transactions per second",
        CPU,
        per_ktps,
        ways=OF_HOST,
    ),
    Metric("cpu-per-gbps", "busy processors per Gb/s of frames", CPU, per_gbps, ways=OF_HOST),
    Metric("memory-used", "memory that a host uses, mean over the run", MEMORY, used, ways=OF_HOST),
    Metric(
        "memory-per-100kpps",
        "memory per 100,000 packets per second",
        MEMORY,
        per_100kpps,
        ways=OF_HOST,
    ),
    Metric(
        "memory-per-ktps",
        "memory per 1,000 transactions per second",
        MEMORY,
        per_ktps,
        ways=OF_HOST,
    ),
    Metric("memory-per-gbps", "memory per Gb/s of frames", MEMORY, per_gbps, ways=OF_HOST),
)
"""Metrics of what traffic costs its host."""
