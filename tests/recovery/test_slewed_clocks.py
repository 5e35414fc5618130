"""Clocks that NTP slews: for seconds of a capture of minutes one is 500 ppm fast or slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.recovery.simulator import Clock, Link, Point, Scenario, Score, Traffic, Truth, run

if TYPE_CHECKING:
    from pathlib import Path

SECOND_NS = 1_000_000_000
LASTS_NS = 600 * SECOND_NS
PACKETS_A_TRANSACTION = 2.2
SHARES = (("tcp", 0.5), ("udp", 0.3), ("icmp", 0.2))


def slewed(n_packets: int, seed: int) -> Scenario:
    """The middle one of three clocks is slewed by 10 ms within 20 s, and drifts besides."""
    chance = np.random.default_rng(seed)
    sign = int(chance.choice([-1, 1]))
    after_ns = int(chance.uniform(0.1, 0.8) * LASTS_NS)
    middle = Clock(
        -sign * 10_000_000,
        float(chance.uniform(-20, 20)),
        slew_ppm=sign * 500,
        slew_after_ns=after_ns,
        slew_for_ns=20 * SECOND_NS,
    )
    points = (Point("near"), Point("middle", middle), Point("far", Clock(3_000_000, 7.0)))
    gap_ns = round(LASTS_NS * PACKETS_A_TRANSACTION / n_packets)
    traffic = Traffic(n_packets, gap_ns=gap_ns, shares=SHARES)
    return Scenario(points, (Link(9_000, 12_000), Link(15_000, 8_000)), traffic, seed=seed)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("n_packets", [2_000, 8_000])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_latency_leaves_its_interval_while_a_clock_is_slewed(
    n_packets: int, seed: int, tmp_path: Path
) -> None:
    outcome = run(slewed(n_packets, seed))
    with pcaplat.merge([str(file) for file in outcome.save(tmp_path)]) as result:
        score = Score(Truth(outcome), result)
        assert score.n_wrong == 0
        assert score.worst_ns("mean_beyond_ns") == 0
        off_ns = np.array([max(lo - true, true - hi) for lo, hi, true in score.intervals_ns()])
        assert len(off_ns) > n_packets
        assert np.mean(off_ns > 1) <= 0.001
        segments = [row for row, *_ in score.segments()]
    # a bound is loosened by what the clock may have moved until the next packet
    gap_ns = LASTS_NS / n_packets
    assert all(row["clock_half_width_ns"] < 25_000 + 40e-6 * gap_ns for row in segments)
