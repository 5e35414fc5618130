"""A line with a point that captures some of the packets, or that some of the flows pass."""

from __future__ import annotations

import numpy as np

from tests.support.networks import (
    START_NS,
    Edge,
    Edges,
    Network,
    Packet,
    Way,
    both_ways,
    datagram,
    walk,
)

LINE: Way = ("a", "b", "c")
AROUND: Way = ("a", "c")
TAKES_NS = {("a", "b"): 20_000, ("b", "c"): 22_000, ("a", "c"): 42_000}
N, GAP_NS, LOST = 6_000, 300_000, 0.03


def sampled(
    n_flows: int,
    n_hosts: int,
    seen_frac: float,
    *,
    of: str = "packets",
    at_point: str = "b",
    lossy: tuple[Edge, ...] = (("a", "b"), ("a", "c")),
) -> Network:
    """Requests, and half as many answers; losses before the middle, and on the way around it.

    Args:
        n_flows: How many there are.
        n_hosts: Between how many pairs of hosts.
        seen_frac: What share of them passes the middle, or is captured there.
        of: `packets`, `flows` or `hosts`; `filtered` flows pass, and are not captured.
        at_point: Which point captures not all.
        lossy: Where packets are lost.
    """
    chance = np.random.default_rng(1)
    n_ways = n_hosts if of == "hosts" else n_flows
    passes = chance.permutation(n_ways) < seen_frac * n_ways
    is_captured = chance.random(N) < seen_frac
    packets, is_left_out = [], []
    n_at_once = min(n_flows, 20) if n_flows < N else 1
    for at in range(N):
        flow = at * n_flows // N // n_at_once * n_at_once + int(chance.integers(n_at_once))
        near, far = (f"10.0.{side}.{1 + flow % n_hosts}" for side in (0, 1))
        ends, ports = (near, far), (4_000 + flow, 9_000)
        way = LINE if of in {"packets", "filtered"} or passes[flow % n_ways] else AROUND
        if at % 3 == 0:
            ends, ports, way = (far, near), (9_000, 4_000 + flow), way[::-1]
        is_left_out.append(not (is_captured[at] if of == "packets" else passes[flow % n_ways]))
        frame = datagram(ends, ports, at % 65_535 + 1, chance.bytes(60))
        packets.append(Packet(START_NS + at * GAP_NS, (way,), frame))
    return walk(
        packets,
        Edges(both_ways(TAKES_NS), lost=dict.fromkeys(lossy, LOST)),
        missed=lambda point, at: point == at_point and bool(is_left_out[at]),
    )
