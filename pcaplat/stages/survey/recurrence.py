"""Address pairs most of whose packets of one direction come again.

A packet of theirs that two points saw once each may be two with the same bytes: one of the points
did not capture the first, and the other not the second. How far apart they seem to be says nothing
of latencies.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Bools, Ints, distinct
from pcaplat.stages.survey.observations import COPIES_WITHIN_NS, Observations, places

Recurring = Mapping[int, int]
"""By direction of an address pair (`ways_of`), after what time packets come again at least, ns."""

NONE_RECUR: Recurring = {}

MOST = 0.5
"""Most packets come again where more than this share does."""

SELDOM = 0.01
"""The share of what comes again that may do so sooner."""


def ways_of(pair: Ints, is_toward: Bools) -> Ints:
    """Number the two directions of address pairs."""
    return np.where(is_toward, ~pair, pair)


def ways_seen_once(recurring: Recurring, once: Sequence[Observations]) -> Recurring:
    """Give those of which points saw some packets once, so that these are in doubt."""
    seen = [distinct(ways_of(one.pair, one.is_toward)) for one in once] if recurring else []
    found = set(np.concatenate(seen).tolist()) if seen else set[int]()
    return {way: again_ns for way, again_ns in recurring.items() if way in found}


def again_after_ns(pair: Ints, is_toward: Bools, recurring: Recurring) -> Ints:
    """After what time at least packets come again that go as each of some does; 0: most do not."""
    ways, again_ns = np.array(sorted(recurring.items()), np.int64).reshape(-1, 2).T
    at, is_there = places(ways_of(pair, is_toward), ways)
    return np.where(is_there, again_ns[at], 0) if len(ways) else np.zeros_like(pair)


def find_recurring(seen: Sequence[Observations]) -> Recurring:
    """Find the address pairs and directions most of whose packets some point saw again.

    Args:
        seen: What each point saw.

    Returns:
        After what time packets of theirs come again at least, but for the soonest few.
    """
    found = dict[int, int]()
    for one in seen:
        for way, again_ns in _recurring_at(one):
            found[way] = min(again_ns, found.get(way, again_ns))
    return found


def _recurring_at(seen: Observations) -> list[tuple[int, int]]:
    by_key = seen.by_key
    key, t_ns = seen.key[by_key], seen.t_ns[by_key]
    is_other = np.diff(key, prepend=key[:1] - 1) != 0
    again_ns = np.diff(t_ns, prepend=t_ns[:1])
    is_again = ~is_other & (again_ns > COPIES_WITHIN_NS)
    if not is_again.any():
        return []
    starts = np.flatnonzero(is_other)
    comes_again = np.logical_or.reduceat(is_again, starts)
    first = by_key[starts]
    ways, of_way = np.unique(ways_of(seen.pair[first], seen.is_toward[first]), return_inverse=True)
    n, n_again = np.bincount(of_way), np.bincount(of_way[comes_again], minlength=len(ways))
    of_again = of_way[np.cumsum(is_other) - 1][is_again]
    in_order_ns = again_ns[is_again][np.lexsort((again_ns[is_again], of_again))]
    n_times = np.bincount(of_again, minlength=len(ways))
    early = np.cumsum(n_times) - n_times + (SELDOM * n_times).astype(np.int64)
    most = np.flatnonzero(n_again > MOST * n)
    return list(zip(ways[most].tolist(), in_order_ns[early[most]].tolist(), strict=True))
