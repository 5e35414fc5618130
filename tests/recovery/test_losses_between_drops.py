"""Losses before a point that drops packets: a difference of counts, which chance moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.support.networks import START_NS, Edges, Packet, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

LINE = ("a", "b", "c", "d")
TAKES_NS = {("a", "b"): 20_000, ("b", "c"): 22_000, ("c", "d"): 21_000}
ENDS = ("10.0.0.1", "10.0.0.2")
N, GAP_NS, SEEDS = 5_000, 500_000, range(1, 9)


def measured(seed: int, lost: float, missed: float, folder: Path) -> tuple[dict[str, Any], int]:
    """The segment before the point that drops packets, and how many were lost on it."""
    chance = np.random.default_rng(seed)
    packets = [
        Packet(
            START_NS + at * GAP_NS,
            (LINE,),
            datagram(ENDS, (4_000 + at % 7, 9_000), at % 65_535 + 1, chance.bytes(60)),
        )
        for at in range(N)
    ]
    is_missed = {point: chance.random(N) < missed for point in LINE[1:-1]}
    edges = Edges(TAKES_NS, lost={LINE[1:3]: lost, LINE[:2]: lost / 50})
    network = walk(
        packets,
        edges,
        seed,
        missed=lambda point, number: point in is_missed and bool(is_missed[point][number]),
    )
    files = network.save(folder)
    with pcaplat.merge(files, same_clock=["all"], path=LINE, keep_rows=False) as result:
        (row,) = [
            dict(row)
            for row in result.document["segments"]
            if (row["near"], row["far"]) == LINE[:2]
        ]
    return row, sum(edge == LINE[:2] for edge, _ in network.lost)


@pytest.mark.parametrize(("lost", "missed"), [(0.05, 0.05), (0.02, 0.02), (0.02, 0.2)])
def test_the_interval_holds_what_was_lost_before_a_point_that_drops_packets(
    lost: float, missed: float, tmp_path: Path
) -> None:
    found = []
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        row, n_lost = measured(seed, lost, missed, folder)
        true = n_lost * (1 - missed) / (row["n"] + n_lost * (1 - missed))
        found.append(row["lost_lo_frac"] <= true <= row["lost_hi_frac"])
        assert row["lost_hi_frac"] * row["n"] < 30, "it says something"
    assert sum(found) >= len(SEEDS) - 1
