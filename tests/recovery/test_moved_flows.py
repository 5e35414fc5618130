"""Flows that move to another branch: losses before the fork are on the branch of then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.support.networks import START_NS, Edges, Network, Packet, Way, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

TO_LEFT, FROM_LEFT = ("core", "left"), ("left", "edge")
TO_RIGHT, FROM_RIGHT = ("core", "right"), ("right", "edge")
LEFT: Way = (*TO_LEFT, "edge")
RIGHT: Way = (*TO_RIGHT, "edge")
TAKES_NS = {TO_LEFT: 20_000, TO_RIGHT: 26_000, FROM_LEFT: 31_000, FROM_RIGHT: 37_000}
N, N_FLOWS, GAP_NS = 6_000, 20, 300_000

Moves = dict[bool, tuple[Way, Way]]
"""Of flows of either half: the way they take, and the one they take later."""

MOVES: dict[str, Moves] = {
    "a link goes down": {True: (LEFT, RIGHT), False: (RIGHT, RIGHT)},
    "a link comes up": {True: (LEFT, LEFT), False: (LEFT, RIGHT)},
    "they change places": {True: (LEFT, RIGHT), False: (RIGHT, LEFT)},
}


def network_of(moves: Moves, edges: Edges, seed: int, moved_at: float) -> Network:
    """Packets of several flows between the same two addresses."""
    chance = np.random.default_rng(seed)
    packets = []
    for at in range(N):
        flow = int(chance.integers(N_FLOWS))
        ways = moves[flow % 2 == 0]
        way = ways[at >= moved_at * N]
        frame = datagram(
            ("10.0.0.1", "10.0.0.2"), (4_000 + flow, 9_000), at % 65_535 + 1, chance.bytes(60)
        )
        packets.append(Packet(START_NS + at * GAP_NS, (way,), frame))
    return walk(packets, edges, seed)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("moved_at", [0.3, 0.71])
@pytest.mark.parametrize(
    "lost", [{TO_LEFT: 0.02}, {TO_RIGHT: 0.02}, {TO_LEFT: 0.01, TO_RIGHT: 0.02}]
)
@pytest.mark.parametrize("kind", MOVES)
def test_losses_are_on_the_branch_that_their_flow_took_then(
    kind: str, lost: dict[tuple[str, str], float], moved_at: float, seed: int, tmp_path: Path
) -> None:
    network = network_of(MOVES[kind], Edges(TAKES_NS, lost=lost), seed, moved_at)
    files = network.save(tmp_path)
    with pcaplat.merge(files, same_clock=["all"], keep_rows=False) as result:
        found = {
            (row["near"], row["far"]): row["n_lost"]
            for row in result.document["segments"]
            if row["near"] == "core" and row["far"] != "edge"
        }
    true = {edge: sum(edge == where for where, _ in network.lost) for edge in (TO_LEFT, TO_RIGHT)}
    assert sum(found.values()) == len(network.lost)
    # when it moved is known within a 64th of the time or two
    assert all(abs(found[edge] - n) <= 3 for edge, n in true.items()), (found, true)


@pytest.mark.parametrize("moved_at", [0.3, 0.71])
@pytest.mark.parametrize("kind", MOVES)
def test_the_whole_path_loses_what_was_to_go_to_its_end(
    kind: str, moved_at: float, tmp_path: Path
) -> None:
    """Two sites have one address, and the whole path leads to one of them."""
    sites = {way: ("client", *way[:2]) for way in (LEFT, RIGHT)}
    moves = {half: (sites[one], sites[other]) for half, (one, other) in MOVES[kind].items()}
    first = ("client", "core")
    network = network_of(moves, Edges(TAKES_NS | {first: 11_000}, lost={first: 0.02}), 1, moved_at)
    files = network.save(tmp_path)
    with pcaplat.merge(files, same_clock=["all"], keep_rows=False) as result:
        found = {
            (row["near"], row["far"]): row["n_lost"]
            for row in result.document["segments"]
            if row["n_lost"] is not None
        }
    assert found[first] == len(network.lost)
    (end,) = (far for near, far in found if near == "client" and far != "core")
    n_to_end = sum(network.packets[number].ways[0][-1] == end for _, number in network.lost)
    assert abs(found["client", end] - n_to_end) <= 3


def holds(row: dict[str, Any], n_lost: int) -> bool:
    """Tell whether the interval of the loss ratio holds so many losses."""
    low: float = row["lost_lo_frac"]
    return bool(low - 1e-9 <= n_lost / (row["n"] + n_lost) <= row["lost_hi_frac"])


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("share", [0.002, 0.05, 0.2])
@pytest.mark.parametrize("other", [RIGHT, LEFT], ids=["of two", "standby"])
def test_the_branch_that_failed_may_have_lost_what_came_until_the_others_were_used(
    other: Way, share: float, seed: int, tmp_path: Path
) -> None:
    moves = {True: (LEFT, RIGHT), False: (other, RIGHT)}
    network = network_of(moves, Edges(TAKES_NS), seed, 0.4 + share)
    fails = [0.4 * N <= at < (0.4 + share) * N for at in range(N)]
    lost = {at for at in range(N) if fails[at] and network.packets[at].ways[0] == LEFT}
    for point in ("left", "edge"):
        network.seen[point] = [one for one in network.seen[point] if one.packet not in lost]
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], keep_rows=False) as result:
        rows = {(row["near"], row["far"]): dict(row) for row in result.document["segments"]}
    assert holds(rows[TO_LEFT], len(lost))
    assert holds(rows[TO_RIGHT], 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_branch_that_samples_does_not_show_which_one_a_flow_took(
    seed: int, tmp_path: Path
) -> None:
    """Packets take either, one by one, and one in ten of the left ones is captured there."""
    chance = np.random.default_rng(seed)
    moves: Moves = dict.fromkeys((True, False), (RIGHT, RIGHT))
    made = network_of(moves, Edges(TAKES_NS), seed, 0.5)
    packets = [one._replace(ways=((LEFT, RIGHT)[chance.integers(2)],)) for one in made.packets]
    is_missed = chance.random(N) < 0.9
    network = walk(
        packets,
        Edges(TAKES_NS, lost={TO_LEFT: 0.03}),
        seed,
        missed=lambda point, at: point == "left" and bool(is_missed[at]),
    )
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], keep_rows=False) as result:
        rows = {(row["near"], row["far"]): dict(row) for row in result.document["segments"]}
    row, n_sent = rows[TO_LEFT], sum(packet.ways[0] == LEFT for packet in packets)
    assert row["lost_lo_frac"] <= len(network.lost) / n_sent <= row["lost_hi_frac"]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("missed", [0.05, 0.5, 0.9])
def test_the_branch_that_a_flow_takes_missed_its_packets(
    missed: float, seed: int, tmp_path: Path
) -> None:
    is_missed = np.random.default_rng(seed).random(N) < missed
    stay: Moves = {True: (LEFT, LEFT), False: (RIGHT, RIGHT)}
    made = network_of(stay, Edges(TAKES_NS), seed, 0.5)
    network = walk(
        made.packets,
        Edges(TAKES_NS, lost={TO_LEFT: 0.03}),
        seed,
        missed=lambda point, at: point == "left" and bool(is_missed[at]),
    )
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], keep_rows=False) as result:
        n_missed = {row["point"]: row["n_missed"] for row in result.document["points"]}
        codes = {one["code"] for one in result.document["warnings"]}
        rows = {(row["near"], row["far"]): dict(row) for row in result.document["segments"]}
    lost = {number for _, number in network.lost}
    passed = [at for at in range(N) if at not in lost and made.packets[at].ways[0] == LEFT]
    # but for those before its first frame and after its last
    assert n_missed["left"] == pytest.approx(is_missed[passed].sum(), rel=0.03)
    assert n_missed["right"] == 0
    assert "flows-not-captured" not in codes
    row, n_sent = rows[TO_LEFT], sum(packet.ways[0] == LEFT for packet in made.packets)
    assert row["lost_lo_frac"] <= len(lost) / n_sent <= row["lost_hi_frac"]
