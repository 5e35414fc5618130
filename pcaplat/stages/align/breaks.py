"""Where bounds contradict each other whatever the clocks did between: one of them was set there.

A packet that would arrive before it left, judged by the packets about it, tells of any step above
the time there and back, among few packets and near the ends of a capture too.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from pcaplat.model.arrays import Bools, Floats, Ints
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.align.bounds import OffsetBounds

MOST_SLEW = 6e-4
"""No clock that is slewed, by at most 500 ppm, runs faster than this against another."""

FEWEST = 3
"""Bounds of each direction that a stretch between steps needs: a false match has none."""

MOST_ODD = 0.1
"""Where a larger share of bounds contradicts those about them, something else than a step is
wrong."""

LEVEL_OF = 40
"""Bounds on either side of a step that tell the clocks before and after it."""


@dataclass(frozen=True)
class Break:
    """A step between the last bound that is surely before it and the first surely after."""

    before_ns: int
    after_ns: int
    size: float


@dataclass(frozen=True)
class Events:
    """Bounds from above and from below in order of one clock's time, beside the first of both.

    `at` is that time, `other` the other clock's.
    """

    at: Floats
    other: Floats
    t_ns: Ints
    bound: Floats
    is_upper: Bools

    @classmethod
    def of(
        cls, forward: OffsetBounds, reverse: OffsetBounds, *, by_near: bool, drift: float
    ) -> "Events":
        """In order of the near clock's time or of the far one's, less a drift."""
        near = (forward.up_ns, reverse.down_ns)
        far = (forward.down_ns, reverse.up_ns)
        own_ns, other_ns = map(np.concatenate, (near, far) if by_near else (far, near))
        by = np.argsort(own_ns, kind="stable")
        at, other = ((one - one.min()).astype(np.float64) for one in (own_ns, other_ns))
        bound_ns = np.concatenate([forward.most_ns, -reverse.most_ns])
        bound = (bound_ns - bound_ns[0]).astype(np.float64) - drift * at
        t_ns = np.concatenate([forward.t_ns, reverse.t_ns])
        return cls(at[by], other[by], t_ns[by], bound[by], by < len(forward.t_ns))


def find_breaks(
    forward: OffsetBounds, reverse: OffsetBounds, cut_ns: float, drift: float
) -> list[Break]:
    """Find the steps without which the bounds contradict each other.

    On the clock that was not set all is in order: it needs the fewest steps.

    Args:
        forward: Bounds of the second clock against the first, from above.
        reverse: Bounds of the first against the second, from above.
        cut_ns: How coarse the stamps are, both together.
        drift: The usual drift of the second clock, ns per ns.
    """
    candidates = []
    for by_near in (True, False):
        events = Events.of(forward, reverse, by_near=by_near, drift=drift)
        ends = [0, *_contradictions(events, cut_ns), len(events.at)]
        stretches = [one for one in pairwise(ends) if _is_lasting(events, one)]
        n_odd = len(events.at) - sum(end - start for start, end in stretches)
        is_step = n_odd <= MOST_ODD * len(events.at)
        pairs = pairwise(stretches) if is_step else ()
        breaks = [_between(events, *pair, cut_ns, drift) for pair in pairs]
        candidates.append((len(ends), sum(one.after_ns - one.before_ns for one in breaks), breaks))
    return min(candidates, key=lambda one: one[:2])[2]


def _contradictions(events: Events, cut_ns: float) -> Iterator[int]:
    """Indices of the bounds that contradict those since the last such one."""
    columns = (events.at, events.bound, events.is_upper)
    low, high, before = -np.inf, np.inf, 0.0
    for index, (at, bound, is_upper) in enumerate(
        zip(*map(np.ndarray.tolist, columns), strict=True)
    ):
        low, high = low - MOST_SLEW * (at - before), high + MOST_SLEW * (at - before)
        before = at
        if bound < low - cut_ns if is_upper else bound > high + cut_ns:
            low, high = -np.inf, np.inf
            yield index
        low, high = (low, min(high, bound)) if is_upper else (max(low, bound), high)


def _is_lasting(events: Events, stretch: Pair) -> bool:
    """Whether a stretch has enough bounds of both directions."""
    n_upper = int(events.is_upper[slice(*stretch)].sum())
    return min(n_upper, stretch[1] - stretch[0] - n_upper) >= FEWEST


def _between(events: Events, first: Pair, then: Pair, cut_ns: float, drift: float) -> Break:
    """The step between two stretches, and the bounds that it must lie between."""
    early = _nearest(events, range(first[1] - 1, first[0] - 1, -1))
    late = _nearest(events, range(*then))
    before, after = _surely(events, early, late, cut_ns)
    # what came between may be of either side, and tells no level
    early = _clear(events, _nearest(events, range(before, first[0] - 1, -1)), early)
    late = _clear(events, _nearest(events, range(after, then[1])), late)
    size = _level(events, late) - _level(events, early) + drift * _jumped(events, before, after)
    ends = int(events.t_ns[before]), int(events.t_ns[after])
    return Break(min(ends), max(ends), size)


def _jumped(events: Events, before: int, after: int) -> float:
    """By how much the clock itself went ahead between two bounds, in which it did not drift."""
    own, other = (column[after] - column[before] for column in (events.at, events.other))
    return max(float(own - other), 0.0)


def _clear(events: Events, chosen: Ints, otherwise: Ints) -> Ints:
    """These bounds if there are some of both directions among them."""
    upper = events.is_upper[chosen]
    return chosen if upper.any() and not upper.all() else otherwise


def _surely(events: Events, early: Ints, late: Ints, cut_ns: float) -> tuple[int, int]:
    """The last bound that contradicts one after the step, and the first that one before it does."""
    is_up = _level(events, late) > _level(events, early)
    # after a step up, packets forward are never so quick as before it, nor in reverse before it
    last = early[events.is_upper[early] == is_up]
    next_ = late[events.is_upper[late] != is_up]
    apart = events.at[next_][None, :] - events.at[last][:, None]
    rise = (1 if is_up else -1) * (events.bound[next_][None, :] - events.bound[last][:, None])
    is_against = rise > MOST_SLEW * np.abs(apart) + cut_ns
    before, after = last[is_against.any(axis=1)], next_[is_against.any(axis=0)]
    return (
        int(before.max()) if len(before) else int(early.max()),
        int(after.min()) if len(after) else int(late.min()),
    )


def _nearest(events: Events, inside: Sequence[int]) -> Ints:
    """The bounds that come first, but enough of each direction."""
    order = np.array(inside)
    upper = events.is_upper[order]
    n = np.maximum(
        np.searchsorted(np.cumsum(upper), FEWEST), np.searchsorted(np.cumsum(~upper), FEWEST)
    )
    return order[: max(int(n) + 1, LEVEL_OF)]


def _level(events: Events, chosen: Ints) -> float:
    """The middle between the bounds."""
    upper, bound = events.is_upper[chosen], events.bound[chosen]
    return float(bound[upper].min() + bound[~upper].max()) / 2
