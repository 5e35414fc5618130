"""A path of several clocks: some are set, soon after each other, while a path changes elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tests.studies.clock_scenarios import SECOND_NS
from tests.support.alignments import START_NS, findings_of, in_bins

if TYPE_CHECKING:
    from pcaplat.model.arrays import Floats, Ints
    from pcaplat.model.matched import MinDelays
    from pcaplat.model.path import Findings

Setting = tuple[int, float, float]
"""A clock, when it was set, and by how much."""


@dataclass
class ClockPath:
    """Points in a row, each with a clock of its own, and packets that pass all of them."""

    seed: int
    n_points: int = 4
    settings: list[Setting] = field(default_factory=list)
    change: tuple[int, int, float, float] | None = None
    """The link, the direction, when it changes, and by how much."""

    def __post_init__(self) -> None:
        self.chance = np.random.default_rng([self.seed, self.n_points])
        self.span_ns = float(self.chance.uniform(10, 60) * SECOND_NS)
        self.rate = float(self.chance.uniform(60, 800))
        self.tail_ns = float(self.chance.uniform(500, 8_000))
        self.floors_ns = self.chance.uniform(2_000, 20_000, (self.n_points - 1, 2))
        self.offsets_ns = [0, *self.chance.integers(-(10**9), 10**9, self.n_points - 1).tolist()]
        self.drifts = [0.0, *self.chance.uniform(-20e-6, 20e-6, self.n_points - 1)]

    def clock(self, point: int, t: Floats) -> Floats:
        """How far a clock is ahead of the first's pace, beside its offset."""
        ahead = self.drifts[point] * t
        for clock, at, size in self.settings:
            ahead = ahead + np.where((t >= at) & (clock == point), size, 0.0)
        return np.asarray(ahead)

    def travel(self) -> ClockPath:
        """Send packets both ways, and stamp them at every point."""
        n = int(np.clip(self.rate * self.span_ns / SECOND_NS, 20, 20_000))
        self.stamps: list[Ints] = []
        for direction in (0, 1):
            t = np.sort(self.chance.uniform(0, self.span_ns, n))
            points = list(range(self.n_points))[:: 1 if direction == 0 else -1]
            seen = {points[0]: t}
            for up, down in pairwise(points):
                t = t + self._delays(min(up, down), direction, t)
                seen[down] = t
            rows = [self._stamp(point, seen[point]) for point in range(self.n_points)]
            self.stamps.append(np.stack(rows))
        return self

    def _stamp(self, point: int, t: Floats) -> Ints:
        ahead = np.rint(t + self.clock(point, t)).astype(np.int64)
        return np.asarray(START_NS + self.offsets_ns[point] + ahead)

    def _delays(self, link: int, direction: int, t: Floats) -> Floats:
        delays = self.floors_ns[link, direction] + self.chance.exponential(self.tail_ns, len(t))
        if self.change and self.change[:2] == (link, direction):
            _, _, at, size = self.change
            delays += np.where(t >= at, max(size, 0.0), max(-size, 0.0))
        return np.asarray(delays)

    def min_delays(self) -> list[MinDelays]:
        """The least differences of neighbours, and of both ends, as the core has them."""
        pairs = [*pairwise(range(self.n_points)), (0, self.n_points - 1)]
        return [self._min_delays(a, b, 0) for a, b in pairs] + [
            self._min_delays(b, a, 1) for a, b in pairs
        ]

    def _min_delays(self, up: int, down: int, direction: int) -> MinDelays:
        stamps = self.stamps[direction]
        raw_ns = stamps[down] - stamps[up]
        # on the clock of the path's first point, as well as the survey knows it
        aligned_ns = stamps[0]
        found = in_bins(up, down, aligned_ns, raw_ns, int(self.span_ns))
        by = {int(t): int(own) for t, own in zip(aligned_ns, stamps[up], strict=True)}
        up_ns = np.array([by[int(t)] for t in found.aligned_ns], np.int64)
        return replace(found, up_ns=up_ns)

    def findings(self) -> Findings:
        """What the survey would say."""
        return findings_of(
            [offset + 5_000 * (at > 0) for at, offset in enumerate(self.offsets_ns)],
            int(self.span_ns),
        )


CLOSE_NS = 2_000_000

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


def a_small_step(path: ClockPath) -> None:
    """One clock is set by 0.5 to 3 µs, where queues are short."""
    path.tail_ns = 200.0
    size = float(path.chance.uniform(500, 3_000) * path.chance.choice([-1, 1]))
    path.settings = [(int(path.chance.integers(path.n_points)), any_time(path), size)]


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
