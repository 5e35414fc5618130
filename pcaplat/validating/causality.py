"""Latencies that mean nothing: packets arrive before they left, or a point is not at its place."""

from collections.abc import Sequence

from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import read_at_points
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.units import format_ns
from pcaplat.validating.missing import LATENCIES

OF_CLOCKS = ("one-way-latency",)
"""Round trips and variation need no common clock."""


MISPLACED = ("same-capture", "path-contradicted", "ttl-contradicts-order")
"""Codes (pcaplat.diagnostics.catalogue) of points that are not where their names say."""


def meaningless(query: MetricQuery, scenarios: Sequence[Scenario]) -> str:
    """Say why the latencies of a run mean nothing: clocks or places are wrong; "" where they do.

    Args:
        query: Which figure is judged.
        scenarios: The one it is about, or the treatment and its baseline.
    """
    if query.metric not in LATENCIES:
        return ""
    runs = [run for scenario in scenarios for run in scenario.runs]
    found = (
        text
        for run in runs
        for text in (_early(run, query), _misplaced(run), _negative(run, query))
    )
    return next((text for text in found if text), "")


def _misplaced(run: MeasuredRun) -> str:
    rows = [row for row in run.document.get("warnings", ()) if row["code"] in MISPLACED]
    return run.says(f"{rows[0]['code']}: {rows[0]['text']}") if rows else ""


def _negative(run: MeasuredRun, query: MetricQuery) -> str:
    """Say that packets arrive before they left, by more than clocks may be off."""
    answer = read_at_points(run, query)
    if not isinstance(answer, Measurement) or answer.value + answer.bias >= 0:
        return ""
    return run.says(
        f"the {query.statistic} is negative ({format_ns(answer.value)}): the order of the points, "
        "or what is declared of their clocks, is wrong"
    )


def _early(run: MeasuredRun, query: MetricQuery) -> str:
    if query.metric not in OF_CLOCKS:
        return ""
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
