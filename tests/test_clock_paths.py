"""Several clocks that are set at about one time, and paths that change elsewhere."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.clock_paths import (
    AT_ONCE,
    TOLD_APART,
    ClockPath,
    Event,
    each_its_own,
    one_within_half_a_second_of_a_path,
    two_within_2_ms,
)
from tests.clock_studies import happened, inside_of_pair

if TYPE_CHECKING:
    from pcaplat.clocks import Relation

SMALL_NS = 3_000
UNSEEN_NS = 20_000
CLEAR_NS = 100_000
"""Above the time there and back of any of these paths."""


def is_named(path: ClockPath, relation: Relation, near: int, far: int) -> bool:
    """Which of two clocks was set cannot be told; by how much both together can."""
    sizes = [
        size if clock == far else -size for clock, _, size in path.settings if clock in (near, far)
    ]
    if not relation.steps:
        return abs(sum(sizes)) < CLEAR_NS
    found = sum(step.size_ns for step in relation.steps)
    unseen = sum(abs(size) for size in sizes if abs(size) < UNSEEN_NS)
    slack = max(SMALL_NS, 0.1 * max(map(abs, sizes), default=0)) + unseen
    return abs(found - sum(sizes)) <= slack


def check(event: Event, seeds: range) -> None:
    inside, named = [], []
    for seed in seeds:
        path, clocks = happened(event, seed)
        for near, far in combinations(range(path.n_points), 2):
            relation = clocks.relation(near, far)
            inside.append(inside_of_pair(path, relation, near, far))
            named.append(is_named(path, relation, near, far))
        if not path.settings:
            assert not clocks.steps
    assert np.mean(inside) >= 0.995
    assert event in AT_ONCE or np.mean(named) >= 0.99


@pytest.mark.parametrize("event", TOLD_APART + AT_ONCE)
def test_the_truth_is_inside_and_steps_are_those_of_clocks(event: Event) -> None:
    check(event, range(1_000, 1_008))


@pytest.mark.parametrize(
    ("event", "seed"),
    [(each_its_own, 95), (each_its_own, 126), (two_within_2_ms, 173), (two_within_2_ms, 188)],
)
def test_a_small_step_close_to_a_large_one_is_not_lost(event: Event, seed: int) -> None:
    """Two clocks are set at about one time, the one by a hundredth of the other."""
    path, clocks = happened(event, seed)
    for near, far in combinations(range(path.n_points), 2):
        relation = clocks.relation(near, far)
        assert inside_of_pair(path, relation, near, far) >= 0.99
        assert is_named(path, relation, near, far)


@pytest.mark.parametrize("seed", [4, 117])
def test_a_clock_that_a_path_hides_leaves_no_interval(seed: int) -> None:
    """A path takes longer by as much as a clock is set, 0.1 s before: which, nobody can tell."""
    path, clocks = happened(one_within_half_a_second_of_a_path, seed)
    for near, far in combinations(range(path.n_points), 2):
        assert inside_of_pair(path, clocks.relation(near, far), near, far) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("event", TOLD_APART + AT_ONCE)
def test_the_same_of_two_hundred(event: Event) -> None:
    check(event, range(200))
