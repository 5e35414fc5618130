"""What is known of a path: its points, their order, and where latencies lie.

The survey makes these values; matching and alignment use them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import ceil

import numpy as np

from pcaplat.model.band import Band, Copies
from pcaplat.model.centre import Centre, Tail
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.points import Pair, Point
from pcaplat.records import dataclass


@dataclass(frozen=True)
class OrderEvidence:
    """What says that one neighbour is before the other.

    `rests_on` is "round-trip separation" (over `n` direction changes, of which `n_agreeing`
    agree), "two groups of differences" (the same, where no addresses go both ways), "one clock",
    "time stamps or TTL", "other points", or nothing but their "names". A negative distance says the
    opposite.
    """

    near: int
    far: int
    rests_on: str
    n: int = 0
    n_agreeing: int = 0
    distance_ns: float | None = None


N_BINS = 2048
"""Time bins of least latencies (rust/src/plan/mod.rs)."""


@dataclass(frozen=True)
class Findings:
    """The survey's result; points are indices into `points`.

    `along` is the path, forward, component after component; `components` the same in groups;
    `alone` the points that share nothing with any other. `centres` by direction and point, `bands`
    by direction, upstream and downstream point. `tails` are of two points each. On `torn` edges TCP
    changes its packet boundaries. `copies` are by point. `fragmented` are address pairs with
    packets in fragments, and bytes of IP payload in the shortest of those that another follows.
    `is_one_way`: all packets pass the points in one order, whichever way their flow goes, and all
    are forward. `route_of` numbers, from 1, the `routes` of address pairs that pass the points in
    another order than the path; where only some segments are crossed on one, `steps_of_route` has
    from which point to which. `branches` are, by address pair, the steps (upstream, downstream)
    that packets with several receivers take as a rule. `recurring` are the address pairs and
    directions most of whose packets come again, numbered by `ways_of`, and after what time at
    least. `misplaced` are points that TTL shows not to be where the path has them.
    """

    points: Sequence[Point]
    components: list[list[int]]
    alone: list[int]
    edges: list[Pair]
    toward_is_forward: dict[int, bool]
    centres: tuple[list[Centre], list[Centre]]
    bands: tuple[dict[Pair, Band], dict[Pair, Band]]
    tails: Sequence[Tail]
    torn: frozenset[Pair]
    is_inferred: bool
    warnings: list[Diagnostic]
    copies: Sequence[Copies] = ()
    fragmented: Sequence[Pair] = ()
    order_evidence: Sequence[OrderEvidence] = ()
    is_one_way: bool = False
    route_of: Mapping[int, int] = field(default_factory=dict[int, int])
    routes: Sequence[Sequence[int]] = ()
    steps_of_route: Mapping[int, Sequence[Pair]] = field(default_factory=dict[int, Sequence[Pair]])
    misplaced: frozenset[int] = frozenset()
    branches: Mapping[int, Sequence[Pair]] = field(default_factory=dict[int, Sequence[Pair]])
    recurring: Mapping[int, int] = field(default_factory=dict[int, int])

    @cached_property
    def along(self) -> list[int]:
        """The path: all points that share packets, forward."""
        return [point for component in self.components for point in component]

    @cached_property
    def places(self) -> list[int]:
        """Place of each point in the path; points that are alone come after it."""
        return self.places_in(self.along)

    def places_in(self, route: Sequence[int]) -> list[int]:
        """Place of each point in a route; points that are alone come after it."""
        order = [*route, *self.alone]
        return [order.index(point) for point in range(len(self.points))]

    def name(self, point: int) -> str:
        """Name of a point."""
        return self.points[point].name

    def early_ns(self, up: int, down: int) -> int:
        """By how much a packet may seem to arrive before it left, though the clocks are right.

        A timestamp that is cut to its resolution is too early, one of a batch too late.
        """
        sent, arrived = self.points[up], self.points[down]
        return ceil(arrived.cut_ns) + sent.late_ns + sent.mirror_wait_ns

    def aligned(self, point: int, t_ns: int) -> int:
        """Raw time of a point as time of its component's first point."""
        return t_ns - int(self.centres[0][point].at(np.array([t_ns]))[0])

    @cached_property
    def bins(self) -> tuple[int, int]:
        """Begin of the first of the time bins of which the least latencies are kept, and length."""
        covers = [self.shared_time(group) for group in self.components]
        start_ns, end_ns = min(start for start, _ in covers), max(end for _, end in covers)
        return start_ns, max(1, (end_ns - start_ns) // N_BINS + 1)

    def cover(self, component: list[int]) -> tuple[int, int]:
        """Start and end of the time that all points of a component cover."""
        covers = [self.point_cover(point) for point in component]
        return max(start for start, _ in covers), min(end for _, end in covers)

    def shared_time(self, component: Sequence[int]) -> Pair:
        """Start and end of the time in which packets may be seen at two points of a component.

        From when the second of its points began to when the last but one ended.
        """
        covers = [self.point_cover(point) for point in component]
        starts, ends = sorted(start for start, _ in covers), sorted(end for _, end in covers)
        return starts[:2][-1], ends[-2:][0]

    def point_cover(self, point: int) -> Pair:
        """When a point captured first and last, as time of its component's first point."""
        one = self.points[point]
        return self.aligned(point, one.first_t_ns), self.aligned(point, one.last_t_ns)
