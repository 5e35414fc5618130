"""What alignment is given, made by hand: two clocks of known relation, packets both ways."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.model.centre import Centre
from pcaplat.model.matched import MinDelays
from pcaplat.model.path import Findings
from pcaplat.model.points import Point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pcaplat.model.arrays import Floats, Ints

START_NS = 1_700_000_000_000_000_000
N_BINS = 2048


@dataclass(frozen=True)
class TwoClocks:
    """A perfect clock, a second one that is off, and packets between them."""

    offset_ns: int = 0
    drift_ppm: float = 0.0
    wander_ns: float = 0.0
    resolution_ns: int = 1
    forward_ns: int = 8_000
    reverse_ns: int = 11_000
    tail_ns: float = 3_000
    span_ns: int = 10_000_000_000
    n_each_way: int = 4_000
    seed: int = 0

    def ahead_ns(self, true_ns: Ints) -> Floats:
        """How far the second clock is ahead, beside `offset_ns`."""
        t = (true_ns - START_NS).astype(np.float64)
        wander = self.wander_ns * np.sin(2 * np.pi * t / self.span_ns)
        return np.asarray(self.drift_ppm * 1e-6 * t + wander)

    def min_delays(self) -> list[MinDelays]:
        """The least raw differences per bin and direction, as the core keeps them."""
        chance = np.random.default_rng(self.seed)
        rows = []
        for up, down, delay_ns in ((0, 1, self.forward_ns), (1, 0, self.reverse_ns)):
            sent = np.sort(chance.integers(0, self.span_ns, self.n_each_way)) + START_NS
            tails = chance.exponential(self.tail_ns, self.n_each_way)
            arrived = sent + delay_ns + tails.astype(np.int64)
            first, second = (sent, arrived) if up == 0 else (arrived, sent)
            stamp = {0: self._cut(first), 1: self._cut(self._second(second))}
            rows.append(in_bins(up, down, stamp[0], stamp[down] - stamp[up], self.span_ns))
        return rows

    def _second(self, true_ns: Ints) -> Ints:
        return true_ns + self.offset_ns + np.rint(self.ahead_ns(true_ns)).astype(np.int64)

    def _cut(self, t_ns: Ints) -> Ints:
        whole: Ints = t_ns // self.resolution_ns
        return whole * self.resolution_ns

    def findings(self) -> Findings:
        """What the survey would have found: the coarse offset, less exactly."""
        return findings_of([0, self.offset_ns + 5_000], self.span_ns, self.resolution_ns)


def in_bins(up: int, down: int, t_ns: Ints, raw_ns: Ints, span_ns: int) -> MinDelays:
    """Keep the least difference of each bin of time."""
    bins = (t_ns - START_NS) // (span_ns // N_BINS + 1)
    by = np.lexsort((raw_ns, bins))
    _, first, n = np.unique(bins[by], return_index=True, return_counts=True)
    kept = by[first]
    return MinDelays(up, down, **stamps(up, t_ns[kept], raw_ns[kept]), n=n)


def one_bound(up: int, down: int, raw_ns: int, n: int = 9) -> MinDelays:
    """The same least difference all the time."""
    t_ns = START_NS + np.arange(n, dtype=np.int64) * 1_000_000_000
    raw = np.full(n, raw_ns, np.int64)
    return MinDelays(up, down, **stamps(up, t_ns, raw), n=np.ones(n, np.int64))


def stamps(up: int, near_ns: Ints, raw_ns: Ints) -> dict[str, Ints]:
    """The stamps of packets, of which the nearer one is on the reference clock."""
    up_ns = near_ns if up == 0 else near_ns - raw_ns
    return {"aligned_ns": near_ns, "up_ns": up_ns, "raw_ns": raw_ns}


def findings_of(
    offsets_ns: list[int],
    span_ns: int = 8_000_000_000,
    resolution_ns: float = 1,
    late_ns: Sequence[int] = (),
) -> Findings:
    """A path of points whose clocks are coarsely known."""
    points = [
        Point(
            name=f"p{i}",
            sources=((i, 0),),
            resolution_ns=resolution_ns,
            first_t_ns=START_NS + off,
            last_t_ns=START_NS + off + span_ns,
            disorder_ns=0,
            late_ns=late,
        )
        for i, (off, late) in enumerate(zip_longest(offsets_ns, late_ns, fillvalue=0))
    ]
    centres = [
        Centre(np.array([START_NS + off]), np.array([off]), 0.0) if off else Centre(_NO, _NO, 0.0)
        for off in offsets_ns
    ]
    along = list(range(len(points)))
    return Findings(
        points=points,
        components=[along],
        alone=[],
        edges=list(pairwise(along)),
        toward_is_forward={},
        centres=(centres, centres),
        bands=({}, {}),
        is_inferred=True,
        warnings=[],
        tails=(),
        torn=frozenset(),
    )


_NO = np.zeros(0, np.int64)
