"""Several clocks that are set at about one time, and paths that change elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.align import align
from tests.align_by_hand import START_NS
from tests.clock_paths import ClockPath

if TYPE_CHECKING:
    from pcaplat.clocks import Clocks, Relation

CLOSE_NS = 2_000_000
ROUNDING_NS = 2
SMALL_NS = 3_000
UNSEEN_NS = 20_000
CLEAR_NS = 100_000
"""Above the time there and back of any of these paths."""

Event = Callable[[ClockPath], None]


def any_size(path: ClockPath, most_ns: float = 2e6) -> float:
    exponent = path.chance.uniform(np.log(1e3), np.log(most_ns))
    return float(np.exp(exponent) * path.chance.choice([-1, 1]))


def any_time(path: ClockPath) -> float:
    return float(path.chance.uniform(0.2, 0.8) * path.span_ns)


def change_path(path: ClockPath, at: float) -> None:
    link, direction = int(path.chance.integers(path.n_points - 1)), int(path.chance.integers(2))
    path.change = (link, direction, at, any_size(path, 5e5))


def two_within_2_ms(path: ClockPath) -> None:
    one, other = path.chance.choice(path.n_points, 2, replace=False).tolist()
    at, apart = any_time(path), float(path.chance.uniform(0, CLOSE_NS))
    path.settings = [(one, at, any_size(path)), (other, at + apart, any_size(path))]


def one_twice_within_2_ms(path: ClockPath) -> None:
    clock, at = int(path.chance.integers(path.n_points)), any_time(path)
    apart = float(path.chance.uniform(0, CLOSE_NS))
    path.settings = [(clock, at, any_size(path)), (clock, at + apart, any_size(path))]


def each_its_own(path: ClockPath) -> None:
    path.settings = [(one, any_time(path), any_size(path)) for one in range(1, path.n_points)]


def one_while_a_path_changes(path: ClockPath) -> None:
    path.settings = [(int(path.chance.integers(path.n_points)), any_time(path), any_size(path))]
    change_path(path, any_time(path))


def one_within_half_a_second_of_a_path(path: ClockPath) -> None:
    at = any_time(path)
    path.settings = [(int(path.chance.integers(path.n_points)), at, any_size(path))]
    change_path(path, at + float(path.chance.uniform(-5e8, 5e8)))


def a_path_alone(path: ClockPath) -> None:
    change_path(path, any_time(path))


TOLD_APART: list[Event] = [
    two_within_2_ms,
    each_its_own,
    one_while_a_path_changes,
    a_path_alone,
]
AT_ONCE: list[Event] = [one_twice_within_2_ms, one_within_half_a_second_of_a_path]
"""Here the truth is inside, but which clock was set by how much may be in doubt."""


def happened(event: Event, seed: int) -> tuple[ClockPath, Clocks]:
    path = ClockPath(seed, 3 + seed % 2)
    event(path)
    path.travel()
    return path, align(path.findings(), list(range(path.n_points)), path.least())


def inside_frac(path: ClockPath, relation: Relation, near: int, far: int) -> float:
    t = (relation.t_ns - START_NS).astype(np.float64)
    truth = path.offsets_ns[far] - path.offsets_ns[near] - relation.base_ns
    truth = truth + path.clock(far, t) - path.clock(near, t)
    is_in = (relation.lo_ns - ROUNDING_NS <= truth) & (truth <= relation.hi_ns + ROUNDING_NS)
    return float(np.mean(is_in[(t >= 0) & (t <= path.span_ns)]))


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
            inside.append(inside_frac(path, relation, near, far))
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
        assert inside_frac(path, relation, near, far) >= 0.99
        assert is_named(path, relation, near, far)


@pytest.mark.slow
@pytest.mark.parametrize("event", TOLD_APART + AT_ONCE)
def test_the_same_of_two_hundred(event: Event) -> None:
    check(event, range(200))
