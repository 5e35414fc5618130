"""What is known of a path: its points, their order, and where latencies lie.

The survey makes these values; matching and alignment use them. Points are numbers, indices into
`Findings.points`; so are they everywhere between the stages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ends = tuple[int, int]
Knots = tuple[list[int], list[int], float]
"""Times, offsets at them, and the slope outside, as the core takes a centre."""


@dataclass(frozen=True)
class Centre:
    """An offset over raw time: linear between knots, of one slope outside."""

    t_ns: Ints
    offset_ns: Ints
    slope: float

    def at(self, t_ns: Ints) -> Ints:
        """Offset at raw times; differences are taken in integers before floats touch them."""
        if len(self.t_ns) == 0:
            return np.zeros(len(t_ns), dtype=np.int64)
        t0, c0 = self.t_ns[0], self.offset_ns[0]
        x = (t_ns - t0).astype(np.float64)
        knots = (self.t_ns - t0).astype(np.float64)
        rise = np.interp(x, knots, (self.offset_ns - c0).astype(np.float64))
        rise += self.slope * (np.minimum(x, 0) + np.maximum(x - knots[-1], 0))
        return np.asarray(c0 + np.rint(rise).astype(np.int64))

    def raw(self, aligned_ns: Ints) -> Ints:
        """Raw times at which the time without the offset is `aligned_ns`."""
        raw_ns = aligned_ns + (self.offset_ns[0] if len(self.offset_ns) else 0)
        # the offset's slope is that of clocks, far below 1: three steps leave no nanosecond
        for _ in range(3):
            raw_ns = aligned_ns + self.at(raw_ns)
        return np.asarray(raw_ns)

    def doubtful(self) -> Ints:
        """Times without the offset in which the clock was set back, first and last, one a row.

        There the offset falls faster than time goes by: the clock said some times twice, and of
        packets that have one of them nobody knows which is meant. The knots around may be of both.
        """
        falls_ns = np.abs(np.diff(self.offset_ns))
        at = np.flatnonzero(falls_ns > np.diff(self.t_ns))
        knots_ns = self.t_ns - self.offset_ns
        around = np.clip(at[:, None] + np.arange(-1, 3), 0, len(knots_ns) - 1)
        first_ns, last_ns = knots_ns[around].min(axis=1), knots_ns[around].max(axis=1)
        return np.stack([first_ns - falls_ns[at], last_ns + falls_ns[at]], 1)

    def native(self) -> Knots:
        """Knots, offsets and slope as the core takes them."""
        return self.t_ns.tolist(), self.offset_ns.tolist(), self.slope


def in_order(t_ns: Ints) -> Ints:
    """Times that a clock says, made to ascend.

    A clock that was set back says some times twice: half of them count as before, half as after.
    """
    up, down = np.maximum.accumulate(t_ns), np.minimum.accumulate(t_ns[::-1])[::-1]
    return np.asarray(down + (up - down) // 2)


NO_OFFSET = Centre(np.zeros(0, np.int64), np.zeros(0, np.int64), 0.0)
"""The centre of the reference point itself."""


NativeBand = tuple[int, int, list[float], tuple[float, float, float, float, float], Ends]


@dataclass(frozen=True)
class Band:
    """Where the residuals about the centre lie, for one pair of points and direction.

    `outside_frac` of them lie outside, `far_frac` by more than half of its width; `reach_ns` are
    the least and the greatest that are to be expected of any packet; `order_kept` is 0 where
    packets of a flow overtake each other as often as residuals alone would have it, and towards 1
    where they do not.
    """

    lo_ns: int
    hi_ns: int
    density: list[float]
    lost_frac: float = 0.0
    phantom_frac: float = 0.0
    outside_frac: float = 0.0
    far_frac: float = 0.0
    reach_ns: Ends = (0, 0)
    order_kept: float = 0.0

    def native(self) -> NativeBand:
        """As the core takes it."""
        rare = (self.lost_frac, self.phantom_frac, self.outside_frac, self.far_frac)
        shares = (*rare, self.order_kept)
        return self.lo_ns, self.hi_ns, self.density, shares, self.reach_ns


@dataclass(frozen=True)
class Copies:
    """How often a point sees a packet twice, and how much later."""

    copied_frac: float = 0.0
    lo_ns: int = 0
    hi_ns: int = 0

    def native(self) -> tuple[float, int, int]:
        """As the core takes it."""
        return self.copied_frac, self.lo_ns, self.hi_ns


Question = tuple[str, list[tuple[Ends, int]], int]
"""A dimension (rust/src/vantage.rs), where each of its values leads (a part of the file, or below 0
a later question), and the part that has all other values."""


@dataclass(frozen=True)
class Division:
    """How a file that holds several capture points is divided into parts.

    `parts` has the interface and the label of every part that the survey saw frames of; what is of
    none of the points it found is a part without a label. Parts are numbered from 0 to `n_parts`.
    """

    questions: list[Question]
    parts: dict[int, tuple[int, str]]
    n_parts: int

    def parts_of(self, interface: int) -> dict[int, str]:
        """Give the parts of an interface, with their labels."""
        return {part: label for part, (of, label) in self.parts.items() if of == interface}


def questions_of(division: Division | None) -> list[Question] | None:
    """Give the questions of a division, as the core takes them; None where there is none."""
    return division.questions if division else None


@dataclass(frozen=True)
class Point:
    """A capture point: its name, its sources (file index, part of it), facts about its stamps.

    A part is an interface of the file, unless a `Division` says otherwise.

    `late_ns` is how much too late a stamp may be where the capture stamps batches, `mirror_wait_ns`
    where a mirror queues both directions. `snap_bytes` is the shortest snap length of its sources,
    0 if there is none; `is_decoded` tells whether frames of any of its link types can be read.
    `is_rest`: it has what is of none of the points that a file was divided into. `mirror_gaps`:
    when its mirror lost frames, by the numbers they carry: the stamps before and after, and how
    many; None if it numbers none. `n_mirrored` frames have a number.
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


