"""Capture points: what is known of each, and how a file that holds several is divided.

Points are numbers, indices into `Findings.points`; so are they everywhere between the stages.
"""

from collections.abc import Mapping

from pcaplat.records import dataclass

Pair = tuple[int, int]


@dataclass(frozen=True)
class Node:
    """What the core asks of a frame: its value of a dimension (rust/src/location/).

    `branches` is where each value leads: a part of the file, or below 0 a later node; `default` the
    part that has all other values.
    """

    dimension: str
    branches: Mapping[Pair, int]
    default: int


@dataclass(frozen=True)
class PointTree:
    """How a file that holds several capture points is divided into parts.

    `parts` has the interface and the label of every part that the survey saw frames of; what is of
    none of the points it found is a part without a label. Parts are numbered from 0 to `n_parts`.
    """

    nodes: list[Node]
    parts: dict[int, tuple[int, str]]
    n_parts: int

    def parts_of(self, interface: int) -> dict[int, str]:
        """Give the parts of an interface, with their labels."""
        return {part: label for part, (of, label) in self.parts.items() if of == interface}


@dataclass(frozen=True)
class Point:
    """A capture point: its name, its sources (file index, part of it), facts about its stamps.

    A part is an interface of the file, unless a `PointTree` says otherwise.

    `late_ns` is how much too late a stamp may be where the capture stamps batches, `mirror_wait_ns`
    where a mirror queues both directions. `snap_bytes` is the shortest snap length of its sources,
    0 if there is none; `is_decoded` tells whether frames of any of its link types can be read.
    `is_rest`: it has what is of none of the points that a file was divided into. `mirror_gaps`:
    when its mirror lost frames, by the numbers they carry: the stamps before and after, and how
    many; None if it numbers none. `n_mirrored` frames have a number. `clocks` timestamped its
    frames, each by its file, or its own name, and its number there; none of a file that does not
    tell.
    """

    name: str
    sources: tuple[tuple[int, int], ...]
    resolution_ns: float
    first_t_ns: int
    last_t_ns: int
    disorder_ns: int
    n_frames: int = 0
    n_undecoded: int = 0
    snap_bytes: int = 0
    is_decoded: bool = True
    is_rest: bool = False
    late_ns: int = 0
    mirror_wait_ns: int = 0
    n_mirrored: int = 0
    mirror_gaps: tuple[tuple[int, int, int], ...] | None = None
    clocks: frozenset[tuple[str, int]] = frozenset()

    @property
    def n_unmirrored(self) -> int:
        """Frames that its mirror lost."""
        return sum(n for _, _, n in self.mirror_gaps or ())

    @property
    def cut_ns(self) -> float:
        """How much too early a stamp may be: it is cut to its resolution, ns.

        Single nanoseconds are not counted: latencies are whole ones.
        """
        return self.resolution_ns if self.resolution_ns > 1 else 0.0
