"""Packets that arrive before they left: clocks that were declared equal, and are not."""

from collections.abc import Sequence

from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.units import format_ns

OF_CLOCKS = ("one-way-latency",)
"""Round trips and variation need no common clock."""


def contradicted_clocks(query: MetricQuery, scenarios: Sequence[Scenario]) -> str:
    """Say that packets contradict the declared clocks of a claim's ends; "" if none does.

    Args:
        query: Which figure is judged.
        scenarios: The one it is about, or the treatment and its baseline.
    """
    if query.metric not in OF_CLOCKS:
        return ""
    found = (_in_run(run, query) for scenario in scenarios for run in scenario.runs)
    return next((text for text in found if text), "")


def _in_run(run: MeasuredRun, query: MetricQuery) -> str:
    ends = query.ends or run.ends
    allowed_ns = sum(run.resolution_ns(point) for point in ends)
    rows = [row for key, row in run.segments.items() if key[:2] in {ends, ends[::-1]}]
    for row in rows:
        least_ns, half_width_ns = row["min_ns"], row["clock_half_width_ns"]
        early_ns = 0.0 if half_width_ns else row.get("clock_apart_ns") or 0.0
        if least_ns is not None and least_ns + (half_width_ns or 0.0) < -allowed_ns:
            early_ns = max(early_ns, -least_ns)
        if half_width_ns is None or not early_ns:
            continue
        return run.says(
            f"packets between {ends[0]} and {ends[1]} arrive up to {format_ns(early_ns)} before "
            "they left, so that the declared clocks are off by that much or more; remove the "
            "declaration, or claim two-way-contribution, which needs no common clock"
        )
    return ""
