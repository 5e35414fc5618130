"""Captures as the user names them, and the capture points in them."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path

from pcaplat.errors import InputError
from pcaplat.model.files.object_stores import fetch, is_remote, shown
from pcaplat.model.files.pipes import copy_of_pipe, is_stream
from pcaplat.model.points import Point
from pcaplat.model.sampled import InterfaceFacts
from pcaplat.records import dataclass
from pcaplat.text import plain_name

COMPRESSED = (".gz", ".zst", ".lz4", ".xz", ".bz2")
CAPTURE = (".pcap", ".pcapng", ".cap", ".ntar", ".dmp", ".digest")
TRACED = (".txt", ".data", ".json")
"""Of what a tracer prints; in a folder such a file is something else."""


@dataclass(frozen=True)
class Capture:
    """One file: its path, its name in results, the point it was given for (None: its stem).

    Both names are harmless in whatever they are written to; the path is as the system has it.
    `clock` timestamped it, where that is not one of the file's own.
    """

    path: str
    name: str
    point: str | None
    clock: str | None = None

    @classmethod
    def named(cls, path: str, name: str, point: str | None) -> "Capture":
        """Make names of a stranger harmless."""
        return cls(path, plain_name(name), None if point is None else plain_name(point))


def parse_captures(given: Sequence[str | PathLike[str]], spool: Path) -> list[Capture]:
    """Read PATH, POINT=PATH and `-`; what comes through a pipe is spooled into `spool`.

    Raises:
        InputError: A file is given twice, be it through a link, or a point's name cannot be one;
            or what comes through a pipe is no capture.
        OSError: A pipe cannot be read.
    """
    if isinstance(given, str) or not given:
        raise InputError.no_list_of_captures(given)
    captures: list[Capture] = []
    seen: set[object] = set()
    for one in given:
        point, name = _split(fspath(one))
        file = _file_of(name)
        if file in seen:
            raise InputError.given_twice(shown(name))
        seen.add(file)
        captures.append(_spooled(point, name, spool / f"pipe{len(seen)}"))
    return captures


def parse_live(given: str) -> Capture:
    """Read PATH, POINT=PATH or `-` of a capture that is followed: nothing is spooled.

    Raises:
        InputError: Standard input is closed, or the point's name cannot be one.
    """
    point, name = _split(given)
    if name == "-" and sys.stdin is None:
        raise InputError.no_standard_input()
    return Capture.named(name, "stdin" if name == "-" else name, point)


def _split(text: str) -> tuple[str | None, str]:
    """Split POINT=PATH; a file whose name has an equals sign is a file."""
    point, _, path = text.partition("=")
    if not (point and path) or is_remote(text) or _is_there(text):
        return None, text
    if is_remote(path):
        return point, path
    if "/" not in point:
        return point, path
    if _is_there(path):
        raise InputError.slash_in_point(point, path)
    return None, text


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:
        # too long for a name, say: whoever opens it will hear
        return False


def is_given(file: Path, captures: Sequence[str]) -> bool:
    """Tell whether a file is among captures as the user names them, be it by another name."""
    return file.exists() and any(
        _file_of(_split(one)[1]) == _file_of(str(file)) for one in captures
    )


def _file_of(name: str) -> object:
    """What is the same for two names of one file, be it by a link of either kind."""
    try:
        found = Path(name).stat()
    except OSError:
        return name
    return found.st_dev, found.st_ino


def _spooled(point: str | None, name: str, copy: Path) -> Capture:
    """Copy what can be read only once, or lies far away; it is read twice."""
    if name == "-":
        if sys.stdin is None:
            raise InputError.no_standard_input()
        found = Capture.named(str(copy), "stdin", point)
        with by_their_names([found]):
            copy_of_pipe(sys.stdin.fileno(), copy)
        return found
    if is_remote(name):
        fetch(name, copy)
        return Capture.named(str(copy), shown(name), point)
    if is_stream(Path(name)):
        found = Capture.named(str(copy), name, point)
        pipe = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            with by_their_names([found]):
                copy_of_pipe(pipe, copy)
        finally:
            os.close(pipe)
        return found
    return Capture.named(name, name, point)


@contextmanager
def by_their_names(captures: Sequence[Capture]) -> Iterator[None]:
    """See that errors name captures as the user did, not the copies of what came through pipes."""
    try:
        yield
    except InputError as problem:
        text = str(problem)
        for one in captures:
            text = text.replace(one.path, one.name)
        raise type(problem)(text) from None


def in_any_order(captures: Sequence[Capture]) -> list[Capture]:
    """Put captures into the order of their points' and files' names: however they were given."""
    named = zip(point_names(captures), captures, strict=True)
    return [one for _, one in sorted(named, key=lambda both: (both[0], both[1].name))]


def stem(name: str) -> str:
    """Name of a file without folders, compression and format.

    Example:
        >>> stem("/captures/uplink.pcap.zst"), stem("a.b.pcapng"), stem("trace")
        ('uplink', 'a.b', 'trace')
    """
    path = Path(name)
    path = path.with_suffix("") if path.suffix in COMPRESSED else path
    path = path.with_suffix("") if path.suffix in (*CAPTURE, *TRACED) else path
    return path.name


def point_names(captures: Sequence[Capture]) -> list[str]:
    """Name the point of each capture: as given, else by its file.

    Only captures that were given for one point share a name. Files with equal stems are told apart
    by their folders, by their suffixes, or by both.
    """
    names = [one.point or stem(one.name) for one in captures]
    for longer in (_in_folder, _with_suffix, os.path.normpath):
        counts = Counter(name for name, one in zip(names, captures, strict=True) if not one.point)
        counts.update({one.point for one in captures if one.point})
        names = [
            longer(one.name) if one.point is None and counts[name] > 1 else name
            for one, name in zip(captures, names, strict=True)
        ]
    return names


def _in_folder(name: str) -> str:
    folder = Path(name).parent.name
    return f"{folder}/{stem(name)}" if folder else stem(name)


def _with_suffix(name: str) -> str:
    path = Path(name)
    return f"{path.parent.name}/{path.name}" if path.parent.name else path.name


def is_decoded(interface: InterfaceFacts) -> bool:
    """Tell whether frames of its link type can be read, or were because the user said how."""
    has_decoded: bool = interface.n_undecoded < interface.n_frames
    return has_decoded or interface.why_unread is None


def resolution_ns(interface: InterfaceFacts) -> float:
    """Give the coarser of what the file declares and what its stamps show, ns.

    Few stamps may be round by chance: they show nothing.
    """
    enough = 100
    shown = interface.observed_resolution_ns if interface.n_frames >= enough else 0
    return float(max(interface.declared_resolution_ns, shown))


def point_index(points: Sequence[Point], option: str, name: str) -> int:
    """Find a point by its name.

    Raises:
        InputError: An option names a point that is not there.
    """
    names, sought = [point.name for point in points], plain_name(name)
    if sought not in names:
        raise InputError.unknown_point(option, name, names)
    return names.index(sought)


def members_of(points: Sequence[Point], names: Sequence[str] | str) -> set[int]:
    """Give the points that a group of --same-clock names.

    Raises:
        InputError: It names a point that is not there, or one point only.
    """
    if names == "all" or list(names) == ["all"]:
        return set(range(len(points)))
    alike = [names] if isinstance(names, str) else names
    group = {point_index(points, "--same-clock", name) for name in alike}
    if len(group) < 2:  # noqa: PLR2004 - to share takes two
        raise InputError.clock_of_nobody(", ".join(alike))
    return group


def clock_domains(
    points: Sequence[Point], same_clock: Sequence[Sequence[str] | str] = ()
) -> list[int]:
    """Number the clocks: for each point, which one its stamps come from.

    Points share a clock if one clock of a file timestamped both, or the user says so.

    Args:
        points: The capture points.
        same_clock: Groups of names, or `all`.

    Raises:
        InputError: A group names a point that is not there, or one point only.
    """
    groups = [
        {i for i, point in enumerate(points) if clock in point.clocks}
        for clock in sorted({clock for point in points for clock in point.clocks})
    ]
    groups += [members_of(points, names) for names in same_clock]
    domain = list(range(len(points)))
    for group in groups:
        joined = {domain[i] for i in group}
        domain = [min(joined) if one in joined else one for one in domain]
    dense = {one: i for i, one in enumerate(sorted(set(domain)))}
    return [dense[one] for one in domain]


FileState = tuple[int, int]
"""Size, and time of the last change."""


def states_of(captures: Sequence[Capture]) -> list[FileState | None]:
    """Give size and time of the last change of each file; None where there is no file."""
    return [_state_of(Path(one.path)) for one in captures]


def _state_of(path: Path) -> FileState | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
