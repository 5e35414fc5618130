"""A file in which each packet is seen three times: in GTP-U, in SRv6, and in GTP-U again."""

from __future__ import annotations

import struct
from functools import partial
from ipaddress import ip_address
from typing import TypeVar

from tests.recovery.networks.talk import LOST, Pair, host, talk, way, with_clocks
from tests.support.frames import ethernet
from tests.support.networks import Edges, Network, both_ways, datagram, walk

T = TypeVar("T")
HOPS = ("in", "core", "out")
LINE = ("radio", *HOPS, "server")
TAKES_NS = both_ways(
    {
        ("radio", "in"): 30_000,
        ("in", "core"): 8_000,
        ("core", "out"): 11_000,
        ("out", "server"): 25_000,
    }
)
GTP_PORT, IPV4_IN_IPV6 = 2152, 4
TUNNELS = {"radio": 0x100, "in": 0x100, "out": 0x900}


def gtp(frame: bytes, teid: int, ends: tuple[str, str], ident: int) -> bytes:
    """The packet of a frame in GTP-U (TS 29.281)."""
    packet = frame[14:]
    head = struct.pack(">BBHI", 0x30, 0xFF, len(packet), teid)
    return datagram(ends, (GTP_PORT, GTP_PORT), ident, head + packet)


def srv6(frame: bytes, ends: tuple[str, str]) -> bytes:
    """The packet of a frame in an IPv6 tunnel with a segment routing header (RFC 8754)."""
    packet, segment = frame[14:], ip_address("2001:db8:1::9").packed
    routing = struct.pack(">BBBBBBH", IPV4_IN_IPV6, 2, 4, 0, 0, 0, 0) + segment
    outer = b"".join(ip_address(end).packed for end in ends)
    head = struct.pack(">IHBB", 6 << 28, len(routing) + len(packet), 43, 60)
    return ethernet(0x0200_0000_0001, 0x0200_0000_0002, 0x86DD, head + outer + routing + packet)


def turned(ends: tuple[T, T], *, forward: bool) -> tuple[T, T]:
    """From and to, by the direction."""
    return ends if forward else (ends[1], ends[0])


def network(n: int, seed: int, *, has_own_clocks: bool, is_drop_in: bool) -> Network:
    """A gateway captured on all its interfaces; `is_drop_in`: the same tunnel on both sides."""
    pairs = tuple(
        Pair((host(at), host(at + 50)), (way(*LINE),), (way(*LINE[::-1]),)) for at in range(4)
    )
    packets = talk(pairs, n, seed)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        forward, ident = packets[number].ways[0][0] == LINE[0], number % 65_535 + 1
        if point == "core":
            return srv6(frame, turned(("2001:db8::1", "2001:db8::2"), forward=forward))
        if point == "server":
            return frame
        is_first = is_drop_in or point != "out"
        ends = ("172.16.1.1", "172.16.1.2") if is_first else ("172.16.2.1", "172.16.2.2")
        teid = TUNNELS["in" if is_first else "out"] + (0 if forward else 0x10)
        made = gtp(frame, teid, turned(ends, forward=forward), ident)
        if point != "out":
            return made
        macs = (b"\x02\0\0\0\1\1", b"\x02\0\0\0\1\2")
        return b"".join(turned(macs, forward=forward)) + made[12:]

    made = walk(packets, Edges(TAKES_NS, lost={("out", "server"): LOST}), seed, as_seen)
    made = with_clocks(made, has_own=has_own_clocks)
    made.files = dict.fromkeys(HOPS, "gateway")
    if has_own_clocks:
        made.clocks |= dict.fromkeys(HOPS, made.clocks["in"])
    return made


KINDS = {
    "three hops in a file": partial(network, is_drop_in=False),
    "three hops in a file, one tunnel": partial(network, is_drop_in=True),
}
