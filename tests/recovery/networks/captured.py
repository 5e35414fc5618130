"""How points capture: twice, late, by two clocks, in milliseconds, or nothing any more."""

from __future__ import annotations

import struct

from tests.recovery.networks.rewritten import with_class
from tests.recovery.networks.shapes import TREE_NS, tree
from tests.recovery.networks.talk import GAP_NS, LOST, Pair, host, talk, way, with_clocks
from tests.support.frames import checksum
from tests.support.networks import (
    START_NS,
    Edges,
    Network,
    Packet,
    Sighting,
    both_ways,
    datagram,
    walk,
)

LINE = ("p1", "p2", "p3")
LINE_NS = both_ways({("p1", "p2"): 4_000, ("p2", "p3"): 9_000})
PAIRS = tuple(
    Pair((host(at), host(at + 50)), (way(*LINE),), (way(*LINE[::-1]),)) for at in range(4)
)
MS = 1_000_000
PASSES_NS, APART_NS = 1_200, 40_000


def mirrored(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """The mirror in the middle copies each packet where it comes in, and where it goes out."""
    made = walk(talk(PAIRS, n, seed), Edges(LINE_NS, lost={("p2", "p3"): LOST}), seed)
    copies = [
        one._replace(t_ns=one.t_ns + PASSES_NS + one.packet * 37 % 200, is_copy=True)
        for one in made.seen["p2"]
    ]
    made.seen["p2"] = sorted(made.seen["p2"] + copies)
    return with_clocks(made, has_own=has_own_clocks)


def late_middle(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """The capture in the middle begins when nine tenths of the time are over."""
    packets = talk(PAIRS, n, seed)
    last_ns = max(packet.t_ns for packet in packets)
    from_ns = START_NS + (last_ns - START_NS) * 9 // 10
    made = walk(packets, Edges(LINE_NS, lost={("p2", "p3"): LOST}), seed)
    made.seen["p2"] = [one for one in made.seen["p2"] if one.t_ns >= from_ns]
    made.lost = [(e, at) for e, at in made.lost if e[0] != "p2" or packets[at].t_ns >= from_ns]
    return with_clocks(made, has_own=has_own_clocks)


def apart(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """A router is before and behind the middle, which stamps what goes back 40 µs ahead."""
    packets = talk(PAIRS, n, seed)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        way = packets[number].ways[0]
        return with_class(frame, 0, 64 - way.index(point))

    made = walk(packets, Edges(LINE_NS, lost={("p2", "p3"): LOST}), seed, as_seen)

    def ahead_ns(point: str, packet: int) -> int:
        return APART_NS if point == "p2" and packets[packet].ways[0][0] == "p3" else 0

    made.ahead_ns = ahead_ns
    return with_clocks(made, has_own=has_own_clocks)


def coarse_end(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """Only the last point writes milliseconds, on a path of some hundred microseconds."""
    takes_ns = both_ways({("p1", "p2"): 120_000, ("p2", "p3"): 350_000})
    packets = [p._replace(t_ns=START_NS + (p.t_ns - START_NS) * 10) for p in talk(PAIRS, n, seed)]
    made = walk(packets, Edges(takes_ns, lost={("p2", "p3"): LOST}), seed)
    made.resolution_ns = {"p3": MS}
    return with_clocks(made, has_own=has_own_clocks)


def dead_branch(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """To one of three receivers nothing of a group comes any more, but of others it does."""
    packets = talk(tree().pairs, n, seed)
    half_ns = packets[len(packets) // 2].t_ns
    made = walk(packets, Edges(both_ways(TREE_NS), lost={("switch", "r2"): LOST}), seed)

    def is_dead(one: Sighting) -> bool:
        packet = packets[one.packet]
        return len(packet.ways) > 1 and packet.t_ns >= half_ns

    made.lost += [(("switch", "r3"), one.packet) for one in made.seen["r3"] if is_dead(one)]
    made.seen["r3"] = [one for one in made.seen["r3"] if not is_dead(one)]
    return with_clocks(made, has_own=has_own_clocks)


HEAD_BYTES, PART_BYTES, CUT_BYTES = 34, 1_480, 2_400
MORE = 0x2000


def parts(frame: bytes) -> tuple[bytes, bytes]:
    """An IPv4 packet in two fragments (RFC 791)."""
    body = frame[HEAD_BYTES:]
    cut = (body[:PART_BYTES], MORE), (body[PART_BYTES:], PART_BYTES // 8)
    first, last = (_part(frame, *one) for one in cut)
    return first, last


def _part(frame: bytes, body: bytes, offset: int) -> bytes:
    sizes = struct.pack(">H2sH", 20 + len(body), frame[18:20], offset)
    head = frame[14:16] + sizes + frame[22:24] + b"\0\0" + frame[26:34]
    return frame[:14] + head[:10] + checksum(head).to_bytes(2) + head[12:] + body


def fragments(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """Large packets are cut before the middle and joined behind it, one way only."""
    packets = talk(PAIRS, n * 9 // 10, seed)
    first = len(packets)
    for at in range(first, n):
        ends, ports = (host(at % 4), host(at % 4 + 50)), (45_000 + at % 4, 5_002)
        data = (at.to_bytes(4) * (CUT_BYTES // 4))[: CUT_BYTES - at % 64]
        frame = datagram(ends, ports, at % 65_535 + 1, data)
        # whoever sends such packets allows that they are cut
        t_ns = START_NS + (at - first) * 5 * GAP_NS + at * 7_919 % GAP_NS
        packets.append(Packet(t_ns, PAIRS[at % 4].there[0], _part(frame, frame[HEAD_BYTES:], 0)))
    made = walk(packets, Edges(LINE_NS, lost={("p2", "p3"): LOST}), seed)
    cut: list[Sighting] = []
    for one in made.seen["p2"]:
        if one.packet >= first:
            begin, last = parts(one.frame)
            cut.append(one._replace(frame=begin))
            cut.append(Sighting(one.t_ns + 300, one.packet, last, is_copy=True))
        else:
            cut.append(one)
    made.seen["p2"] = sorted(cut)
    made.undirected = dict.fromkeys(range(first, n), "datagrams that are cut")
    return with_clocks(made, has_own=has_own_clocks)


KINDS = {
    "mirror of both sides": mirrored,
    "a late start in the middle": late_middle,
    "sent and received by two clocks": apart,
    "timestamps of 1 ms at the end": coarse_end,
    "a branch that dies": dead_branch,
    "fragments one way": fragments,
}
