"""What the survey finds, put together."""

from collections.abc import Sequence

import numpy as np

from pcaplat.errors import EvidenceError, InputError
from pcaplat.path import NO_OFFSET, Band, Centre, Ends, Findings, Ints, Point, Warn
from pcaplat.stages.survey.centres import band_of, fit_centre, follow, spanning_steps
from pcaplat.stages.survey.links import find_edges
from pcaplat.stages.survey.openers import count_openers
from pcaplat.stages.survey.order import ENOUGH_TURNS, Order, forward_mask, order_points
from pcaplat.stages.survey.sights import (
    Shared,
    Sights,
    share_anything,
    shared,
    unique_sights,
)


def survey(
    packets: Sights,
    source: Sequence[tuple[int, int]] | Ints,
    flows: dict[str, Ints],
    points: Sequence[Point],
    path: Sequence[str] | None = None,
) -> Findings:
    """Relate the points of a sample.

    Args:
        packets: The sampled packets of all points.
        source: For each of them its file index and interface, as rows.
        flows: Columns of the sampled flows (file, interface, flow, first_t_ns, is_first_toward, opens, pair).
        points: The capture points.
        path: Names of the points in forward order, if the user gave them.

    Returns:
        The findings, one component for each group of points that share packets.

    Raises:
        EvidenceError: No two points share a packet.
        InputError: The given path names a point that is not there.

    Assumes:
        Clocks that drift by tens of ppm at most; a path that does not change its order.
    """
    of_point = [_of_sources(packets, np.asarray(source), point) for point in points]
    unique = unique_sights(of_point)
    relations, tail_ns = _relations(unique)
    groups = _components(relations, len(points))
    if not groups:
        raise EvidenceError.nothing_in_common(
            [(p.name, len(s)) for p, s in zip(points, of_point, strict=True)]
        )
    orders: list[Order] = []
    toward: dict[int, bool] = {}
    for group in groups:
        orders.append(order_points(relations, group, toward))
        toward |= orders[-1].toward_is_forward
    declared = _declared(points, path)
    warnings = _warn(points, groups, orders, is_inferred=declared is None)
    starts_ns = _cover_starts(relations, groups[0], points)
    opened = count_openers(
        flows,
        [(start_ns, of_point[i]) for i, start_ns in starts_ns.items()],
        {source: start_ns for i, start_ns in starts_ns.items() for source in points[i].sources},
        toward,
    )
    if _is_backwards(points, orders[0], declared, opened):
        toward = {pair: not is_forward for pair, is_forward in toward.items()}
        orders = [_reversed(order) for order in orders]
    components = [
        order.points if declared is None else sorted(order.points, key=declared.index)
        for order in orders
    ]
    centres, bands = _latencies(relations, components, toward, unique, points)
    return Findings(
        points=points,
        components=components,
        alone=[i for i in range(len(points)) if not any(i in group for group in groups)],
        edges=[edge for component in components for edge in find_edges(unique, component)],
        toward_is_forward=toward,
        centres=centres,
        bands=bands,
        n_turns={ends: n for order in orders for ends, n in order.n_turns.items()},
        tail_ns=tail_ns,
        is_inferred=declared is None,
        warnings=warnings,
    )


def _of_sources(packets: Sights, source: Ints, point: Point) -> Sights:
    mask = np.zeros(len(packets), dtype=np.bool_)
    for file, interface in point.sources:
        mask |= (source[:, 0] == file) & (source[:, 1] == interface)
    return packets.at(mask)


def _relations(unique: list[Sights]) -> tuple[dict[Ends, Shared], int]:
    """What each pair of points shares, and the longest tail of their differences."""
    pairs = ((near, far) for near in range(len(unique)) for far in range(near + 1, len(unique)))
    found = {(near, far): shared(unique[near], unique[far]) for near, far in pairs}
    found = {ends: one for ends, one in found.items() if len(one[0]) and share_anything(one[0])}
    return {ends: both for ends, (both, _) in found.items()}, max(
        (tail_ns for _, tail_ns in found.values()), default=0
    )


def _components(relations: dict[Ends, Shared], n_points: int) -> list[list[int]]:
    """Groups of points that share packets, largest first."""
    group = {point: {point} for point in range(n_points)}
    for near, far in relations:
        merged = group[near] | group[far]
        group |= dict.fromkeys(merged, merged)
    found = {min(members): sorted(members) for members in group.values() if len(members) > 1}
    return sorted(found.values(), key=lambda members: (-len(members), members))


def _cover_starts(
    relations: dict[Ends, Shared], group: list[int], points: Sequence[Point]
) -> dict[int, int]:
    """When the time that all points cover starts, on each point's own clock, coarsely."""
    ahead_ns = {group[0]: 0}
    for known, new in spanning_steps(relations, group):
        ahead_ns[new] = ahead_ns[known] + int(np.median(_rows(relations, known, new).d_ns))
    start_ns = max(points[i].first_t_ns - ahead_ns[i] for i in group)
    return {i: start_ns + ahead_ns[i] for i in group}


def _declared(points: Sequence[Point], path: Sequence[str] | None) -> list[int] | None:
    if path is None:
        return None
    index = {point.name: i for i, point in enumerate(points)}
    if unknown := [name for name in path if name not in index]:
        raise InputError.unknown_point("--path", unknown[0], sorted(index))
    named = [index[name] for name in path]
    return named + [i for i in range(len(points)) if i not in named]


