"""Traffic: what the core is to count while it reads all frames, and what it counted.

Points of these tables are places on the path, from 0; ways are 0 (forward), 1 (reverse) and 2 (not
known).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pcaplat.model.centre import Centre
from pcaplat.model.points import Pair
from pcaplat.records import dataclass

if TYPE_CHECKING:
    from pcaplat import _native


@dataclass(frozen=True)
class TrafficPlan:
    """What is counted, and where (rust/src/traffic/mod.rs).

    Attributes:
        names: Points of the path, in its order.
        centres: Of each, how far its time is off the path's first clock, usual delay included.
        links: Segments, by the numbers that matching knows points by.
        pairs: Files of matched pairs.
        folder: Where unmatched frames wait until their direction is known.
        start_ns: First instant that counts, on the path's first clock.
        end_ns: Last instant that counts.
        block_ns: Length of a block of time.
    """

    names: Sequence[str]
    centres: Sequence[Centre]
    links: Sequence[Pair]
    pairs: Sequence[str]
    folder: str
    start_ns: int
    end_ns: int
    block_ns: int


@dataclass(frozen=True)
class CountedTraffic:
    """What was counted, as Arrow tables of whole numbers (rust/src/traffic/tables.rs).

    Attributes:
        volumes: Frames and bytes of each point, way and block of time; empty blocks have no row.
        sizes: Frames of each point, way and length.
        connections: Connections of which requests were answered, their times and bytes; none where
            they are too many.
        n_left_out: How many they are then, at all points; else 0.
        open: By point and block the connections under way, and the most at one time.
        overhead: Whole packets by segment (its place among the links), way, and the lengths of
            their frames at the near and at the far end.
    """

    volumes: "_native.ArrowTable"
    sizes: "_native.ArrowTable"
    connections: "_native.ArrowTable"
    n_left_out: int
    open: "_native.ArrowTable"
    overhead: "_native.ArrowTable"
