"""Address pairs that no two points saw answered in common are oriented by single packets."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey import Observations, survey
from tests.support.samples import Walk, Watcher, point_of, sample_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pcaplat.model.arrays import Ints
    from pcaplat.model.path import Findings

MS = 1_000_000
CLOCKS = {"a": 0, "b": 7_777 * MS, "c": -3_333 * MS}


def walked(order: str, kept: Callable[[str, Observations], Observations]) -> Findings:
    """Survey the points of one path, of which each sees only a part of the packets."""
    watchers = tuple(
        Watcher(name, offset_ns, drift_ppm=40.0 * at)
        for at, (name, offset_ns) in enumerate(CLOCKS.items())
    )
    sample, points = Walk(watchers).sample()
    seen = {point.name: kept(point.name, sample.seen_at(point)) for point in points}
    named = [point_of(name, file, seen[name].t_ns) for file, name in enumerate(order)]
    return survey(sample_of([(file, seen[name]) for file, name in enumerate(order)]), named)


def one_of(seen: Observations, pair: int, *, is_toward: bool) -> Ints:
    """Which packet of an address pair and direction is the middle one."""
    rows = np.flatnonzero((seen.pair == pair) & (seen.is_toward == is_toward))
    return rows[np.argsort(seen.t_ns[rows])][len(rows) // 2 :][:1]


@pytest.mark.parametrize("order", ["".join(some) for some in permutations("abc")])
@pytest.mark.parametrize("is_toward", [True, False])
@pytest.mark.parametrize("where", ["b", "a"])
def test_one_packet_that_all_points_saw_relates_two_groups(
    order: str, where: str, *, is_toward: bool
) -> None:
    """The ends see one address pair answered, the last two points the others."""

    def kept(name: str, seen: Observations) -> Observations:
        is_first = seen.pair == 0
        if name == "c":
            return seen
        own = np.flatnonzero(is_first if name == "a" else ~is_first)
        other = 0 if name == "b" else 1_000_003
        single = one_of(seen, other, is_toward=is_toward) if name == where else own[:0]
        return seen.at(np.sort(np.concatenate((own, single))))

    found = walked(order, kept)
    assert "".join(found.name(point) for point in found.along) in {"abc", "cba"}
    # packets from the smaller address of the second pair, and of no other, go from c to a
    ways = found.toward_is_forward
    assert ways[0] == ways[2_000_006] != ways[1_000_003]
