"""Where packets to several receivers go, by the senders of all of them together."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey.delays.relations import NOTHING_SHARED, Shared
from pcaplat.stages.survey.path_order.groups import goes_by_senders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pcaplat.model.points import Pair

N = 60
CLOCKS_NS = (0, 5_000_003, -2_000_000_000, 37_000_000_000)


def shared(at_ns: Sequence[Sequence[int]]) -> dict[Pair, Shared]:
    """What points share of packets to groups, each of which passes them at times of its own."""
    chance = np.random.default_rng(3)
    n_points, way = len(at_ns[0]), np.repeat(np.arange(len(at_ns)), N)
    stamps_ns = np.repeat(np.array(at_ns), N, axis=0) + np.array(CLOCKS_NS[:n_points])
    stamps_ns += chance.integers(0, 300, stamps_ns.shape)
    nothing = np.zeros(len(way), np.int64)
    columns = {"pair": way, "flow": way, "is_toward": nothing == 0, "n_hops": nothing}
    return {
        (one, other): replace(
            NOTHING_SHARED,
            t_ns=chance.permutation(len(way)) * 60_000,
            d_ns=stamps_ns[:, other] - stamps_ns[:, one],
            is_directed=nothing != 0,
            is_strong=nothing == 0,
            again_ns=nothing,
            **columns,
        )
        for one, other in combinations(range(n_points), 2)
    }


@pytest.mark.parametrize("sides_ns", [(700, 700, 700), (300, 20_000, 2_000), (500, 900, 40_000, 5)])
def test_ports_of_a_switch_are_told_whatever_they_take(sides_ns: tuple[int, ...]) -> None:
    points = range(len(sides_ns))
    # each sends: it takes what the sender's side and the receiver's side take
    at_ns = [
        [0 if to == by else 600 + sides_ns[by] + sides_ns[to] for to in points] for by in points
    ]
    for (one, other), goes in goes_by_senders(shared(at_ns)).items():
        assert goes == {(by, True): (by == one) - (by == other) for by in points}
    assert goes_by_senders(shared(at_ns))


@pytest.mark.parametrize(
    "at_ns",
    [
        # one sender; larger packets take longer on every link
        [[0, 3_000 + by, 7_000 + 2 * by, 43_000 + 2 * by] for by in (0, 1_500, 6_000, 12_000)],
        # one sender whose groups are all alike
        [[0, 3_000, 7_000]] * 3,
        # the ends of a line send, the middle does not
        [[0, 3_000, 7_000], [7_000, 4_000, 0]],
    ],
    ids=["sizes", "alike", "a line"],
)
def test_where_not_every_point_sends_nothing_is_told(at_ns: list[list[int]]) -> None:
    assert goes_by_senders(shared(at_ns)) == {}


def test_two_points_tell_nothing() -> None:
    assert goes_by_senders(shared([[0, 2_000], [2_000, 0]])) == {}
