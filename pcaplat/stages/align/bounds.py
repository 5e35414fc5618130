"""Bounds of one clock against another, one for each time bin in which packets were matched."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from pcaplat.model.arrays import Bools, Floats, Ints
from pcaplat.model.matched import MinDelays
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass

MOST_NS = 2**63 - 1
"""There is no next packet."""


@dataclass(frozen=True)
class OffsetBounds:
    """Upper bounds: at `t_ns` the second clock is at most `most_ns` ahead of the first.

    `t_ns` is on the clock of the path's first point, as well as the survey knew it; `up_ns` and
    `down_ns` are the stamps of the packet, `places` the index of the file and the number of the
    frame upstream, and those downstream; 0 where they are not known. Each bound stands for `n`
    packets, of which the next one bounds by `gap_ns` less.
    """

    t_ns: Ints
    most_ns: Ints
    n: Ints
    up_ns: Ints
    down_ns: Ints
    places: Ints
    gap_ns: Ints

    def within(self, first_ns: int | None, last_ns: int | None) -> "OffsetBounds":
        """Those of a stretch of time, its ends included; None is no limit."""
        is_in = np.ones(len(self.t_ns), dtype=bool)
        is_in &= True if first_ns is None else self.t_ns >= first_ns
        is_in &= True if last_ns is None else self.t_ns <= last_ns
        return self.at(is_in)

    def at(self, which: Bools | Ints) -> "OffsetBounds":
        """Some of them, by their numbers or one by one."""
        names = [one.name for one in fields(self)]
        return OffsetBounds(*(getattr(self, name)[which] for name in names))

    def without(self, gone: "OffsetBounds") -> "OffsetBounds":
        """Those that have not the timestamps of others."""
        left = {*zip(gone.up_ns.tolist(), gone.down_ns.tolist(), strict=True)}
        mine = zip(self.up_ns.tolist(), self.down_ns.tolist(), strict=True)
        return self.at(np.array([stamps not in left for stamps in mine], dtype=bool))

    def packets_at(self, knots_ns: Ints) -> Floats:
        """How many packets each knot stands for; never quite none."""
        weights = np.full(len(knots_ns), 1e-9)
        at = np.clip(np.searchsorted(knots_ns, self.t_ns), 0, len(knots_ns) - 1)
        np.add.at(weights, at, self.n)
        return weights

    @classmethod
    def joined(cls, parts: Sequence["OffsetBounds"]) -> "OffsetBounds":
        """Put the bounds of several pairs of points together."""
        names = [one.name for one in fields(cls)]
        return cls(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))


def all_bounds(
    findings: Findings,
    domains: Sequence[int],
    base_ns: Sequence[int],
    min_delays: Sequence[MinDelays],
) -> dict[Pair, OffsetBounds]:
    """All bounds by the clocks' domains: upstream, downstream; beside their coarse offsets.

    A stamp that is cut to its resolution is up to that much too early, so the downstream clock may
    be farther ahead by as much. One of a batch is up to so much too late, and the upstream clock is
    that much less ahead.
    """
    of_pair: dict[Pair, list[OffsetBounds]] = {}
    for one in min_delays:
        up, down = one.up, one.down
        t_ns, up_ns, raw_ns, n = one.aligned_ns, one.up_ns, one.raw_ns, one.n
        a, b = domains[up], domains[down]
        most_ns = raw_ns + findings.early_ns(up, down) - (base_ns[b] - base_ns[a])
        frames = (one.up_file, one.up_frame, one.down_file, one.down_frame)
        places = np.stack([0 * n if column is None else column for column in frames], axis=1)
        # where it was not counted, others of several stand right behind the first
        gap_ns = np.where(n > 1, 0, MOST_NS) if one.gap_ns is None else one.gap_ns
        bounds = OffsetBounds(t_ns, most_ns, n, up_ns, up_ns + raw_ns, places, gap_ns)
        of_pair.setdefault((a, b), []).append(bounds)
    return {ends: OffsetBounds.joined(parts) for ends, parts in of_pair.items()}


def early_if_equal(
    bounds: Mapping[Pair, OffsetBounds], base_ns: Sequence[int]
) -> dict[Pair, float]:
    """By how much a packet arrived before it left, were two clocks equal; where one did, ns."""
    found: dict[Pair, float] = {}
    for (a, b), one in bounds.items():
        early_ns = float(-(one.most_ns.min(initial=MOST_NS) + base_ns[b] - base_ns[a]))
        if early_ns > found.get((a, b), 0.0):
            found |= {(a, b): early_ns, (b, a): early_ns}
    return found
