"""A device writes IP identifications of its own, of some flows, or of some packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.recovery.networks import identifiers
from tests.recovery.networks.judge import lost_wrong, merge_network, pairs_wrong, wrong_in_silence

if TYPE_CHECKING:
    from pathlib import Path

N = 1_000
BACK = ("outside", "inside")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("translated", ["NAT", "no NAT"])
@pytest.mark.parametrize(("ids", "n_flows"), [("lucky", N // 4), ("mixed", 6), ("mixed", N // 16)])
def test_packets_that_keep_their_id_do_not_make_others_lost(
    ids: str, n_flows: int, translated: str, seed: int, tmp_path: Path
) -> None:
    """By chance, or on another way: the rest of the flow shows that it is rewritten."""
    made = identifiers.network(
        N,
        seed,
        has_own_clocks=False,
        ids=("kept", ids),
        is_translated=translated == "NAT",
        n_flows=n_flows,
    )
    found = merge_network(made, tmp_path, same_clock=["all"])
    assert wrong_in_silence(found) == {}
    assert found.rows[BACK]["n_lost"] == 0


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n_flows", [1_000, 4_000])
@pytest.mark.parametrize("n_rewritten", [0, 200, 2_000])
def test_equal_packets_of_flows_that_keep_their_ids_stay_apart(
    n_rewritten: int, n_flows: int, seed: int, tmp_path: Path
) -> None:
    """Of two the first is lost: the second is none with another identification."""
    made = identifiers.asked_twice(4_000, seed, n_rewritten=n_rewritten, n_flows=n_flows)
    found = merge_network(made, tmp_path, ["all"])
    assert pairs_wrong(found) == []
    assert lost_wrong(found) == {}
    for edge, took_ns in found.crossings.items():
        assert found.rows[edge]["n"] == len(took_ns)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n_flows", [1_000, 4_000])
def test_equal_packets_stay_apart_where_points_miss_some(
    n_flows: int, seed: int, tmp_path: Path
) -> None:
    """The first is lost, and the second missed: alone they are like one with another ID."""
    made = identifiers.asked_twice(4_000, seed, n_rewritten=1_000, n_flows=n_flows, missed=0.05)
    assert pairs_wrong(merge_network(made, tmp_path, ["all"])) == []


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("ahead", [7, 1_000])
def test_equal_packets_with_ids_that_a_device_adds_to(
    ahead: int, seed: int, tmp_path: Path
) -> None:
    """That a point saw another one with the new ID long before shows nothing."""
    made = identifiers.heartbeats(3_000, seed, ahead=ahead)
    found = merge_network(made, tmp_path, ["all"])
    assert pairs_wrong(found) == []
    assert found.rows[BACK[::-1]]["n_lost"] <= len(made.lost)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_point_that_sees_few_packets_does_not_make_others_lost(seed: int, tmp_path: Path) -> None:
    """Two packets, each seen by one of two points, say nothing about who sees equal IDs."""
    made = identifiers.asked_twice(
        5_000, seed, n_rewritten=3_000, n_flows=1_000, missed=0.05, seldom=0.04
    )
    found = merge_network(made, tmp_path, ["all"])
    assert pairs_wrong(found) == []
    for edge, took_ns in found.crossings.items():
        assert found.rows[edge]["n"] == len(took_ns)
