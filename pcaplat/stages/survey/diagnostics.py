"""What may mislead about the path found."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.path import Findings
from pcaplat.model.points import Point
from pcaplat.stages.survey.delays.relations import Relations
from pcaplat.stages.survey.path_order.order import PathOrder
from pcaplat.stages.survey.path_order.orient import ENOUGH_CHANGES
from pcaplat.units import format_count, format_frac, format_ns

SHORT_SNAP_BYTES = 132
"""A longer snap length leaves the headers of any usual tunnel."""

SURE_FRAC = 0.9
"""Where fewer direction changes agree, the order is worth a second look."""

FEW = 3

ENOUGH_EQUAL = 3
"""As many packets do not have equal stamps at two points by chance."""


def check_path(
    points: Sequence[Point],
    orders: Sequence[PathOrder],
    components: Sequence[list[int]],
    declared: Sequence[int] | None,
    reasons: Mapping[int, str],
) -> list[Diagnostic]:
    """Say which points are left out, and which places in the path are no measurement."""
    return [
        *_unrelated(points, components, reasons),
        *_apart(points, components),
        *(
            diagnostic
            for order, along in zip(orders, components, strict=True)
            for diagnostic in _of_order(points, order, along, declared or ())
        ),
    ]


def reasons_of(
    points: Sequence[Point], n_sampled: Sequence[int], n_unique: Sequence[int]
) -> dict[int, str]:
    """Say of every point that cannot be related to any other why, if that is known.

    Args:
        points: The capture points.
        n_sampled: Packets of each in the sample.
        n_unique: Those of them that can be told from every other.
    """
    rows = enumerate(zip(points, n_sampled, n_unique, strict=True))
    found = {i: _reason(point, n, unique) for i, (point, n, unique) in rows}
    return {i: reason for i, reason in found.items() if reason}


def _reason(point: Point, n_sampled: int, n_unique: int) -> str | None:
    if n_unique:
        return None
    if n_sampled:
        return (
            "every packet there repeats itself to the byte, so packets cannot be "
            "distinguished; capture other traffic with it"
        )
    if point.n_undecoded < point.n_frames:
        return (
            "no frame there is among the packets compared; widen --filter, --filter-outer "
            "or --sample"
        )
    if not point.is_decoded:
        return "the link type there is not decoded"
    if 0 < point.snap_bytes <= SHORT_SNAP_BYTES:
        return (
            f"no frame there could be decoded, for the snap length of {point.snap_bytes} bytes "
            "leaves too little of it; capture more (tcpdump -s 256)"
        )
    return "no frame there could be decoded to the innermost packet (pcaplat read shows layers)"


def together(points: Sequence[Point], reasons: Mapping[int, str]) -> list[str]:
    """Give each reason once, after the points it holds for."""
    return [
        f"{_names(points, [i for i, other in reasons.items() if other == reason])}: {reason}"
        for reason in dict.fromkeys(reasons.values())
    ]


def _unrelated(
    points: Sequence[Point], components: Sequence[list[int]], reasons: Mapping[int, str]
) -> Iterator[Diagnostic]:
    related = {point for component in components for point in component}
    for i, point in enumerate(points):
        if i not in related and point.is_rest:
            text = (
                "its frames belong to none of the points into which pcaplat split the file, or to "
                "an unknown one: no packet of their sender or network was found at two points"
            )
            yield Diagnostic("unplaced-frames", point.name, text, "it is compared with nothing")
        elif i not in related:
            why = (
                reasons.get(i)
                or _other_time(points, i, related)
                or (
                    "likely causes: different traffic or time, a tunnel on an unknown port "
                    "(pcaplat read lists the layers), or packets that are equal in several tenants"
                )
            )
            text = f"excluded, because no packet was found at any other point: {why}"
            yield Diagnostic("unrelated-point", point.name, text)


def _other_time(points: Sequence[Point], alone: int, related: set[int]) -> str | None:
    """Say that a point captured at another time, by the files' own times."""
    one, others = points[alone], [points[point] for point in related]
    early_ns = min(other.first_t_ns for other in others) - one.last_t_ns
    late_ns = one.first_t_ns - max(other.last_t_ns for other in others)
    if early_ns > 0:
        return f"by the files' own times it ended {format_ns(early_ns)} before the others began"
    if late_ns > 0:
        return f"by the files' own times it began {format_ns(late_ns)} after the others ended"
    return None


