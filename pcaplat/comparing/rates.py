"""Rates of two scenarios: how much more or less passes, as a share of the baseline."""

from collections.abc import Iterator

from pcaplat.metrics.contrasts import Change, metric_of
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.runs import Scenario
from pcaplat.tables.columns import Row

BOTH_WAYS = ("packet-rate", "throughput-l1", "throughput-l2", "throughput-l3", "goodput")
OF_CLIENTS = ("transaction-rate", "transaction-time")


def rate_rows(
    baseline: Scenario, treatment: Scenario, confidence: float, change: Change
) -> list[Row]:
    """Compare what came out of the path both ways, and the transactions.

    `baseline` and `treatment` are in the metric's base unit; what neither tells is left out.
    """
    return [
        row
        for query in _queries()
        if (row := _row(baseline, treatment, query, confidence, change)) is not None
    ]


def _queries() -> Iterator[MetricQuery]:
    for way in ("forward", "reverse"):
        yield from (MetricQuery(metric, direction=way) for metric in BOTH_WAYS)
    yield from (MetricQuery(metric) for metric in OF_CLIENTS)


def _row(
    baseline: Scenario, treatment: Scenario, query: MetricQuery, confidence: float, change: Change
) -> Row | None:
    sides = [metric_of(scenario, query).value for scenario in (baseline, treatment)]
    before, after = sides
    if before is None or after is None:
        return None
    contrast = change(query, is_relative=True)
    known = contrast.estimate if not contrast.why else None
    lo, hi = (None, None) if known is None else known.interval(confidence)
    near, far = baseline.ends
    is_out = query.direction == "forward"
    return {
        "metric": query.metric,
        "unit": metric_named(query.metric).base_unit,
        "point": far if is_out else near,
        "direction": query.direction,
        "near": near,
        "far": far,
        "baseline": before,
        "treatment": after,
        "delta_frac": contrast.value if before else None,
        "lo_frac": lo,
        "hi_frac": hi,
        "reason": contrast.why or None,
    }
