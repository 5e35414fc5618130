"""The variance of a sum, from one run of values whose neighbours are alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter  # type: ignore[import-untyped]

from pcaplat.statistics.intervals import t_quantile
from pcaplat.statistics.long_run_variance import MOST_WAVES, long_run_variance


def alike(n: int, likeness: float, chance: np.random.Generator) -> np.ndarray:
    """AR(1) of variance 1; its sum has the variance n (1 + likeness) / (1 - likeness)."""
    white = chance.normal(size=n) * np.sqrt(1 - likeness**2)
    white[0] = chance.normal()
    return np.asarray(lfilter([1.0], [1.0, -likeness], white))


@pytest.mark.parametrize("likeness", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("n", [256, 2_000])
def test_the_variance_of_a_sum_is_found_again(n: int, likeness: float) -> None:
    chance = np.random.default_rng(n)
    inside, variances = 0, []
    for _ in range(300):
        values = alike(n, likeness, chance)
        found = long_run_variance(values - values.mean())
        variances.append(found.variance)
        inside += abs(values.sum()) <= t_quantile(0.975, found.df) * np.sqrt(found.variance)
    truth = n * (1 + likeness) / (1 - likeness)
    # the slowest waves are a little weaker than what the run is too short for
    assert 0.8 * truth <= np.mean(variances) <= 1.15 * truth
    # of 300 at 95 %: 99.9 % binomial, and 2 % for the above
    assert inside >= 0.89 * 300


@pytest.mark.parametrize("n", [8, 16, 24])
def test_few_values_may_be_alike_without_showing_it(n: int) -> None:
    chance, inside = np.random.default_rng(n), 0
    for _ in range(1_000):
        values = alike(n, 0.5, chance)
        found = long_run_variance(values - values.mean())
        inside += abs(values.sum()) <= t_quantile(0.975, found.df) * np.sqrt(found.variance)
    assert 0.92 * 1_000 <= inside <= 0.98 * 1_000


def test_few_times_are_few_degrees_of_freedom() -> None:
    chance = np.random.default_rng(1)
    few, many = (long_run_variance(alike(256, likeness, chance)) for likeness in (0.97, 0.3))
    assert few.df < many.df <= MOST_WAVES
    assert few.n_times < many.n_times


def test_it_grows_with_the_square_of_the_unit() -> None:
    values = alike(300, 0.6, np.random.default_rng(2))
    one, other = long_run_variance(values), long_run_variance(values * 1_000)
    assert other.variance == pytest.approx(one.variance * 1e6)
    assert one.df == other.df
    assert one.n_times == pytest.approx(other.n_times)


@pytest.mark.parametrize("n", [16, 17, 31, 256])
def test_what_never_changes_does_not_scatter(n: int) -> None:
    found = long_run_variance(np.zeros(n))
    assert found.variance == 0
    assert found.n_times == np.inf
    assert 2 <= found.df <= n / 2
