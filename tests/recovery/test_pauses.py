"""A point in the middle that pauses: losses of that time may be before it or behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.recovery.networks.sampled import GAP_NS, LINE, TAKES_NS, N, sampled
from tests.support.networks import START_NS, Edge, Edges, Network, Packet, Way, datagram, walk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BEFORE, BEHIND, AROUND = ("a", "b"), ("b", "c"), ("a", "c")
PAUSED = "capture-paused"
SPAN = (0.4, 0.6)


def is_then(t_ns: int, span: tuple[float, float]) -> bool:
    """Tell whether a time is within a share of the capture."""
    return span[0] < (t_ns - START_NS) / (N * GAP_NS) < span[1]


def paused(network: Network) -> Network:
    """Leave out what the point in the middle captures meanwhile, and losses at any other time."""
    seen = {point: list(all_of) for point, all_of in network.seen.items()}
    seen["b"] = [one for one in seen["b"] if not is_then(one.t_ns, SPAN)]
    return replace(network, seen=seen)


def told(network: Network, folder: Path) -> tuple[dict[Edge, dict[str, Any]], int, set[str | None]]:
    """Segments forward, packets not captured in the middle, and points that are said to pause."""
    with pcaplat.merge(network.save(folder), same_clock=["all"], path=("a", "b", "c")) as result:
        document = result.document
    rows = {
        (row["near"], row["far"]): dict(row)
        for row in document["segments"]
        if row["direction"] == "forward"
    }
    (middle,) = (row for row in document["points"] if row["point"] == "b")
    points = {one["point"] for one in document["warnings"] if one["code"] == PAUSED}
    # short flows may have gone another way meanwhile
    return rows, middle["n_missed"] + middle["n_maybe_missed"], points


@pytest.mark.parametrize(("n_flows", "n_hosts"), [(1, 1), (40, 4), (250, 250), (3_000, 4)])
@pytest.mark.parametrize("lossy", [(BEFORE,), (BEHIND,), (BEFORE, BEHIND), ()])
def test_losses_of_a_pause_may_be_on_either_side(
    lossy: tuple[Edge, ...], n_flows: int, n_hosts: int, tmp_path: Path
) -> None:
    """Nor do addresses of which all packets pass meanwhile make a link past the point."""
    network = paused(sampled(n_flows, n_hosts, 1.0, lossy=lossy))
    rows, n_missed, points = told(network, tmp_path)
    assert points == {"b"}
    whole = rows["a", "c"]
    assert whole["n"] + whole["n_lost"] > 0.95 * N * 2 / 3
    for edge in (BEFORE, BEHIND):
        row, n_lost = rows[edge], sum(edge == where for where, _ in network.lost)
        n_sent = sum(
            edge[0] in packet.ways[0] and packet.ways[0][0] == "a" for packet in network.packets
        )
        assert row["lost_lo_frac"] - 1e-9 <= n_lost / n_sent <= row["lost_hi_frac"]
    at = {point: {one.packet for one in seen} for point, seen in network.seen.items()}
    n_passed = sum(is_then(one.t_ns, SPAN) and one.packet in at["c"] for one in network.seen["a"])
    # of addresses that it has at other times
    known = 1.0 if n_hosts < n_flows or n_flows == 1 else 0.15
    assert known * n_passed * 0.98 <= n_missed <= n_passed * 1.02


def in_burst(t_ns: int) -> bool:
    """Tell whether a time is in one of the bursts that the middle drops much of."""
    return (t_ns - START_NS) % 240_000_000 > 216_000_000


def burst(network: Network, dropped_frac: float, lossy: Edge) -> Network:
    """Leave out most of what the middle captures in bursts, while an edge loses packets."""
    chance = np.random.default_rng(3)
    at_ns = {one.packet: one.t_ns for one in network.seen["b"]}
    then = {number for number, t_ns in at_ns.items() if in_burst(t_ns)}
    dropped = {number for number in sorted(then) if chance.random() < dropped_frac}
    lost = {
        number
        for number in sorted(then)
        if network.packets[number].ways[0] == LINE and chance.random() < 0.4
    }
    gone = {"a": set[int](), "b": dropped | (lost if lossy == BEFORE else set()), "c": lost}
    seen = {
        point: [one for one in sightings if one.packet not in gone[point]]
        for point, sightings in network.seen.items()
    }
    return replace(network, seen=seen, lost=[(lossy, number) for number in sorted(lost)])


@pytest.mark.parametrize("n_flows", [1, 40, 3_000])
@pytest.mark.parametrize("dropped_frac", [0.6, 0.9, 1.0])
@pytest.mark.parametrize("lossy", [BEFORE, BEHIND])
def test_losses_while_a_capture_drops_bursts_may_be_on_either_side(
    lossy: Edge, dropped_frac: float, n_flows: int, tmp_path: Path
) -> None:
    """Where captures drop packets because there are many, others drop them for the same reason."""
    network = burst(sampled(n_flows, 4, 1.0, lossy=()), dropped_frac, lossy)
    rows, _, points = told(network, tmp_path)
    assert points == {"b"}
    n_sent = sum(packet.ways[0] == LINE for packet in network.packets)
    for edge in (BEFORE, BEHIND):
        row, n_lost = rows[edge], len(network.lost) if edge == lossy else 0
        n_came = n_sent - (len(network.lost) - n_lost if edge == BEHIND else 0)
        assert row["lost_lo_frac"] - 1e-9 <= n_lost / n_came <= row["lost_hi_frac"]


@pytest.mark.parametrize("seen_frac", [0.02, 0.2, 0.9, 1.0])
def test_a_point_that_samples_does_not_pause(seen_frac: float, tmp_path: Path) -> None:
    _, _, points = told(sampled(40, 4, seen_frac), tmp_path)
    assert points == set()


def codes_of(network: Network, folder: Path) -> tuple[dict[Edge, dict[str, Any]], set[str], int]:
    """Segments forward, what is warned of, and packets that the middle missed."""
    files = network.save(folder)
    with pcaplat.merge(files, same_clock=["all"], path=LINE, keep_rows=False) as result:
        document = result.document
    forward = (row for row in document["segments"] if row["direction"] == "forward")
    rows = {(row["near"], row["far"]): dict(row) for row in forward}
    (middle,) = (row for row in document["points"] if row["point"] == "b")
    return rows, {one["code"] for one in document["warnings"]}, middle["n_missed"]


def talk(way_of: Callable[[int], Way], n_flows: int, n_at_once: int) -> list[Packet]:
    """Flows of one after the other, or several at once, between the same two addresses."""
    chance, packets = np.random.default_rng(1), []
    for at in range(N):
        first = at * n_flows // N // n_at_once * n_at_once
        flow = first + int(chance.integers(n_at_once))
        frame = datagram(("10.0.0.1", "10.0.1.1"), (4_000 + flow, 9_000), at + 1, chance.bytes(60))
        packets.append(Packet(START_NS + at * GAP_NS, (way_of(flow),), frame))
    return packets


@pytest.mark.parametrize("every", [2, 5])
def test_flows_past_a_point_one_after_the_other_are_no_pause(every: int, tmp_path: Path) -> None:
    packets = talk(lambda flow: AROUND if flow % every == 1 else LINE, 20, 1)
    network = walk(packets, Edges(TAKES_NS, lost={AROUND: 0.04}))
    rows, codes, n_missed = codes_of(network, tmp_path)
    assert {"flows-not-captured"} == codes & {"flows-not-captured", PAUSED}
    assert n_missed == 0
    assert [rows[edge]["lost_lo_frac"] for edge in (BEFORE, BEHIND)] == [0, 0]


@pytest.mark.parametrize("share", [10, 20])
def test_a_pause_does_not_hide_flows_past_a_point(share: int, tmp_path: Path) -> None:
    packets = talk(lambda flow: AROUND if flow % share == 1 else LINE, 100, 100)
    network = walk(packets, Edges(TAKES_NS, lost={AROUND: 0.1}))
    rows, codes, _ = codes_of(paused(network), tmp_path)
    assert {"flows-not-captured", PAUSED} <= codes
    assert [rows[edge]["lost_lo_frac"] for edge in (BEFORE, BEHIND)] == [0, 0]


TURNS = {
    "keepalives go on": (42_000, 200, False),
    "it takes another time": (400_000, N, False),
    "of other flows": (42_000, N, True),
}
"""How long the other link takes, one keepalive in so many packets, and whether flows end before."""


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_a_link_that_all_take_for_a_while_is_no_pause(
    turn: tuple[int, int, bool], tmp_path: Path
) -> None:
    around_ns, keep_every, is_other = turn
    packets = talk(lambda _: LINE, 100, 20 if is_other else 100)
    then = (0.19999, 0.79990) if is_other else (0.2, 0.9)
    packets = [one._replace(ways=(AROUND,)) if is_then(one.t_ns, then) else one for one in packets]
    for at in range(N // keep_every):
        frame = datagram(("10.0.0.8", "10.0.1.8"), (179, 179), at + 1, at.to_bytes(8))
        packets.append(Packet(START_NS + at * keep_every * GAP_NS + 1_000, (LINE,), frame))
    packets.sort(key=lambda one: one.t_ns)
    network = walk(packets, Edges({**TAKES_NS, AROUND: around_ns}, lost={AROUND: 0.05}))
    rows, codes, n_missed = codes_of(network, tmp_path)
    assert PAUSED not in codes
    assert n_missed == 0
    n_around = sum(packet.ways[0] == AROUND for packet in network.packets)
    row = rows[AROUND]
    assert row["n"] + row["n_lost"] == pytest.approx(n_around, rel=0.02)


@pytest.mark.parametrize("n_each", [6, 7])
@pytest.mark.parametrize("every", [80, 100])
def test_short_flows_past_a_point_one_after_the_other_are_no_pause(
    every: int, n_each: int, tmp_path: Path
) -> None:
    """They show as much as one packet each: each of them may have gone another way."""
    packets = talk(lambda flow: AROUND if flow % every == 1 else LINE, N // n_each, 1)
    _, codes, _ = codes_of(walk(packets, Edges(TAKES_NS, lost={AROUND: 0.01})), tmp_path)
    assert PAUSED not in codes


def test_packets_that_are_late_before_a_point_are_no_pause_of_it(tmp_path: Path) -> None:
    """It captured them, and missed some of them, by the time in which they were sent."""
    network = sampled(40, 4, 0.9)
    for point in ("b", "c"):
        network.seen[point] = [
            one._replace(t_ns=one.t_ns + 250_000_000)
            if network.packets[one.packet].ways[0] == LINE and is_then(one.t_ns, SPAN)
            else one
            for one in network.seen[point]
        ]
        network.seen[point].sort(key=lambda one: one.t_ns)
    _, _, points = told(network, tmp_path)
    assert points == set()
