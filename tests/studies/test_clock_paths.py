"""Several clocks that are set at about one time, and paths that change elsewhere."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.studies.clock_paths import (
    AT_ONCE,
    TOLD_APART,
    ClockPath,
    Event,
    a_small_step,
    each_its_own,
    one_within_half_a_second_of_a_path,
    two_within_2_ms,
)
from tests.studies.clock_studies import happened, inside_of_pair

if TYPE_CHECKING:
    from pcaplat.model.clocks import Relation

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


@pytest.mark.parametrize("seed", [38, 53, 55])
def test_what_no_pair_shows_alone_is_no_step_of_its_own(seed: int) -> None:
    """A path changes half a second from a step: what pairs say differs by a part of the change."""
    path, clocks = happened(one_within_half_a_second_of_a_path, seed)
    for near, far in combinations(range(path.n_points), 2):
        assert is_named(path, clocks.relation(near, far), near, far)


@pytest.mark.parametrize("seed", range(8))
def test_a_step_of_a_microsecond_is_told_of_the_clock_that_was_set(seed: int) -> None:
    path, clocks = happened(a_small_step, seed)
    ((clock, _, size),) = path.settings
    for near, far in combinations(range(path.n_points), 2):
        relation = clocks.relation(near, far)
        sizes = {near: -size, far: size}
        found = [step.size_ns for step in relation.steps]
        assert found == ([pytest.approx(sizes[clock], abs=400)] if clock in sizes else [])
        assert inside_of_pair(path, relation, near, far) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("event", TOLD_APART + AT_ONCE)
def test_the_same_of_two_hundred(event: Event) -> None:
    check(event, range(200))
