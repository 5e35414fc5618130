"""What stands in the way, one effect at a time: is the truth recovered?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.simulator.__main__ import scored
from tests.simulator.effects import EFFECTS

if TYPE_CHECKING:
    from pathlib import Path

PRECISION, RECALL = 0.9999, 0.999
KEEP_IDENTITY = (
    "plain",
    "vxlan",
    "vxlan on port 8472",
    "geneve",
    "erspan II",
    "erspan III",
    "esp",
    "wireguard",
    "non-IP frames",
    "routed",
    "VLAN changed",
    "DSCP rewritten",
    "checksum offload",
    "IP ID wraps",
    "mirror copies",
    "some copies",
    "doubled on the way",
    "fragments",
    "snap 96",
    "snap lengths differ",
    "snap 96, vxlan",
    "snap 128, vxlan",
    "mirror drops 20 %",
    "ECMP",
    "2 points",
    "8 points",
    "LAG, packet by packet",
    "clocks apart",
    "stamps of 1 us",
    "file formats",
    "files unsorted",
)


@pytest.mark.parametrize("name", KEEP_IDENTITY)
def test_what_keeps_its_identity_is_found(name: str, tmp_path: Path) -> None:
    score = scored(name, tmp_path, 2_000)
    assert score.n_wrong == 0
    assert score.n_jumps == 0
    assert score.n_copies_missed == 0
    counts = score.counts()["all"]
    assert counts.n > 2_000
    assert counts.recall >= RECALL, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
@pytest.mark.parametrize("name", KEEP_IDENTITY)
def test_what_keeps_its_identity_is_found_at_any_seed(name: str, seed: int, tmp_path: Path) -> None:
    score = scored(name, tmp_path, 20_000, seed)
    assert score.precision >= PRECISION
    assert score.counts()["all"].recall >= RECALL


def test_names_are_of_effects() -> None:
    assert set(KEEP_IDENTITY) <= EFFECTS.keys()