@dataclass(frozen=True)
class Warn:
    """One thing that may mislead: its code (pcaplat/doubts.py), where, and what to do about it.

    `evidence` has what was seen, frames and counts; `consequence` says which figure it touches.
    Either of the last two may be empty where the sentence before says it already.
    """

    code: str
    point: str | None
    evidence: str
    consequence: str = ""
    remedy: str = ""
    file: str | None = None

    @property
    def text(self) -> str:
        """All of it in one sentence."""
        return "; ".join(filter(None, (self.evidence, self.consequence, self.remedy)))


@dataclass(frozen=True)
class OrderEvidence:
    """What says that one neighbour is before the other.

    `rests_on` is "two-way distance" (over `n` changes of direction, `n_agreeing` of which say so),
    "one clock", "time stamps or TTL", "other points", or nothing but their "names". A negative
    distance says the opposite.
    """

    near: int
    far: int
    rests_on: str
    n: int = 0
    n_agreeing: int = 0
    distance_ns: float | None = None


N_BINS = 2048
"""Time bins of least latencies (rust/src/plan.rs)."""


@dataclass(frozen=True)
class Findings:
    """The survey's result; points are indices into `points`.

    `along` is the path, forward, component after component; `components` the same in groups;
    `alone` the points that share nothing with any other. `centres` by direction and point, `bands`
    by direction, upstream and downstream point. 99 % of unique packets are within `tail_ns` of the
    usual difference. On `torn` edges TCP changes its packet boundaries. `copies` are by point.
    `fragmented` are address pairs with packets in fragments, and bytes of IP payload in the
    shortest of those that another follows. `is_one_way`: all packets pass the points in one order,
    whichever way their flow goes, and all are forward.
    """

    points: Sequence[Point]
    components: list[list[int]]
    alone: list[int]
    edges: list[Ends]
    toward_is_forward: dict[int, bool]
    centres: tuple[list[Centre], list[Centre]]
    bands: tuple[dict[Ends, Band], dict[Ends, Band]]
    tail_ns: int
    torn: frozenset[Ends]
    is_inferred: bool
    warnings: list[Warn]
    copies: Sequence[Copies] = ()
    fragmented: Sequence[Ends] = ()
    order_evidence: Sequence[OrderEvidence] = ()
    is_one_way: bool = False

    @cached_property
    def along(self) -> list[int]:
        """The path: all points that share packets, forward."""
        return [point for component in self.components for point in component]

    @cached_property
    def places(self) -> list[int]:
        """Place of each point in the path; points that are alone come after it."""
        order = [*self.along, *self.alone]
        return [order.index(point) for point in range(len(self.points))]

    def name(self, point: int) -> str:
        """Name of a point."""
        return self.points[point].name

    def aligned(self, point: int, t_ns: int) -> int:
        """Raw time of a point as time of its component's first point."""
        return t_ns - int(self.centres[0][point].at(np.array([t_ns]))[0])

    @cached_property
    def bins(self) -> tuple[int, int]:
        """Begin of the first of the time bins of which the least latencies are kept, and length."""
        covers = [self.cover(group) for group in self.components]
        start_ns, end_ns = min(start for start, _ in covers), max(end for _, end in covers)
        return start_ns, max(1, (end_ns - start_ns) // N_BINS + 1)

    def cover(self, component: list[int]) -> tuple[int, int]:
        """Start and end of the time that all points of a component cover."""
        starts = [self.aligned(point, self.points[point].first_t_ns) for point in component]
        ends = [self.aligned(point, self.points[point].last_t_ns) for point in component]
        return max(starts), min(ends)
