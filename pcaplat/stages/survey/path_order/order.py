"""In what order packets pass the points."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from pcaplat.model.arrays import Ints, median
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.relations import Relations, Shared, direction_changes
from pcaplat.stages.survey.path_order.groups import two_groups
from pcaplat.stages.survey.path_order.orient import (
    SYNCHRONISED_NS,
    forward_mask,
    orient,
    usual_differences,
)
from pcaplat.stages.survey.path_order.routes import (
    DEVIATIONS,
    SeenBy,
    Votes,
    in_doubt,
    is_along,
    off_path,
    off_path_by_points,
    over,
    partly_seen,
    seen_by,
    turned_by_votes,
    votes,
)

HOP_NS = 1000.0
"""What stands for the distance of two points that only TTL tells apart."""

SPREAD = 1.86
"""The standard error of a median, in median deviations by the root of the number."""

MOST_ROUNDS = 4
"""Address pairs are oriented anew by the order that they give so often at most."""

Distances = dict[Pair, float]
"""Two-way distances, ns: positive where the first of two points is nearer the path's first."""


@dataclass(frozen=True)
class PathOrder:
    """The points of one component along the path, and the directions of address pairs.

    `is_assumed` names the points whose place rests on raw stamps or TTL, because they saw one
    direction only; `is_timed` those that were timed by a clock they share with another;
    `is_known` tells whether anything says which point is before which. `n_agreeing` counts the
    changes of direction that say of two points what most of them say. `route_of` has the address
    pairs whose packets take one of the `routes` instead of the path, numbered from 1. `is_grouped`:
    no addresses go both ways, and two groups of differences told the directions.
    """

    points: list[int]
    toward_is_forward: dict[int, bool]
    distance_ns: Distances
    n_changes: dict[Pair, int]
    is_assumed: frozenset[int]
    is_timed: frozenset[int]
    is_known: bool
    n_agreeing: dict[Pair, int]
    route_of: dict[int, int]
    routes: list[list[int]]
    is_grouped: bool = False

    def turned(self) -> "PathOrder":
        """Give the same order from the other end."""
        return PathOrder(
            self.points[::-1],
            {pair: not is_forward for pair, is_forward in self.toward_is_forward.items()},
            {ends: -distance for ends, distance in self.distance_ns.items()},
            self.n_changes,
            self.is_assumed,
            self.is_timed,
            self.is_known,
            self.n_agreeing,
            self.route_of,
            [route[::-1] for route in self.routes],
            self.is_grouped,
        )


def order_points(
    relations: Relations,
    points: Sequence[int],
    known: Mapping[int, bool],
    domains: Sequence[int],
    seen: Mapping[int, Ints],
) -> PathOrder:
    """Order the points of one component, and orient its address pairs.

    Args:
        relations: For each pair of points, what they share.
        points: The component.
        known: Address pairs that other components oriented already.
        domains: Clock domain of each point: points of one clock are ordered by time where packets
            of one direction only were seen.
        seen: Per point the address pairs it saw anything of, ascending.

    Returns:
        The order. Which end is the first is arbitrary.
    """
    shared = _that_tell({ends: both for ends, both in relations.items() if ends[0] in points})
    shared = {
        ends: both if domains[ends[0]] == domains[ends[1]] else both.without_drift
        for ends, both in shared.items()
    }
    directed = {ends: both.at(both.is_directed) for ends, both in shared.items()}
    if not any(map(len, directed.values())):
        directed = shared
    asked = {
        ends: votes(both, is_one_clock=domains[ends[0]] == domains[ends[1]])
        for ends, both in directed.items()
    }
    order = _ordered(directed, orient(directed, known, domains), points, domains)
    for _ in range(MOST_ROUNDS):
        turned = turned_by_votes(asked, order.toward_is_forward, order.points)
        if not turned:
            break
        order = _ordered(directed, order.toward_is_forward | turned, points, domains)
    if not any(len(one.pair) for one in asked.values()):
        is_grouped = any(map(two_groups, directed.values()))
        is_assumed = order.is_assumed if is_grouped else frozenset(points)
        return replace(order, is_grouped=is_grouped, is_assumed=is_assumed)
    return _with_routes(order, directed, asked, domains, seen_by(directed, order.points, seen))


def _that_tell(shared: Relations) -> Relations:
    """Leave out what may be two packets; of few packets each, only where others go both ways."""
    if not any(both.again_ns.any() for both in shared.values()):
        return shared
    sure = {ends: both.sure for ends, both in shared.items()}
    if any(len(both.at(both.is_directed).changes[0]) for both in sure.values()):
        return sure
    return {ends: both.agreeing for ends, both in shared.items()}


