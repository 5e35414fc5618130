"""Intervals: against tables and scipy's own tests, and by how often they hold the truth."""

from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from pcaplat import _native
from pcaplat.statistics.intervals import (
    SEED,
    Estimate,
    across,
    autocorrelation_time,
    blocking,
    hodges_lehmann,
    holm,
    pooled,
    t_quantile,
    t_tail,
)
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.statistics.mean_pairs import independent

CHANCE = np.random.default_rng(5)


def series(m: int, time: float, chance: np.random.Generator) -> np.ndarray:
    """AR(1) with variance 1 and a given integrated autocorrelation time."""
    phi = (time - 1) / (time + 1)
    values = np.empty(m)
    values[0] = chance.normal()
    for at in range(1, m):
        values[at] = phi * values[at - 1] + sqrt(1 - phi**2) * chance.normal()
    return values


def test_student_is_that_of_the_tables() -> None:
    assert t_quantile(0.975, 4) == pytest.approx(2.776, abs=5e-4)
    assert t_quantile(0.95, inf) == pytest.approx(1.645, abs=5e-4)
    assert t_tail(2.776, 1.0, 4) == pytest.approx(0.025, abs=1e-4)
    assert (t_tail(1, 0, 4), t_tail(0, 0, 4)) == (0.0, 1.0)


def test_an_interval_and_its_p_value_agree() -> None:
    one = Estimate(10.0, 2.0, 7, bias=0.5)
    lo, hi = one.interval(0.9)
    assert one.p_not_below(hi) == pytest.approx(0.05)
    assert one.p_not_above(lo) == pytest.approx(0.05)


def test_differences_are_welchs() -> None:
    a, b = CHANCE.normal(5, 1, 7), CHANCE.normal(3, 4, 12)
    found = independent(across(list(a)), across(list(b))).difference().interval(0.95)
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert found == pytest.approx((expected.low, expected.high))


def test_shift_and_its_interval_are_rank_based() -> None:
    x, y = CHANCE.normal(3, 1, 12), CHANCE.normal(0, 1, 12)
    shift, lo, hi = hodges_lehmann(x, y, 0.95)
    assert shift == np.median(np.subtract.outer(x, y))
    # moved to either end of the interval, the rank-sum test is about to reject
    for end in (lo, hi):
        p = stats.mannwhitneyu(x - end, y, method="exact").pvalue
        assert 0.03 < p < 0.08
    odd = x.copy()
    odd[0] = 1e9
    assert hodges_lehmann(odd, y, 0.95)[0] == pytest.approx(shift, abs=1)


def test_shift_covers_the_truth() -> None:
    chance = np.random.default_rng(8)
    hits = 0
    for _ in range(400):
        _, lo, hi = hodges_lehmann(chance.exponential(1, 10) + 2, chance.exponential(1, 10), 0.95)
        hits += lo <= 2 <= hi
    assert hits >= 370


def test_holm_keeps_the_order() -> None:
    assert holm([0.02, 0.01, 0.04], 0.05) == [True, True, True]
    assert holm([0.03, 0.01, 0.04], 0.05) == [False, True, False]
    assert holm([0.05], 0.05) == [True]
    assert holm([], 0.05) == []


# ---- blocks


def test_likeness_is_found() -> None:
    chance = np.random.default_rng(3)
    for time in (1, 3, 8):
        found = [autocorrelation_time(series(4096, time, chance)) for _ in range(20)]
        assert np.median(found) == pytest.approx(time, rel=0.25)


def test_the_mean_of_a_short_run_hides_no_likeness() -> None:
    chance = np.random.default_rng(3)
    found = [autocorrelation_time(series(256, 20, chance)) for _ in range(200)]
    # 16.7 if the mean's own error were not counted
    assert np.mean(found) == pytest.approx(20, rel=0.12)


def test_blocks_grow_with_likeness() -> None:
    chance = np.random.default_rng(4)
    found = [blocking(series(256, time, chance)) for time in (1, 3, 60)]
    assert [one is not None and one.length for one in found] == [4, 32, 32]
    times = [one.n_times for one in found if one is not None]
    assert times[0] == inf
    assert times[2] < 20
    many = [blocking(series(256, 3, chance)) for _ in range(50)]
    assert np.median([one.n_times for one in many if one]) == pytest.approx(256 / 3, rel=0.2)
    trend = blocking(np.linspace(-1, 1, 256) + 0.1 * chance.normal(size=256))
    assert trend is not None
    assert trend.n_times < 10
    assert blocking(np.zeros(20)) is None
    assert blocking(np.zeros(256)) is not None


