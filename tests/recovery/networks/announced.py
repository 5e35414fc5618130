"""Equal frames that say nothing of their direction, from both ends of a line, beside traffic."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.networks.multicast import LINE, LINE_NS
from tests.recovery.networks.talk import LOST, Pair, host, talk, way, with_clocks
from tests.support.frames import ethernet
from tests.support.networks import START_NS, Edges, Network, Packet, walk

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY_NS = 200_000
SHARE = 4
"""One packet in so many is one of these, at most."""


def _arp(mac: int, sender: int, target: int) -> bytes:
    """An ARP request (RFC 826); one for its sender's own address announces it (RFC 5227)."""
    body = struct.pack(
        ">HHBBH6sI6sI", 1, 0x0800, 6, 4, 1, mac.to_bytes(6), sender, bytes(6), target
    )
    return ethernet(mac, 0xFFFF_FFFF_FFFF, 0x0806, body)


def _asks(end: int) -> bytes:
    """The host at one end asks for the one at the other."""
    return _arp(0x0200_0000_0010 + end, 0x0A00_0010 + end, 0x0A00_0010 + 1 - end)


def _announces(_end: int) -> bytes:
    """Either of two routers announces the address that they share (RFC 9568), in the same bytes."""
    return _arp(0x0000_5E00_0101, 0x0A00_0001, 0x0A00_0001)


def both_ends(
    frame_of: Callable[[int], bytes], n: int, seed: int, every_ns: int, *, has_own_clocks: bool
) -> Network:
    """A line; from either end the same frame comes at nearly regular times."""
    pairs = tuple(
        Pair((host(at), host(at + 50)), (way(*LINE),), (way(*LINE[::-1]),)) for at in range(4)
    )
    packets = talk(pairs, n * (SHARE - 1) // SHARE, seed)
    first, chance = len(packets), np.random.default_rng([seed, 17])
    ends_ns = max(packet.t_ns for packet in packets)
    for end, line in enumerate((LINE, LINE[::-1])):
        t_ns = START_NS + int(chance.integers(every_ns))
        for _ in range(n // SHARE // 2):
            if t_ns < ends_ns:
                packets.append(Packet(t_ns, (line,), frame_of(end), is_resent=True))
            t_ns += every_ns + int(chance.integers(every_ns // 100))
    made = walk(packets, Edges(LINE_NS, lost={("p2", "p3"): LOST}), seed)
    made.undirected = dict.fromkeys(range(first, len(packets)), "announced")
    return with_clocks(made, has_own=has_own_clocks)


def asked(n: int, seed: int, *, has_own_clocks: bool, every_ns: int = EVERY_NS) -> Network:
    """Each end asks for the other."""
    return both_ends(_asks, n, seed, every_ns, has_own_clocks=has_own_clocks)


def announced(n: int, seed: int, *, has_own_clocks: bool, every_ns: int = EVERY_NS) -> Network:
    """Both ends announce the same address."""
    return both_ends(_announces, n, seed, every_ns, has_own_clocks=has_own_clocks)


KINDS = {
    "addresses asked for from both ends": asked,
    "an address announced from both ends": announced,
}
