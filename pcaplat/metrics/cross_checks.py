"""Cross-checks: what netperf and iperf3 say of a run, beside what its captures say."""

from collections.abc import Sequence

import numpy as np

from pcaplat.instruments import CrossCheck
from pcaplat.metrics.means import of_ratio
from pcaplat.metrics.metric import MetricQuery, Unavailable
from pcaplat.metrics.registry import metric_named, read
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.statistics.intervals import CONFIDENCE, Estimate
from pcaplat.tables.columns import Row
from pcaplat.units import format_amount, format_frac, format_ns

SAME_SHARE = 0.01
"""Figures of an instrument and of the captures may differ by this share besides: their times do not
begin and end together."""

BUSY_SHARE = 0.1
"""A block with less than this share of the busiest one is before or after the test."""

COST = "captures cost about 0.5 µs a packet and point, if the other ran without them"


def cross_check_rows(scenarios: Sequence[Scenario]) -> list[Row]:
    """Put each figure of another instrument beside that of the captures.

    Returns:
        Rows with `agrees`: None where the captures do not tell the figure, and `text` why.
    """
    return [
        _row(scenario, run, check)
        for scenario in scenarios
        for run in scenario.runs
        for check in run.cross_checks
    ]


def cross_check_warnings(rows: Sequence[Row]) -> list[Row]:
    """Give a warning for each that disagrees, both figures in it."""
    return [
        {"code": "witness-disagrees", "point": None, "text": row["text"]}
        for row in rows
        if row["agrees"] is False
    ]


def _row(scenario: Scenario, run: MeasuredRun, check: CrossCheck) -> Row:
    row: Row = {
        "scenario": scenario.name,
        "run": run.name,
        "instrument": check.instrument,
        "file": check.where,
        "metric": check.metric,
        "instrument_value": check.value,
    }
    found = _seen(run, check.metric)
    if isinstance(found, Unavailable):
        return row | {"captures_value": None, "half_width": None, "agrees": None, "text": found.why}
    value, half = found
    allowed = half + check.digit + SAME_SHARE * max(value, check.value)
    agrees = abs(value - check.value) <= allowed
    if check.metric == "rtt":
        # TCP's round trip has both ends' stacks in it: only less than the path's own is wrong
        agrees = check.value + check.digit >= value - half
    apart = format_frac(abs(value - check.value) / check.value if check.value else None)
    theirs, ours = (_text(check.metric, one) for one in (check.value, value))
    text = (
        f"{scenario.name}/{run.name}: {check.instrument} reports {check.metric} {theirs}, the "
        f"captures {ours} ({apart} apart)"
    )
    text += "" if agrees else f"; {COST}"
    return row | {"captures_value": value, "half_width": half, "agrees": agrees, "text": text}


def _seen(run: MeasuredRun, metric: str) -> tuple[float, float] | Unavailable:
    """Give a figure of the captures and half its interval."""
    if metric == "goodput":
        return _goodput(run)
    found = read(run, MetricQuery(metric))
    if isinstance(found, Unavailable):
        return found
    within = found.within
    return found.value, 0.0 if within is None else within.half_width(CONFIDENCE)


def _goodput(run: MeasuredRun) -> tuple[float, float] | Unavailable:
    """Give the goodput of the busier direction, where packets come out, while the test went on."""
    near, far = run.ends
    rates = run.rates
    places = ((far, "forward"), (near, "reverse"))
    flows = [flow for place in places if rates and (flow := rates.flows.get(place))]
    if not flows:
        return Unavailable(f"{run.name}: no traffic was counted")
    flow = max(flows, key=lambda one: int(one.counts["payload_bytes"].sum()))
    counts = flow.counts["payload_bytes"]
    busy = np.flatnonzero(counts > BUSY_SHARE * counts.max())
    if not len(busy):
        return Unavailable(f"{run.name}: no payload passed")
    # the first and the last busy block may be busy in part
    part = flow.part(int(busy[0]) + 1, max(int(busy[-1]), int(busy[0]) + 2))
    bits = np.asarray(8 * part.counts["payload_bytes"], dtype=np.float64)
    seconds = np.full(len(bits), part.length_ns / 1e9)
    measurement = of_ratio(bits, seconds, len(bits))
    within = measurement.within
    half = within.half_width(CONFIDENCE) if isinstance(within, Estimate) else 0.0
    return measurement.value, half


def _text(metric: str, value: float) -> str:
    unit = metric_named(metric).base_unit
    if unit == "ns":
        return format_ns(value)
    return format_frac(value) if unit == "frac" else format_amount(value, unit)
