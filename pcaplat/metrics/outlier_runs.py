"""One run that is unlike the others of its scenario: a reboot, a backup, a cable."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import read
from pcaplat.metrics.runs import Scenario
from pcaplat.statistics.intervals import t_tail

LEAST_OF_ODD = 5
"""With fewer runs, what is usual among them is not known."""

ODD_LEVEL = 0.01
"""Where no run is odd and runs scatter normally, one is named in so many of all cases."""


def odd_run(values: Sequence[float]) -> int | None:
    """Find the one value that lies outside what the others scatter by.

    Each is judged by the mean and scatter of the others (the externally studentised residual,
    Grubbs 1969), by Bonferroni over all of them. Two odd ones hide each other.

    Args:
        values: One a run, five or more.

    Returns:
        Its place; None if there is none.

    Example:
        >>> odd_run([9.1, 9.3, 9.0, 14.2, 9.2, 9.1]), odd_run([9.1, 9.3, 9.0, 9.4, 9.2])
        (3, None)
    """
    n = len(values)
    if n < LEAST_OF_ODD:
        return None
    found = np.asarray(values, dtype=np.float64)
    at = int(np.argmax(np.abs(found - found.mean())))
    others = np.delete(found, at)
    error = float(others.std(ddof=1)) * sqrt(1 + 1 / (n - 1))
    p = 2 * t_tail(abs(float(found[at] - others.mean())), error, n - 2)
    return at if n * p < ODD_LEVEL else None


def odd_run_of(scenario: Scenario, query: MetricQuery) -> str | None:
    """Name the run of a scenario whose figure differs from that of its other runs."""
    measurements = [read(run, query) for run in scenario.runs]
    values = [one.value for one in measurements if isinstance(one, Measurement)]
    at = odd_run(values) if len(values) == len(measurements) else None
    if at is None:
        return None
    return (
        f"{scenario.name}: {scenario.runs[at].name} is an outlier of {len(values)} runs; repeat it"
    )
