"""Flows that move to another branch: losses before the fork are on the branch of then."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
