"""Which end of the path is its first: as the user says, else the one that opens most flows.

A path that forks has several ends of either kind: first and last are two that share packets.
"""

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np

from pcaplat.errors import InputError
from pcaplat.model.points import Pair, Point
from pcaplat.stages.survey.delays.relations import Relations, between, spanning_steps
from pcaplat.stages.survey.observations import Sample
from pcaplat.stages.survey.path_order.flow_openers import Starts, count_flow_openers
from pcaplat.stages.survey.path_order.order import PathOrder
from pcaplat.text import plain_name

HARDLY_EVER = 0.01
"""A smaller share of the packets of an end is no traffic between the ends."""


def declared_path(points: Sequence[Point], path: Sequence[str] | None) -> list[int] | None:
    """Read the path that the user gave.

    Raises:
        InputError: It names a point that is not there, or one twice.
    """
    if path is None:
        return None
    index = {point.name: i for i, point in enumerate(points)}
    named = [*map(plain_name, path)]
    for name in named:
        if name not in index:
            raise InputError.unknown_point("--path", name, sorted(index))
        if named.count(name) > 1:
            raise InputError.named_twice("--path", name)
    return [index[name] for name in named]


def from_first(
    orders: Sequence[PathOrder],
    declared: Sequence[int] | None,
    sample: Sample,
    points: Sequence[Point],
    relations: Relations,
) -> list[PathOrder]:
    """Turn the orders so that they begin at the first end."""
    main = orders[0]
    agreed = declared and main.is_known and _agreement(main.points, declared)
    if agreed:
        is_backwards = agreed < 0
    elif declared is not None and len(declared) > 1:
        is_backwards = False
    else:
        is_backwards = _opens_at_last(main, sample, points, relations)
    return [order.turned() for order in orders] if is_backwards else list(orders)


def _agreement(points: Sequence[int], declared: Sequence[int]) -> int:
    """Pairs of points that are in the declared order, less those that are not."""
    named = [declared.index(point) for point in points if point in declared]
    return sum(1 if near < far else -1 for near, far in combinations(named, 2))


def _opens_at_last(
    order: PathOrder, sample: Sample, points: Sequence[Point], relations: Relations
) -> bool:
    starts_ns = cover_starts(relations, sorted(order.points), points)
    opened = count_flow_openers(
        sample, points, starts_ns, _surely_oriented(order, points, relations)
    )
    if opened.forward != opened.reverse:
        return opened.reverse > opened.forward
    return points[order.points[-1]].name < points[order.points[0]].name


def _surely_oriented(
    order: PathOrder, points: Sequence[Point], relations: Relations
) -> dict[int, bool]:
    """Keep the address pairs that some two points saw that are farther apart than stamps resolve.

    What only one capture under two names saw goes nowhere. Where nothing is sure, all count.
    """
    sure: set[int] = set()
    for ends, distance_ns in order.distance_ns.items():
        if abs(distance_ns) > 2 * max(points[end].resolution_ns for end in ends):
            sure.update(relations[ends].pair.tolist())
    toward = order.toward_is_forward
    return {pair: toward[pair] for pair in sure if pair in toward} or toward


def placed(along: Sequence[int], declared: Sequence[int] | None) -> list[int]:
    """Put the declared points in their order; the others keep their place between them."""
    if declared is None:
        return list(along)
    named = iter(sorted((point for point in along if point in declared), key=declared.index))
    return [next(named) if point in declared else point for point in along]


def tied_by_name(
    along: Sequence[int], order: PathOrder, points: Sequence[Point], declared: Sequence[int] | None
) -> list[int]:
    """Put neighbours with nothing between them in the order of their names, unless declared."""
    free = [point for point in along if point not in (declared or ())]
    at_once = {frozenset(ends) for ends, distance in order.distance_ns.items() if not distance}
    tied = list[int]()
    for point in along:
        at = len(tied)
        while at and _is_later(tied[at - 1], point, points, free, at_once):
            at -= 1
        tied.insert(at, point)
    return tied


def _is_later(
    one: int,
    other: int,
    points: Sequence[Point],
    free: Sequence[int],
    at_once: set[frozenset[int]],
) -> bool:
    """Tell whether the first of two tied points comes second by name."""
    is_tied = frozenset((one, other)) in at_once and one in free and other in free
    return is_tied and points[one].name > points[other].name


def cover_starts(relations: Relations, group: list[int], points: Sequence[Point]) -> Starts:
    """When the time that all points cover starts, on each point's own clock, coarsely."""
    ahead_ns = {group[0]: 0}
    for known, new in spanning_steps(relations, group):
        step_ns = int(np.median(between(relations, known, new).d_ns))
        ahead_ns[new] = ahead_ns[known] + step_ns
    start_ns = max(points[i].first_t_ns - ahead_ns[i] for i in group)
    return {i: start_ns + ahead_ns[i] for i in group}


def are_apart(along: Sequence[int], relations: Relations) -> bool:
    """Whether hardly any packet goes from one end of a path to the other.

    As between two tenants, or two servers of which each has the other's broadcasts.
    """
    first, *between, last = along
    n_most = max(
        (_n_shared((end, other), relations) for end in (first, last) for other in between),
        default=-1,
    )
    return _n_shared((first, last), relations) <= HARDLY_EVER * n_most


def between_ends_that_share(
    along: Sequence[int], edges: Collection[Pair], relations: Relations
) -> list[int]:
    """Put first and last the two ends that share most packets.

    Example:
        Points 0 and 1 send to 2, which sends to 3 and 4; what 0 sends arrives at 3.

        >>> from pcaplat.stages.survey.delays.relations import NOTHING_SHARED as none
        >>> edges = [(0, 2), (1, 2), (2, 3), (2, 4)]
        >>> between_ends_that_share([0, 1, 2, 3, 4], edges, {(0, 2): none})
        [0, 1, 2, 3, 4]
    """
    behind, before = ({ends[side] for ends in edges} for side in (1, 0))
    firsts = [point for point in along if point in before and point not in behind]
    lasts = [point for point in along if point in behind and point not in before]
    pairs = [(first, last) for first in firsts for last in lasts]
    first, last = max(
        pairs, key=lambda ends: _n_shared(ends, relations), default=(along[0], along[-1])
    )
    if not _n_shared((first, last), relations):
        return [*along]
    return [first, *(point for point in along if point not in (first, last)), last]


def _n_shared(ends: Pair, relations: Relations) -> int:
    both = relations.get((min(ends), max(ends)))
    return 0 if both is None else len(both)
