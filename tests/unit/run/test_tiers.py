"""The share of frames that each tier of matching decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pcaplat
from tests.laws.test_more_captures import TWINS
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, base

if TYPE_CHECKING:
    from pathlib import Path


def test_what_nothing_repeats_is_looked_up_and_the_rest_compared(tmp_path: Path) -> None:
    files = [str(path) for path in run(EFFECTS["clocks apart"](base(1_500, 4))).save(tmp_path)]
    matching = pcaplat.merge(files).document["matching"]
    tiers = matching["tiers"]
    n_decided = matching["n_frames"] - matching["n_undecoded"]
    assert tiers["n_plain"] + tiers["n_compared"] == n_decided
    assert tiers["n_plain"] > 0.9 * n_decided


def test_packets_that_repeat_are_compared(tmp_path: Path) -> None:
    files = [str(path) for path in run(TWINS).save(tmp_path)]
    tiers = pcaplat.merge(files).document["matching"]["tiers"]
    assert tiers["n_compared"] > 0.2 * tiers["n_plain"] > 0
