"""What a profile knows of captures by their names: their points, order and clocks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pcaplat.errors import PointError
from pcaplat.model.files.captures import stem
from pcaplat.model.files.stamping import Stamping
from pcaplat.points.order import one_way_pairs, path_of, rank_of
from pcaplat.points.patterns import find
from pcaplat.points.schema import Profile, ProfilePoint
from pcaplat.records import dataclass


@dataclass(frozen=True)
class Placing:
    """What a profile says of captures.

    `names` has a name for each capture, None where no pattern fits. `path` is None where the
    profile does not tell the order. `points` has the profile's points behind each name: two, where
    each saw one direction.
    """

    names: list[str | None]
    points: dict[str, tuple[ProfilePoint, ...]]
    path: list[str] | None
    same_clock: list[list[str]]
    udp_ports: list[tuple[int, str]]
    notes: list[str]

    @property
    def stamp_names(self) -> list[str | None]:
        """The in-packet stamp that the clock of each capture's point is read from, if any."""
        of_names = [self.points.get(name or "", ()) for name in self.names]
        sources = [{point.clock.source for point in points} for points in of_names]
        alike = [one.pop() if len(one) == 1 else "" for one in sources]
        return [source.partition(":")[2] or None for source in alike]

    @property
    def stampings(self) -> list[Stamping]:
        """What the stamps of each capture stand for, and its link's rate, as far as it is said."""
        return [_said(self.points.get(name or "", ())) for name in self.names]

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


def _said(points: Iterable[ProfilePoint]) -> Stamping:
    """Of two points that see one direction each, what both say."""
    said = {Stamping(point.stamped_at, point.link_rate_bps) for point in points}
    return said.pop() if len(said) == 1 else Stamping()


@dataclass(frozen=True)
class _Seen:
    """One capture at a point of the profile, or at a place that two points see."""

    index: int
    host: str
    part: str
    label: str
    points: tuple[ProfilePoint, ...]
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
    points: dict[str, tuple[ProfilePoint, ...]] = {}
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
        path=path_of(profile, points, host_of) if is_complete else None,
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


def _same_clock(
    points: Mapping[str, tuple[ProfilePoint, ...]], host_of: Mapping[str, str]
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


def _udp_ports(
    profile: Profile, points: Iterable[tuple[ProfilePoint, ...]]
) -> list[tuple[int, str]]:
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
    profile: Profile,
    points: Mapping[str, tuple[ProfilePoint, ...]],
    groups: Iterable[Sequence[str]],
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


def _order_notes(profile: Profile, points: Mapping[str, tuple[ProfilePoint, ...]]) -> list[str]:
    unranked = [name for name, of_name in points.items() if rank_of(profile, of_name) is None]
    if not unranked or len(points) == 1:
        return []
    note = (
        f"profile {profile.name} gives {', '.join(unranked)} no place in the order, so the order "
        "is found from the packets; give it with --path"
    )
    return [note]


def _one_way_notes(
    points: Mapping[str, tuple[ProfilePoint, ...]], host_of: Mapping[str, str]
) -> list[str]:
    return [
        f"{one} comes before {other} on the way out and on the way back, so the profile gives no "
        "order; capture each direction in a file of its own"
        for one, other in one_way_pairs(points, host_of)
    ]
