"""Equal frames that do not say which way they go, from both ends: none is paired with another."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pytest

import pcaplat
from tests.recovery.networks.announced import announced, asked
from tests.recovery.networks.multicast import LINE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.networks import Network

KINDS = {"asked": asked, "announced": announced}
N = 1_000


class Paired(NamedTuple):
    """What became of equal frames, and what may become of them at most."""

    n_possible: int
    n_right: int
    n_wrong: int
    """Pairs of two packets, and those that arrive before they were sent."""
    codes: set[str]


def merged(made: Network, folder: Path, *, has_own_clocks: bool) -> Paired:
    """Merge what the points saw, and compare the pairs of neighbours with the truth."""
    same_clock = [] if has_own_clocks else ["all"]
    columns = ("up_file", "up_frame", "down_file", "down_frame")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pcaplat.PcaplatWarning)
        with pcaplat.merge(made.save(folder), same_clock=same_clock) as result:
            rows = result.matches.select(columns).collect().rows()
            codes = {row["code"] for row in result.document["warnings"]}
    at_ns, n_right, n_wrong = made.times(), 0, 0
    for up_file, up_frame, down_file, down_frame in rows:
        (up, one), (down, other) = made.place(up_file, up_frame), made.place(down_file, down_frame)
        if one in made.undirected or other in made.undirected:
            is_right = one == other and at_ns[up][one] < at_ns[down][other]
            n_right += is_right and abs(LINE.index(up) - LINE.index(down)) == 1
            n_wrong += not is_right
    both = (
        at_ns[up].keys() & at_ns[down].keys() & made.undirected.keys()
        for up, down in pairwise(LINE)
    )
    return Paired(sum(map(len, both)), n_right, n_wrong, codes)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("clocks", ["one clock", "own clocks"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("every_ns", "seed"), [(20_000, 1), (35_000, 2), (50_000, 3)])
def test_no_pair_of_frames_close_together_is_wrong(
    kind: str, clocks: str, every_ns: int, seed: int, tmp_path: Path
) -> None:
    has_own_clocks = clocks == "own clocks"
    made = KINDS[kind](N, seed, has_own_clocks=has_own_clocks, every_ns=every_ns)
    assert merged(made, tmp_path, has_own_clocks=has_own_clocks).n_wrong == 0


@pytest.mark.parametrize("clocks", ["one clock", "own clocks"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1])
def test_frames_that_lie_apart_are_found_either_way(
    kind: str, clocks: str, seed: int, tmp_path: Path
) -> None:
    has_own_clocks = clocks == "own clocks"
    made = KINDS[kind](N, seed, has_own_clocks=has_own_clocks, every_ns=200_000)
    found = merged(made, tmp_path, has_own_clocks=has_own_clocks)
    assert found.n_possible > 200
    assert (found.n_right, found.n_wrong) == (found.n_possible, 0)
    # they are in no figure, and leave none open
    assert "identical-packets" not in found.codes
