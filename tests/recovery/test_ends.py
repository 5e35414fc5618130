"""Ends of the path: what they lack of what they sent on, and what they only seem to lack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.recovery.networks.captured import fragments
from tests.recovery.networks.talk import Pair, host, way
from tests.recovery.networks.talk import talk as talk_of
from tests.recovery.test_late_start import GAP_NS, LINE, LOST, TAKES_NS, talk
from tests.support.networks import (
    START_NS,
    Edges,
    Network,
    Packet,
    both_ways,
    datagram,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAUSED, LACKING = "capture-paused", "end-not-captured"


def told(network: Network, folder: Path) -> dict[str, set[str | None]]:
    """Of which points either is told."""
    with pcaplat.merge(network.save(folder), same_clock=["all"], keep_rows=False) as result:
        found = [(one["code"], one["point"]) for one in result.document["warnings"]]
    return {code: {point for one, point in found if one == code} for code in (PAUSED, LACKING)}


@pytest.mark.parametrize("end", [LINE[0], LINE[-1]])
@pytest.mark.parametrize("missed", [0.003, 0.02, 0.3])
def test_an_end_that_drops_what_it_sent_lacks_it(missed: float, end: str, tmp_path: Path) -> None:
    """Packets to it look lost."""
    is_missed = np.random.default_rng(3).random(6_000) < missed
    lost = {("b", "c"): LOST, ("d", "e"): LOST, ("e", "d"): LOST}
    network = walk(
        talk(6_000, 1),
        Edges(both_ways(TAKES_NS), lost=lost),
        missed=lambda point, at: point == end and bool(is_missed[at]),
    )
    assert told(network, tmp_path) == {PAUSED: set(), LACKING: {end}}


@pytest.mark.parametrize("end", [LINE[0], LINE[-1]])
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_an_end_that_captures_nothing_for_a_while_pauses(
    share: float, end: str, tmp_path: Path
) -> None:
    network = walk(talk(6_000, 1), Edges(both_ways(TAKES_NS)))
    length_ns = 3_000 * GAP_NS
    pause_ns = (START_NS + round(0.4 * length_ns), START_NS + round((0.4 + share) * length_ns))
    seen = network.seen[end]
    network.seen[end] = [one for one in seen if not pause_ns[0] < one.t_ns < pause_ns[1]]
    assert told(network, tmp_path) == {PAUSED: {end}, LACKING: set()}


@pytest.mark.parametrize("end", [LINE[0], LINE[-1]])
def test_an_end_that_pauses_may_drop_packets_too(end: str, tmp_path: Path) -> None:
    is_missed = np.random.default_rng(3).random(6_000) < 0.05
    network = walk(
        talk(6_000, 1),
        Edges(both_ways(TAKES_NS)),
        missed=lambda point, at: point == end and (bool(is_missed[at]) or 3_000 < at < 3_400),
    )
    assert told(network, tmp_path) == {PAUSED: {end}, LACKING: {end}}


def bursts() -> Network:
    """Requests, each answered by sixty packets in a row, over a millisecond."""
    chance, packets = np.random.default_rng(1), []
    for turn in range(100):
        for at in range(61):
            ends, ports = (host(1), host(2)), (4_000, 80)
            if at:
                ends, ports = ends[::-1], ports[::-1]
            frame = datagram(ends, ports, 1 + (turn * 61 + at) % 65_535, chance.bytes(60))
            t_ns = START_NS + turn * 30_000_000 + at * 2_000 + (at > 0) * 1_100_000
            packets.append(Packet(t_ns, (LINE[::-1] if at else LINE,), frame))
    return walk(packets, Edges(both_ways(dict.fromkeys(TAKES_NS, 250_000)), tail_ns=9_000))


def two_servers() -> Network:
    """Both have one address; flows go to either."""
    there, back = zip(
        *((way("a", "core", name), way(name, "core", "a")) for name in ("s1", "s2")), strict=True
    )
    pairs = tuple(Pair((host(at), host(90)), there, back) for at in range(6))
    ends = both_ways({("a", "core"): 9_000, ("core", "s1"): 5_000, ("core", "s2"): 7_000})
    return walk(talk_of(pairs, 6_000, 1), Edges(ends, lost={("core", "s1"): LOST}))


PORTS = ("x", "y", "z")


def talk_of_ports(*between: str) -> list[Packet]:
    """Each end sends to each other one, over what lies between."""
    chance, packets = np.random.default_rng(1), list[Packet]()
    pairs = [(one, other) for one in range(3) for other in range(3) if one != other]
    for at in range(6_000):
        one, other = pairs[int(chance.integers(len(pairs)))]
        ports = (4_000 + one, 4_000 + other)
        frame = datagram((host(one), host(other)), ports, at + 1, chance.bytes(60))
        ends = (PORTS[one], *between, PORTS[other])
        packets.append(Packet(START_NS + at * 200_000, (ends,), frame))
    return packets


def star() -> Network:
    """Packets from the core to all ends are lost."""
    edges = {(name, "core"): 20_000 + 3_000 * at for at, name in enumerate(PORTS)}
    lost = {("core", name): LOST for name in PORTS}
    return walk(talk_of_ports("core"), Edges(both_ways(edges), lost=lost))


def ports(missed: float = 0.0, lost: float = LOST) -> Network:
    """Each end is a port of one switch, next to all others; the first misses packets."""
    edges = both_ways({("x", "y"): 20_000, ("x", "z"): 23_000, ("y", "z"): 26_000})
    is_missed = np.random.default_rng(3).random(6_000) < missed
    return walk(
        talk_of_ports(),
        Edges(edges, lost=dict.fromkeys(edges, lost)),
        missed=lambda point, at: point == "x" and bool(is_missed[at]),
    )


@pytest.mark.parametrize("missed", [0.007, 0.03, 0.3])
@pytest.mark.parametrize("lost", [0.0, LOST])
def test_an_end_next_to_several_points_lacks_what_it_sent_to_them(
    lost: float, missed: float, tmp_path: Path
) -> None:
    assert told(ports(missed, lost), tmp_path) == {PAUSED: set(), LACKING: {"x"}}


def two_orders() -> Network:
    """Some hosts pass the first two points in the other order, and are lost between these."""
    line, other = way("a", "core", "b"), way("core", "a", "b")
    pairs = tuple(Pair((host(at), host(90 + at)), (other if at < 3 else line,)) for at in range(10))
    ends = {("a", "core"): 9_000, ("core", "b"): 5_000, ("core", "a"): 9_000, ("a", "b"): 5_000}
    lost = {("core", "a"): LOST}
    return walk(talk_of(pairs, 6_000, 1), Edges(both_ways(ends), lost=lost))


def cut() -> Network:
    """Large datagrams pass the points behind the sender in fragments."""
    return fragments(6_000, 1, has_own_clocks=False)


def on_the_way() -> Network:
    """Captures begin when packets that are late behind either end are on their way."""
    late = dict.fromkeys((LINE[:2], LINE[:-3:-1]), (0.05, 200_000_000))
    network = walk(talk(12_000, 2), Edges(both_ways(TAKES_NS), late=late), 2)
    begin_ns = START_NS + 3_000 * GAP_NS
    for point, seen in network.seen.items():
        network.seen[point] = [one for one in seen if one.t_ns > begin_ns]
    return network


@pytest.mark.parametrize("make", [bursts, two_servers, star, ports, two_orders, cut, on_the_way])
def test_an_end_that_captured_all_lacks_nothing(
    make: Callable[[], Network], tmp_path: Path
) -> None:
    assert told(make(), tmp_path) == {PAUSED: set(), LACKING: set()}
