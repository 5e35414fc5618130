"""Differences and ratios of losses: where runs lose by factors, few show how much they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]

from pcaplat.statistics.intervals import across
from pcaplat.statistics.loss_pairs import of_losses
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.statistics.mean_pairs import independent
from pcaplat.statistics.scattered_shares import ScatteredShares

if TYPE_CHECKING:
    from collections.abc import Sequence

N_PACKETS = 100_000
N_STUDIES = 300
MOST_FALSE = int(binom.ppf(0.999, N_STUDIES, 0.025))
LEVEL = 0.025


def estimate(lost: Sequence[int]) -> LossEstimate:
    """What runs of so many packets tell that lost so many."""
    counts = [(float(n), float(N_PACKETS)) for n in lost]
    runs = across([n / N_PACKETS for n in lost])
    scattered = ScatteredShares(counts)
    return LossEstimate(sum(lost), len(lost) * N_PACKETS, runs=runs, scattered=scattered)


def by_factors(chance: np.random.Generator, n_runs: int, sd: float) -> list[int]:
    """Losses of runs whose ratios have a mean of 0.001 and scatter by factors (log-normal)."""
    shares = 0.001 * np.exp(sd * chance.normal(size=n_runs) - sd**2 / 2)
    return [int(n) for n in chance.binomial(N_PACKETS, np.minimum(shares, 1))]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("n_runs", [3, 6])
@pytest.mark.parametrize("sd", [0.0, 1.0, 2.0])
def test_a_difference_is_not_held_below_what_runs_may_lose(n_runs: int, sd: float) -> None:
    """The treatment adds 0.0009; "at most that, less nothing" was held in 15 to 48 % of studies."""
    chance, wrong = np.random.default_rng([n_runs, int(sd)]), 0
    for _ in range(N_STUDIES):
        pair = of_losses(
            estimate(by_factors(chance, n_runs, sd)),
            estimate(chance.binomial(N_PACKETS, 1e-4, size=n_runs).tolist()),
        )
        wrong += pair.difference().p_not_below(0.0009) <= LEVEL
    assert wrong <= MOST_FALSE


@pytest.mark.parametrize("sd", [1.0, 2.0])
def test_a_difference_is_not_refuted_by_a_baseline_that_lost_little(sd: float) -> None:
    """The treatment loses less, by 0.0009; that it loses more than so was found too often."""
    chance, wrong, of_share = np.random.default_rng(int(sd)), 0, 0
    for _ in range(N_STUDIES):
        pair = of_losses(
            estimate(chance.binomial(N_PACKETS, 1e-4, size=3).tolist()),
            estimate(by_factors(chance, 3, sd)),
        )
        wrong += pair.difference().p_not_above(-0.0009) <= LEVEL
        change = pair.relative_change()
        of_share += change is not None and change.p_not_above(-0.9) <= LEVEL
    assert wrong <= MOST_FALSE
    assert of_share <= MOST_FALSE


def test_an_interval_ends_where_the_p_value_says() -> None:
    pair = of_losses(estimate([300, 330, 280]), estimate([200, 230, 190]))
    for found in (pair.difference(), pair.relative_change()):
        assert found is not None
        lo, hi = found.interval(0.95)
        assert lo < found.value < hi
        assert found.p_not_above(lo) == pytest.approx(LEVEL, abs=1e-3)
        assert found.p_not_below(hi) == pytest.approx(LEVEL, abs=1e-3)


def test_losses_that_are_alike_are_told_apart() -> None:
    """Runs that lose as much each time decide a plain difference as before."""
    found = of_losses(estimate([1000, 1010, 990]), estimate([100, 105, 95])).difference()
    assert found.p_not_above(0.008) <= LEVEL
    assert found.p_not_below(0.01) <= LEVEL


def test_without_runs_the_difference_is_that_of_counts() -> None:
    one, other = LossEstimate(5, 1000), LossEstimate(2, 1000)
    plain = independent(one.normal(), other.normal()).difference()
    assert of_losses(one, other).difference() == plain
