"""Quantiles over runs: each run's own is a rank off, the same way in every run."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]

from pcaplat.metrics.contrasts import difference_of, metric_of
from pcaplat.metrics.metric import MetricQuery
from tests.support.runs import FAR, NEAR, START_NS, run_of, scenario_of

if TYPE_CHECKING:
    from pcaplat.metrics.contrasts import Contrast
    from pcaplat.metrics.runs import MeasuredRun, Scenario

P95 = MetricQuery("two-way-contribution", "p95")
N_STUDIES = 250
MOST_FALSE = int(binom.ppf(0.999, N_STUDIES, 0.025))
LEVEL = 0.025


def run_with(value_ns: float, n: int, place: int = 0) -> MeasuredRun:
    """A run whose requests, so many, have this p95."""
    start_ns = START_NS + place * 10**10
    run = run_of(np.full(64, 500.0), np.full(64, 500.0), start_ns=start_ns)
    trip = {"near": NEAR, "far": FAR, "n_paired": n, "p95_ns": value_ns}
    return replace(run, document={**run.document, "round_trips": [trip]})


def p95_of(chance: np.random.Generator, n: int, scale_ns: float = 1000.0) -> float:
    """The p95 of so many independent values, evenly spread up to `scale_ns`."""
    return float(np.sort(chance.random(n))[int(np.ceil(0.95 * n)) - 1] * scale_ns)


def study(
    chance: np.random.Generator, n_runs: int, n: int, scale_ns: float = 1000.0, first: int = 0
) -> Scenario:
    places = range(first, 4 * n_runs, 4)
    runs = [run_with(p95_of(chance, n, scale_ns), n, at) for at in places]
    return scenario_of(f"from{first}", runs[:n_runs])


def p_not_below(found: Contrast, limit: float) -> float:
    assert found.estimate is not None
    return found.estimate.p_not_below(limit)


@pytest.mark.parametrize(("n_runs", "n"), [(24, 300), (24, 500), (12, 60), (6, 60)])
def test_a_quantile_is_not_held_below_the_true_one(n_runs: int, n: int) -> None:
    """Of 24 runs of 300 requests, "at most the true one, less nothing" was held in one of five."""
    chance = np.random.default_rng([n_runs, n])
    found = (metric_of(study(chance, n_runs, n), P95) for _ in range(N_STUDIES))
    assert sum(p_not_below(one, 950.0) <= LEVEL for one in found) <= MOST_FALSE


def test_a_difference_of_quantiles_is_not_held_below_the_true_one() -> None:
    """The treatment's tail is five times as long: what its runs lack does not cancel."""
    chance, wrong = np.random.default_rng(3), 0
    for _ in range(N_STUDIES):
        plain, slow = study(chance, 24, 300), study(chance, 24, 300, 5000.0, first=2)
        wrong += p_not_below(difference_of(plain, slow, P95), 4 * 950.0) <= LEVEL
    assert wrong <= MOST_FALSE


@pytest.mark.parametrize(("n", "is_told"), [(59, False), (60, True)])
def test_few_requests_beyond_a_quantile_decide_nothing(n: int, *, is_told: bool) -> None:
    found = metric_of(study(np.random.default_rng(1), 6, n), P95)
    assert (found.estimate is not None) is is_told
    assert ("lie beyond the p95" in found.why) is not is_told
    assert found.value is not None


@pytest.mark.parametrize(
    ("n_runs", "n", "is_open"), [(3, 499, True), (3, 500, False), (6, 499, False)]
)
def test_few_runs_of_few_requests_bound_a_quantile_from_below_only(
    n_runs: int, n: int, *, is_open: bool
) -> None:
    found = metric_of(study(np.random.default_rng(1), n_runs, n), P95)
    assert found.estimate is not None
    lo, hi = found.estimate.interval(0.95)
    assert lo < found.estimate.value < hi
    assert (hi == inf) is is_open
    assert (found.estimate.p_not_below(10_000) == 1) is is_open
    assert any("bounds it from below only" in note for note in found.notes) is is_open
    assert found.estimate.p_not_above(10) <= LEVEL


@pytest.mark.parametrize("n", [40, 100])
def test_a_difference_of_such_quantiles_is_a_value_with_a_reason(n: int) -> None:
    chance = np.random.default_rng(1)
    plain, slow = study(chance, 3, n), study(chance, 3, n, first=2)
    found = difference_of(plain, slow, P95)
    assert found.estimate is None
    assert found.value is not None
    assert "a run does not have it itself" in found.why


def test_runs_that_agree_are_as_sure_as_before() -> None:
    runs = [run_with(900.0, 10_000) for _ in range(3)]
    found = metric_of(scenario_of("same", runs), P95).estimate
    assert found is not None
    lo, hi = found.interval(0.95)
    assert hi - lo == pytest.approx(2 * found.bias)
