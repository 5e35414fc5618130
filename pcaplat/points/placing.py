"""What a profile knows of captures by their names: their points, order and clocks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from pcaplat.captures import stem
from pcaplat.errors import PointError
from pcaplat.points.patterns import find
from pcaplat.points.schema import Point, Profile

HOSTS_OF_A_PATH = 2


@dataclass(frozen=True)
class Placing:
    """What a profile says of captures.

    `names` has a name for each capture, None where no pattern fits. `path` is None where the
    profile does not tell the order. `points` has the profile's points behind each name: two, where
    each saw one direction.
    """

    names: list[str | None]
    points: dict[str, tuple[Point, ...]]
    path: list[str] | None
    same_clock: list[list[str]]
    udp_ports: list[tuple[int, str]]
    notes: list[str]

    def among(self, names: Sequence[str]) -> "Placing":
        """Leave out what is said of points that are none of these: a file may hold several points.

        Example:
            >>> groups = [["a", "b"], ["b", "c"]]
            >>> placing = Placing(["a", "b", "c"], {}, ["a", "b", "c"], groups, [], [])
            >>> placing.among(["a", "b", "c/if0"]).same_clock
            [['a', 'b']]
        """
        groups = [[name for name in group if name in names] for group in self.same_clock]
        path = self.path if self.path and set(self.path) == set(names) else None
        return replace(self, path=path, same_clock=[one for one in groups if len(one) > 1])


@dataclass(frozen=True)
class _Seen:
    """One capture at a point of the profile, or at a place that two points see."""

    index: int
    host: str
    part: str
    label: str
    points: tuple[Point, ...]
    joint: str = "-"


def place_captures(profile: Profile, captures: Sequence[tuple[str, str | None]]) -> Placing:
    """Tell the captures' points, their order, and which share a clock, from their names.

    A name is the point's id, an alias, or what one of its patterns says; before it may stand the
    host (`esx1-VnicTx.pcap`), behind it the number of a file of one rotated capture. Files of equal
    names are told apart by their folders. Captures without a host are taken to be of one. Where two
    hosts face each other, the one named first is the near one. Only the names are looked at.

    Args:
        profile: The platform's points.
        captures: (file, the point it was given for) of each capture.

    Raises:
        PointError: Two captures have the same point, and are not parts of one capture.

    Example:
        >>> from pcaplat.points import load_profile
        >>> placing = place_captures(
        ...     load_profile("lab"), [("sw-b.pcap", None), ("x.pcap", "host1-up")]
        ... )
        >>> placing.names, placing.path, placing.same_clock
        (['sw-b', 'host1-up'], ['host1-up', 'sw-b'], [['sw-b', 'host1-up']])
    """
    found = [_find(profile, i, file, given) for i, (file, given) in enumerate(captures)]
    seen = _by_folder([one for one in found if one], [Path(file) for file, _ in captures])
    _refuse_two_of_a_kind(profile, seen, captures)
    names: list[str | None] = [given for _, given in captures]
    points: dict[str, tuple[Point, ...]] = {}
    for one in seen:
        name = names[one.index] or _name(one, seen)
        names[one.index] = name
        behind = (*points.get(name, ()), *one.points)
        points[name] = tuple({point.id: point for point in behind}.values())
    host_of = {names[one.index] or "": one.host for one in seen}
    same_clock = _same_clock(points, host_of)
    is_complete = len(seen) == len(captures) and len(points) > 1
    return Placing(
        names=names,
        points=points,
        path=_path(profile, points, host_of) if is_complete else None,
        same_clock=same_clock,
        udp_ports=_udp_ports(profile, points.values()),
        notes=[
            *_notes(profile, captures, names),
            *_order_notes(profile, points),
            *_one_way_notes(points, host_of),
            *_clock_notes(profile, points, same_clock),
        ],
    )


def _find(profile: Profile, index: int, file: str, given: str | None) -> _Seen | None:
    """Find the point whose pattern leaves least of the name over."""
    known = [(place, place, behind) for place, behind in profile.places().items()]
    for one in profile.points:
        known.extend((pattern, one.id, (one,)) for pattern in one.patterns)
    name = given or stem(file)
    for form in {form for point in profile.points for form in point.file_formats}:
        name = name.removesuffix(f".{form}")
    fitting = []
    for pattern, label, behind in known:
        found = find(pattern, name)
        if found:
            fitting.append(_Seen(index, found.host, found.part, label, behind))
    return min(fitting, key=lambda one: (len(one.host), len(one.part)), default=None)


def _by_folder(seen: Sequence[_Seen], paths: Sequence[Path]) -> list[_Seen]:
    """Take folders for hosts where the same names lie in several."""
    kinds = {(one.part, one.label) for one in seen}
    folders = {paths[one.index].parent for one in seen}
    if len(kinds) == len(seen) or len(folders) == 1 or any(one.host for one in seen):
        return list(seen)
    return [replace(one, host=paths[one.index].parent.name, joint="/") for one in seen]


def _refuse_two_of_a_kind(
    profile: Profile, seen: Sequence[_Seen], captures: Sequence[tuple[str, str | None]]
) -> None:
    taken: dict[tuple[str, str, str], str] = {}
    for one in seen:
        file, given = captures[one.index]
        for point in one.points:
            key = (one.host, one.part, point.id)
            if key in taken and given is None:
                raise PointError.same_place(profile.name, f"{taken[key]} and {file}", point.id)
            taken[key] = file


def _name(one: _Seen, seen: Sequence[_Seen]) -> str:
    """Name the point; two that see one direction each of a place share the place's name."""
    places = {point.place for point in one.points}
    twins = {
        other.label
        for other in seen
        if other.host == one.host and places & {point.place for point in other.points}
    }
    place = next(iter(places))
    label = place if place is not None and len(twins) > 1 else one.label
    return f"{one.host}{one.joint}{label}" if one.host else label