def _with_routes(
    order: PathOrder,
    directed: Mapping[Pair, Shared],
    asked: Mapping[Pair, Votes],
    domains: Sequence[int],
    seen: SeenBy,
) -> PathOrder:
    """Give the address pairs that go against the order between some points a route of their own."""
    toward = dict(order.toward_is_forward)
    routes: list[list[int]] = []
    route_of: dict[int, int] = {}
    off_path_pairs = off_path_by_points(seen, asked, toward, order.points)
    for points, pairs in sorted(off_path_pairs.items()):
        own = {
            ends: both.at(both.are_of(pairs))
            for ends, both in directed.items()
            if {*ends} <= {*points}
        }
        found = _ordered(own, orient(own, {}, domains), points, domains)
        with_path = sum(is_along(order.points, ends) for ends in pairwise(found.points))
        if 2 * with_path < len(points) - 1:
            found = found.turned()
        left = off_path(asked, found.toward_is_forward, over(order.points, found.points))
        route = over(order.points, found.points)
        number = routes.index(route) if route in routes else len(routes)
        told = [pair for pair in pairs.tolist() if pair not in left]
        if told and number == len(routes):
            routes.append(route)
        route_of |= dict.fromkeys(told, number + 1)
        toward |= {pair: found.toward_is_forward[pair] for pair in told}
    order = replace(order, toward_is_forward=toward, route_of=route_of, routes=routes)
    unsure = in_doubt(seen, asked, toward, order.points, has_routes=bool(route_of))
    if route_of:
        order = _without_routes(order, directed, domains)
        unsure |= partly_seen(seen, asked, order.points, off_path_pairs)
    unsure -= route_of.keys()
    toward = {pair: to for pair, to in order.toward_is_forward.items() if pair not in unsure}
    return replace(order, toward_is_forward=toward)


def _without_routes(
    order: PathOrder, directed: Mapping[Pair, Shared], domains: Sequence[int]
) -> PathOrder:
    """Orient the address pairs of the path anew: those of routes hid how long packets take."""
    off_path, toward = np.array(sorted(order.route_of), np.int64), order.toward_is_forward
    others = {ends: both.at(~both.are_of(off_path)) for ends, both in directed.items()}
    others = {ends: both for ends, both in others.items() if len(both)}
    found = orient(others, {}, domains)
    n_alike = sum(toward[pair] == is_forward for pair, is_forward in found.items())
    is_turned = 2 * n_alike < len(found)
    toward = toward | {pair: is_forward != is_turned for pair, is_forward in found.items()}
    distance, n_changes, n_agreeing = _distances(others, toward)
    return replace(
        order,
        toward_is_forward=toward,
        distance_ns=order.distance_ns | distance,
        n_changes=order.n_changes | n_changes,
        n_agreeing=order.n_agreeing | n_agreeing,
    )


def _ordered(
    directed: Mapping[Pair, Shared],
    toward: dict[int, bool],
    points: Sequence[int],
    domains: Sequence[int],
) -> PathOrder:
    """Order points by address pairs that are oriented."""
    distance, n_changes, n_agreeing = _distances(directed, toward)
    one_way = {ends: both for ends, both in directed.items() if not n_changes[ends]}
    # both directions were seen, but the timestamps are too coarse: they say nothing by themselves
    unclear = {ends: directed[ends] for ends, n in n_changes.items() if n and ends not in distance}
    timed = _timed_distances(one_way, toward, domains)
    distance |= timed
    is_in_time = _is_synchronised([directed[ends] for ends in n_agreeing], toward)
    assumed = _assumed_distances(one_way, toward, is_in_time=is_in_time)
    assumed |= _assumed_distances(unclear, toward, is_in_time=False)
    coordinate, is_assumed = _coordinates(points, distance, assumed)
    along = _sorted_along(coordinate, assumed | distance)
    is_known = bool(distance or assumed)
    is_timed = frozenset(point for ends in timed for point in ends)
    rests_on = (frozenset(is_assumed), is_timed, is_known)
    return PathOrder(along, toward, distance, n_changes, *rests_on, n_agreeing, {}, [])


def _distances(
    directed: Mapping[Pair, Shared], toward: Mapping[int, bool]
) -> tuple[Distances, dict[Pair, int], dict[Pair, int]]:
    """Two-way distances over all address pairs, and over how many changes of direction.

    And how many of them have the sign of the distance.
    """
    distance: Distances = {}
    n_changes, n_agreeing = {}, {}
    for ends, both in directed.items():
        is_forward = forward_mask(both, toward)
        values_ns, _ = direction_changes(both, is_forward, np.zeros(len(both), np.int64))
        distance_ns = _middle(values_ns)
        n_changes[ends] = len(values_ns)
        if distance_ns is not None:
            distance[ends] = distance_ns
            n_agreeing[ends] = int((values_ns * np.sign(distance[ends]) > 0).sum())
    return distance, n_changes, n_agreeing


