"""Rates of two scenarios: how much more or less passes, as a share of the baseline."""

from collections.abc import Iterator

from pcaplat.metrics.contrasts import difference_of, effect_of
from pcaplat.metrics.latency import Figure
from pcaplat.metrics.runs import Scenario
from pcaplat.published.quantities import BASE, METRICS
from pcaplat.tables.columns import Row

BOTH_WAYS = ("packet-rate", "throughput-l1", "throughput-l2", "throughput-l3", "goodput")
OF_CLIENTS = ("transaction-rate", "transaction-time")


def rate_rows(baseline: Scenario, treatment: Scenario, confidence: float) -> list[Row]:
    """Compare what came out of the path both ways, and the transactions.

    `baseline` and `treatment` are in the metric's base unit; what neither tells is left out.
    """
    return [
        row
        for figure in _figures()
        if (row := _row(baseline, treatment, figure, confidence)) is not None
    ]


def _figures() -> Iterator[Figure]:
    for way in ("forward", "reverse"):
        yield from (Figure(metric, direction=way) for metric in BOTH_WAYS)
    yield from (Figure(metric) for metric in OF_CLIENTS)


def _row(baseline: Scenario, treatment: Scenario, figure: Figure, confidence: float) -> Row | None:
    sides = [effect_of(scenario, figure).value for scenario in (baseline, treatment)]
    before, after = sides
    if before is None or after is None:
        return None
    effect = difference_of(baseline, treatment, figure, is_relative=True)
    known = effect.estimate if not effect.why else None
    lo, hi = (None, None) if known is None else known.interval(confidence)
    near, far = baseline.ends
    is_out = figure.direction == "forward"
    return {
        "metric": figure.metric,
        "unit": BASE[METRICS[figure.metric][0]],
        "point": far if is_out else near,
        "direction": figure.direction,
        "near": near,
        "far": far,
        "baseline": before,
        "treatment": after,
        "delta_frac": after / before - 1 if before else None,
        "lo_frac": lo,
        "hi_frac": hi,
        "reason": effect.why or None,
    }
