"""What the first reading brought home: the core hands over these values (rust/src/py/sampled.rs).

Files are indices into the captures. Times are ns since 1970 as the file has them, unless a stamp
in the frames is used.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pcaplat.records import dataclass

# the first reading begins without NumPy
if TYPE_CHECKING:
    from pcaplat.model.arrays import Ints

SampleColumns = Mapping[str, "Ints"]
"""A table by column, one row a packet or flow; rust/src/py/sampled.rs names the columns."""

QueueRow = tuple[int, Sequence[int], Sequence[int], Sequence[int], int]
"""Rate of a port in Gbit/s; of short and long frames behind one of the other direction: how many,
how many after exactly the time that one takes, how many sooner; the longest wait, ns."""

MirrorSession = tuple[int, int, int, Sequence[tuple[int, int, int]]]
"""Number of a mirror's session, frames, missing ones, and the gaps: stamps before and after, n."""

FoundStamp = tuple[str, int, tuple[bool, int, int, int, float] | None]
"""An in-packet stamp as the core keeps it between its passes: opaque here."""

Place = tuple[int, int]
"""A place between two records of a file: its byte, and the number of frames before it."""

NodeKey = tuple[int, bool, str, str]
"""A node's number or place, whether it gave a number, `int` or `ioam`, `in` or `out`."""


@dataclass(frozen=True)
class NodeTimes:
    """Times that one node of the path wrote into packets.

    Attributes:
        key: Which node, and which of its times.
        layout: `counter64`, `counter32`, `seconds` (and a fraction), `fraction`.
        n: How many there are.
        largest_fraction: The largest number in their low 32 bits.
        pairs: The file's time and the node's bits, of the first, second, fourth … and the last.
    """

    key: NodeKey
    layout: str
    n: int
    largest_fraction: int
    pairs: Sequence[tuple[int, int]]


@dataclass(frozen=True)
class StampFacts:
    """In-packet stamps of one interface.

    Attributes:
        name: What they are called.
        resolution_ns: Finest step.
        timescale: `utc`, `tai` or `unknown`, by the distance from the file's time.
        offset_ns: What they usually differ from the file's time.
        n_stamped: Frames that have one.
        n_damaged: Frames whose stamp is damaged.
        n_without: Frames that have none.
        is_used: False where too few frames have one, so that the file's time is used.
    """

    name: str
    resolution_ns: float
    timescale: str
    offset_ns: int
    n_stamped: int
    n_damaged: int
    n_without: int
    is_used: bool


@dataclass(frozen=True)
class StampOrder:
    """Whether the stamps of one interface are in order, and several frames have the same.

    Attributes:
        n_backward: Frames whose stamp is before that of the frame before.
        longest_behind: The longest run of frames that are all stamped before an earlier one.
        behind_from: Number of the frame where that run starts.
        behind_ns: How far that frame is behind.
        n_in_bursts: Frames in runs of three or more with one stamp, by decade of the bytes that
            came after the run's first.
        longest_burst: Frames of the longest such run.
        burst_from: Number of the frame where it starts.
        least_wait_ns: The least time from a run's stamp to the next; None: there is no run.
    """

    n_backward: int
    longest_behind: int
    behind_from: int
    behind_ns: int
    n_in_bursts: Sequence[int]
    longest_burst: int
    burst_from: int
    least_wait_ns: int | None


