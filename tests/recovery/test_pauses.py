"""A point in the middle that pauses: losses of that time may be before it or behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from tests.recovery.networks.sampled import GAP_NS, N, sampled
from tests.support.networks import START_NS, Edge, Network

if TYPE_CHECKING:
    from pathlib import Path

BEFORE, BEHIND = ("a", "b"), ("b", "c")
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


@pytest.mark.parametrize("seen_frac", [0.02, 0.2, 0.9, 1.0])
def test_a_point_that_samples_does_not_pause(seen_frac: float, tmp_path: Path) -> None:
    _, _, points = told(sampled(40, 4, seen_frac), tmp_path)
    assert points == set()
