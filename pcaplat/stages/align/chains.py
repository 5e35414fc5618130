"""Bounds along chains: what comes to a point one way and leaves it another bounds its clock.

A point on one of two routes sees one direction only. What arrives there bounds its clock from one
side against the points before it; what goes on from there, against the points behind it. Where
those are bounded against each other, both together are an interval, as wide as the round trip that
packets walk.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.clocks import Step, set_by
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.contradictions import close_consistent
from pcaplat.stages.align.interval import PairInterval
from pcaplat.stages.align.value import middle


@dataclass(frozen=True)
class Chains:
    """Bounds of all pairs of clocks, the times of the knots, and the steps of clocks."""

    bounds: Mapping[Pair, OffsetBounds]
    knots_ns: Ints
    steps: Mapping[int, Sequence[Step]]

    def joined(self, upper: Floats, value: Floats) -> tuple[Floats, Floats, dict[int, int]]:
        """Give bounds and values with those of the clocks that chains bound; see the other two."""
        upper, chained = self.add_to(upper)
        return upper, self.values(value, upper, list(chained)), chained

    def add_to(self, upper: Floats) -> tuple[Floats, dict[int, int]]:
        """Bound the clocks that no neighbour bounds from both sides, each next to those that are.

        Args:
            upper: Closed upper bounds, by [knot, of, against].

        Returns:
            The same, with those of further clocks where both sides of them are found; and per
            such clock one that it is bounded against, in order.
        """
        chained, refuted = dict[int, int](), set[int]()
        while (found := self._further(upper, refuted)) is not None:
            new, intervals = found
            more = upper.copy()
            for known, (lo_ns, hi_ns) in intervals.items():
                more[:, known, new], more[:, new, known] = hi_ns, -lo_ns
            closed, contradictions = close_consistent(more)
            if contradictions:
                # as of a clock that was set, which one direction does not show
                refuted.add(new)
            else:
                upper, chained[new] = closed, min(intervals)
        return upper, chained

    def values(self, value: Floats, upper: Floats, chained: Sequence[int]) -> Floats:
        """Take a value for further clocks: the middle of what the others' values leave.

        So no packet arrives before it left, on whichever of its segments.

        Args:
            value: The values of all clocks, by [knot, domain], ns.
            upper: Upper bounds, those of the further clocks too.
            chained: The further clocks.
        """
        value = value.copy()
        others = [one for one in range(upper.shape[1]) if one not in chained]
        for new in chained:
            known = [one for one in others if np.all(np.isfinite(upper[:, new, one]))]
            lo_ns = (value[:, known] - upper[:, new, known]).max(axis=1)
            hi_ns = (value[:, known] + upper[:, known, new]).min(axis=1)
            value[:, new] = middle(self.knots_ns, lo_ns, hi_ns, self.steps.get(new, ()))
            others.append(new)
        return value

    def _further(
        self, upper: Floats, refuted: Container[int]
    ) -> tuple[int, dict[int, tuple[Floats, Floats]]] | None:
        """A clock that is not bounded yet, and its interval against each of those that are."""
        is_finite = np.asarray(np.isfinite(upper).all(axis=0))
        is_bounded = is_finite & is_finite.T
        for new in (one for one in range(len(is_bounded)) if one not in refuted):
            intervals = {}
            for known in np.flatnonzero(~is_bounded[new]).tolist():
                group = np.flatnonzero(is_bounded[known]).tolist()
                sides = self._of(known, new, group, upper), self._of(new, known, group, upper)
                if sides[0] and sides[1]:
                    there, back = (OffsetBounds.joined(side) for side in sides)
                    steps = self.steps.get(new, ())
                    found = PairInterval.of(there, back, self.knots_ns, steps)
                    intervals[known] = found.at(self.knots_ns)
            if intervals:
                return new, intervals
        return None

    def _of(
        self, first: int, second: int, group: Sequence[int], upper: Floats
    ) -> list[OffsetBounds]:
        """Bounds of the second clock against the first, one of which is not in the group.

        Over any clock of the group, from which the other one is as far as it is at most.
        """
        found = []
        for over in group:
            is_from_group = first in group
            one = self.bounds.get((over, second) if is_from_group else (first, over))
            if one is None or not len(one.t_ns):
                continue
            between = upper[:, first, over] if is_from_group else upper[:, over, second]
            more_ns = np.interp(
                one.t_ns - self.knots_ns[0], self.knots_ns - self.knots_ns[0], between
            )
            least_ns, _, most_ns = set_by(self.steps.get(over, ()), one.t_ns)
            # a step of the clock in between is no way that a packet takes
            more_ns += most_ns if is_from_group else -least_ns
            found.append(replace(one, most_ns=one.most_ns + np.ceil(more_ns).astype(np.int64)))
        return found
