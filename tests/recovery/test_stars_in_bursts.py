"""Ports of one switch, each two of which exchange packets at another time.

The others have nothing to capture then, which is not to say that they did not capture.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.recovery.networks.judge import edges_wrong, merge_network
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

US, MS, SECOND = 1_000, 1_000_000, 1_000_000_000
OF_BURST = 60


def star(n_ports: int, n_bursts: int, seed: int, lost: float) -> Network:
    """Each two ports have so many bursts of packets both ways, of at most 20 ms each."""
    chance = np.random.default_rng(seed)
    ports = [f"p{at}" for at in range(n_ports)]
    links = list(combinations(ports, 2))
    takes_ns = both_ways({ends: (20 + at) * US for at, ends in enumerate(links)})
    packets = list[Packet]()
    for ends in links * n_bursts:
        first_ns = START_NS + int(chance.integers(10 * SECOND))
        for at in range(OF_BURST):
            way = ends if chance.random() < 1 / 2 else ends[::-1]
            hosts = [f"10.0.0.{1 + ports.index(port)}" for port in way]
            frame = datagram((hosts[0], hosts[1]), (4_000, 4_000), at + 1, chance.bytes(60))
            t_ns = first_ns + at * 300 * US + int(chance.integers(30 * US))
            packets.append(Packet(t_ns, (way,), frame))
    packets.sort(key=lambda one: one.t_ns)
    of_one = dict.fromkeys((links[-1], links[-1][::-1]), lost)
    return walk(packets, Edges(takes_ns, tail_ns=2 * US, lost=of_one), seed)


@pytest.mark.parametrize("n_ports", [4, 5, 6])
@pytest.mark.parametrize("n_bursts", [1, 2])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_every_two_ports_have_a_segment(
    n_ports: int, n_bursts: int, seed: int, lost: float, tmp_path: Path
) -> None:
    network = star(n_ports, n_bursts, seed, lost)
    found = merge_network(network, tmp_path, ["all"], is_ordered=False)
    assert not found.document["warnings"]
    assert not edges_wrong(found)
    for edge, took_ns in found.crossings.items():
        n_lost = sum(one == edge for one, _ in network.lost)
        row = found.rows[edge]
        assert row["n"] == len(took_ns)
        # whether a burst began with a loss, nothing may show
        assert row["n_lost"] <= n_lost <= row["n_lost"] + row["n_maybe_lost"]
