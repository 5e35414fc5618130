"""One packet, several receivers: groups alone, broadcasts at a switch, neighbour discovery."""

from __future__ import annotations

import struct
from functools import partial
from itertools import permutations

import numpy as np

from tests.recovery.networks.shapes import TREE_NS, star
from tests.recovery.networks.talk import (
    GAP_NS,
    LOST,
    Kind,
    Pair,
    datagrams,
    host,
    seldom,
    talk,
    way,
    with_clocks,
)
from tests.support.frames import ICMPV6, ethernet, ip
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

SHARE = 6
"""One packet in so many goes to all."""

SLOWER = 100
"""At a rate so many times lower clocks drift by more than a packet takes while few packets pass."""

SELDOM_NS = 60_000_000
"""And so far apart, from each packet to the next."""


def group_alone() -> Kind:
    """A sender and three receivers of one group, and nothing else."""
    all_of_them = tuple(("sender", "switch", to) for to in ("r1", "r2", "r3"))
    pairs = tuple(Pair((host(9), f"239.1.1.{at}"), (all_of_them,)) for at in range(1, 4))
    return Kind(pairs, TREE_NS, ("switch", "r2"), talk=datagrams)


def conference(gap_ns: int = GAP_NS) -> Kind:
    """Every port of a switch sends to a group that all others hear; nothing else."""
    ports = [f"port{at}" for at in range(3)]
    pairs = tuple(
        Pair(
            (host(at), f"239.2.0.{at + 1}"),
            (tuple((port, other) for other in ports if other != port),),
        )
        for at, port in enumerate(ports)
    )
    takes_ns = dict.fromkeys(permutations(ports, 2), 1_500)
    said = partial(datagrams, gap_ns=gap_ns)
    return Kind(pairs, takes_ns, ("port0", "port1"), talk=said)


def flooded(n: int, seed: int, *, has_own_clocks: bool, slower: int = 1) -> Network:
    """A star of four ports; some frames are broadcasts, which leave by all the others.

    Their rate may be some times lower than usual.
    """
    kind = star(4)
    packets = talk(kind.pairs, n * (SHARE - 1) // SHARE, seed)
    chance = np.random.default_rng([seed, 7])
    ports = sorted({port for edge in kind.takes_ns for port in edge})
    for at in range(n // SHARE):
        port = int(chance.integers(4))
        ways = tuple((ports[port], other) for other in ports if other != ports[port])
        frame = datagram((host(port), "255.255.255.255"), (68, 67), at + 1, chance.bytes(240))
        t_ns = START_NS + at * SHARE * GAP_NS // 2 + int(chance.integers(GAP_NS))
        packets.append(Packet(t_ns, ways, b"\xff" * 6 + frame[6:], is_resent=True))
    edges = Edges(kind.takes_ns, lost={kind.loses: LOST})
    made = walk(seldom(packets, slower), edges, seed)
    return with_clocks(made, has_own=has_own_clocks)


def flooded_seldom(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """The same at a low rate."""
    return flooded(n, seed, has_own_clocks=has_own_clocks, slower=SLOWER)


LINE = ("p1", "p2", "p3", "p4")
LINE_NS = both_ways({("p1", "p2"): 4_000, ("p2", "p3"): 9_000, ("p3", "p4"): 3_000})


def discovery(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """A line; in its middle a router asks for neighbours, and so do the hosts at the ends."""
    pairs = tuple(
        Pair((host(at), host(at + 50)), (way(*LINE),), (way(*LINE[::-1]),)) for at in range(4)
    )
    packets = talk(pairs, n * (SHARE - 1) // SHARE, seed)
    first = len(packets)
    packets += solicitations(n // SHARE, seed)
    takes_ns = LINE_NS | {("router", "p2"): 2_000, ("router", "p3"): 6_000}
    edges = Edges(takes_ns, lost={("p2", "p3"): LOST})
    made = walk(packets, edges, seed, missed=lambda point, _packet: point == "router")
    made.undirected = {at: packets[at].ways[0][0] for at in range(first, len(packets))}
    return with_clocks(made, has_own=has_own_clocks)


def solicitations(n: int, seed: int) -> list[Packet]:
    """Neighbour solicitations (RFC 4861), from the router to both sides, and from either end."""
    chance = np.random.default_rng([seed, 11])
    senders = {
        "fe80::9": (("router", "p2", "p1"), ("router", "p3", "p4")),
        "fe80::1": (LINE,),
        "fe80::2": (LINE[::-1],),
    }
    made = []
    for at in range(n):
        source = list(senders)[int(chance.integers(3)) if at % 2 else 0]
        target = 1 + at % 200
        body = struct.pack(">BBHI", 135, 0, 0, 0) + bytes.fromhex("fe80") + bytes(12)
        body += target.to_bytes(2) + b"\x01\x01\x02\x00\x00\x00\x00\x01"
        frame = ip(source, f"ff02::1:ff00:{target:x}", ICMPV6, 0, 255, body)
        t_ns = START_NS + at * SHARE * GAP_NS // 2 + int(chance.integers(GAP_NS))
        made.append(Packet(t_ns, senders[source], b"\x33\x33" + frame[2:], is_resent=True))
    return made


def bridged(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """A line in which a bridge in the middle sends its own hellos to both sides, beside traffic."""
    pairs = tuple(
        Pair((host(at), host(at + 50)), (way(*LINE),), (way(*LINE[::-1]),)) for at in range(4)
    )
    packets = talk(pairs, n * (SHARE - 1) // SHARE, seed)
    first, chance = len(packets), np.random.default_rng([seed, 13])
    ways = (("router", "p2", "p1"), ("router", "p3", "p4"))
    for at in range(n // SHARE):
        frame = ethernet(0x0200_0000_0077, 0x0180_C200_000E, 0x88CC, chance.bytes(60))
        t_ns = START_NS + at * SHARE * GAP_NS // 2 + int(chance.integers(GAP_NS))
        packets.append(Packet(t_ns, ways, frame, is_resent=True))
    takes_ns = LINE_NS | {("router", "p2"): 2_000, ("router", "p3"): 6_000}
    edges = Edges(takes_ns, lost={("p2", "p3"): LOST})
    made = walk(packets, edges, seed, missed=lambda point, _packet: point == "router")
    made.undirected = dict.fromkeys(range(first, len(packets)), "router")
    return with_clocks(made, has_own=has_own_clocks)


KINDS = {
    "a multicast group alone": group_alone().network,
    "star where each port sends to a group": conference().network,
    "star where each port sends to a group, seldom": conference(SELDOM_NS).network,
    "star with broadcasts": flooded,
    "star with broadcasts, seldom": flooded_seldom,
    "neighbour discovery": discovery,
    "hellos of a bridge on the way": bridged,
}
