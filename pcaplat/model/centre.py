"""The usual offset between two points over time, as the survey follows it, and how far is far."""

from dataclasses import field
from typing import Self

import numpy as np

from pcaplat.model.arrays import Ints, quantile
from pcaplat.records import dataclass

LEAST_FAR_NS = 1_000_000
"""What is nearer to the usual is not far."""


def _no_spans() -> Ints:
    return np.zeros((0, 2), np.int64)


@dataclass(frozen=True)
class Centre:
    """An offset over raw time: linear between knots, of one slope outside.

    `set_ns` are spans of raw times, one a row, in which it was being set, or the clock that it is
    compared with: the offset is not known there.
    """

    t_ns: Ints
    offset_ns: Ints
    slope: float
    set_ns: Ints = field(default_factory=_no_spans)

    @classmethod
    def of_clock(cls, t_ns: Ints, offset_ns: Ints, slope: float) -> Self:
        """Make a centre from offsets over the time of another clock.

        Where the offset jumps from one nanosecond to the next, one of both was set. A clock that is
        set back says some times twice.
        """
        raw_ns = t_ns + offset_ns
        ends_ns = np.stack((raw_ns[:-1], raw_ns[1:]), 1)[np.diff(t_ns) == 1]
        return cls(in_order(raw_ns), offset_ns, slope, np.sort(ends_ns, axis=1))

    def at(self, t_ns: Ints) -> Ints:
        """Offset at raw times; differences are taken in integers before floats touch them."""
        if len(self.t_ns) == 0:
            return np.zeros(len(t_ns), dtype=np.int64)
        t0, c0 = self.t_ns[0], self.offset_ns[0]
        x = (t_ns - t0).astype(np.float64)
        knots = (self.t_ns - t0).astype(np.float64)
        rise = np.interp(x, knots, (self.offset_ns - c0).astype(np.float64))
        rise += self.slope * (np.minimum(x, 0) + np.maximum(x - knots[-1], 0))
        return np.asarray(c0 + np.rint(rise).astype(np.int64))

    def apart_ns(self, other: Self) -> int:
        """How far two offsets of one clock part, at most: where a route changes they part late.

        Both are linear between knots, so that they are farthest apart at one.
        """
        knots_ns = np.concatenate([self.t_ns, other.t_ns])
        return int(np.abs(self.at(knots_ns) - other.at(knots_ns)).max(initial=0))

    def raw(self, aligned_ns: Ints) -> Ints:
        """Raw times at which the time without the offset is `aligned_ns`."""
        raw_ns = aligned_ns + (self.offset_ns[0] if len(self.offset_ns) else 0)
        # the offset's slope is that of clocks, far below 1: three steps leave no nanosecond
        for _ in range(3):
            raw_ns = aligned_ns + self.at(raw_ns)
        return np.asarray(raw_ns)

    def doubtful(self) -> Ints:
        """Times without the offset in which the clock was set back, first and last, one a row.

        There the offset falls faster than time goes by: the clock said some times twice, and of
        packets that have one of them nobody knows which is meant. The knots around may be of both.
        """
        falls_ns = np.abs(np.diff(self.offset_ns))
        at = np.flatnonzero(falls_ns > np.diff(self.t_ns))
        knots_ns = self.t_ns - self.offset_ns
        around = np.clip(at[:, None] + np.arange(-1, 3), 0, len(knots_ns) - 1)
        first_ns, last_ns = knots_ns[around].min(axis=1), knots_ns[around].max(axis=1)
        return np.stack([first_ns - falls_ns[at], last_ns + falls_ns[at]], 1)


def in_order(t_ns: Ints) -> Ints:
    """Times that a clock says, made to ascend.

    A clock that was set back says some times twice: half of them count as before, half as after.
    """
    up, down = np.maximum.accumulate(t_ns), np.minimum.accumulate(t_ns[::-1])[::-1]
    return np.asarray(down + (up - down) // 2)


NO_OFFSET = Centre(np.zeros(0, np.int64), np.zeros(0, np.int64), 0.0)
"""The centre of the reference point itself."""


@dataclass(frozen=True)
class Tail:
    """Of `n` packets 99 % are within `within_ns` of the usual difference.

    `far_ns`: how far those are that are farther than 1 ms from it, and from the difference of
    packets about the same time, ascending.
    """

    n: int
    within_ns: int
    far_ns: Ints

    @classmethod
    def of(cls, apart_ns: Ints, from_others_ns: Ints) -> Self:
        """Of how far packets are from the usual difference, and from others about the same time."""
        if not len(apart_ns):
            return cls(0, 0, apart_ns)
        far_ns = np.sort(np.minimum(apart_ns, from_others_ns))
        first = np.searchsorted(far_ns, LEAST_FAR_NS, "right")
        return cls(len(apart_ns), int(quantile(apart_ns, 0.99)), far_ns[first:])

    def frac_beyond(self, ns: int) -> float:
        """The share of packets that are farther than this, of 1 ms or more."""
        n_far = len(self.far_ns) - int(np.searchsorted(self.far_ns, ns, "right"))
        return n_far / max(self.n, 1)
