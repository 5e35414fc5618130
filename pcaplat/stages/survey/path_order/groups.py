"""Two groups of differences: what goes there and what comes back, where no packet is answered.

The differences of two points' raw stamps are the clocks' offset and what packets take: more for
what goes from the first to the second, less for what comes back, by what both ways take together.
So two groups tell both the directions and which group is which, whatever the clocks say. Packets of
different sizes make groups too, but these are not as far apart as each is narrow.
"""

from collections.abc import Mapping

import numpy as np

from pcaplat.model.arrays import Floats, Ints, distinct_columns
from pcaplat.model.points import Pair
from pcaplat.stages.survey.delays.drift import medians, without_drift_of_ways
from pcaplat.stages.survey.delays.relations import Shared

Way = tuple[int, bool]
"""Two addresses, and whether packets leave the smaller one."""

CLEARER = 3
"""The gap between two groups is so many times wider than either of them."""

FEWEST_WAYS = 2
"""A group of one way may be a way like no other."""

ENOUGH = 5
"""A way of fewer packets makes no group, and joins the nearer one."""


FEWEST_POINTS = 3
"""Two points, of which each seems to send, may be two sizes of packets."""


def goes_by_senders(shared: Mapping[Pair, Shared]) -> dict[Pair, dict[Way, int]]:
    """Tell where ways that share no clock and have no answers go, by all their senders together.

    What goes from one point to the other has the greatest difference, what comes back the least;
    what comes to both from a third lies between. One such pair of points may be chance. That each
    point is where some way begins, as seen by all others, is none.

    Args:
        shared: For each pair of points, packets with several receivers.

    Returns:
        For each pair of points and way: 1 from the first to the second, -1 back, 0 neither. Nothing
        where not every point is a sender.
    """
    found = {ends: _outermost(both) for ends, both in shared.items()}
    toward = {ends[::-1]: {way: -goes for way, goes in of.items()} for ends, of in found.items()}
    toward |= found
    points = {point for ends in found for point in ends}
    senders = {
        point
        for point in points
        for way in {way for of in found.values() for way in of}
        if all(toward.get((point, to), {}).get(way) == 1 for to in points - {point})
    }
    return found if senders == points and len(points) >= FEWEST_POINTS else {}


def _outermost(both: Shared) -> dict[Way, int]:
    """Ways of the greatest (1) and of the least (-1) difference; of all others 0."""
    if len(both) == 0:
        return {}
    ways, of_way, n = distinct_columns(np.stack((both.pair, both.is_toward)))
    usual_ns, error_ns = _usual(both, of_way, n)
    is_enough = n >= ENOUGH
    by = np.flatnonzero(is_enough)[np.argsort(usual_ns[is_enough])]
    if not len(by):
        return {}
    is_apart = np.diff(usual_ns[by]) > CLEARER * error_ns[by].max()
    rank = np.append(0, np.cumsum(is_apart))
    goes = (rank == rank[-1]).astype(np.int64) - (rank == 0)
    rows = zip(ways[0][by].tolist(), ways[1][by].tolist(), goes.tolist(), strict=True)
    return {(pair, bool(to)): its for pair, to, its in rows}


def two_groups(both: Shared) -> dict[Way, bool] | None:
    """Part the ways of two points: whether theirs are the greater differences.

    Returns:
        None where the differences are no two groups.
    """
    if len(both) == 0:
        return None
    ways, of_way, n = distinct_columns(np.stack((both.pair, both.is_toward)))
    usual_ns, error_ns = _usual(both, of_way, n)
    split_ns = _split(usual_ns[n >= ENOUGH], error_ns[n >= ENOUGH])
    if split_ns is None:
        return None
    rows = zip(*ways.tolist(), (usual_ns > split_ns).tolist(), strict=True)
    return {(pair, bool(to)): is_greater for pair, to, is_greater in rows}


def _usual(both: Shared, of_way: Ints, n: Ints) -> tuple[Floats, Floats]:
    """Median difference of each way, without what the clocks drift, and its error, ns."""
    by = np.argsort(both.t_ns, kind="stable")
    of_way = of_way[by]
    d_ns = without_drift_of_ways(both.t_ns[by], both.d_ns[by], of_way)
    usual_ns = medians(d_ns, of_way)
    spread_ns = medians(np.abs(d_ns - usual_ns[of_way]), of_way)
    return usual_ns, np.asarray(CLEARER * spread_ns / np.sqrt(n))


def _split(usual_ns: Floats, error_ns: Floats) -> float | None:
    """Where the two groups part, if there are two."""
    by = np.argsort(usual_ns)
    usual_ns, error_ns = usual_ns[by], error_ns[by]
    gaps_ns = np.diff(usual_ns)[FEWEST_WAYS - 1 : 1 - FEWEST_WAYS]
    if not len(gaps_ns):
        return None
    at = int(np.argmax(gaps_ns)) + FEWEST_WAYS
    width_ns = max(usual_ns[at - 1] - usual_ns[0], usual_ns[-1] - usual_ns[at])
    width_ns = max(width_ns, float(error_ns.max()))
    is_clear = usual_ns[at] - usual_ns[at - 1] > CLEARER * width_ns
    return float(usual_ns[at - 1] + usual_ns[at]) / 2 if is_clear else None
