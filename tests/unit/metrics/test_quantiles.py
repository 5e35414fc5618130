"""Intervals of quantiles that few packets tell: against order statistics of all of them."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.metrics.quantiles import of_quantile
from tests.support.runs import blocks_of

if TYPE_CHECKING:
    from pcaplat.metrics.means import Measurement

N, SHARE = 2_800, 0.99
BIN = 2.0**-10


def long_tail(seed: int, n: int = N) -> np.ndarray:
    """Latencies of which the largest are far beyond all others, each by itself."""
    return np.rint(10_000 * (1 + np.random.default_rng(seed).pareto(1.2, n)))


def sides_ns(values: np.ndarray, share: float, n: float) -> tuple[float, float]:
    """How far below and above a quantile those of a standard error more and less are (Woodruff)."""
    ordered, off = np.sort(values), sqrt(share * (1 - share) / n)
    low, at, high = (
        float(ordered[ceil(len(ordered) * one) - 1]) for one in (share - off, share, share + off)
    )
    return at - low, high - at


def standard_error(reading: Measurement) -> float:
    assert reading.within is not None
    lo, hi = reading.within.interval(0.95)
    # as wide as a normal one at least
    return (hi - lo) / 2 / 1.96


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [SHARE, 1 - SHARE])
def test_with_few_packets_beyond_both_sides_are_as_long_as_the_longer(
    seed: int, share: float
) -> None:
    values = long_tail(seed)
    values = values if share == SHARE else values.max() + 1 - values
    reading = of_quantile(blocks_of(values), share, 0.0)
    assert reading.n_effective * (1 - SHARE) < 40
    slack_ns = 2 * BIN * reading.value
    assert standard_error(reading) >= max(sides_ns(values, share, reading.n_effective)) - slack_ns


def test_with_many_beyond_resampling_knows_both_sides() -> None:
    values = long_tail(1, 12_000)
    reading = of_quantile(blocks_of(values), SHARE, 0.0)
    shorter, longer = sides_ns(values, SHARE, reading.n_effective)
    assert longer > 1.2 * shorter
    assert standard_error(reading) < longer


@pytest.mark.parametrize("share", [0.5, SHARE])
def test_a_quantile_is_the_middle_of_a_bin_which_may_be_off(share: float) -> None:
    values = long_tail(3, 12_000)
    true_ns = float(np.sort(values)[ceil(share * len(values)) - 1])
    reading = of_quantile(blocks_of(values), share, 7.0)
    assert abs(reading.value - true_ns) <= reading.bias - 7.0 <= BIN * reading.value
