"""Whether routers contradict the order of the points: no packet gains TTL on its way (RFC 1812)."""

from collections.abc import Iterator, Sequence

import numpy as np

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.arrays import Bools
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.points import Pair, Point
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.relations import Relations, Shared, between
from pcaplat.stages.survey.path_order.routes import Routes
from pcaplat.units import format_count

ENOUGH = 5
"""So many packets each way gain TTL by no chance."""

NEARLY_ALL = 0.9
"""Where fewer of them do, some device sets the TTL of some flows."""


@dataclass(frozen=True)
class Gain:
    """Two points, upstream first, of which packets have more TTL at the second, each way."""

    ends: Pair
    n: int


def gains(
    relations: Relations, components: Sequence[Sequence[int]], routes: Routes
) -> Iterator[Gain]:
    """Find the points between which packets of both directions gain TTL.

    Args:
        relations: For each pair of points, what they share.
        components: The points of each, along the path.
        routes: The way of each address pair.
    """
    for along in components:
        for at, near in enumerate(along):
            for far in along[at + 1 :]:
                both = between(relations, near, far)
                there = _gaining(both, routes.is_going(both, (near, far)), -1)
                back = _gaining(both, routes.is_going(both, (far, near)), 1)
                if there and back:
                    yield Gain((near, far), there + back)


def _gaining(both: Shared, is_way: Bools, sign: int) -> int:
    """How many packets of one way gain TTL; 0 unless nearly all of them do."""
    n, n_way = int(np.sum(both.n_hops[is_way] * sign > 0)), int(is_way.sum())
    return n if n >= ENOUGH and n >= NEARLY_ALL * n_way else 0


def misplaced_by(found: Sequence[Gain], components: Sequence[Sequence[int]]) -> frozenset[int]:
    """Tell which points are not where the path has them, if that is clear.

    Such a point is part of every gain, of two at least, and between others: a device that sets the
    TTL parts the path, so that all points on one side of it gain from all on the other. Where two
    points have exchanged their places and no others gain, it may be either.

    Args:
        found: Those of `gains`.
        components: The points of each, along the path.
    """
    if len(found) == 1 and any(len(along) > len(found[0].ends) for along in components):
        return frozenset(found[0].ends)
    between_others = {point for along in components for point in along[1:-1]}
    shared = set[int](found[0].ends if len(found) > 1 else ())
    for one in found:
        shared &= {*one.ends}
    return frozenset(shared & between_others if len(shared) == 1 else ())


def check_hops(
    points: Sequence[Point], found: Sequence[Gain], misplaced: frozenset[int]
) -> list[Diagnostic]:
    """Say which points cannot be where they are.

    Args:
        points: The capture points.
        found: Those of `gains`.
        misplaced: The points of which it is clear.
    """
    if not found:
        return []
    near, far = (points[point].name for point in found[0].ends)
    text = (
        f"{format_count(found[0].n)} sampled packets of both directions have more TTL at the later "
        f"of {near} and {far} than at the earlier, but routers lower it"
    )
    names = [points[point].name for point in misplaced]
    return [diagnose("ttl-contradicts-order", names[0] if len(names) == 1 else None, text)]
