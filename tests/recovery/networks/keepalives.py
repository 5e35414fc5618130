"""TCP whose probes repeat the last byte that was sent, on a line whose points miss some packets."""

from __future__ import annotations

import struct
from itertools import pairwise

import numpy as np

from tests.recovery.networks.talk import Pair, host, talk, way, with_clocks
from tests.support.frames import TCP, ip
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, walk

LINE = ("p1", "p2", "p3", "p4", "p5")
LINE_NS = both_ways(dict(zip(pairwise(LINE), (4_000, 9_000, 3_000, 15_000), strict=True)))
ENDS, PORTS = (host(0), host(50)), (45_000, 22)
SLOWER = 1_000
"""So many times longer than usual the other traffic takes."""

EVERY_NS = 50_000_000
"""From a segment, or a probe, to the next one."""

N_PROBES = 3
N_BYTES = 200
MISSED, LOST = 0.05, 0.02
LATE = (0.02, 180_000_000)
"""The share of packets that a link holds up, and for how long: the window is as wide."""


def sessions(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """Two hosts send a segment now and then, and probes (RFC 1122, 4.2.3.6) after it."""
    pair = Pair((host(1), host(51)), (way(*LINE),), (way(*LINE[::-1]),))
    others = talk((pair,), n // 2, seed)
    packets = [one._replace(t_ns=START_NS + (one.t_ns - START_NS) * SLOWER) for one in others]
    chance = np.random.default_rng([seed, 19])
    for side, line in enumerate((LINE, LINE[::-1])):
        t_ns = START_NS + int(chance.integers(EVERY_NS))
        for at in range(n // 4):
            turn, n_probes = divmod(at, 1 + N_PROBES)
            first = 10_000 + N_BYTES * turn
            seq = first + N_BYTES - 1 if n_probes else first
            data = b"\0" if n_probes else chance.bytes(N_BYTES)
            packets.append(Packet(t_ns, (line,), segment(side, seq, data), is_resent=True))
            t_ns += EVERY_NS + int(chance.integers(EVERY_NS // 100))
    late = dict.fromkeys([("p2", "p3"), ("p3", "p2")], LATE)
    edges = Edges(LINE_NS, lost={("p3", "p4"): LOST}, late=late)
    made = walk(packets, edges, seed, missed=lambda _point, _packet: chance.random() < MISSED)
    return with_clocks(made, has_own=has_own_clocks)


def segment(side: int, seq: int, data: bytes) -> bytes:
    """A TCP segment (RFC 9293) from one side, without an IP identification."""
    source, target = ENDS[side], ENDS[1 - side]
    numbers = (PORTS[side], PORTS[1 - side], seq, 5_000)
    head = struct.pack(">HHIIBBHHH", *numbers, 0x50, 0x10, 8192, 0, 0)
    return ip(source, target, TCP, 0, 64, head + data)
