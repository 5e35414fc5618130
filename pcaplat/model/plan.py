"""What the core is told before it reads the captures again: how to learn, and how to match."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pcaplat.model.band import Band, Copies
from pcaplat.model.points import Pair, PointTree
from pcaplat.records import dataclass

# the first reading begins without NumPy
if TYPE_CHECKING:
    from pcaplat.model.blocks import BlockTimes
    from pcaplat.model.centre import Centre

MirrorGaps = tuple[Sequence[Pair], int]
"""When a mirror lost frames (start and end of each gap, raw time in ns), and how many."""


@dataclass(frozen=True)
class Beforehand:
    """What is known before translations are learned.

    Attributes:
        point_of: Per file and part of it, the point.
        trees: Per file, how it is divided; None where its parts are its interfaces.
        centres: Per point, the usual difference of its stamps to a common time.
        window_ns: How far two frames of a packet may be apart, after that.
        sequences: Files that follow each other in time; a thread reads each sequence.
    """

    point_of: Sequence[Sequence[int | None]]
    trees: Sequence[PointTree | None]
    centres: "Sequence[Centre]"
    window_ns: int
    sequences: Sequence[Sequence[int]] = ()
    is_short: Sequence[bool] = ()


@dataclass(frozen=True)
class Plan:
    """How frames are matched, as the core takes it (rust/src/plan/mod.rs): equal names.

    Attributes:
        point_of: Per file and part of it, the point; None where it is of none.
        trees: Per file, how it is divided; None where its parts are its interfaces.
        position: Per point, its place in the path, forward.
        component: Per point, the number of its component: no others share its packets.
        domain: Per point, the number of its clock.
        centres: Per direction (forward, reverse) and point, the usual difference of its stamps.
        bands: Per direction and upstream × n_points + downstream point.
        copies: Per point, how often it sees a packet twice.
        toward_is_forward: By address pair, an unsigned hash of 64 bits: whether packets from the
            smaller address go forward.
        route_of: By address pair, an unsigned hash of 64 bits, that does not pass the points in the
            order of the path: its route, from 1.
        routes: Per route from 1 on and point, its place.
        steps_of_route: By route on which only some segments are crossed, from which point to which.
        branches: By address pair whose packets have several receivers, an unsigned hash of 64 bits:
            the steps (upstream, downstream) that all of them take.
        recurring: By address pair and direction, an unsigned hash of 64 bits, of which most packets
            come again: after what time at least, ns.
        mirror_gaps: Per point.
        is_one_way: All packets pass the points in one order.
        fragmented: By address pair, an unsigned hash of 64 bits: bytes of IP payload in the
            shortest fragment that another follows.
        links: The segments (near, far) that are measured.
        torn: Per link, whether TCP changes its packet boundaries there.
        whole: Index of the whole path among the links, if it is more than one of them.
        usual_ns: A packet unique at two points is one packet within this.
        wide_ns: Equal packets that are farther apart are not the same one, unless they are late.
        beyond_frac: Share of packets that are later than `wide_ns`; 0 where none was seen.
        horizon_ns: A frame can be decided when nothing older than this is to come.
        cover: Per component, start and end of the time that all points cover, reference time, ns.
        point_covers: Per point, start and end of the time that it covers, reference time, ns.
        lost_after_ns: The waiting time after which a packet is lost; None: the slowest found.
        range: Start and end of the time that is asked for, reference time, ns.
        bins: Start of the first bin of least differences, and length of each, reference time, ns.
        is_short: Per class of packets, whether too little of them was captured.
        blocks: Blocks of time that latencies are kept by.
        paired_one_in: The same one in so many requests, a power of two, is paired.
        sequences: Files that follow each other in time; a thread reads each sequence.
    """

    point_of: Sequence[Sequence[int | None]]
    trees: Sequence[PointTree | None]
    position: Sequence[int]
    component: Sequence[int]
    domain: Sequence[int]
    centres: "tuple[Sequence[Centre], Sequence[Centre]]"
    bands: tuple[Sequence[Band], Sequence[Band]]
    copies: Sequence[Copies]
    toward_is_forward: Mapping[int, bool]
    route_of: Mapping[int, int]
    routes: Sequence[Sequence[int]]
    steps_of_route: Mapping[int, Sequence[Pair]]
    branches: Mapping[int, Sequence[Pair]]
    recurring: Mapping[int, int]
    mirror_gaps: Sequence[MirrorGaps]
    is_one_way: bool
    fragmented: Mapping[int, int]
    links: Sequence[Pair]
    torn: Sequence[bool]
    whole: int | None
    usual_ns: int
    wide_ns: int
    beyond_frac: float
    horizon_ns: int
    cover: Sequence[Pair]
    point_covers: Sequence[Pair]
    range: Pair
    bins: Pair
    blocks: "BlockTimes"
    paired_one_in: int
    sequences: Sequence[Sequence[int]] = ()
    is_short: Sequence[bool] = ()
    lost_after_ns: int | None = None
