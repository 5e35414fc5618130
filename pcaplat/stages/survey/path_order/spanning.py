"""Trees of what has several receivers: which points follow which, by how times vary.

What packets wait on one branch they do not wait on another, so that receivers differ from each
other by more than either differs from the point where they part.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from pcaplat.model.points import Pair
from pcaplat.stages.survey.delays.centres import without_drift
from pcaplat.stages.survey.observations import Observations, among

ENOUGH = 8
"""So many packets join points that nothing else joins."""

ENOUGH_OF_GROUP = 64
"""So many packets of one sender to one group are a tree of their own: of fewer, how much times vary
is not known well enough."""


def tree_of_all(seen: Sequence[Observations], along: Sequence[int]) -> dict[Pair, int]:
    """Join points by all that has several receivers.

    Args:
        seen: The packets that each point of the path saw once.
        along: The points of the path.

    Returns:
        The edges of the tree, and how many packets were seen at both ends.
    """
    return _tree([one.at(~one.is_directed) for one in seen], along, ENOUGH)


def trees_of_groups(seen: Sequence[Observations], along: Sequence[int]) -> dict[Pair, int]:
    """Join points by the packets of each sender to each group; arguments as above."""
    some = [one.at(~one.is_directed) for one in seen]
    pairs, n = np.unique(np.concatenate([one.pair for one in some]), return_counts=True)
    found: dict[Pair, int] = {}
    for pair in pairs[n >= ENOUGH_OF_GROUP].tolist():
        own = [one.at(one.pair == pair) for one in some]
        for ends, n_both in _tree(own, along, ENOUGH_OF_GROUP).items():
            found[ends] = found.get(ends, 0) + n_both
    return found


def _tree(seen: Sequence[Observations], along: Sequence[int], enough: int) -> dict[Pair, int]:
    varies = []
    for near, far in combinations(range(len(along)), 2):
        n = int(among(seen[near].key, seen[far].key).sum())
        if n >= enough:
            spread = spread_ns(seen[near], seen[far])
            varies.append((spread, n, (along[near], along[far])))
    group = {point: {point} for point in along}
    found: dict[Pair, int] = {}
    for _, n, (near, far) in sorted(varies):
        if group[near] is not group[far]:
            found[near, far] = n
            joined = group[near] | group[far]
            group |= dict.fromkeys(joined, joined)
    return found


def spread_ns(near: Observations, far: Observations) -> float:
    """How much the difference of two points' timestamps varies from packet to packet."""
    at = np.flatnonzero(among(near.key, far.key))
    at = at[np.argsort(near.t_ns[at])]
    d_ns = far.t_ns[np.searchsorted(far.key, near.key[at])] - near.t_ns[at]
    # neighbours have the clocks' offset in common
    varies_ns = np.abs(np.diff(without_drift(near.t_ns[at], d_ns)))
    return float(np.median(varies_ns)) if len(varies_ns) else float("inf")