def check_order(findings: Findings) -> list[Diagnostic]:
    """Say which neighbours may stand the other way round, by many direction changes."""
    unsure = [
        one
        for one in findings.order_evidence
        if one.n and one.n_agreeing < SURE_FRAC * one.n and one.distance_ns is not None
    ]
    if not unsure:
        return []
    least = min(unsure, key=lambda one: one.n_agreeing / one.n)
    names = [f"{findings.name(one.near)} → {findings.name(one.far)}" for one in unsure]
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    apart_ns = max(abs(one.distance_ns or 0) for one in unsure)
    text = (
        f"the order {', '.join(names[:FEW])}{more} is doubtful: at most {format_ns(apart_ns)} "
        f"apart (round trip), and as few as {format_frac(least.n_agreeing / least.n)} of "
        f"{format_count(least.n)} direction changes agree with it"
    )
    return [diagnose("order-doubtful", None, text)]


def check_copies(points: Sequence[Point], relations: Relations) -> list[Diagnostic]:
    """Say which points may be one capture under two names."""
    diagnostics = []
    for ends, both in relations.items():
        if len(both) >= ENOUGH_EQUAL and not np.any(both.d_ns):
            text = (
                f"{_names(points, ends)}: all {format_count(len(both))} packets compared have the "
                "same timestamp at both, to the last digit"
            )
            consequence = "if one is a copy of the other, the latency between them means nothing"
            diagnostics.append(Diagnostic("same-capture", None, text, consequence, "leave one out"))
    return diagnostics


def _apart(points: Sequence[Point], components: Sequence[list[int]]) -> Iterator[Diagnostic]:
    if len(components) > 1:
        groups = "; ".join(_names(points, component) for component in components)
        text = (
            f"the points fall into groups that share no packet ({groups}), and nothing between "
            "the groups is measured"
        )
        remedy = (
            "if one point was captured in two files by direction, give both files the same point "
            "(POINT=PATH)"
        )
        yield Diagnostic("paths-apart", None, text, "", remedy)


def _of_order(
    points: Sequence[Point], order: PathOrder, along: Sequence[int], declared: Sequence[int]
) -> Iterator[Diagnostic]:
    most = max(order.n_changes.values(), default=0)
    unsaid = [point for point in along if point not in declared]
    is_timed = all(point in order.is_timed for point in unsaid)
    assumed = [point for point in unsaid if point in order.is_assumed or not order.distance_ns]
    if assumed:
        rests_on = "raw timestamps or TTL" if order.is_known else "nothing but their names"
        is_coarse = any(n and {*ends} & {*assumed} for ends, n in order.n_changes.items())
        why = (
            "the timestamps are too coarse to show how far apart the points are"
            if is_coarse
            else "packets of one direction only were captured there"
        )
        text = (
            f"the place of {_names(points, assumed)} in the path rests on {rests_on}, because {why}"
        )
        yield Diagnostic("order-assumed", None, text, "", "give the order with --path")
    elif unsaid and not any(order.distance_ns.values()):
        text = (
            f"the place of {_names(points, unsaid)} in the path rests on nothing but their names, "
            "because packets have the same timestamps there"
        )
        yield Diagnostic("order-assumed", None, text, "", "give the order with --path")
    elif unsaid and most < ENOUGH_CHANGES and not is_timed:
        changes = "1 change" if most == 1 else f"{most} changes"
        text = f"the order of {_names(points, along)} rests on {changes} of direction"
        yield Diagnostic("few-direction-changes", None, text, "", "give it with --path")
    yield from _contradicted(points, order, along)


def _contradicted(
    points: Sequence[Point], order: PathOrder, along: Sequence[int]
) -> Iterator[Diagnostic]:
    """The declared path wins, but not silently."""
    place = {point: at for at, point in enumerate(along)}
    against = {
        ends if distance > 0 else ends[::-1]: abs(distance)
        for ends, distance in order.distance_ns.items()
        if distance * (place[ends[1]] - place[ends[0]]) < 0
        and order.n_changes[ends] >= ENOUGH_CHANGES
    }
    floor_ns = {ends: 2 * sum(points[point].resolution_ns for point in ends) for ends in against}
    against = {ends: far_ns for ends, far_ns in against.items() if far_ns > floor_ns[ends]}
    if against and along != order.points:
        first, then = max(against, key=lambda ends: against[ends])
        text = (
            f"--path puts {points[then].name} before {points[first].name}, but round trips of "
            f"packets show the opposite (round-trip separation {format_ns(against[first, then])})"
        )
        remedy = "check which capture is which, or leave out --path"
        yield Diagnostic("path-contradicted", None, text, "", remedy)


def _names(points: Sequence[Point], chosen: Sequence[int]) -> str:
    return ", ".join(points[point].name for point in chosen)
