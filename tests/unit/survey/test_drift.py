"""What clocks drift apart: taken out of differences, whatever way packets go."""

from __future__ import annotations

import numpy as np
import pytest

from pcaplat.stages.survey.delays.drift import BLOCK, without_drift_of_ways

SPAN_NS = 600_000_000_000
TAKES_NS = 10_000


@pytest.mark.parametrize(
    ("n", "n_ways", "wander_ns"),
    [(40, 2, 0), (2_000, 400, 0), (2_000, 400, 40_000), (8_000, 2_000, 40_000)],
)
@pytest.mark.parametrize("ppm", [0.0, 25.0, -60.0])
def test_ways_of_few_packets_are_as_far_apart_as_they_take(
    n: int, n_ways: int, wander_ns: int, ppm: float
) -> None:
    chance = np.random.default_rng(n)
    t_ns = np.sort(chance.integers(0, SPAN_NS, n))
    of_way = chance.permutation(np.arange(n) % n_ways)
    takes_ns = np.where(of_way % 2, TAKES_NS, -TAKES_NS)
    drift_ns = t_ns * ppm * 1e-6 + wander_ns * np.sin(t_ns / SPAN_NS * n / BLOCK / 10)
    found_ns = without_drift_of_ways(t_ns, takes_ns + np.rint(drift_ns).astype(np.int64), of_way)
    rest_ns = found_ns - takes_ns
    assert np.abs(rest_ns - np.median(rest_ns)).max() < TAKES_NS / 2


@pytest.mark.parametrize("size_ns", [-3_000_000, 200_000])
def test_neighbours_in_time_stay_as_far_apart_but_where_a_clock_is_set(size_ns: int) -> None:
    chance = np.random.default_rng(1)
    t_ns = np.sort(chance.integers(0, SPAN_NS, 4_000))
    of_way = np.arange(4_000) % 2
    d_ns = np.where(of_way, TAKES_NS, -TAKES_NS) + chance.integers(0, 3_000, 4_000)
    d_ns += np.where(np.arange(4_000) >= 2_500, size_ns, 0)
    changed_ns = np.diff(without_drift_of_ways(t_ns, d_ns, of_way)) - np.diff(d_ns)
    changed_ns[2_500 - 2 * BLOCK : 2_500 + 2 * BLOCK] = 0
    assert np.abs(changed_ns).max() < 1_000


def test_what_clocks_drift_in_a_silence_is_in_no_burst() -> None:
    chance = np.random.default_rng(2)
    burst = np.repeat(np.arange(20), 12)
    t_ns = burst * 100_000_000_000 + np.arange(240) * 1_000_000
    of_way = np.arange(240) % 2
    drift_ns = np.cumsum(chance.integers(-500_000, 500_000, 20))[burst]
    d_ns = np.where(of_way, TAKES_NS, -TAKES_NS) + drift_ns
    changed_ns = np.diff(without_drift_of_ways(t_ns, d_ns, of_way)) - np.diff(d_ns)
    assert np.abs(changed_ns[np.diff(burst) == 0]).max() < TAKES_NS / 4