def _path(
    profile: Profile, points: Mapping[str, tuple[Point, ...]], host_of: Mapping[str, str]
) -> list[str] | None:
    """Give the points in order: from the near host's guest on, up to the far host's guest."""
    hosts = list(dict.fromkeys(host_of[name] for name in points))
    ranks = {name: _rank(profile, of_name) for name, of_name in points.items()}
    known = {name: rank for name, rank in ranks.items() if rank is not None}
    n_hosts = HOSTS_OF_A_PATH if profile.extent == "host" else 1
    if len(hosts) > n_hosts or len(known) < len(ranks) or one_way_pairs(points, host_of):
        return None
    sides = [[name for name in points if host_of[name] == host] for host in hosts]
    return [
        name
        for side, is_far in zip(sides, (False, True), strict=False)
        for name in sorted(side, key=lambda name: known[name], reverse=is_far)
    ]


def one_way_pairs(
    points: Mapping[str, tuple[Point, ...]], host_of: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Find points that packets pass in the same order out and back: they are no two places."""
    both = [
        (point.order_tx, point.order_rx, name)
        for name, of_name in points.items()
        for point in of_name
        if point.order_tx is not None and point.order_rx is not None
    ]
    return [
        (one, other)
        for (tx, rx, one), (later_tx, later_rx, other) in combinations(sorted(both), 2)
        if host_of[one] == host_of[other] and (later_tx > tx) == (later_rx > rx)
    ]


def _rank(profile: Profile, points: Sequence[Point]) -> int | None:
    """Give the place on the way out; what is only on the way back counts from the far end."""
    places = {point.place for point in points} - {None}
    twins = [point for point in profile.points if point in points or point.place in places]
    out = [point.order_tx for point in twins if point.order_tx is not None]
    back = [point.order_rx for point in twins if point.order_rx is not None]
    if out:
        return min(out)
    ranks = [rank for point in profile.points for rank in (point.order_tx, point.order_rx)]
    far_end = 1 + max((rank for rank in ranks if rank is not None), default=0)
    return far_end - min(back) if back else None


def _same_clock(
    points: Mapping[str, tuple[Point, ...]], host_of: Mapping[str, str]
) -> list[list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, of_name in points.items():
        clock = of_name[0].clock
        if clock.shared == "none":
            continue
        host = host_of[name] if clock.shared == "host" else ""
        kind = (clock.shared, host, clock.domain, clock.timescale, clock.source)
        groups.setdefault(kind, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _udp_ports(profile: Profile, points: Iterable[tuple[Point, ...]]) -> list[tuple[int, str]]:
    """Give the tunnels' ports, of the layers that pcaplat decodes."""
    ports = {
        (port, encap.kind)
        for of_name in points
        for point in of_name
        for encap in point.encaps
        for port in encap.udp_ports
        if encap.kind not in profile.documented
    }
    return sorted(ports)


def _notes(
    profile: Profile, captures: Sequence[tuple[str, str | None]], names: Sequence[str | None]
) -> list[str]:
    return [
        f"{file}: no point of profile {profile.name} is called so; write POINT={file}, and see the "
        f"names with: pcaplat points {profile.name}"
        for (file, _), name in zip(captures, names, strict=True)
        if name is None
    ]


def _clock_notes(
    profile: Profile, points: Mapping[str, tuple[Point, ...]], groups: Iterable[Sequence[str]]
) -> list[str]:
    """Say which common clocks nobody has confirmed."""
    unsure = {
        name
        for name, of_name in points.items()
        for point in of_name
        if point.confidence != "confirmed" or "clock" in (*point.inferred, *point.assumed)
    }
    return [
        f"that {', '.join(group)} share a clock is what profile {profile.name} assumes, not what "
        "anybody confirmed; if they were captured on several machines, leave the profile out"
        for group in groups
        if unsure.intersection(group)
    ]


def _order_notes(profile: Profile, points: Mapping[str, tuple[Point, ...]]) -> list[str]:
    unranked = [name for name, of_name in points.items() if _rank(profile, of_name) is None]
    if not unranked or len(points) == 1:
        return []
    return [
        f"profile {profile.name} gives {', '.join(unranked)} no place in the order, so the order is "
        "found from the packets; give it with --path"
    ]


def _one_way_notes(
    points: Mapping[str, tuple[Point, ...]], host_of: Mapping[str, str]
) -> list[str]:
    return [
        f"{one} comes before {other} on the way out and on the way back, so the profile gives no "
        "order; capture each direction in a file of its own"
        for one, other in one_way_pairs(points, host_of)
    ]
