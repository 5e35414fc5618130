"""A byte that is sent again and again is no sign that packets are cut or joined on the way."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import pcaplat
from tests.recovery.networks.keepalives import LINE, sessions

if TYPE_CHECKING:
    from pathlib import Path

N = 1_600


@pytest.mark.parametrize("clocks", ["one clock", "own clocks"])
@pytest.mark.parametrize("seed", [2, 3])
def test_no_probe_is_paired_with_what_it_repeats(clocks: str, seed: int, tmp_path: Path) -> None:
    has_own_clocks = clocks == "own clocks"
    made = sessions(N, seed, has_own_clocks=has_own_clocks)
    columns = ("up_file", "up_frame", "down_file", "down_frame")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pcaplat.PcaplatWarning)
        same_clock = [] if has_own_clocks else ["all"]
        with pcaplat.merge(made.save(tmp_path), same_clock=same_clock) as result:
            rows = result.matches.select(columns).collect().rows()
            codes = {row["code"] for row in result.document["warnings"]}
    pairs = [(made.place(up, a), made.place(down, b)) for up, a, down, b in rows]
    assert [(up, down) for up, down in pairs if up[1] != down[1]] == []
    assert "fragmented-on-the-way" not in codes
    at_ns = made.times()
    both = [at_ns[up].keys() & at_ns[down].keys() for up, down in pairwise(LINE)]
    assert len(pairs) >= 0.98 * sum(map(len, both))
