"""The index of metrics: a further one is a file beside this one, and its line here."""

from difflib import get_close_matches
from importlib import import_module

from pcaplat.metrics.dimensions import UNITS
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import Answer, Metric, MetricQuery, Unavailable
from pcaplat.metrics.runs import MeasuredRun

METRICS = {
    "two-way-contribution": "latency",
    "one-way-latency": "latency",
    "rtt": "latency",
    "transaction-time": "traffic",
    "delay-variation": "latency",
    "loss-ratio": "latency",
    "packet-rate": "traffic",
    "throughput-l1": "traffic",
    "throughput-l2": "traffic",
    "throughput-l3": "traffic",
    "goodput": "traffic",
    "transaction-rate": "traffic",
    "frame-size": "traffic",
    "encapsulation-overhead": "traffic",
    "cpu-per-100kpps": "cost",
    "cpu-per-ktps": "cost",
    "cpu-per-gbps": "cost",
    "memory-used": "cost",
    "memory-per-100kpps": "cost",
    "memory-per-ktps": "cost",
    "memory-per-gbps": "cost",
}
"""Name of each metric, and the file beside this one whose `METRICS` have it."""


def metric_named(name: str) -> Metric:
    """Give a metric by the name that claims know it by.

    Example:
        >>> metric_named("rtt").dimensions, metric_named("rtt").base_unit
        (('duration',), 'ns')
    """
    metrics: tuple[Metric, ...] = import_module(f"pcaplat.metrics.{METRICS[name]}").METRICS
    return next(metric for metric in metrics if metric.name == name)


def read(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Take a figure from a run, which keeps it."""
    known = run.answers.get(query)
    if isinstance(known, Measurement | Unavailable):
        return known
    run.answers[query] = answer = _read(run, query)
    return answer


def _read(run: MeasuredRun, query: MetricQuery) -> Answer:
    metric = metric_named(query.metric)
    answer = metric.read(run, query)
    if metric.is_signed or not isinstance(answer, Measurement):
        return answer
    return answer.not_below(0.0)


def read_at_points(run: MeasuredRun, query: MetricQuery) -> Answer:
    """Take a figure from a run; one at a point that the run does not have is unavailable."""
    for name in query.ends or ():
        if name not in run.path:
            near = get_close_matches(name, run.path, 1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            points = ", ".join(run.path)
            return Unavailable(
                f"there is no point {name} in {run.name}{meant}; its points: {points}"
            )
    return read(run, query)


def units_of(metric: str, *, is_relative: bool = False) -> list[str]:
    """List the units that a metric, or its relative change, may be given in.

    Example:
        >>> units_of("packet-rate"), units_of("packet-rate", is_relative=True)
        (['pps', 'kpps', 'Mpps'], ['frac', '%', 'ppm'])
    """
    dimensions = ("share",) if is_relative else metric_named(metric).dimensions
    return [unit for unit, (dimension, _) in UNITS.items() if dimension in dimensions]
