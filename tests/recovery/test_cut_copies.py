"""Copies of packets that are cut or joined on the way count as duplicated, like those of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pcaplat
from tests.recovery.simulator.effects import EFFECTS, at, base
from tests.recovery.simulator.outcome import run
from tests.recovery.simulator.truth import Truth

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("point", ["up", "far"])
def test_frames_that_a_mirror_doubles_are_counted_by_class(point: str, tmp_path: Path) -> None:
    doubled = at((point,), copied_share=1.0)
    outcome = run(doubled(EFFECTS["cut and joined"](base(seed=5))))
    files = [str(file) for file in outcome.save(tmp_path)]
    truth, n_copied = Truth(outcome), 0
    with pcaplat.merge(files, same_clock=["all"]) as result:
        rows = result.document["segments"]
    for row in rows:
        hop = truth.named(row["near"], row["far"], row["direction"])
        n = hop.duplicated[row["class"]]
        assert abs(row["n_duplicated"] - n) <= abs(row["n"] - len(hop.latencies_ns[row["class"]]))
        n_copied += n if row["class"] != "packet" else 0
    assert n_copied > 50
