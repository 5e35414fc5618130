"""Packets that come again a minute later are others, whatever the clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey.observations import unique_observations
from pcaplat.stages.survey.rounds import told_apart
from tests.support.samples import observations

if TYPE_CHECKING:
    from pcaplat.stages.survey.observations import Observations

MINUTE_NS, N = 60_000_000_000, 100


def script(n_rounds: int, offset_ns: int, lost: float, seed: int) -> list[Observations]:
    """A script's packets at two points, the second of which has a clock of its own."""
    chance = np.random.default_rng(seed)
    at_ns = 1_000_000 * np.arange(N)
    key = np.tile(np.arange(N) + 1, n_rounds)
    t_ns = np.concatenate([at_ns + turn * MINUTE_NS for turn in range(n_rounds)])
    kept = [chance.random(len(key)) >= lost for _ in range(2)]
    late_ns = t_ns + 5_000 + offset_ns
    return [
        observations(key[is_kept].tolist(), own_ns[is_kept].tolist())
        for is_kept, own_ns in zip(kept, (t_ns, late_ns), strict=True)
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_rounds", [2, 5, 20])
@pytest.mark.parametrize("offset_ns", [0, 37_000_000_000, -2_000_000_000_000])
def test_rounds_are_told_apart(offset_ns: int, n_rounds: int, seed: int) -> None:
    near, far = unique_observations(told_apart(script(n_rounds, offset_ns, 0.02, seed)))
    _, here, there = np.intersect1d(near.key, far.key, return_indices=True)
    assert len(here) > 0.95 * N * n_rounds * 0.96
    assert set((far.t_ns[there] - near.t_ns[here]).tolist()) == {5_000 + offset_ns}


def test_of_many_rounds_of_few_packets_nothing_is_told() -> None:
    seen = [one.at(one.key <= 3) for one in script(60, 90_000_000_000, 0.2, 1)]
    assert all(np.array_equal(a.key, b.key) for a, b in zip(told_apart(seen), seen, strict=True))


def test_packets_that_do_not_come_again_stay_as_they_are() -> None:
    seen = script(1, 5, 0.0, 1)
    assert all(np.array_equal(a.key, b.key) for a, b in zip(told_apart(seen), seen, strict=True))