def _middle(values_ns: Ints) -> float | None:
    """Two-way distance of two points; nothing where timestamps are too coarse to tell its sign."""
    if not len(values_ns):
        return None
    median_ns, root = median(values_ns), np.sqrt(len(values_ns))
    if median_ns:
        spread_ns = median(np.abs(values_ns - median_ns))
        is_sure = abs(median_ns) >= min(spread_ns, DEVIATIONS * SPREAD * spread_ns / root)
        return median_ns if is_sure else None
    # below the resolution of the timestamps the median is 0; the mean of enough packets is not
    mean_ns = float(np.mean(values_ns))
    return mean_ns if abs(mean_ns) >= DEVIATIONS * np.std(values_ns) / root else None


def _timed_distances(
    one_way: Mapping[Pair, Shared], toward: Mapping[int, bool], domains: Sequence[int]
) -> Distances:
    """Where one direction was seen by points of one clock: twice what packets take."""
    timed: Distances = {}
    for (near, far), both in one_way.items():
        forward, reverse = usual_differences(both, toward)
        d_ns = forward if reverse is None else -reverse
        if d_ns and domains[near] == domains[far]:
            timed[near, far] = 2 * d_ns
    return timed


def _is_synchronised(measured: Iterable[Shared], toward: Mapping[int, bool]) -> bool:
    """Whether the clocks of points that saw both directions may be equal: 0 is between the two."""
    usual = [usual_differences(both, toward) for both in measured]
    return all((forward or 0) * (reverse or 0) <= 0 for forward, reverse in usual)


def _assumed_distances(
    one_way: Mapping[Pair, Shared], toward: Mapping[int, bool], *, is_in_time: bool
) -> Distances:
    """Where one direction was seen: by TTL, else as if the clocks agreed, if they nearly do.

    Where those do not that can be told, raw stamps of others say nothing.
    """
    assumed: Distances = {}
    for ends, both in one_way.items():
        forward, reverse = usual_differences(both, toward)
        d_ns = forward if reverse is None else -reverse
        n_hops = _hops(both, toward)
        if n_hops:
            assumed[ends] = n_hops * HOP_NS
        elif is_in_time and d_ns is not None and abs(d_ns) < SYNCHRONISED_NS:
            assumed[ends] = 2 * d_ns
    return assumed


def _hops(both: Shared, toward: Mapping[int, bool]) -> float:
    """How many routers packets pass from the first point to the second, going forward."""
    if len(both) == 0:
        return 0.0
    return median(np.where(forward_mask(both, toward), both.n_hops, -both.n_hops))


def _coordinates(
    points: Sequence[int], distance: Distances, assumed: Distances
) -> tuple[dict[int, float], set[int]]:
    """Distance of every point from an end, over measured distances first, then assumed ones."""
    start = max(distance, key=lambda ends: abs(distance[ends]))[0] if distance else points[0]
    coordinate, is_assumed = {start: 0.0}, set[int]()
    while rest := [point for point in points if point not in coordinate]:
        reached = _reached(rest, coordinate, distance)
        if not reached:
            reached = _reached(rest, coordinate, assumed)
            # where nothing tells: between the ends, for those see most
            middle = (min(coordinate.values()) + max(coordinate.values())) / 2
            reached = reached or dict.fromkeys(rest, middle)
            is_assumed |= reached.keys()
        coordinate |= reached
    return coordinate, is_assumed


def _reached(
    rest: Sequence[int], coordinate: Mapping[int, float], table: Distances
) -> dict[int, float]:
    """Coordinates of the points that have a distance to any that is placed."""
    places = {}
    for point in rest:
        steps = [
            at + table[known, point] for known, at in coordinate.items() if (known, point) in table
        ]
        steps += [
            at - table[point, known] for known, at in coordinate.items() if (point, known) in table
        ]
        if steps:
            places[point] = median(np.array(steps))
    return places


def _sorted_along(coordinate: Mapping[int, float], known: Distances) -> list[int]:
    """Sort by coordinate; of two points, what they share themselves is the better witness.

    Where captures see one direction each, many pairs share nothing, so the order is a partial one:
    a point comes when none of those that are left is known to be before it. If what is known goes
    round in a circle, next is the point that contradicts it least.
    """
    before: dict[int, dict[int, float]] = {point: {} for point in coordinate}
    for (near, far), away_ns in known.items():
        if away_ns:
            first, then = (near, far) if away_ns > 0 else (far, near)
            before[then][first] = abs(away_ns)
    along = list[int]()
    while before:
        against = {point: max(those.values(), default=0.0) for point, those in before.items()}
        along.append(min(before, key=lambda point: (against[point], coordinate[point], point)))
        del before[along[-1]]
        for those in before.values():
            those.pop(along[-1], None)
    return along
