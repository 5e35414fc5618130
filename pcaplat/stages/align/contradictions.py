"""Bounds that no clocks fit: which clocks they are of, and what is left without them."""

from collections.abc import Iterator

import numpy as np

from pcaplat.model.arrays import Bools, Floats
from pcaplat.model.points import Pair
from pcaplat.stages.align.interval import close

ROUNDING_NS = 1.0
"""Bounds that cross by less are equal: timestamps are whole nanoseconds."""

Contradictions = dict[Pair, float]
"""Pairs of clocks, either way round, and by how much their bounds cross, ns."""


def close_consistent(upper: Floats) -> tuple[Floats, Contradictions]:
    """Close the bounds, without those of clocks that contradict each other.

    Of two bounds that cross at least one is false, and nothing says which: the truth may lie
    beyond either, so an interval between them would not hold it. Where no pair contradicts itself
    but several do around a loop, none of these is known to be right.

    Args:
        upper: Upper bounds of every clock against every other, by [knot, of, against], ns.

    Returns:
        The closed bounds, in which no two cross, and the pairs that have none.
    """
    upper, found = upper.copy(), Contradictions()
    while crossing := dict(_crossing(upper)) or dict(_around_loops(close(upper))):
        found |= crossing
        for a, b in crossing:
            upper[:, a, b] = np.inf
    closed = close(upper)
    for a, b in found:
        # a way around says no more of two clocks than their own packets, which cannot be believed
        closed[:, a, b] = np.inf
    return _touching(closed), found


def _crossing(upper: Floats) -> Iterator[tuple[Pair, float]]:
    """Pairs of clocks of which one would have to be ahead of itself."""
    room_ns = (upper + upper.transpose(0, 2, 1)).min(axis=0)
    return _of_clocks(room_ns < -ROUNDING_NS, room_ns)


def _around_loops(closed: Floats) -> Iterator[tuple[Pair, float]]:
    """Pairs of all clocks that lie on a loop of bounds whose sum is below 0."""
    least_ns = np.diagonal(closed, axis1=1, axis2=2).min(axis=0)
    is_in = least_ns < -ROUNDING_NS
    is_pair = np.logical_and.outer(is_in, is_in)
    np.fill_diagonal(is_pair, val=False)
    return _of_clocks(is_pair, np.minimum.outer(least_ns, least_ns))


def _of_clocks(is_pair: Bools, room_ns: Floats) -> Iterator[tuple[Pair, float]]:
    for a, b in np.argwhere(is_pair).tolist():
        yield (a, b), -float(room_ns[a, b])


def _touching(closed: Floats) -> Floats:
    """Let bounds that cross by a rounding meet in their middle."""
    room_ns = closed + closed.transpose(0, 2, 1)
    return np.asarray(closed - np.minimum(room_ns, 0.0) / 2)
