"""What the survey finds, put together."""

from collections.abc import Sequence
from dataclasses import replace

from pcaplat.errors import EvidenceError
from pcaplat.model.arrays import distinct
from pcaplat.model.centre import Tail
from pcaplat.model.path import Findings
from pcaplat.model.points import Point
from pcaplat.records import dataclass
from pcaplat.stages.survey.copies import find_copies
from pcaplat.stages.survey.coverage import check_coverage
from pcaplat.stages.survey.delays.latencies import fit_bands, fit_centres, orient_recurring
from pcaplat.stages.survey.delays.overtaking import with_order
from pcaplat.stages.survey.delays.relations import Relations, components, relate
from pcaplat.stages.survey.diagnostics import (
    check_copies,
    check_order,
    check_path,
    reasons_of,
    together,
)
from pcaplat.stages.survey.observations import Observations, Sample, unique_observations
from pcaplat.stages.survey.offload import check_offload, find_torn
from pcaplat.stages.survey.path_order.direction import (
    are_apart,
    between_ends_that_share,
    declared_path,
    from_first,
    placed,
    tied_by_name,
)
from pcaplat.stages.survey.path_order.evidence import evidence_of
from pcaplat.stages.survey.path_order.hops import check_hops, gains, misplaced_by
from pcaplat.stages.survey.path_order.links import find_edges
from pcaplat.stages.survey.path_order.order import PathOrder, order_points
from pcaplat.stages.survey.path_order.receivers import (
    SegmentsSeen,
    branches_of_groups,
    with_groups,
)
from pcaplat.stages.survey.path_order.repeating_answers import with_repeating_answers
from pcaplat.stages.survey.path_order.routes import Routes
from pcaplat.stages.survey.path_order.steps import (
    all_forward,
    are_steps,
    check_steps,
    observations_forward,
)
from pcaplat.stages.survey.recurrence import Recurring, find_recurring, ways_seen_once
from pcaplat.stages.survey.rounds import told_apart


def survey(
    sample: Sample,
    points: Sequence[Point],
    path: Sequence[str] | None = None,
    domains: Sequence[int] | None = None,
    mixed: frozenset[int] = frozenset(),
) -> Findings:
    """Relate the points of a sample.

    Args:
        sample: The same packets of every point.
        points: The capture points.
        path: Names of the points in forward order, if the user gave them. Points that it leaves
            out keep their measured place between the others.
        domains: Clock domain of each point; by default every point has a clock of its own.
        mixed: Points that stamp what they receive and what they send by different clocks. Where
            they seem to be does not tell which end of the declared path is which.

    Returns:
        The findings, one component for each group of points that share packets.

    Raises:
        EvidenceError: No two points share a packet.
        InputError: The given path names a point that is not there, or one twice.

    Assumes:
        Clocks that drift by tens of ppm at most; a path that does not change its order.
    """
    declared = declared_path(points, path)
    shared = _shared_at(sample, points)
    groups = components(shared.relations, len(points))
    reasons = shared.reasons(points)
    if not groups:
        raise EvidenceError.nothing_in_common(shared.n_seen(points), together(points, reasons))
    clocks = domains or range(len(points))
    orders = _order_groups(shared, groups, clocks)
    if not shared.is_one_way:
        orders = from_first(orders, _ends_by(declared, mixed), sample, points, shared.relations)
    along = [
        tied_by_name(placed(order.points, declared), order, points, declared) for order in orders
    ]
    if declared is None:
        along = _between_ends(along, orders, shared)
    found = _findings_of(sample, points, shared, orders, along, clocks)
    raised = list(gains(shared.relations, along, routes_of(orders, along)))
    misplaced = misplaced_by(raised, along)
    is_inferred = declared is None or any(i not in declared for group in groups for i in group)
    warnings = [
        *check_path(points, orders, along, declared, reasons),
        *(check_order(found) if is_inferred else ()),
        *check_copies(points, shared.relations),
        *(check_steps(shared.relations, points) if shared.is_one_way else ()),
        *check_hops(points, raised, misplaced),
        *found.warnings,
        *check_coverage(found, shared.seen, shared.unique),
    ]
    return replace(found, warnings=warnings, is_inferred=is_inferred, misplaced=misplaced)


@dataclass(frozen=True)
class SharedPackets:
    """What each point saw, and how its unique packets lie to those of the others.

    `recurring`: see `find_recurring`. `is_one_way`: all packets pass the points in one order,
    whichever way their flow goes.
    """

    seen: list[Observations]
    unique: list[Observations]
    relations: Relations
    tails: list[Tail]
    recurring: Recurring
    is_one_way: bool

    def n_seen(self, points: Sequence[Point]) -> list[tuple[str, int]]:
        """How many packets each point saw."""
        return [(point.name, len(one)) for point, one in zip(points, self.seen, strict=True)]

    def reasons(self, points: Sequence[Point]) -> dict[int, str]:
        """Why a point may share nothing."""
        return reasons_of(points, list(map(len, self.seen)), list(map(len, self.unique)))


