"""What the survey finds, put together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pcaplat.errors import EvidenceError
from pcaplat.model.path import Findings
from pcaplat.model.points import Point
from pcaplat.stages.survey.copies import find_copies
from pcaplat.stages.survey.coverage import check_coverage
from pcaplat.stages.survey.delays.latencies import fit_bands, fit_centres
from pcaplat.stages.survey.delays.overtaking import with_order
from pcaplat.stages.survey.delays.relations import Relations, components, relate
from pcaplat.stages.survey.diagnostics import check_copies, check_path, reasons_of, together
from pcaplat.stages.survey.observations import Sample, unique_observations
from pcaplat.stages.survey.offload import check_offload, find_torn
from pcaplat.stages.survey.path_order.direction import (
    declared_path,
    from_first,
    placed,
    tied_by_name,
)
from pcaplat.stages.survey.path_order.evidence import evidence_of
from pcaplat.stages.survey.path_order.links import find_edges
from pcaplat.stages.survey.path_order.order import PathOrder, order_points
from pcaplat.stages.survey.path_order.repeating_answers import with_repeating_answers
from pcaplat.stages.survey.path_order.steps import (
    all_forward,
    are_steps,
    check_steps,
    observations_forward,
)


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
    seen = [sample.seen_at(point) for point in points]
    unique = with_repeating_answers(seen, unique_observations(seen))
    relations, tail_ns = relate(unique)
    is_one_way = are_steps(relations, points)
    if is_one_way:
        relations = all_forward(relations)
        seen, unique = observations_forward(seen), observations_forward(unique)
    groups = components(relations, len(points))
    reasons = reasons_of(points, list(map(len, seen)), list(map(len, unique)))
    if not groups:
        n_sampled = [(point.name, len(one)) for point, one in zip(points, seen, strict=True)]
        raise EvidenceError.nothing_in_common(n_sampled, together(points, reasons))
    known = dict.fromkeys(_pairs(relations), True) if is_one_way else {}
    orders = _order_groups(relations, groups, domains or range(len(points)), known)
    clear = [point for point in declared or () if point not in mixed]
    if not is_one_way:
        ends_by = clear if len(clear) > 1 else declared
        orders = from_first(orders, ends_by, sample, points, relations)
    along = [
        tied_by_name(placed(order.points, declared), order, points, declared) for order in orders
    ]
    toward = orders[-1].toward_is_forward
    centres = fit_centres(relations, along, toward, len(points))
    edges = [edge for component in along for edge in find_edges(unique, component)]
    torn = find_torn(edges, unique)
    warnings = check_path(points, orders, along, declared, reasons)
    warnings += check_copies(points, relations)
    warnings += check_steps(relations, points) if is_one_way else ()
    found = Findings(
        points=points,
        components=along,
        alone=[i for i in range(len(points)) if not any(i in group for group in groups)],
        edges=edges,
        toward_is_forward=toward,
        centres=centres,
        bands=with_order(
            fit_bands(
                relations, along, centres, toward, list(zip(seen, unique, strict=True)), points
            ),
            _of_more(sample, points, relations, is_one_way=is_one_way),
            centres,
            toward,
        ),
        is_inferred=declared is None or any(i not in declared for group in groups for i in group),
        warnings=warnings + check_offload(points, torn),
        torn=frozenset(torn),
        tail_ns=tail_ns,
        copies=find_copies(seen, along, toward),
        fragmented=sample.fragmented,
        order_evidence=evidence_of(orders, edges),
        is_one_way=is_one_way,
    )
    return replace(found, warnings=[*found.warnings, *check_coverage(found, seen)])


def _of_more(
    sample: Sample, points: Sequence[Point], few: Relations, *, is_one_way: bool
) -> Relations:
    """Relate the points by what there is more, too, for neighbours of a flow are rare in few."""
    if not sample.n_more:
        return few
    seen = [sample.all_seen_at(point) for point in points]
    relations, _ = relate(with_repeating_answers(seen, unique_observations(seen)))
    return all_forward(relations) if is_one_way else relations


def _order_groups(
    relations: Relations,
    groups: Sequence[list[int]],
    domains: Sequence[int],
    known: Mapping[int, bool],
) -> list[PathOrder]:
    """Order each component; every order knows the address pairs that those before it oriented."""
    orders: list[PathOrder] = []
    for group in groups:
        before = orders[-1].toward_is_forward if orders else known
        orders.append(order_points(relations, group, before, domains))
    return orders


def _pairs(relations: Relations) -> set[int]:
    return {pair for both in relations.values() for pair in both.pair.tolist()}
