"""Hosts at three arms of a hub send heartbeats both ways beside other traffic: each has its way.

A heartbeat equals the next, so that its rhythm alone tells points apart, and that of some points is
not told as clearly as that of others.
"""

from __future__ import annotations

import statistics
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.recovery.networks.judge import merge_network
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

US, MS, SECOND = 1_000, 1_000_000, 1_000_000_000
HUB, ARMS = "h", "xyz"
TAKES_NS = both_ways({(arm, HUB): (100 + 80 * at) * US for at, arm in enumerate(ARMS)})
N_HOSTS, SPAN_S = 6, 60
N_SESSIONS, OF_SESSION = 70, 20


def star(seed: int, jitter_ns: int) -> Network:
    """Six hosts beat each second for every two arms, and 70 sessions have packets of their own."""
    chance = np.random.default_rng(seed)
    packets = list[Packet]()

    def send(t_ns: int, way: tuple[str, ...], ends: tuple[str, ...], at: int, data: bytes) -> None:
        ident = 0 if data.startswith(b"BEAT") else int(chance.integers(1, 65_536))
        ports = at, 3_784
        packets.append(Packet(t_ns, (way,), datagram((ends[0], ends[1]), ports, ident, data)))

    for net, (near, far) in enumerate(combinations(ARMS, 2)):
        way = (near, HUB, far)
        for host in range(N_HOSTS + N_SESSIONS):
            ends = (f"10.{net}.0.{host + 1}", f"10.9.0.{net + 1}")
            t_ns = START_NS + int(chance.integers(SECOND))
            if host < N_HOSTS:
                for at_s in range(SPAN_S):
                    beat_ns = t_ns + at_s * SECOND + int(chance.integers(MS))
                    send(beat_ns, way, ends, host + 1, b"BEAT" + bytes(40))
                    send(beat_ns + 3 * MS, way[::-1], ends[::-1], host + 1, b"BEAT" + bytes(44))
                continue
            t_ns += int(chance.integers(SPAN_S * SECOND * 9 // 10))
            for _ in range(OF_SESSION):
                t_ns += int(chance.integers(100 * US, 8 * MS))
                is_back = chance.random() < 1 / 2
                order = -1 if is_back else 1
                send(t_ns, way[::order], ends[::order], host + 1, chance.bytes(60))
    packets.sort(key=lambda one: one.t_ns)
    return walk(packets, Edges(TAKES_NS, tail_ns=jitter_ns), seed)


@pytest.mark.parametrize("jitter_us", [10, 15, 20, 30])
@pytest.mark.parametrize("seed", [4, 5, 6, 7])
def test_heartbeats_go_their_own_way(seed: int, jitter_us: int, tmp_path: Path) -> None:
    found = merge_network(star(seed, jitter_us * US), tmp_path, ["all"], is_ordered=False)
    assert not found.document["warnings"]
    assert found.n_backward == 0
    for edge, took_ns in found.crossings.items():
        row = found.rows[edge]
        assert (row["n"] + row["n_undecided"], row["n_lost"]) == (len(took_ns), 0)
        mean_ns = statistics.fmean(took_ns.values())
        assert row["mean_least_ns"] - 1 <= mean_ns <= row["mean_most_ns"] + 1