def _shared_at(sample: Sample, points: Sequence[Point]) -> SharedPackets:
    """Relate all points by the packets that are unique at them."""
    seen = told_apart([sample.seen_at(point) for point in points])
    once, recurring = unique_observations(seen), find_recurring(seen)
    unique = with_repeating_answers(seen, once)
    relations, tails = relate(unique, ways_seen_once(recurring, once))
    if not are_steps(relations, points):
        return SharedPackets(seen, unique, relations, tails, recurring, is_one_way=False)
    seen, unique = observations_forward(seen), observations_forward(unique)
    return SharedPackets(seen, unique, all_forward(relations), tails, recurring, is_one_way=True)


def _order_groups(
    shared: SharedPackets, groups: Sequence[list[int]], domains: Sequence[int]
) -> list[PathOrder]:
    """Order each component; every order knows the address pairs that those before it oriented."""
    toward = dict.fromkeys(_pairs(shared.relations), True) if shared.is_one_way else {}
    seen = {point: distinct(one.pair[one.is_directed]) for point, one in enumerate(shared.seen)}
    orders: list[PathOrder] = []
    for group in groups:
        orders.append(order_points(shared.relations, group, toward, domains, seen))
        toward = orders[-1].toward_is_forward
    return orders


def _between_ends(
    along: list[list[int]], orders: Sequence[PathOrder], shared: SharedPackets
) -> list[list[int]]:
    """Of a path that forks, measure between two ends that share packets."""
    if not any(are_apart(component, shared.relations) for component in along):
        return along
    routes = routes_of(orders, along)
    return [
        between_ends_that_share(
            component, find_edges(shared.seen, shared.unique, component, routes), shared.relations
        )
        if are_apart(component, shared.relations)
        else component
        for component in along
    ]


def _ends_by(declared: Sequence[int] | None, mixed: frozenset[int]) -> Sequence[int] | None:
    """The declared points that tell which end is which, where there are two such."""
    clear = [point for point in declared or () if point not in mixed]
    return clear if len(clear) > 1 else declared


def _findings_of(
    sample: Sample,
    points: Sequence[Point],
    shared: SharedPackets,
    orders: Sequence[PathOrder],
    along: list[list[int]],
    domains: Sequence[int],
) -> Findings:
    """Measure what lies between the points, now that their order is known."""
    routes = routes_of(orders, along)
    found = (find_edges(shared.seen, shared.unique, component, routes) for component in along)
    edges = [edge for of_component in found for edge in of_component]
    routes = with_groups(SegmentsSeen(shared.relations, edges, routes, domains), shared.unique)
    torn = find_torn(edges, shared.unique)
    centres = fit_centres(shared.relations, along, routes, len(points))
    oriented = orient_recurring(shared.relations, routes.toward, centres)
    routes = replace(routes, toward={**routes.toward, **oriented})
    both = list(zip(shared.seen, shared.unique, strict=True))
    bands = fit_bands(shared.relations, along, centres, routes, both, points)
    return Findings(
        points=points,
        components=along,
        alone=[i for i in range(len(points)) if not any(i in group for group in along)],
        edges=edges,
        toward_is_forward=dict(routes.toward),
        route_of=routes.of_pair,
        routes=routes.orders[1:],
        steps_of_route=dict(routes.steps),
        centres=centres,
        bands=with_order(bands, _of_more(sample, points, shared), centres, routes),
        is_inferred=True,
        warnings=check_offload(points, torn),
        torn=frozenset(torn),
        tails=shared.tails,
        copies=find_copies(shared.seen, along, routes),
        fragmented=sample.fragmented,
        order_evidence=evidence_of(orders, edges),
        is_one_way=shared.is_one_way,
        branches=branches_of_groups(shared.unique, edges, routes),
        recurring=shared.recurring,
    )


def routes_of(orders: Sequence[PathOrder], along: Sequence[Sequence[int]]) -> Routes:
    """Put together the routes of all components, each beside the others' paths."""
    path = [point for component in along for point in component]
    routes, of_pair = [path], dict[int, int]()
    for order in orders:
        of_pair |= {pair: len(routes) - 1 + number for pair, number in order.route_of.items()}
        for route in order.routes:
            own = iter(route)
            routes.append([next(own) if point in route else point for point in path])
    return Routes(orders[-1].toward_is_forward, routes, of_pair)


def _of_more(sample: Sample, points: Sequence[Point], few: SharedPackets) -> Relations:
    """Relate the points by what there is more, too, for neighbours of a flow are rare in few."""
    if not sample.n_more:
        return few.relations
    seen = told_apart([sample.all_seen_at(point) for point in points])
    once = unique_observations(seen)
    unique = with_repeating_answers(seen, once)
    relations, _ = relate(unique, ways_seen_once(few.recurring, once))
    return all_forward(relations) if few.is_one_way else relations


def _pairs(relations: Relations) -> set[int]:
    return {pair for both in relations.values() for pair in both.pair.tolist()}
