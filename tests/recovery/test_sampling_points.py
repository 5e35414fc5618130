"""A point that captures some of the packets that pass it, and one that some of the flows pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.support.networks import START_NS, Edges, Packet, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

LINE, AROUND = ("a", "b", "c"), ("a", "c")
TAKES_NS = {("a", "b"): 20_000, ("b", "c"): 22_000, ("a", "c"): 42_000}
N, GAP_NS = 6_000, 300_000
FLOWS = {"few flows": (4, 4), "flows of 150 packets": (40, 4), "flows of 10 packets": (600, 4)}
"""How many, and between how many hosts."""


def segments(kind: str, seen_frac: float, folder: Path, *, of: str) -> tuple[dict, dict]:  # type: ignore[type-arg]
    """Rows by their ends, and the row of the point in the middle."""
    chance = np.random.default_rng(1)
    n_flows, n_hosts = FLOWS[kind]
    passes = chance.permutation(n_flows) < seen_frac * n_flows
    is_captured = chance.random(N) < seen_frac
    packets = []
    n_at_once = min(n_flows, 20)
    for at in range(N):
        flow = at * n_flows // N // n_at_once * n_at_once + int(chance.integers(n_at_once))
        ends = (f"10.0.0.{1 + flow % n_hosts}", f"10.0.1.{1 + flow % n_hosts}")
        frame = datagram(ends, (4_000 + flow, 9_000), at % 65_535 + 1, chance.bytes(60))
        way = LINE if of == "packets" or passes[flow] else AROUND
        packets.append(Packet(START_NS + at * GAP_NS, (way,), frame))
    network = walk(
        packets,
        Edges(TAKES_NS),
        missed=lambda point, at: of == "packets" and point == "b" and not is_captured[at],
    )
    files = network.save(folder)
    with pcaplat.merge(files, same_clock=["all"], path=LINE, keep_rows=False) as result:
        rows = {(row["near"], row["far"]): dict(row) for row in result.document["segments"]}
        (point,) = (dict(row) for row in result.document["points"] if row["point"] == "b")
    return rows, point


@pytest.mark.parametrize("seen_frac", [0.5, 0.2, 0.1, 0.03])
@pytest.mark.parametrize("kind", FLOWS)
def test_what_a_point_did_not_sample_has_no_way_of_its_own(
    kind: str, seen_frac: float, tmp_path: Path
) -> None:
    rows, point = segments(kind, seen_frac, tmp_path, of="packets")
    assert all(row["n_lost"] == 0 for row in rows.values())
    assert point["missed_frac"] == pytest.approx(1 - seen_frac, abs=0.02)
    # the whole path has all packets, but those before the first and after the last sample
    assert rows["a", "c"]["n"] > 0.97 * N


@pytest.mark.parametrize("seen_frac", [0.5, 0.2, 0.1])
@pytest.mark.parametrize("kind", list(FLOWS)[1:])
def test_what_some_flows_pass_has_a_way_around_it(
    kind: str, seen_frac: float, tmp_path: Path
) -> None:
    rows, point = segments(kind, seen_frac, tmp_path, of="flows")
    assert point["n_missed"] == 0
    assert rows["a", "c"]["n"] == pytest.approx((1 - seen_frac) * N, abs=0.05 * N)
