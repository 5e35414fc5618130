"""What moves the middle of two clocks is a clock that was set, unless the path moved too."""

from __future__ import annotations

import numpy as np
import pytest

from pcaplat.stages.align.jumps import _jumps
from pcaplat.stages.align.windows import Windows

MS = 1_000_000
SEEDS = range(12)


def windows(
    middle_ns: np.ndarray, width_ns: np.ndarray, length_ms: np.ndarray, seed: int, noise_ns: float
) -> Windows:
    """Windows of these lengths; their middle is steady to 40 ns, their width to the noise."""
    chance = np.random.default_rng(seed)
    middle_ns = middle_ns + chance.normal(0, 40, len(middle_ns))
    width_ns = width_ns + chance.normal(0, noise_ns, len(width_ns))
    edges = np.concatenate([[0.0], np.cumsum(length_ms * float(MS))])
    return Windows(edges, middle_ns + width_ns / 2, middle_ns - width_ns / 2)


PHASES = np.repeat([15_200, 12_400, 15_300, 16_500], [4, 20, 4, 4])
"""Least times there and back, as the kind of the traffic changes them."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_phase_of_other_traffic_is_no_step(seed: int) -> None:
    """Width and middle change at once, by as much as the width does anyway."""
    middle_ns, length_ms = np.repeat([-9_800, -8_400], [28, 4]), np.full(32, 10)
    assert not [*_jumps(windows(middle_ns, PHASES, length_ms, seed, 700), 0.0)]
    steady_ns = np.full(32, 15_200)
    (step,) = _jumps(windows(middle_ns, steady_ns, length_ms, seed, 60), 0.0)
    assert abs(step[1] - 1_400) < 100


@pytest.mark.parametrize("seed", SEEDS)
def test_a_path_that_grows_faster_while_packets_are_few_is_no_step(seed: int) -> None:
    """Its usual slope hides in long windows how much longer it takes."""
    middle_ns = np.repeat([-8_640, -9_350], [29, 4])
    length_ms = np.repeat([10, 60], [29, 4])
    begins_ns = np.concatenate([[0], np.cumsum(length_ms)[:-1]]) * MS
    grown_ns = 3_400 + 8e-6 * begins_ns
    assert not [*_jumps(windows(middle_ns, grown_ns, length_ms, seed, 60), 0.0)]
    assert len([*_jumps(windows(middle_ns, np.full(33, 3_400), length_ms, seed, 60), 0.0)]) == 1
