"""A leaf, two spines and a leaf: packets take either spine, by flow or one by one."""

from __future__ import annotations

import numpy as np

from tests.support.networks import START_NS, Edge, Edges, Network, Packet, datagram, walk

SPINES = ("s1", "s2")
GAP_NS = 300_000


def spines(n: int, seed: int, lost: dict[Edge, float], *, by: str = "flow") -> Network:
    """Each flow is one packet, or all packets are one flow."""
    chance = np.random.default_rng(seed)
    packets = []
    for at in range(n):
        ports = (4_000 + at, 53) if by == "flow" else (4_000, 9_000)
        way = ("leaf", SPINES[chance.integers(2)], "spine")
        frame = datagram(("10.0.0.1", "10.0.0.2"), ports, at % 65_535 + 1, chance.bytes(60))
        packets.append(Packet(START_NS + at * GAP_NS, (way,), frame))
    takes_ns: dict[Edge, int] = {("leaf", name): 9_000 for name in SPINES}
    takes_ns |= {(name, "spine"): 7_000 for name in SPINES}
    return walk(packets, Edges(takes_ns, lost=lost), seed)