@pytest.mark.parametrize("time", [1, 1.5, 3, 8])
def test_means_of_alike_neighbours_are_covered(time: float) -> None:
    chance = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        values = series(256, time, chance)
        chosen = blocking((values - values.mean()) / 256)
        assert chosen is not None
        n = 256 // chosen.length
        means = values[: n * chosen.length].reshape(n, -1).mean(axis=1)
        se = max(means.std(ddof=1) / sqrt(n), chosen.se)
        half = t_quantile(0.975, n - 1) * se
        hits += abs(values.mean()) <= half
    assert hits >= 372  # 380 expected; a naive interval covers 0.6 of them at a time of 8


def test_runs_that_disagree_count_more_than_their_errors() -> None:
    alike = pooled([Estimate(5.0, 1.0, 30), Estimate(5.1, 1.0, 30)])
    apart = pooled([Estimate(0.0, 0.01, 30), Estimate(10.0, 0.01, 30)])
    assert alike.se == pytest.approx(1 / sqrt(2))
    assert apart.se == pytest.approx(5)
    assert apart.half_width(0.95) > 50


# ---- losses


def test_loss_intervals_are_clopper_and_pearsons() -> None:
    for k, n in ((0, 300), (3, 1000), (50, 50)):
        expected = stats.binomtest(k, n).proportion_ci(0.9, method="exact")
        assert LossEstimate(k, n).interval(0.9) == pytest.approx((expected.low, expected.high))


def test_no_loss_in_enough_packets_shows_a_bound() -> None:
    assert LossEstimate(0, 30_000).p_not_below(1e-4) == pytest.approx(0.05, abs=5e-4)
    assert LossEstimate(0, 29_000).p_not_below(1e-4) > 0.05
    one = LossEstimate(5, 1000)
    assert one.p_not_above(0.001) == pytest.approx(stats.binom.sf(4, 1000, 0.001))
    assert one.p_not_above(-1) == 0.0
    assert one.p_not_below(0) == 1.0


def test_packets_that_may_be_lost_too_widen_the_loss_upward_only() -> None:
    alone, more = LossEstimate(5, 1_000), LossEstimate(5, 1_000, n_more=4)
    assert more.value == alone.value
    assert more.interval(0.95)[0] == alone.interval(0.95)[0]
    assert more.interval(0.95)[1] == LossEstimate(9, 1_000).interval(0.95)[1]
    assert more.p_not_below(0.01) == LossEstimate(9, 1_000).p_not_below(0.01)
    assert more.p_not_above(0.01) == alone.p_not_above(0.01)
    assert more.normal().bias == 4 / 1_000
    assert alone.normal().bias == 0
    assert LossEstimate(5, 10, n_more=9).interval(0.95)[1] == 1.0


def test_packets_that_may_be_late_widen_the_loss_downward_only() -> None:
    alone, fewer = LossEstimate(5, 1_000), LossEstimate(5, 1_000, n_fewer=4)
    assert fewer.value == alone.value
    assert fewer.interval(0.95)[0] == LossEstimate(1, 1_000).interval(0.95)[0]
    assert fewer.interval(0.95)[1] == alone.interval(0.95)[1]
    assert fewer.p_not_above(0.001) == LossEstimate(1, 1_000).p_not_above(0.001)
    assert fewer.p_not_below(0.01) == alone.p_not_below(0.01)
    assert fewer.normal().bias == 4 / 1_000
    assert LossEstimate(5, 10, n_fewer=9).interval(0.95)[0] == 0.0


def test_runs_that_scatter_widen_the_loss() -> None:
    alone = LossEstimate(100, 100_000)
    runs = LossEstimate(100, 100_000, across([0.0, 0.0, 0.004, 0.0, 0.001]))
    assert runs.interval(0.95)[1] > alone.interval(0.95)[1]
    assert runs.interval(0.95)[0] == 0.0
    assert runs.normal().se > alone.normal().se


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 13, 64, 200, 256])
def test_resamples_are_those_of_numpys_generator(n_blocks: int) -> None:
    drawn = np.random.default_rng(SEED).multinomial(
        n_blocks, np.full(n_blocks, 1 / n_blocks), size=400
    )
    assert np.array_equal(_native.resamples(n_blocks, 400), drawn)


@pytest.mark.parametrize("n", [0, 1, 3, 1_000, 70_000])
def test_random_orders_are_those_of_numpys_generator(n: int) -> None:
    assert np.array_equal(_native.random_order(n), np.random.default_rng(0).permutation(n))
