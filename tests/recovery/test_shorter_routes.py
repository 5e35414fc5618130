"""A route becomes longer, and shorter again: nothing is lost, and late packets are late."""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.recovery.networks.judge import lost_wrong, merge_network, pairs_wrong, segments_wrong
from tests.recovery.networks.talk import Pair, host, seldom, talk, way, with_clocks
from tests.support.frames import UDP, ip, udp, write_pcap
from tests.support.networks import START_NS, Edges, Network, both_ways, walk

if TYPE_CHECKING:
    from pathlib import Path

LINE = ("p1", "p2", "p3")
TAKES_NS = both_ways({("p1", "p2"): 4_000, ("p2", "p3"): 9_000})
MS_NS = 1_000_000

SHORT, LONG = (3_000, 1), (12_000, 60)
"""How many packets, and at which rate: over 0.1 s and over 20 s."""

CHANGES = [
    (SHORT, {0.8: 9}),
    pytest.param(
        *(SHORT, {0.01: 220}),
        marks=pytest.mark.xfail(strict=True, reason="not usual at any time: not counted, not lost"),
    ),
    (LONG, {0.33: 30, 0.67: 0.2}),
    (LONG, {0.33: 300, 0.67: 0}),
    (LONG, {0.14: 37, 0.61: 1.8, 0.83: 0.2}),
    (LONG, {0: 160, 0.44: 450, 0.7: 0.3, 0.72: 8, 0.76: 350, 0.77: 54}),
    (LONG, {0.15: 160, 0.44: 450, 0.7: 0.3, 0.72: 8, 0.76: 350, 0.77: 54}),
]
"""By how many ms the route between p2 and p3 is longer, since which share of the time."""


def rerouted(
    n: int, slower: int, change: dict[float, float], late_frac: float, *, is_both_ways: bool
) -> Network:
    """Requests and answers; some packets are late where the route changes, besides."""
    pairs = [Pair((host(at), host(50)), (way(*LINE),), (way(*LINE[::-1]),)) for at in range(4)]
    packets = seldom(talk(tuple(pairs), n, 1), slower)
    network = walk(packets, Edges(TAKES_NS))
    begin_ns, end_ns = packets[0].t_ns, packets[-1].t_ns
    chance = np.random.default_rng(2)
    is_late = chance.random(len(packets)) < late_frac
    late_ns = chance.uniform(5, 50, len(packets)) * MS_NS * is_late
    levels_ms = [0, *change.values()]

    def later_ns(packet: int, point: str) -> int:
        """By how much later than else it comes to a point."""
        sent_ns, (along,), *_ = packets[packet]
        is_changed = is_both_ways or along == LINE
        at = bisect(list(change), (sent_ns - begin_ns) / (end_ns - begin_ns))
        longer_ns = levels_ms[at] * MS_NS * is_changed + late_ns[packet]
        is_behind = along.index(point) > along.index("p2" if along == LINE else "p3")
        return int(longer_ns) * is_behind

    for point, seen in network.seen.items():
        moved = (one._replace(t_ns=one.t_ns + later_ns(one.packet, point)) for one in seen)
        network.seen[point] = sorted(moved)
    return network


@pytest.mark.one_in(5)
@pytest.mark.parametrize("ways", ["one", "both"])
@pytest.mark.parametrize(("clocks", "late_frac"), [("one", 0), ("own", 0), ("own", 0.02)])
@pytest.mark.parametrize(("size", "change"), CHANGES)
def test_nothing_is_lost(
    size: tuple[int, int],
    change: dict[float, float],
    clocks: str,
    late_frac: float,
    ways: str,
    tmp_path: Path,
) -> None:
    network = rerouted(*size, change, late_frac, is_both_ways=ways == "both")
    network = with_clocks(network, has_own=clocks == "own")
    found = merge_network(network, tmp_path, [] if clocks == "own" else ["all"])
    assert pairs_wrong(found) == []
    assert segments_wrong(found) == {}
    assert lost_wrong(found) == {}


@pytest.mark.parametrize("off_ms", [-40, 10, 40])
def test_late_packets_are_matched_though_a_clock_is_not_the_declared_one(
    off_ms: int, tmp_path: Path
) -> None:
    """By its timestamps the late packet arrives before it left; so do all others."""
    network = rerouted(*SHORT, {0.5: 0}, 0.02, is_both_ways=True)
    network.clocks = {"p3": (off_ms * MS_NS, 0.0)}
    found = merge_network(network, tmp_path, ["all"])
    assert pairs_wrong(found) == []
    assert segments_wrong(found) == {}
    assert lost_wrong(found) == {}


@pytest.mark.parametrize(
    ("n", "slower", "change"),
    [(400, 500, {0.02: 300}), (400, 500, {0.02: 50}), (2_000, 300, {0.006: 100})],
)
def test_the_first_packets_are_not_lost_where_the_route_becomes_longer(
    n: int, slower: int, change: dict[float, float], tmp_path: Path
) -> None:
    """They take less time than any block of packets, and their centre is none of theirs."""
    network = rerouted(n, slower, change, 0, is_both_ways=False)
    found = merge_network(network, tmp_path, ["all"])
    assert lost_wrong(found) == {}


@pytest.mark.parametrize("n_spells", [4, 12])
def test_equal_packets_that_are_sent_while_the_route_is_shorter_are_undecided(
    n_spells: int, tmp_path: Path
) -> None:
    chance = np.random.default_rng(1)
    points: list[list[tuple[int, bytes]]] = [[], []]

    def send(at_ms: float, takes_ms: int, content: bytes) -> None:
        frame = ip("10.1.0.1", "10.2.0.1", UDP, 0, 64, udp((5_000, 6_000), content))
        sent_ns = START_NS + int(at_ms * MS_NS)
        took_ns = takes_ms * MS_NS + int(chance.exponential(20_000))
        points[0].append((sent_ns, frame))
        points[1].append((sent_ns + took_ns, frame))

    for spell in range(n_spells):
        begin_ms = 7_000 * spell
        for at_ms in np.arange(200, 7_000, 15) + chance.uniform(0, 1, 454):
            send(begin_ms + at_ms, 60, chance.bytes(40))
        send(begin_ms, 20, b"again")
    files = [tmp_path / f"p{at}.pcap" for at in (0, 1)]
    for file, point in zip(files, points, strict=True):
        write_pcap(file, sorted(point))
    with pcaplat.merge(list(map(str, files)), same_clock=["all"]) as result:
        (row,) = (row for row in result.document["segments"] if row["n"])
    assert (row["n"], row["n_lost"], row["n_undecided"]) == (454 * n_spells, 0, n_spells)
