"""The capture points that files hold: their names, and which part of which file is which."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pcaplat.errors import InputError
from pcaplat.model.files.captures import Capture, is_decoded, point_names, resolution_ns
from pcaplat.model.files.late_stamps import late_ns, mirror_wait_ns
from pcaplat.model.points import Point, PointTree
from pcaplat.model.sampled import FileFacts, InterfaceFacts
from pcaplat.records import dataclass
from pcaplat.text import plain_name

PointOf = Sequence[Sequence[int | None]]
"""Which point each part of each file is of, if any."""


MAX_POINTS = 512
"""More points are refused: they are compared in pairs, and a hostile file describes tens of
thousands of interfaces."""


@dataclass(frozen=True)
class FoundPoints:
    """The points, which part of which file is which, and how many frames each part has.

    `names` has the point that each file was given for: frames of a divided file that are of none
    of its points are named so. `n_frames` has of every divided file, by part, the frames, and
    those that were not decoded.
    """

    points: Sequence[Point]
    point_of: PointOf
    divisions: Sequence[PointTree | None]
    names: Sequence[str]
    n_frames: Mapping[int, Sequence[Sequence[int]]]

    def rows(
        self, file: int, interfaces: Sequence[InterfaceFacts]
    ) -> Iterator[tuple[str, InterfaceFacts, Sequence[int]]]:
        """Give the point of each part of a file, its interface, frames and undecoded frames."""
        division, at = self.divisions[file], self.point_of[file]
        for one in interfaces:
            parts = _parts_of(division, one.interface)
            n_frames = {one.interface: [one.n_frames, one.n_undecoded]}
            if division is not None:
                n_frames = {part: list(n) for part, n in enumerate(self.n_frames[file])}
            for part in dict.fromkeys((*parts, one.interface)):
                point = at[part]
                name = self.names[file] if point is None else self.points[point].name
                if part in parts or n_frames[part][0]:
                    yield name, one, n_frames[part]


def interfaces_of(of_file: FileFacts) -> list[int]:
    """Give the interfaces of a file."""
    return [one.interface for one in of_file.interfaces]


def known_clocks(of_file: FileFacts) -> dict[int, int | None]:
    """Give the number of each interface's clock within its file, None where the file does not tell.

    A program that captures several interfaces names them. Where a name is missing, captures of
    several hosts may have been put together by a program that does not say so.
    """
    numbers = {one.interface: one.clock for one in of_file.interfaces}
    n_of_clock = Counter(numbers.values())
    unnamed = {one.clock for one in of_file.interfaces if not one.name}
    doubtful = {clock for clock in unnamed if n_of_clock[clock] > 1}
    return {number: None if clock in doubtful else clock for number, clock in numbers.items()}


def capture_times(of_file: FileFacts) -> dict[int, tuple[int, int]]:
    """Give the first and last timestamp of what captured each interface of a file.

    Interfaces that one clock timestamped were captured by one program, all of them as long as it
    ran: one that saw no frame for a while was not away. Those of a merged file began each when
    its capture did.
    """
    clock_of = known_clocks(of_file)
    captured_by = {
        one.interface: ("interface", one.interface)
        if one.is_aligned or (clock := clock_of[one.interface]) is None
        else ("clock", clock)
        for one in of_file.interfaces
    }
    times: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for one in of_file.interfaces:
        of_program = times.setdefault(captured_by[one.interface], [])
        of_program.append((one.first_t_ns, one.last_t_ns))
    hulls = {program: _hull(covers) for program, covers in times.items()}
    return {number: hulls[program] for number, program in captured_by.items()}


def _hull(covers: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return min(start for start, _ in covers), max(end for _, end in covers)


def interface_labels(of_file: FileFacts) -> dict[int, str]:
    """Name the interfaces of a file; those of one name that one program captured are told apart.

    Components of a tracer may have one name, as filters of several adapters have. In another
    section the name is that of the same interface, and so it is for frames of another link type.
    """
    labels: dict[int, str] = {}
    n_of: Counter[tuple[int | None, str, int]] = Counter()
    for one in of_file.interfaces:
        name = plain_name(one.name or f"if{one.interface}")
        which = (one.clock, name, one.link)
        n_of[which] += 1
        labels[one.interface] = name if n_of[which] == 1 else f"{name}-{n_of[which]}"
    return labels


def find_points(
    captures: Sequence[Capture],
    facts: Sequence[FileFacts],
    divisions: Sequence[PointTree | None] | None = None,
) -> tuple[list[Point], list[list[int | None]]]:
    """Tell which points there are, and for each file and part of it which one it is of.

    A file that holds one point has its name; of several each is `STEM/LABEL`. Several files given
    for one point are consecutive files of one capture.

    Args:
        captures: The files.
        facts: What reading told of each.
        divisions: How each is divided; None where its parts are its interfaces.

    Raises:
        InputError: More points than are compared; give fewer captures or interfaces.
    """
    sources: dict[str, list[tuple[int, int]]] = {}
    seen: dict[str, list[InterfaceFacts]] = {}
    clocks: dict[str, set[tuple[str, int]]] = {}
    covers: dict[str, list[tuple[int, int]]] = {}
    rest: set[str] = set()
    point_of: list[list[int | None]] = []
    known = divisions or [None] * len(captures)
    rows = zip(point_names(captures), facts, known, strict=True)
    for file, (name, of_file, division) in enumerate(rows):
        interfaces, labels = of_file.interfaces, interface_labels(of_file)
        clock_of, cover_of = known_clocks(of_file), capture_times(of_file)
        n_parts = 1 + max((one.interface for one in interfaces), default=-1)
        point_of.append([None] * (division.n_parts if division else n_parts))
        for one in interfaces:
            base = () if len(interfaces) == 1 else (labels[one.interface],)
            for part, own in _parts_of(division, one.interface).items():
                full = "/".join(filter(None, (name, "-".join(filter(None, (*base, own))))))
                sources.setdefault(full, []).append((file, part))
                if division and division.parts.get(part, (0, "x"))[1] == "":
                    rest.add(full)
                seen.setdefault(full, []).append(one)
                covers.setdefault(full, []).append(cover_of[one.interface])
                of_point = clocks.setdefault(full, set())
                if (clock := clock_of[one.interface]) is not None:
                    of_point.add((captures[file].clock or str(file), clock))
    _refuse_too_many(sources, captures)
    points = [
        _point(name, tuple(of), seen[name], clocks[name], _hull(covers[name]), is_rest=name in rest)
        for name, of in sources.items()
    ]
    for i, point in enumerate(points):
        for file, part in point.sources:
            point_of[file][part] = i
    return points, point_of


def _refuse_too_many(
    sources: Mapping[str, Sequence[tuple[int, int]]], captures: Sequence[Capture]
) -> None:
    if len(sources) <= MAX_POINTS:
        return
    of_file = Counter(file for parts in sources.values() for file in {at for at, _ in parts})
    [(largest, n_of_file)] = of_file.most_common(1)
    name = captures[largest].name
    raise InputError.too_many_points(len(sources), MAX_POINTS, name, n_of_file)


def _parts_of(division: PointTree | None, interface: int) -> dict[int, str]:
    """Parts of an interface, with their labels; an interface that is not divided is one."""
    parts = division.parts_of(interface) if division else {}
    return parts or {interface: ""}


def _point(
    name: str,
    sources: tuple[tuple[int, int], ...],
    interfaces: Sequence[InterfaceFacts],
    clocks: Iterable[tuple[str, int]],
    cover: tuple[int, int],
    *,
    is_rest: bool,
) -> Point:
    return Point(
        name=name,
        sources=sources,
        resolution_ns=max(resolution_ns(one) for one in interfaces),
        first_t_ns=cover[0],
        last_t_ns=cover[1],
        disorder_ns=max(one.disorder_ns for one in interfaces),
        n_frames=sum(one.n_frames for one in interfaces),
        n_undecoded=sum(one.n_undecoded for one in interfaces),
        is_decoded=any(is_decoded(one) for one in interfaces),
        snap_bytes=min((one.snap_bytes for one in interfaces if one.snap_bytes), default=0),
        is_rest=is_rest,
        late_ns=max(late_ns(one) for one in interfaces),
        mirror_wait_ns=max(mirror_wait_ns(one) or 0 for one in interfaces),
        n_mirrored=sum(n for one in interfaces for _, n, _, _ in one.mirrors),
        mirror_gaps=_mirror_gaps(interfaces),
        clocks=frozenset(clocks),
    )


def _mirror_gaps(
    interfaces: Sequence[InterfaceFacts],
) -> tuple[tuple[int, int, int], ...] | None:
    """Give the gaps of all sessions, in order of time; None where none numbers its frames."""
    sessions = [gaps for one in interfaces for _, _, _, gaps in one.mirrors]
    return tuple(sorted(gap for gaps in sessions for gap in gaps)) if sessions else None
