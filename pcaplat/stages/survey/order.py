"""Which way packets travel, and in what order they pass the points.

Two-way distance (reference: RFC 2681 §2.7.1, self-synchronisation): of two packets in opposite
directions that pass two points one soon after the other, the differences of the raw stamps differ
by the time both take between the points. The clocks' offset cancels, and drift counts only over
the moment between the two.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cmp_to_key

import numpy as np

from pcaplat.path import Bools, Ends, Ints
from pcaplat.stages.survey.sights import Shared

ENOUGH_TURNS = 3
"""Changes of direction below which an order is a guess."""

SYNCHRONISED_NS = 10_000_000
"""One-way differences below this may order points that see one direction only."""


@dataclass
class Order:
    """Points along the path, and what is known of the directions of address pairs.

    `coordinate_ns` is the two-way distance from the first point. `is_assumed` names the points
    whose place rests on their raw stamps, because they saw one direction only.
    """

    points: list[int]
    coordinate_ns: dict[int, float]
    toward_is_forward: dict[int, bool]
    n_turns: dict[Ends, int] = field(default_factory=dict)
    is_assumed: set[int] = field(default_factory=set)


def turns(both: Shared, is_forward: Bools, group: Ints) -> tuple[Ints, Ints]:
    """Two-way distances at the changes of direction within each group, and their groups."""
    by = np.lexsort((both.t_ns, group))
    d_ns, forward, group = both.d_ns[by], is_forward[by], group[by]
    changes = (group[1:] == group[:-1]) & (forward[1:] != forward[:-1])
    at = np.flatnonzero(changes) + 1
    sign = np.where(forward[at], 1, -1)
    return (d_ns[at] - d_ns[at - 1]) * sign, group[at]


def medians_by(values: Ints, group: Ints) -> tuple[Ints, Ints, Ints]:
    """Groups, the median of each, and its size."""
    by = np.lexsort((values, group))
    values, group = values[by], group[by]
    names, starts, n = np.unique(group, return_index=True, return_counts=True)
    return names, values[starts + n // 2], n


def order_points(relations: dict[Ends, Shared], points: list[int], known: dict[int, bool]) -> Order:
    """Order the points of one component, and orient its address pairs.

    Args:
        relations: For each pair of points, what they share.
        points: The component.
        known: Address pairs that other components oriented already.

    Returns:
        The order. Which end is the first is arbitrary.
    """
    directed = {
        ends: both.at(both.is_directed) for ends, both in relations.items() if ends[0] in points
    }
    senses = {ends: turns(both, both.is_toward, both.pair) for ends, both in directed.items()}
    toward = orient(senses, known)
    toward |= _orient_one_way(directed, toward)
    distance, n_turns = _distances(directed, toward)
    assumed = _assumed_distances(directed, toward, distance)
    coordinate, is_assumed = _coordinates(points, distance, assumed)
    along = _sorted_along(points, coordinate, {**assumed, **distance})
    return Order(along, coordinate, toward, n_turns, is_assumed)


def orient(senses: dict[Ends, tuple[Ints, Ints]], known: dict[int, bool]) -> dict[int, bool]:
    """Orient address pairs alike: first by the ends, then by any points whose sense is known."""
    tables = {ends: medians_by(*sense) for ends, sense in senses.items() if len(sense[0])}
    if not tables:
        return dict(known)

    def reach(ends: Ends) -> tuple[bool, int]:
        _, median, n = tables[ends]
        return int(n.sum()) >= ENOUGH_TURNS, int(np.average(np.abs(median), weights=n))

    toward = dict(known)
    if not any(pair in toward for table in tables.values() for pair in table[0].tolist()):
        toward |= dict(_signs(tables[max(tables, key=reach)], 1))
    n_before = -1
    while len(toward) > n_before:
        n_before = len(toward)
        for table in tables.values():
            if sense := _sense(table, toward):
                found = _signs(table, 1 if sense > 0 else -1)
                toward |= {pair: is_toward for pair, is_toward in found if pair not in toward}
    return toward


def _sense(table: tuple[Ints, Ints, Ints], toward: dict[int, bool]) -> int:
    """Sum of the known pairs' distances, forward: its sign tells which point is nearer."""
    rows = zip(*(column.tolist() for column in table), strict=True)
    return sum(
        (1 if toward[pair] else -1) * median * n for pair, median, n in rows if pair in toward
    )


def _signs(table: tuple[Ints, Ints, Ints], sense: int) -> list[tuple[int, bool]]:
    pairs, median, _ = table
    return [(int(p), int(m) * sense > 0) for p, m in zip(pairs, median, strict=True) if m]


