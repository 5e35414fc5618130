"""Headers that are rewritten per direction, hairpin translation, three tenants in two tunnels."""

from __future__ import annotations

import struct

from tests.recovery.networks.identifiers import with_ident
from tests.recovery.networks.shapes import ENDS
from tests.recovery.networks.talk import LOST, Pair, host, talk, way, with_clocks
from tests.recovery.networks.tenants import encapsulated
from tests.support.frames import checksum, ip
from tests.support.networks import Edges, Network, Packet, both_ways, walk

LINE = ("p1", "p2", "p3", "p4")
LINE_NS = both_ways({("p1", "p2"): 4_000, ("p2", "p3"): 9_000, ("p3", "p4"): 3_000})
EXPEDITED, CONGESTED = 46 << 2, 3


def with_class(frame: bytes, traffic_class: int, ttl: int) -> bytes:
    """The frame with another DSCP and ECN field and TTL, and the checksum that belongs to it."""
    head = frame[14:15] + bytes((traffic_class,)) + frame[16:22] + bytes((ttl,)) + frame[23:24]
    head += b"\0\0" + frame[26:34]
    return frame[:14] + head[:10] + checksum(head).to_bytes(2) + head[12:] + frame[34:]


def marked(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """A router in the middle marks what goes there, and numbers anew what comes back."""
    pairs = tuple(
        Pair((host(at), host(at + 50)), (way(*LINE),), (way(*LINE[::-1]),)) for at in range(4)
    )
    packets = talk(pairs, n, seed)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        is_there, is_right = packets[number].ways[0][0] == "p1", point in {"p3", "p4"}
        if is_there != is_right:
            return frame
        if is_there:
            mark = EXPEDITED | (CONGESTED if number % 3 == 0 else 0)
            return with_class(frame, mark, 63)
        ident = (number * 11 + 30_011) % 65_535 + 1
        return with_ident(with_class(frame, 0, 63), ident)

    made = walk(packets, Edges(LINE_NS, lost={("p2", "p3"): LOST}), seed, as_seen)
    return with_clocks(made, has_own=has_own_clocks)


PUBLIC, ROUTER = "203.0.113.7", "10.0.0.254"
HAIRPIN = ("client", "before", "after", "server")


def hairpin(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """Hosts of one site talk by its public address; the router's port sees packets twice."""
    ways = ((way(*HAIRPIN),), (way(*HAIRPIN[::-1]),))
    near = tuple(Pair((host(at), PUBLIC), *ways) for at in range(3))
    far = tuple(Pair((ROUTER, host(77)), *ways) for _ in range(3))
    packets, translated = talk(near, n, seed), talk(far, n, seed)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        if point not in {"after", "server"}:
            return frame
        is_there = packets[number].ways[0][0] == HAIRPIN[0]
        return with_class(translated[number].frame, 0, 63 if is_there else 64)

    takes_ns = {("client", "before"): 3_000, ("before", "after"): 6_000, ("after", "server"): 2_000}
    edges = Edges(both_ways(takes_ns), lost={("before", "after"): LOST})
    made = with_clocks(walk(packets, edges, seed, as_seen), has_own=has_own_clocks)
    made.files = {"before": "router", "after": "router"}
    if has_own_clocks:
        made.clocks["after"] = made.clocks["before"]
    return made


GRE, BRIDGED = 47, 0x6558
TENANTS = ("red", "blue", "green")


def in_gre(frame: bytes, key: int, number: int, *, forward: bool) -> bytes:
    """The frame in GRE with a key (RFC 2890)."""
    ends = ("172.16.9.1", "172.16.9.2")
    body = struct.pack(">HHI", 0x2000, BRIDGED, key) + frame
    src, dst = ends if forward else ends[::-1]
    return ip(src, dst, GRE, number % 65_535 + 1, 64, body)


def three_tenants(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """The same addresses three times, two in VXLAN and one in GRE, each with words of its own."""
    takes_ns = {("hv1", "hv2"): 6_000}
    both = list[tuple[Packet, str]]()
    for at, name in enumerate(TENANTS):
        takes_ns |= {(f"{name}1", "hv1"): 2_000, ("hv2", f"{name}2"): 2_500}
        there = way(f"{name}1", "hv1", "hv2", f"{name}2")
        pair = Pair(ENDS, (there,), (way(*there[0][::-1]),))
        first = len(both)
        both += [
            (p._replace(answers=p.answers + first if p.answers >= 0 else -1), name)
            for p in talk((pair,), n // len(TENANTS), seed + 1_000 * at)
        ]

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        packet, name = both[number]
        forward = packet.ways[0][0].endswith("1")
        if not point.startswith("hv"):
            return frame
        if name == "green":
            return in_gre(frame, 7, number, forward=forward)
        return encapsulated(frame, 5001 + TENANTS.index(name), number, forward=forward)

    edges = Edges(both_ways(takes_ns), lost={("hv1", "hv2"): LOST})
    made = walk([packet for packet, _ in both], edges, seed, as_seen)
    return with_clocks(made, has_own=has_own_clocks)


KINDS = {
    "marked there, IDs rewritten back": marked,
    "three tenants, two encapsulations": three_tenants,
    "hairpin translation in a file": hairpin,
}
