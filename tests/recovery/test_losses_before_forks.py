"""Losses before a fork: each receiver has its own; which branch had them, nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.recovery.networks.spines import SPINES, spines
from tests.support.networks import START_NS, Edge, Edges, Packet, Way, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

N, GAP_NS = 5_000, 300_000
RECEIVERS = ("r1", "r2", "r3")


@pytest.mark.parametrize("edge", [("sender", "core"), ("core", "switch"), ("switch", "all")])
@pytest.mark.parametrize("lost", [0.01, 0.05])
def test_the_whole_path_to_a_receiver_loses_what_was_lost_before_the_fork(
    lost: float, edge: Edge, tmp_path: Path
) -> None:
    chance = np.random.default_rng(1)
    ways: tuple[Way, ...] = tuple(("sender", "core", "switch", name) for name in RECEIVERS)
    takes_ns: dict[Edge, int] = {("switch", name): 5_000 + 900 * len(name) for name in RECEIVERS}
    takes_ns |= {("sender", "core"): 3_000, ("core", "switch"): 4_000}
    ends = ("10.0.0.1", "239.1.1.1")
    packets = [
        Packet(
            START_NS + at * GAP_NS,
            ways,
            datagram(ends, (4_000, 9_000), at % 65_535 + 1, chance.bytes(60)),
        )
        for at in range(N)
    ]
    is_dropped = chance.random(N) < lost
    points = ("core", "switch", *RECEIVERS)
    behind = points[points.index(edge[1]) if edge[1] in points else 2 :]
    network = walk(
        packets,
        Edges(takes_ns),
        missed=lambda point, at: point in behind and bool(is_dropped[at]),
    )
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], keep_rows=False) as result:
        segments = [row for row in result.document["segments"] if row["n"]]
    n_lost = {frozenset((row["near"], row["far"])): row["n_lost"] for row in segments}
    n_dropped = int(is_dropped.sum())
    lossy = [frozenset((edge[0], name)) for name in RECEIVERS] if edge[1] == "all" else [set(edge)]
    assert {n_lost[frozenset(one)] for one in lossy} == {n_dropped}
    (whole,) = (n for one, n in n_lost.items() if "sender" in one and "core" not in one)
    assert whole == n_dropped


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("by", ["flow", "packet"])
def test_the_intervals_of_branches_hold_what_each_lost(by: str, seed: int, tmp_path: Path) -> None:
    """One loses packets before it captures them, and the other none."""
    network = spines(N, seed, {("leaf", "s1"): 0.03}, by=by)
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], keep_rows=False) as result:
        rows = {(row["near"], row["far"]): row for row in result.document["segments"]}
        codes = {one["code"] for one in result.document["warnings"]}
    n_lost = len(network.lost)
    told = [rows["leaf", name] for name in SPINES]
    assert sum(row["n_lost"] for row in told) == n_lost
    for row, n in zip(told, (n_lost, 0), strict=True):
        assert row["lost_lo_frac"] <= n / (row["n"] + n) <= row["lost_hi_frac"]
        assert row["n_lost_divided"] >= row["n_lost"] - 2
    assert "branch-unknown" in codes