@dataclass(frozen=True)
class InterfaceFacts:
    """What a file declares of one interface, and what its frames showed.

    Attributes:
        interface: Its number in the file.
        name: What the file calls it, if it does.
        link: LINKTYPE number.
        why_unread: Why frames of this link type cannot be read; None: they can.
        snap_bytes: Snap length; 0: none.
        clock: Interfaces of one number were timestamped by one clock; None: the file does not tell.
        is_aligned: A merge wrote it: its times are on one clock already.
        declared_resolution_ns: Step of the stamps by the file, or by the stamps that are used.
        n_dropped: Frames that the capture dropped by its own count, if it says.
        stamps: Of stamps in the frames, if there are any.
        observed_resolution_ns: The greatest power of ten that divides all stamps.
        n_frames: Frames, also those that no filter passes.
        n_undecoded: Those that were not decoded to their innermost packet.
        n_cut: Those of them that the snap length cut.
        longest_bytes: The longest frame, as it was on the wire.
        first_t_ns: First stamp.
        last_t_ns: Last stamp.
        disorder_ns: How far a stamp is before an earlier one at most.
        order: Their order.
        queue: Waits behind frames of the other direction, by rate.
        hidden_ports: UDP port, the layer that its packets look like, and how many do.
        n_encrypted: Packets whose inside is encrypted.
        mirrors: Sessions of mirrors that number their frames.
        hop_times: Times that nodes of the path wrote into packets.
        n_nodes_beyond: Times of further nodes.
        n_by_depth: Packets in no tunnel, and in some.
        n_checksums: Packets of TCP and UDP with a checksum, by direction.
        n_partial: Those whose checksum is still to be computed.
    """

    interface: int
    name: str | None
    link: int
    why_unread: str | None
    snap_bytes: int
    clock: int | None
    is_aligned: bool
    declared_resolution_ns: float
    n_dropped: int | None
    stamps: StampFacts | None
    observed_resolution_ns: int
    n_frames: int
    n_undecoded: int
    n_cut: int
    longest_bytes: int
    first_t_ns: int
    last_t_ns: int
    disorder_ns: int
    order: StampOrder
    queue: Sequence[QueueRow]
    hidden_ports: Sequence[tuple[int, str, int]]
    n_encrypted: int
    mirrors: Sequence[MirrorSession]
    hop_times: Sequence[NodeTimes]
    n_nodes_beyond: int
    n_by_depth: Sequence[int]
    n_checksums: Sequence[int]
    n_partial: Sequence[int]


@dataclass(frozen=True)
class FragmentCounts:
    """Tunnel packets in IP fragments.

    Attributes:
        n_parts: Frames that are a part of such a packet, without those that completed one.
        n_whole: Packets put together.
        n_unfinished: Packets of which fragments are missing.
        n_contradictory: Packets whose fragments contradict each other.
    """

    n_parts: int
    n_whole: int
    n_unfinished: int
    n_contradictory: int


@dataclass(frozen=True)
class FileFacts:
    """What was found out about one file.

    Attributes:
        format: Name of its format.
        digest_key: Of a digest, the check value of the key it was made with.
        is_truncated: It ends in mid-record.
        damage: At which byte, and what is wrong.
        prefixes: Bytes of layer 4 that all frames of each class of packets have.
        fragments: Of tunnel packets.
        places: Between records, some way behind each other, where reading may begin; none where
            what comes behind cannot be read without what came before.
        interfaces: Those that there are frames of.
    """

    format: str
    digest_key: int | None
    is_truncated: bool
    damage: Sequence[tuple[int, str]]
    prefixes: Sequence[int]
    fragments: FragmentCounts
    places: Sequence[Place]
    interfaces: Sequence[InterfaceFacts]


@dataclass(frozen=True)
class Sampled:
    """The same few packets and flows of every file, and facts about each.

    Attributes:
        packets: Packets selected by all of their bytes but the addresses.
        more: Further ones, so that more neighbours are known of both.
        alike: Packets selected by their content alone; columns as of `packets`.
        flows: Flows, as their first packets and their dialogue show them.
        fragmented: Address pairs (a signed hash) with packets in fragments, and bytes of IP payload
            in the shortest fragment that another follows.
        prefixes: Bytes of layer 4 that all frames of each class have, of all files.
        is_whole: All packets were selected.
        stamps: By file and interface, the in-packet stamp that is used.
        facts: By file.
    """

    packets: SampleColumns
    more: SampleColumns
    alike: SampleColumns
    flows: SampleColumns
    fragmented: Sequence[tuple[int, int]]
    prefixes: Sequence[int]
    is_whole: bool
    stamps: Sequence[Sequence[FoundStamp | None]]
    facts: Sequence[FileFacts]
