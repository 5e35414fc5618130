"""Figures of cost: busy processors and used memory, for each unit of traffic and in all.

Samples are intervals of an instrument's time; the traffic in each is counted from the
captures, so that the ratio is that of the same time. What the host does besides is in it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pcaplat.instruments import NS_PER_S, UsageSamples
from pcaplat.metrics.means import Reading, of_ratio
from pcaplat.metrics.metric import Figure, Given, Missing
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.metrics.traffic import FCS_BYTES, UNCOUNTED, transaction_rate
from pcaplat.metrics.traffic_blocks import TrafficSeries
from pcaplat.model.arrays import Floats
from pcaplat.statistics.intervals import LEAST_BLOCKS, SHORT_BLOCK, Estimate

NO_SAMPLES = (
    "{name}: no {what} samples; name them in the study file: [instruments.{key}] "
    "(docs/instruments.md)"
)
COARSE = (
    "{what} samples are stamped to the second, so traffic up to a second beside a sample may count"
)
OF_MEMORY = "memory-"

LEAST_SAMPLES = LEAST_BLOCKS * SHORT_BLOCK
FEW = (
    "{n} {what} samples are too few for an interval, which takes {least}; sample more often or for "
    "longer, or make five runs"
)


@dataclass(frozen=True)
class Joined:
    """Samples that lie wholly in the captures' time: load times seconds, and the seconds."""

    load_s: Floats
    seconds: Floats
    edges_ns: tuple[np.ndarray, np.ndarray]
    note: str


def used(run: MeasuredRun, figure: Figure) -> Given:
    """Give the mean over the time that the captures cover."""
    return _per(run, figure, lambda _, joined: joined.seconds)


def per_100kpps(run: MeasuredRun, figure: Figure) -> Given:
    """Give the load per 100,000 packets a second, at the near end, both ways unless one is said."""
    return _per_traffic(run, figure, lambda flow: flow.counts["n_frames"] / 1e5)


def per_gbps(run: MeasuredRun, figure: Figure) -> Given:
    """Give the load per Gb/s on L2 (frames with FCS), at the near end, likewise."""

    def gigabits(flow: TrafficSeries) -> Floats:
        n_bytes = flow.counts["frame_bytes"] + FCS_BYTES * flow.counts["n_frames"]
        return np.asarray(n_bytes * 8e-9)

    return _per_traffic(run, figure, gigabits)


def per_ktps(run: MeasuredRun, figure: Figure) -> Given:
    """Give the load per thousand transactions a second."""
    rate = transaction_rate(run, replace(figure, metric="transaction-rate"))
    load = used(run, figure)
    if isinstance(rate, Missing) or isinstance(load, Missing):
        return rate if isinstance(rate, Missing) else load
    factor = 1000 / rate.value
    within = load.within.scaled(factor) if isinstance(load.within, Estimate) else None
    return replace(load, value=load.value * factor, within=within)


def _per_traffic(
    run: MeasuredRun, figure: Figure, count: Callable[[TrafficSeries], Floats]
) -> Given:
    def units(flows: list[TrafficSeries], joined: Joined) -> Floats:
        each = [_between(flow, count(flow), *joined.edges_ns) for flow in flows]
        return np.asarray(np.sum(each, axis=0))

    return _per(run, figure, units)


def _per(
    run: MeasuredRun, figure: Figure, count: Callable[[list[TrafficSeries], Joined], Floats]
) -> Given:
    if figure.statistic != "mean":
        return Missing(f"the {figure.statistic} of a cost is not measured; its mean is")
    flows = _flows(run, figure)
    joined = flows if isinstance(flows, Missing) else _joined(run, figure, flows[0])
    if isinstance(flows, Missing):
        return flows
    if isinstance(joined, Missing):
        return joined
    units = count(flows, joined)
    if not units.any():
        return Missing(f"{run.name}: no traffic passed while {_what(figure)} was sampled")
    return _noted(of_ratio(joined.load_s, units, len(units)), joined, _what(figure))


def _what(figure: Figure) -> str:
    return "memory" if figure.metric.startswith(OF_MEMORY) else "CPU"


def _noted(reading: Reading, joined: Joined, what: str) -> Reading:
    few = FEW.format(n=reading.n, what=what, least=LEAST_SAMPLES)
    why = few if reading.within is None else reading.why
    notes = filter(None, (reading.note, joined.note))
    return replace(reading, why=why, note="; ".join(notes))


def _flows(run: MeasuredRun, figure: Figure) -> list[TrafficSeries] | Missing:
    if run.rates is None:
        return Missing(UNCOUNTED.format(name=run.name))
    point = (figure.ends or run.ends)[0]
    ways = [figure.direction] if figure.direction else ["forward", "reverse"]
    flows = [flow for way in ways if (flow := run.rates.flows.get((point, way))) is not None]
    return flows or Missing(f"{run.name}: no packet was seen at {point}")


def _joined(run: MeasuredRun, figure: Figure, flow: TrafficSeries) -> Joined | Missing:
    """Take the samples that the captures cover."""
    what = _what(figure)
    samples: UsageSamples | None = run.samples if what == "CPU" else run.memory
    if samples is None:
        return Missing(NO_SAMPLES.format(name=run.name, what=what, key=what.lower()))
    if figure.unit is not None and figure.unit != samples.unit:
        return Missing(f"{samples.where} is in {samples.unit}, and {figure.unit} is asked for")
    ends = np.array(samples.end_ns, dtype=np.int64)
    begins = ends - np.array(samples.length_ns, dtype=np.int64)
    first, last = flow.start_ns, flow.start_ns + len(flow.counts["n_frames"]) * flow.length_ns
    inside = (begins >= first) & (ends <= last)
    if not inside.any():
        apart_s = max(first - int(ends.max()), int(begins.min()) - last, 0) / NS_PER_S
        return Missing(
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


OF_COST: dict[str, Callable[[MeasuredRun, Figure], Given]] = {
    "cpu-per-100kpps": per_100kpps,
    "cpu-per-ktps": per_ktps,
    "cpu-per-gbps": per_gbps,
    "memory-used": used,
    "memory-per-100kpps": per_100kpps,
    "memory-per-ktps": per_ktps,
    "memory-per-gbps": per_gbps,
}
"""Every metric of cost."""
