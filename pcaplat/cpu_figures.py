"""Figures of cost: busy processors per unit of traffic.

CPU samples are intervals of an instrument's time; the traffic in each is counted from the
captures, so that the ratio is that of the same time. What the host does besides is in it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pcaplat.asked import Figure, Given, Missing
from pcaplat.instruments import NS_PER_S, Samples
from pcaplat.intervals import LEAST_BLOCKS, SHORT_BLOCK, Estimate, Floats
from pcaplat.rate_figures import FCS_BYTES, UNCOUNTED, transaction_rate
from pcaplat.rates import Flow
from pcaplat.readings import Reading, of_ratio
from pcaplat.scenario import MeasuredRun

NO_SAMPLES = (
    "{name}: no CPU samples; name them in the study file: [instruments.cpu] (docs/instruments.md)"
)
COARSE = (
    "CPU samples are stamped to the second, so traffic up to a second beside a sample may count"
)


LEAST_SAMPLES = LEAST_BLOCKS * SHORT_BLOCK
FEW = (
    "{n} CPU samples are too few for an interval, which takes {least}; sample more often or for "
    "longer, or make five runs"
)


@dataclass(frozen=True)
class Joined:
    """Samples that lie wholly in the captures' time: load times seconds, and the seconds."""

    load_s: Floats
    seconds: Floats
    edges_ns: tuple[np.ndarray, np.ndarray]
    note: str


def per_100kpps(run: MeasuredRun, figure: Figure) -> Given:
    """Give the load per 100,000 packets a second, at the near end, both ways unless one is said."""
    return _per_traffic(run, figure, lambda flow: flow.counts["n_frames"] / 1e5)


def per_gbps(run: MeasuredRun, figure: Figure) -> Given:
    """Give the load per Gb/s on L2 (frames with FCS), at the near end, likewise."""

    def gigabits(flow: Flow) -> Floats:
        n_bytes = flow.counts["frame_bytes"] + FCS_BYTES * flow.counts["n_frames"]
        return np.asarray(n_bytes * 8e-9)

    return _per_traffic(run, figure, gigabits)


def per_ktps(run: MeasuredRun, figure: Figure) -> Given:
    """Give the load per thousand transactions a second."""
    rate = transaction_rate(run, replace(figure, metric="transaction-rate"))
    if isinstance(rate, Missing):
        return rate
    flows = _flows(run, figure)
    joined = flows if isinstance(flows, Missing) else _joined(run, figure, flows[0])
    if isinstance(joined, Missing):
        return joined
    load = of_ratio(joined.load_s, joined.seconds, len(joined.seconds))
    factor = 1000 / rate.value
    within = load.within.scaled(factor) if isinstance(load.within, Estimate) else None
    return _noted(replace(load, value=load.value * factor, within=within), joined)


def _per_traffic(run: MeasuredRun, figure: Figure, count: Callable[[Flow], Floats]) -> Given:
    if figure.statistic != "mean":
        return Missing(f"the {figure.statistic} of a cost is not measured; its mean is")
    flows = _flows(run, figure)
    joined = flows if isinstance(flows, Missing) else _joined(run, figure, flows[0])
    if isinstance(flows, Missing):
        return flows
    if isinstance(joined, Missing):
        return joined
    begins, ends = joined.edges_ns
    units = np.sum([_between(flow, count(flow), begins, ends) for flow in flows], axis=0)
    if not units.any():
        return Missing(f"{run.name}: no traffic passed while CPU was sampled")
    return _noted(of_ratio(joined.load_s, units, len(units)), joined)


def _noted(reading: Reading, joined: Joined) -> Reading:
    why = FEW.format(n=reading.n, least=LEAST_SAMPLES) if reading.within is None else reading.why
    notes = filter(None, (reading.note, joined.note))
    return replace(reading, why=why, note="; ".join(notes))


def _flows(run: MeasuredRun, figure: Figure) -> list[Flow] | Missing:
    if run.rates is None:
        return Missing(UNCOUNTED.format(name=run.name))
    point = (figure.ends or run.ends)[0]
    ways = [figure.direction] if figure.direction else ["forward", "reverse"]
    flows = [flow for way in ways if (flow := run.rates.flows.get((point, way))) is not None]
    return flows or Missing(f"{run.name}: no packet was seen at {point}")


def _joined(run: MeasuredRun, figure: Figure, flow: Flow) -> Joined | Missing:
    """Take the samples that the captures cover."""
    samples: Samples | None = run.samples
    if samples is None:
        return Missing(NO_SAMPLES.format(name=run.name))
    if figure.unit is not None and figure.unit != samples.unit:
        return Missing(f"{samples.where} is in {samples.unit}, and {figure.unit} is asked for")
    ends = np.array(samples.end_ns, dtype=np.int64)
    begins = ends - np.array(samples.length_ns, dtype=np.int64)
    first, last = flow.start_ns, flow.start_ns + len(flow.counts["n_frames"]) * flow.length_ns
    inside = (begins >= first) & (ends <= last)
    if not inside.any():
        apart_s = max(first - int(ends.max()), int(begins.min()) - last, 0) / NS_PER_S
        return Missing(
            f"{run.name}: none of {len(ends)} CPU samples of {samples.where} lies in the time of "
            f"the captures ({apart_s:.0f} s apart); are zone and offset in the study file right?"
        )
    seconds = (ends - begins)[inside] / NS_PER_S
    load_s = np.array(samples.busy)[inside] * seconds
    note = COARSE if samples.step_ns >= NS_PER_S else ""
    return Joined(load_s, seconds, (begins[inside], ends[inside]), note)


def _between(flow: Flow, counts: Floats, begins: np.ndarray, ends: np.ndarray) -> Floats:
    """Count what passed in each interval; blocks that it cuts count by their share."""
    edges = np.arange(len(counts) + 1) * flow.length_ns
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    lo, hi = (np.interp(at - flow.start_ns, edges, sums) for at in (begins, ends))
    return np.asarray(hi - lo)


OF_CPU: dict[str, Callable[[MeasuredRun, Figure], Given]] = {
    "cpu-per-100kpps": per_100kpps,
    "cpu-per-ktps": per_ktps,
    "cpu-per-gbps": per_gbps,
}
"""Every metric of cost."""
