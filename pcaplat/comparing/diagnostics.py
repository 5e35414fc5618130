"""What may mislead about runs that are compared."""

from collections.abc import Iterable, Iterator
from math import inf

import numpy as np

from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.outlier_runs import odd_run_of
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.model.arrays import Floats
from pcaplat.model.blocks import joined
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.statistics.intervals import t_tail
from pcaplat.units import format_frac

UNSTEADY_SHARE = 0.2
"""MSER-5 may leave out so large a share of a run before it is worth a word."""

UNSTEADY_LEVEL = 0.001
"""What MSER-5 leaves out has to differ from the rest at this level: a few slow packets alone are no
warm-up."""

MSER_BATCH = 5


def check_runs(scenarios: Iterable[Scenario]) -> Iterator[Diagnostic]:
    """Say which runs do not settle, which are unlike the others, and which paths differ."""
    listed = list(scenarios)
    yield from _other_paths(listed)
    for scenario in listed:
        if odd := odd_run_of(scenario, MetricQuery("two-way-contribution")):
            yield Diagnostic("outlier-run", None, odd)
        late = {run.name: share for run in scenario.runs if (share := _unsettled(run))}
        if late:
            names = ", ".join(f"{name} ({format_frac(share)})" for name, share in late.items())
            text = (
                f"{scenario.name}: latencies have not settled for a large part of {names}; leave "
                "more out with --warm-up, or capture for longer"
            )
            yield Diagnostic("warm-up", None, text)


def _other_paths(scenarios: list[Scenario]) -> Iterator[Diagnostic]:
    first = scenarios[0].runs[0]
    for scenario in scenarios:
        for run in scenario.runs:
            if run.path != first.path:
                text = (
                    f"{scenario.name}, {run.name}: its path is {' → '.join(run.path)}, that of "
                    f"{first.name} {' → '.join(first.path)}; only segments of both are compared"
                )
                yield Diagnostic("other-path", None, text)


def _unsettled(run: MeasuredRun) -> float:
    """Share of the run that its beginning differs in; 0 if it is small (MSER-5, White 1997)."""
    blocks = run.blocks.get((*run.ends, "forward"))
    if blocks is None:
        return 0.0
    n = joined(blocks.n, MSER_BATCH)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = joined(blocks.sum_ns, MSER_BATCH) / n
    known = means[n > 0]
    at = _mser(known)
    share = at / max(len(known), 1)
    is_unsteady = share > UNSTEADY_SHARE and _differ_p(known[:at], known[at:]) < UNSTEADY_LEVEL
    return share if is_unsteady else 0.0


def _mser(values: Floats) -> int:
    """How many values to leave out at the start so that the mean of the rest is surest."""
    half = len(values) // 2
    if half < MSER_BATCH:
        return 0
    scores = [float(values[at:].var()) / (len(values) - at) for at in range(half)]
    return int(np.argmin(scores))


def _differ_p(some: Floats, others: Floats) -> float:
    """P-value of "both are spread alike" by ranks (Mann and Whitney, normal approximation)."""
    n, m = len(some), len(others)
    ranks = np.argsort(np.argsort(np.concatenate([some, others]))) + 1.0
    u = float(ranks[:n].sum()) - n * (n + 1) / 2
    z = (u - n * m / 2) / np.sqrt(n * m * (n + m + 1) / 12)
    return 2 * t_tail(abs(float(z)), 1.0, inf)