def _orient_one_way(directed: dict[Ends, Shared], toward: dict[int, bool]) -> dict[int, bool]:
    """Orient address pairs that were seen in one direction only by how long their packets take."""
    found: dict[int, bool] = {}
    for both in directed.values():
        is_known = np.isin(both.pair, list(toward))
        if np.all(is_known):
            continue
        usual = _usual(both.at(is_known), toward)
        pairs, median, _ = medians_by(both.d_ns[~is_known], both.pair[~is_known])
        for pair, d_ns in zip(pairs.tolist(), median.tolist(), strict=True):
            is_toward = bool(both.is_toward[both.pair == pair][0])
            found.setdefault(pair, _fits_forward(d_ns, usual, is_toward=is_toward))
    return found


def _usual(both: Shared, toward: dict[int, bool]) -> tuple[float | None, float | None]:
    """Median raw difference forward and reverse, where there are packets."""
    is_forward = forward_mask(both, toward)
    sides = (both.d_ns[is_forward], both.d_ns[~is_forward])
    forward, reverse = (float(np.median(side)) if len(side) else None for side in sides)
    return forward, reverse


def _fits_forward(d_ns: int, usual: tuple[float | None, float | None], *, is_toward: bool) -> bool:
    forward, reverse = usual
    if forward is not None and reverse is not None:
        goes_forward = abs(d_ns - forward) <= abs(d_ns - reverse)
    else:
        goes_forward = reverse is None
    return goes_forward == is_toward


def forward_mask(both: Shared, toward: dict[int, bool]) -> Bools:
    """Tell which rows go forward."""
    lookup = np.array([pair for pair, is_forward in toward.items() if is_forward], dtype=np.int64)
    return np.asarray(both.is_toward == np.isin(both.pair, lookup))


def _distances(
    directed: dict[Ends, Shared], toward: dict[int, bool]
) -> tuple[dict[Ends, float], dict[Ends, int]]:
    distance, n_turns = {}, {}
    for ends, both in directed.items():
        oriented = both.at(np.isin(both.pair, list(toward)))
        values, _ = turns(
            oriented, forward_mask(oriented, toward), np.zeros(len(oriented), np.int64)
        )
        n_turns[ends] = len(values)
        if len(values):
            distance[ends] = float(np.median(values))
    return distance, n_turns


def _assumed_distances(
    directed: dict[Ends, Shared], toward: dict[int, bool], distance: dict[Ends, float]
) -> dict[Ends, float]:
    """Where only one direction was seen: as if the clocks agreed, if they nearly do."""
    assumed = {}
    for ends in directed.keys() - distance.keys():
        forward, reverse = _usual(directed[ends], toward)
        sides = [
            side for side in (forward, None if reverse is None else -reverse) if side is not None
        ]
        if len(sides) == 1 and abs(sides[0]) < SYNCHRONISED_NS:
            assumed[ends] = 2 * sides[0]
    return assumed


def _coordinates(
    points: list[int], distance: dict[Ends, float], assumed: dict[Ends, float]
) -> tuple[dict[int, float], set[int]]:
    """Distance of every point from an end, over measured distances first, then assumed ones."""

    def between(near: int, far: int, table: dict[Ends, float]) -> float | None:
        if (near, far) in table:
            return table[near, far]
        return -table[far, near] if (far, near) in table else None

    start = max(distance, key=lambda ends: abs(distance[ends]))[0] if distance else points[0]
    coordinate, is_assumed = {start: 0.0}, set()
    while len(coordinate) < len(points):
        for table in (distance, assumed, {}):
            found = {
                point: float(np.median(reached))
                for point in points
                if point not in coordinate
                and (
                    reached := [
                        at + step
                        for known, at in coordinate.items()
                        if (step := between(known, point, table)) is not None
                    ]
                )
            }
            if found:
                is_assumed |= set(found) if table is assumed else set()
                coordinate |= found
                break
        else:
            rest = [point for point in points if point not in coordinate]
            is_assumed |= set(rest)
            coordinate |= dict.fromkeys(rest, max(coordinate.values()))
    return coordinate, is_assumed


def _sorted_along(
    points: list[int], coordinate: dict[int, float], known: dict[Ends, float]
) -> list[int]:
    """Sort by coordinate; of neighbours, what they share themselves is the better witness."""

    def direct(near: int, far: int) -> float:
        if (near, far) in known:
            return -known[near, far]
        if (far, near) in known:
            return known[far, near]
        return coordinate[near] - coordinate[far]

    along = sorted(points, key=lambda point: coordinate[point])
    compare: Callable[[int, int], int] = lambda near, far: int(np.sign(direct(near, far)))  # noqa: E731 - a named key
    return sorted(along, key=cmp_to_key(compare))
