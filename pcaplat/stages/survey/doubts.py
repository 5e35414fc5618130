"""What may mislead about the path found."""

from collections.abc import Iterator, Sequence

from pcaplat.path import Point, Warn
from pcaplat.stages.survey.order import Order
from pcaplat.stages.survey.orient import ENOUGH_TURNS
from pcaplat.units import format_ns


def doubts_of_path(
    points: Sequence[Point],
    orders: Sequence[Order],
    components: Sequence[list[int]],
    declared: Sequence[int] | None,
) -> list[Warn]:
    """Say which points are left out, and which places in the path are no measurement."""
    return [
        *_unrelated(points, components),
        *_apart(points, components),
        *(
            doubt
            for order, along in zip(orders, components, strict=True)
            for doubt in _of_order(points, order, along, declared or ())
        ),
    ]


def _unrelated(points: Sequence[Point], components: Sequence[list[int]]) -> Iterator[Warn]:
    related = {point for component in components for point in component}
    for i, point in enumerate(points):
        if i not in related:
            text = (
                "shares no packet with any other point and is left out; is it of the same traffic "
                "and time, and is every tunnel decoded (pcaplat read shows layers)?"
            )
            yield Warn("unrelated-point", point.name, text)


def _apart(points: Sequence[Point], components: Sequence[list[int]]) -> Iterator[Warn]:
    if len(components) > 1:
        groups = "; ".join(_names(points, component) for component in components)
        text = (
            f"the points fall into groups that share no packet ({groups}), and nothing between "
            "the groups is measured; if one point was captured in two files by direction, name "
            "both alike (POINT=PATH)"
        )
        yield Warn("paths-apart", None, text)


def _of_order(
    points: Sequence[Point], order: Order, along: Sequence[int], declared: Sequence[int]
) -> Iterator[Warn]:
    most = max(order.n_turns.values(), default=0)
    unsaid = [point for point in along if point not in declared]
    assumed = [point for point in unsaid if point in order.is_assumed or not order.distance_ns]
    if assumed:
        rests_on = "raw time stamps or TTL" if order.is_known else "nothing but their names"
        text = (
            f"the place of {_names(points, assumed)} in the path rests on {rests_on}, because "
            "packets of one direction only were seen there; give the order with --path"
        )
        yield Warn("order-assumed", None, text)
    elif unsaid and most < ENOUGH_TURNS:
        text = (
            f"the order of {_names(points, along)} rests on {most} change(s) of direction; "
            "give it with --path"
        )
        yield Warn("few-turns", None, text)
    yield from _contradicted(points, order, along)


def _contradicted(points: Sequence[Point], order: Order, along: Sequence[int]) -> Iterator[Warn]:
    """The declared path wins, but not silently."""
    place = {point: at for at, point in enumerate(along)}
    against = {
        ends if distance > 0 else ends[::-1]: abs(distance)
        for ends, distance in order.distance_ns.items()
        if distance * (place[ends[1]] - place[ends[0]]) < 0 and order.n_turns[ends] >= ENOUGH_TURNS
    }
    floor_ns = {ends: 2 * sum(points[point].resolution_ns for point in ends) for ends in against}
    against = {ends: far_ns for ends, far_ns in against.items() if far_ns > floor_ns[ends]}
    if against and along != order.points:
        first, then = max(against, key=lambda ends: against[ends])
        text = (
            f"--path puts {points[then].name} before {points[first].name}, but packets there and "
            f"back say the opposite (two-way distance {format_ns(against[first, then])}); check "
            "which capture is which, or leave out --path"
        )
        yield Warn("path-contradicted", None, text)


def _names(points: Sequence[Point], chosen: Sequence[int]) -> str:
    return ", ".join(points[point].name for point in chosen)
