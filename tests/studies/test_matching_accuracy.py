"""What stands in the way, one effect at a time: is the truth recovered?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.recovery.simulator.__main__ import scored
from tests.recovery.simulator.effects import ALL
from tests.recovery.simulator.pieces import ETHER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recovery.simulator import Score

PRECISION = 0.9999
NONE = frozenset({0})
WHOLE, IDENTICAL, SOME_LOST = 0.999, 0.99, 0.998
HELD = {
    "plain": WHOLE,
    "vxlan": WHOLE,
    "vxlan on port 8472": WHOLE,
    "geneve": WHOLE,
    "erspan II": WHOLE,
    "erspan III": WHOLE,
    "esp": WHOLE,
    "wireguard": WHOLE,
    "non-IP frames": WHOLE,
    "routed": WHOLE,
    "VLAN changed": WHOLE,
    "DSCP rewritten": WHOLE,
    "MSS clamped": WHOLE,
    "checksum offload": WHOLE,
    "cut": WHOLE,
    "cut, length 0": WHOLE,
    "joined": WHOLE,
    "cut and joined": WHOLE,
    "cut and joined, loss": WHOLE,
    "identical packets": IDENTICAL,
    "identical packets, loss": IDENTICAL,
    "flows of identical packets only, loss": IDENTICAL,
    "identical packets 60 us apart, loss": IDENTICAL,
    "heartbeats": IDENTICAL,
    "pure ACKs, loss": IDENTICAL,
    "resent byte for byte": IDENTICAL,
    "IP ID wraps": WHOLE,
    "mirror copies": WHOLE,
    "some copies": WHOLE,
    "doubled on the way": WHOLE,
    "two points in a file, routed": WHOLE,
    "two points in a file, VLANs": WHOLE,
    "hairpin": WHOLE,
    "any capture": WHOLE,
    "SNAT": WHOLE,
    "DNAT": WHOLE,
    "twice NAT": WHOLE,
    "NAT64": WHOLE,
    "NAT, ports reused": WHOLE,
    "NAT, sequence numbers": WHOLE,
    "NAT, ICMP errors": WHOLE,
    "fragments": SOME_LOST,
    "fragments, cut on the way": SOME_LOST,
    "fragments, joined at the end": SOME_LOST,
    "outer fragments": WHOLE,
    "snap 96": WHOLE,
    "snap lengths differ": WHOLE,
    "snap 96, vxlan": WHOLE,
    "snap 128, vxlan": WHOLE,
    "loss": SOME_LOST,
    "mirror drops 20 %": WHOLE,
    "ECMP": WHOLE,
    "LAG, packet by packet": WHOLE,
    "2 points": WHOLE,
    "8 points": WHOLE,
    "clocks apart": WHOLE,
    "timestamps of 1 us": WHOLE,
    "file formats": WHOLE,
    "file formats of 1 us": WHOLE,
    "files unsorted": WHOLE,
}


def assert_right(score: Score, recall: float, n_left_out: frozenset[int] = NONE) -> None:
    """Pairs are right, copies are called copies, and segments count what happened."""
    counts = score.counts()["all"]
    assert score.n_wrong == score.n_jumps == score.n_copies_missed == 0
    assert counts.recall >= recall, counts
    n_ambiguous = int((score.status == "ambiguous").sum())
    for row in score.figures:
        if counts.n_found == counts.n:
            assert -row.n in n_left_out
            assert (row.n_duplicated, row.n_reordered, row.n_lost_bytes) == (0, 0, 0)
            assert -n_ambiguous <= row.n_lost <= 0


def _left_out(name: str, score: Score) -> frozenset[int]:
    """Frames that no segment has, per direction: those without IP, where nobody knows their way."""
    if name != "any capture":
        return NONE
    is_ether = score.truth.class_of == ETHER
    ways = (is_ether & (score.truth.forward == way) for way in (True, False))
    return NONE | {int(way.sum()) for way in ways}


@pytest.mark.parametrize("name", HELD)
def test_the_truth_is_recovered(name: str, tmp_path: Path) -> None:
    score = scored(name, tmp_path, 2_000)
    assert len(score.truth.edges.piece) > 1_900
    assert_right(score, HELD[name], _left_out(name, score))


@pytest.mark.slow
@pytest.mark.parametrize("n_packets", [20_000, 200_000])
@pytest.mark.parametrize("name", HELD)
def test_the_truth_is_recovered_at_any_size(name: str, n_packets: int, tmp_path: Path) -> None:
    score = scored(name, tmp_path, n_packets)
    assert score.precision >= PRECISION
    assert score.counts()["all"].recall >= HELD[name]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
@pytest.mark.parametrize("name", HELD)
def test_the_truth_is_recovered_at_any_seed(name: str, seed: int, tmp_path: Path) -> None:
    score = scored(name, tmp_path, 5_000, seed)
    assert_right(score, HELD[name], _left_out(name, score))


def test_drops_of_a_mirror_change_no_latency_and_lose_nothing(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("all", "some")]
    for folder in folders:
        folder.mkdir()
    whole, some = (
        {(r["near"], r["far"], r["direction"]): r for r in score.result.document["segments"]}
        for score in (
            scored("plain", folders[0], 5_000),
            scored("mirror drops 20 %", folders[1], 5_000),
        )
    )
    assert whole.keys() == some.keys()
    for key, row in some.items():
        assert row["n_lost"] == 0
        # 20 % fewer, of a latency that is some 500 ns wide for each link
        assert abs(row["mean_ns"] - whole[key]["mean_ns"]) < 4 * 1_000 / row["n"] ** 0.5
    assert some["leaf", "spine", "forward"]["n"] < 0.7 * whole["leaf", "spine", "forward"]["n"]


def test_the_page_has_a_row_for_every_effect() -> None:
    rows = (ROOT / "docs" / "evaluation" / "matching_accuracy.md").read_text("utf-8").splitlines()
    named = {row.split(" | ")[0].removeprefix("| ") for row in rows if row.startswith("| ")}
    assert set(ALL) <= named
    assert set(HELD) <= set(ALL)
