"""The variance of a sum, from one run of values whose neighbours are alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter  # type: ignore[import-untyped]

from pcaplat.statistics.intervals import t_quantile
from pcaplat.statistics.long_run_variance import (
    SLOWEST,
    long_run_variance,
    slow_changes,
)


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
    assert few.df < many.df
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


def test_no_more_than_32_waves_tell_a_variance() -> None:
    """Of more waves, the faster ones are weaker where neighbours are alike unseen."""
    white = np.random.default_rng(3).normal(size=256)
    assert long_run_variance(white - white.mean()).df == 32


def bursts(n: int, chance: np.random.Generator) -> np.ndarray:
    """Standard deviations of values of which most scatter little, and those of six bursts much."""
    starts = chance.integers(0, n - n // 30, 6)
    loud = np.isin(np.arange(n), np.add.outer(starts, np.arange(n // 30)))
    return np.where(loud, 5.0, 0.2)


@pytest.mark.parametrize("is_even", [True, False])
@pytest.mark.parametrize("level", [0.1, 0.01])
def test_what_changes_no_more_slowly_than_quickly_seldom_looks_so(
    level: float, *, is_even: bool
) -> None:
    chance, found = np.random.default_rng(4), 0
    for _ in range(1_000):
        sd = np.ones(1_024) if is_even else bursts(1_024, chance)
        values = sd * chance.normal(size=1_024)
        values -= values.sum() * sd**2 / (sd**2).sum()
        slow = slow_changes(values, sd**2)
        assert slow is not None
        found += slow.chance < level
    assert found <= 1_000 * level + 3 * np.sqrt(1_000 * level)
    assert found >= 1_000 * level - 3 * np.sqrt(1_000 * level)


def test_a_slow_part_of_a_twentieth_is_found_and_widens_the_interval() -> None:
    chance, n = np.random.default_rng(5), 1_024
    n_found, inside = 0, 0
    for _ in range(300):
        # a quarter of the run is its autocorrelation time
        slow = alike(n, (n / 4 - 1) / (n / 4 + 1), chance)
        values = np.sqrt(0.95) * chance.normal(size=n) + np.sqrt(0.05) * slow
        found = slow_changes(values - values.mean(), np.ones(n))
        assert found is not None
        n_found += found.chance < 0.01
        half_width = t_quantile(0.975, found.df) * np.sqrt(found.variance)
        inside += abs(values.sum()) <= half_width
    assert n_found >= 0.5 * 300
    assert 0.92 * 300 <= inside <= 0.98 * 300


def test_too_few_values_tell_no_slow_changes() -> None:
    for values, spread in ((np.zeros(64), np.zeros(64)), (np.zeros(64), np.ones(64))):
        assert slow_changes(values, spread) is None
    few = np.where(np.arange(64) < 31, 1.0, 0.0)
    assert slow_changes(np.cos(np.arange(64)) * few, few) is None
    enough = np.where(np.arange(64) < 33, 1.0, 0.0)
    found = slow_changes(np.cos(np.arange(64)) * enough, enough)
    assert found is not None
    assert found.df == SLOWEST