def _is_backwards(
    points: Sequence[Point], order: Order, declared: list[int] | None, opened: tuple[int, int]
) -> bool:
    """Tell whether the order must be turned: by the given path, else by who opens most flows."""
    first, last = order.points[0], order.points[-1]
    if declared is not None:
        measured = any(order.n_turns.values())
        return measured and declared.index(first) > declared.index(last)
    forward, reverse = opened
    if forward != reverse:
        return reverse > forward
    return points[last].name < points[first].name


def _reversed(order: Order) -> Order:
    coordinate = {point: -at for point, at in order.coordinate_ns.items()}
    return Order(
        order.points[::-1], coordinate, order.toward_is_forward, order.n_turns, order.is_assumed
    )


def _warn(
    points: Sequence[Point], groups: list[list[int]], orders: list[Order], *, is_inferred: bool
) -> list[Warn]:
    found = []
    related = {point for group in groups for point in group}
    for i, point in enumerate(points):
        if i not in related:
            text = (
                "shares no packet with any other point and is left out; is it of the same traffic?"
            )
            found.append(Warn("unrelated-point", point.name, text))
    if not is_inferred:
        return found
    for order in orders:
        most = max(order.n_turns.values(), default=0)
        if order.is_assumed or not most:
            names = sorted(points[i].name for i in (order.is_assumed or order.points))
            text = (
                "saw packets of one direction only, so its place in the path rests on raw time "
                "stamps (or is arbitrary); give the order with --path"
            )
            found += [Warn("order-assumed", name, text) for name in names]
        elif most < ENOUGH_TURNS:
            text = f"the order of the points rests on {most} change(s) of direction; give it with --path"
            found.append(Warn("few-turns", None, text))
    return found


def _latencies(
    relations: dict[Ends, Shared],
    components: list[list[int]],
    toward: dict[int, bool],
    unique: list[Sights],
    points: Sequence[Point],
) -> tuple[tuple[list[Centre], list[Centre]], tuple[dict[Ends, Band], dict[Ends, Band]]]:
    """Centres of all points and bands of all pairs, for both directions."""
    centres: tuple[list[Centre], list[Centre]] = (
        [NO_OFFSET] * len(points),
        [NO_OFFSET] * len(points),
    )
    bands: tuple[dict[Ends, Band], dict[Ends, Band]] = ({}, {})
    for component in components:
        steps = spanning_steps(relations, component)
        for side in (0, 1):
            for known, new in steps:
                step = _step(_rows(relations, known, new), toward, side)
                start = np.array([points[known].first_t_ns])
                centres[side][new] = follow(centres[side][known], start, step)
            for near in component:
                for far in component[component.index(near) + 1 :]:
                    ends = (near, far) if side == 0 else (far, near)
                    resolution_ns = int(max(points[near].resolution_ns, points[far].resolution_ns))
                    both = _of_side(_rows(relations, *ends), toward, side)
                    if len(both):
                        bands[side][ends] = _band(both, ends, centres[side], unique, resolution_ns)
    return centres, bands


def _rows(relations: dict[Ends, Shared], up: int, down: int) -> Shared:
    """What two points share, seen from the first; nothing if they are not related."""
    if (up, down) in relations:
        return relations[up, down]
    empty = next(iter(relations.values())).at(np.zeros(0, dtype=np.int64))
    both = relations.get((down, up), empty)
    t_ns, d_ns = both.t_ns + both.d_ns, -both.d_ns
    return Shared(t_ns, d_ns, both.pair, both.is_toward, both.is_directed, both.is_strong)


def _of_side(both: Shared, toward: dict[int, bool], side: int) -> Shared:
    known = both.at(both.is_directed & np.isin(both.pair, list(toward)))
    if len(known) == 0:
        return both if not np.any(both.is_directed) else known
    is_forward = forward_mask(known, toward)
    return known.at(is_forward if side == 0 else ~is_forward)


def _step(both: Shared, toward: dict[int, bool], side: int) -> Centre:
    """Centre of the step between two points; the other direction's where this one was not seen."""
    for choice in (_of_side(both, toward, side), _of_side(both, toward, 1 - side), both):
        if len(choice):
            by = np.argsort(choice.t_ns, kind="stable")
            return fit_centre(choice.t_ns[by], choice.d_ns[by])
    return NO_OFFSET


def _band(
    both: Shared, ends: Ends, centres: list[Centre], unique: list[Sights], resolution_ns: int
) -> Band:
    up, down = ends
    residual_ns = both.d_ns - centres[down].at(both.t_ns + both.d_ns) + centres[up].at(both.t_ns)
    band = band_of(residual_ns, resolution_ns)
    lost, phantom = _missing(unique[up], unique[down]), _missing(unique[down], unique[up])
    return Band(band.lo_ns, band.hi_ns, band.density, lost, phantom)


def _missing(here: Sights, there: Sights) -> float:
    """Share of the flows' common packets that were seen here and not there."""
    common = here.key[np.isin(here.pair, there.pair) & here.is_directed]
    if len(common) == 0:
        return 0.0
    return float(1 - np.isin(common, there.key).mean())
