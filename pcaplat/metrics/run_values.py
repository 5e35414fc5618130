"""A figure of each run by itself, in the order in which the runs were made."""

from collections.abc import Iterator, Sequence

from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import read_at_points
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.statistics.intervals import CONFIDENCE
from pcaplat.tables.columns import Row


def values_of_runs(
    scenarios: Sequence[Scenario], query: MetricQuery, confidence: float = CONFIDENCE
) -> list[Row]:
    """Give a figure of every run that has it: whether runs agree, and whether they drift.

    Args:
        scenarios: Whose runs.
        query: The figure.
        confidence: Of the interval of a run, which rests on its own packets alone.

    Returns:
        Rows of scenario, run, start_ns, n, value, lo, hi, in base units, by start.
    """
    rows = [row for one in scenarios for row in _rows(one, query, confidence)]
    return sorted(rows, key=lambda row: int(row["start_ns"]))


def _rows(scenario: Scenario, query: MetricQuery, confidence: float) -> Iterator[Row]:
    for run in scenario.runs:
        found = read_at_points(run, query)
        if isinstance(found, Measurement):
            yield {"scenario": scenario.name} | _row(run, found, confidence)


def _row(run: MeasuredRun, found: Measurement, confidence: float) -> Row:
    lo, hi = (None, None) if found.within is None else found.within.interval(confidence)
    about = {"run": run.name, "start_ns": run.start_ns, "n": found.n}
    return about | {"value": found.value, "lo": lo, "hi": hi}
