"""Packets that are equal to the byte: what is paired is right, what cannot be told is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from tests.recovery.simulate_twins import Counted, Twins, capture, count, save

if TYPE_CHECKING:
    from pathlib import Path

CASES: dict[str, dict[str, Any]] = {
    "ipv6": {"lost_share": 0.01},
    "much-loss": {"lost_share": 0.05},
    "any-order": {"lost_share": 0.01, "keeps_order": False},
    "pairs": {"lost_share": 0.05, "train": 2},
    "trains": {"lost_share": 0.05, "train": 3, "keeps_order": False},
    "mirror-drops": {"missed_share": 0.2, "lost_share": 0.01},
    "mirror-copies-all": {"copied_share": 1.0, "lost_share": 0.01},
    "mirror-copies-some": {"copied_share": 0.05, "lost_share": 0.01},
    "pairs-copied": {"copied_share": 1.0, "lost_share": 0.05, "train": 2},
    "pure-acks": {"kind": "ack4", "marked": 10, "lost_share": 0.01},
    "numbers-come-around": {"kind": "wrap4", "lost_share": 0.01, "copied_share": 0.05},
    "queue": {"burst_ns": 40_000, "lost_share": 0.01},
    "queue-mirror-drops": {"burst_ns": 40_000, "missed_share": 0.2},
    "requests-and-responses": {"both_ways": True, "lost_share": 0.01},
}
QUICK_NS = (5_000, 34_000)
ALL_NS = (2_000, 5_000, 10_000, 34_000, 100_000, 1_000_000)


def counted(scenario: Twins, folder: Path) -> Counted:
    """Merge what the points saw and compare with the truth."""
    seen = capture(scenario)
    with pcaplat.merge(save(seen, folder), same_clock=["all"]) as result:
        return count(seen, result)


@pytest.mark.parametrize("spacing_ns", QUICK_NS)
@pytest.mark.parametrize("case", CASES)
def test_no_pair_is_wrong(case: str, spacing_ns: int, tmp_path: Path) -> None:
    found = counted(Twins(spacing_ns=spacing_ns, n=500, seed=3, **CASES[case]), tmp_path)
    assert found.n_wrong == 0
    assert found.n_right + found.n_ambiguous >= 0.9 * found.n_possible


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_no_pair_is_wrong_at_any_spacing(case: str, tmp_path: Path) -> None:
    found = [
        counted(Twins(spacing_ns=spacing_ns, seed=seed, **CASES[case]), tmp_path)
        for spacing_ns in ALL_NS
        for seed in range(1, 11)
    ]
    assert sum(one.n_possible for one in found) > 40_000
    assert sum(one.n_wrong for one in found) == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_equal_packets_at_ordinary_spacing_are_found(seed: int, tmp_path: Path) -> None:
    scenario = Twins(is_regular=True, both_ways=True, lost_share=0.01, seed=seed)
    found = counted(scenario, tmp_path)
    assert found.n_wrong == 0
    assert found.n_right >= 0.99 * found.n_possible


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_copies_of_equal_packets_are_told_from_the_next(seed: int, tmp_path: Path) -> None:
    scenario = Twins(spacing_ns=100_000, is_regular=True, copied_share=1.0, seed=seed)
    found = counted(scenario, tmp_path)
    assert found.n_wrong == 0
    assert found.n_right >= 0.99 * found.n_possible
