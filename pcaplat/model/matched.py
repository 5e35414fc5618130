"""What the second reading counted: the core hands over these values (rust/src/py/matched.rs).

Points and links are indices into those of the `Plan`; statuses, reasons and kinds stand in the
order of the names that the core gives (`_native.STATUSES` and the like).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pcaplat.model.points import Pair
from pcaplat.records import dataclass

# the first reading begins without NumPy
if TYPE_CHECKING:
    from pcaplat.model.arrays import Ints
    from pcaplat.model.blocks import CountedBlocks
    from pcaplat.model.latencies.segments import Distribution

FramePlace = tuple[int, int]
"""Index of a file, and the number of a frame in it, from 1."""

PointsAndDirection = tuple[int, int, int]
"""Upstream point, downstream point, direction (0 forward, 1 reverse)."""


@dataclass(frozen=True)
class Latencies:
    """Latencies, or times from request to response.

    Attributes:
        histogram: All of them, ns.
        blocks: The same, block by block of time; empty where none was counted.
    """

    histogram: "Distribution"
    blocks: "CountedBlocks"


@dataclass(frozen=True)
class EndCounts:
    """Bytes that begin, or end, a packet that was cut or joined on the way.

    Attributes:
        n: Pairs.
        histogram: Their latencies between points that share a clock, ns.
        n_lost: Bytes that were not seen again, of packets of which others were.
        n_reordered: Bytes that arrived after a packet of their flow that was sent later.
        n_duplicated: Copies of the packets that came out, beyond those of the ones that went in.
        spills: Files of raw differences, between points that share no clock.
    """

    n: int
    histogram: "Distribution"
    n_lost: int
    n_reordered: int
    n_duplicated: int
    spills: Sequence[str]


@dataclass(frozen=True)
class LateCounts:
    """Packets that took more than 20 times the usual delay.

    Attributes:
        n: Pairs.
        sum_ns: Sum of their latencies, exact; between points that share no clock, of what they took
            more than usual.
        n_too_late: Packets that came after the waiting time that was asked for, and are lost.
    """

    n: int
    sum_ns: int
    n_too_late: int


@dataclass(frozen=True)
class UndecidedCounts:
    """Pairs of identical packets of which it is not known which they are (resolve/undecided.rs).

    Between points that share no clock, all of what they took more than usual.

    Attributes:
        n: Pairs.
        n_maybe_lost: Packets that may be lost, and are not counted as lost: they, or what seems to
            continue them, may be copies; or their addresses may have another way.
        n_maybe_late: Packets that are counted as lost, and may be late or have taken another way.
        least_sum_ns: The least that they took all together, exact, but for slow ones that may be
            no pairs.
        least_n: Pairs in it.
        most_sum_ns: The most that they took, but for fast ones that may be no pairs.
        most_n: Pairs in it.
        least_ns: The least that one of them took.
        most_ns: The most.
        maybe_lost_bytes: Bytes of TCP that may be lost, and are not counted as lost: nothing shows
            which of several transmissions they are of.
    """

    n: int
    n_maybe_lost: int
    n_maybe_late: int
    least_sum_ns: int
    least_n: int
    most_sum_ns: int
    most_n: int
    least_ns: int
    most_ns: int
    maybe_lost_bytes: int


@dataclass(frozen=True)
class LatePairs:
    """Pairs joined over the whole capture: all, and as many as are expected to be false."""

    n: int
    n_false: int


@dataclass(frozen=True)
class LinkCounts:
    """Packets of a segment in one direction.

    Attributes:
        n: Pairs.
        histogram: Their latencies between points that share a clock, ns.
        blocks: The same, block by block of time.
        variation: Size of the difference of each latency from the one before it in its flow, ns.
        n_duplicated: Copies made on the way.
        n_reordered: Packets that arrived after a later one of their flow (RFC 4737).
        n_lost: Packets that entered and were never seen again.
        lost_spread: How many times the variance of as many independent losses `n_lost` has.
        n_lost_divided: Of `n_lost`, those lost before a fork, nobody knows on which branch.
        lost_blocks: Lost packets by block of time; empty if none was.
        matched_bytes: Of streams that may be cut and joined: bytes seen at both ends.
        lost_bytes: Bytes of such that entered and were never seen again.
        ends: Of packets in pieces: their first bytes, and their last.
        late: Pairs that took more than 20 times the usual delay.
        undecided: Pairs of which it is not known which they are.
        took_sum_ns: What all pairs took, between points that share no clock: more than usual.
        loss_threshold_ns: The waiting time after which a packet is lost.
        spills: Files of raw differences, between points that share no clock.
    """

    n: int
    histogram: "Distribution"
    blocks: "CountedBlocks"
    variation: "Distribution"
    n_duplicated: int
    n_reordered: int
    n_lost: int
    lost_spread: float
    n_lost_divided: int
    lost_blocks: Sequence[int]
    matched_bytes: int
    lost_bytes: int
    ends: Sequence[EndCounts]
    late: LateCounts
    undecided: UndecidedCounts
    took_sum_ns: int
    loss_threshold_ns: int
    spills: Sequence[str]


@dataclass(frozen=True)
class MissedCounts:
    """Packets that others saw before and after a point: those it saw, missed, may have missed.

    `n_paused`: of the missed, those of times in which it captured few or none.
    """

    n_seen: int
    n_missed: float
    n_maybe_missed: float
    n_paused: float


@dataclass(frozen=True)
class MinDelays:
    """Least raw differences of packets from one point to another of another clock, by bin of time.

    Attributes:
        up: Upstream point.
        down: Downstream point.
        aligned_ns: Of the packet in each occupied bin, the reference time upstream.
        up_ns: Its raw time there.
        raw_ns: Raw difference, downstream minus upstream.
        n: Packets that it is the least of.
        gap_ns: How much less it is than that of the next of these; very much where there is none.
            None: not known.
        up_file: Index of the file upstream; None of all four where frames are not known.
        up_frame: Number of the frame in it.
        down_file: Index of the file downstream.
        down_frame: Number of the frame in it.
    """

    up: int
    down: int
    aligned_ns: "Ints"
    up_ns: "Ints"
    raw_ns: "Ints"
    n: "Ints"
    gap_ns: "Ints | None" = None
    up_file: "Ints | None" = None
    up_frame: "Ints | None" = None
    down_file: "Ints | None" = None
    down_frame: "Ints | None" = None


@dataclass(frozen=True)
class OpenTriangle:
    """A pair made without the point in the middle, and the frame that one end should have had."""

    up: FramePlace
    down: FramePlace
    through: FramePlace


@dataclass(frozen=True)
class TriangleCounts:
    """Pairs made without the point in the middle.

    Attributes:
        n: Those of packets that it saw.
        n_open: Those of them that join other frames than the way through it does.
        open: The first of those.
    """

    n: int
    n_open: int
    open: OpenTriangle | None


@dataclass(frozen=True)
class DecoyCounts:
    """Equal packets matched again with frames taken out (rust/src/matching/decoys.rs).

    Attributes:
        false_pairs: False pairs of each kind.
        n_pairs: Pairs in all.
        packets: Per direction: packets, and those that are incomplete.
        n_eligible: Frames whose identity was seen more than once at a point.
        n_tried: Those of them that were matched again.
        n_hit: Identities with a false pair.
        closed: By upstream, middle and downstream point.
        n_turns: Times that each was matched again.
        one_in: One in so many packets was taken to be incomplete.
    """

    false_pairs: Mapping[PointsAndDirection, Sequence[int]]
    n_pairs: int
    packets: Sequence[tuple[int, int]]
    n_eligible: int
    n_tried: int
    n_hit: int
    closed: Mapping[tuple[int, int, int], TriangleCounts]
    n_turns: int
    one_in: int


@dataclass(frozen=True)
class TripCounts:
    """Requests and their responses, by kind as `_native.TRIP_KINDS` names them.

    Attributes:
        one_in: The same one in so many requests was paired.
        n_left_out: By kind: pairs of which one half was sent again, or is not known for sure.
        links: Per link and kind, between points that share a clock: two-way contributions.
        seen: By kind, direction of the request, and end of the path: time to the response.
        spills: Per link between points that do not: files of times and raw differences forward,
            the same in reverse, and kinds.
    """

    one_in: int
    n_left_out: Sequence[int]
    links: Sequence[Sequence[Latencies]]
    seen: Sequence[Sequence[Sequence[Latencies]]]
    spills: Sequence[Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Matched:
    """What matching counted of all frames.

    Attributes:
        counts: Frames by point and status.
        elsewhere: Frames of divided files that are of no point, by status.
        parts: By divided file and part of it: frames, and those that were not decoded.
        n_by_reason: Frames by point and reason.
        missed: By point and direction.
        links: By link and direction.
        min_delays: Of points of different clocks.
        early: By upstream and downstream point of one clock: the frames of the packet that arrived
            earliest before it left.
        decoys: What is known of false pairs.
        n_plain: Frames of packets that each point saw once, all within the time of one packet.
        n_without_direction: Frames of packets of which nothing tells which way they went: they are
            matched, and of no segment.
        late: Pairs that were joined over the whole capture.
        rows: Files of all pairs, if rows are kept.
        crossed: Files of the packets that crossed each segment, if they are kept.
        lost: Files of what of lost packets was allocated to each, as breakdowns need it.
        lost_packets: Files of the list of lost packets, if rows are kept.
        trips: Requests and their responses.
    """

    counts: Sequence[Sequence[int]]
    elsewhere: Sequence[int]
    parts: Mapping[int, Sequence[Sequence[int]]]
    n_by_reason: Sequence[Sequence[int]]
    missed: Sequence[Sequence[MissedCounts]]
    links: Sequence[Sequence[LinkCounts]]
    min_delays: Sequence[MinDelays]
    early: Mapping[Pair, tuple[FramePlace, FramePlace]]
    decoys: DecoyCounts
    n_plain: int
    n_without_direction: int
    late: LatePairs
    rows: Sequence[str]
    crossed: Sequence[str]
    lost: Sequence[str]
    lost_packets: Sequence[str]
    trips: TripCounts
