"""Packets with several receivers: which way they go, and where they branch."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from pcaplat.stages.survey import Observations
from pcaplat.stages.survey.delays.relations import relate
from pcaplat.stages.survey.path_order.links import find_edges
from pcaplat.stages.survey.path_order.receivers import (
    SegmentsSeen,
    branches_of_groups,
    with_groups,
)
from pcaplat.stages.survey.path_order.routes import Routes

GROUP, N = 7, 60
EDGES = [(0, 1), (1, 2), (1, 3)]
OFFSETS_NS = (0, 4_000_000_000, -3_000_000, 90_000)


def seen(
    *, later_ns: tuple[int, ...], offsets_ns: tuple[int, ...] = (0, 0, 0, 0)
) -> list[Observations]:
    """A group's packets at a sender, a switch and two receivers, each after its own wait."""
    chance = np.random.default_rng(1)
    key, true_ns = np.arange(N), 1_000_000 * np.arange(N)
    arrived = [true_ns]
    for at, ns in enumerate(later_ns, 1):
        waited_ns = np.rint(ns + chance.exponential(2_000, N)).astype(np.int64)
        arrived.append(arrived[0 if at == 1 else 1] + waited_ns)
    no, one = np.zeros(N, np.bool_), np.ones(N, np.int64)
    return [
        Observations(
            key, one * GROUP, one * GROUP, ~no, no, one, t_ns + off, 64 * one, 0 * one, one
        )
        for t_ns, off in zip(arrived, offsets_ns, strict=True)
    ]


def ways(points: list[Observations], domains: tuple[int, ...]) -> dict[int, bool]:
    seen = SegmentsSeen(relate(points)[0], EDGES, Routes({}, [[0, 1, 2, 3]]), domains)
    return dict(with_groups(seen, points).toward)


def test_one_clock_tells_which_way_a_group_goes() -> None:
    points = seen(later_ns=(3_000, 5_000, 4_000))
    assert ways(points, (0, 0, 0, 0)) == {GROUP: True}
    assert branches_of_groups(points, EDGES, Routes({GROUP: True}, [[0, 1, 2, 3]])) == {
        GROUP: EDGES
    }


def test_clocks_of_their_own_tell_nothing() -> None:
    assert ways(seen(later_ns=(3_000, 5_000, 4_000), offsets_ns=OFFSETS_NS), (0, 1, 2, 3)) == {}


def test_what_is_born_in_the_middle_goes_neither_way() -> None:
    assert ways(seen(later_ns=(-9_000, 5_000, 4_000)), (0, 0, 0, 0)) == {}


def test_where_ways_part_the_order_tells_no_way_of_a_group() -> None:
    """Two edges of a ring tell nothing: packets may have come by others than the path has."""
    points = seen(later_ns=(3_000, 5_000, 4_000))
    points[3] = replace(points[3], t_ns=points[2].t_ns + np.tile((900, -900), N // 2))
    points[2] = replace(points[2], t_ns=points[1].t_ns + np.tile((900, -900), N // 2))
    relations = relate(points)[0]
    for edges, found in ((EDGES, {GROUP: True}), ([*EDGES, (2, 3)], {})):
        segments = SegmentsSeen(relations, edges, Routes({}, [[0, 1, 2, 3]]), (0, 0, 0, 0))
        assert with_groups(segments, points).toward == found


def test_a_branch_that_hardly_any_packet_takes_is_none() -> None:
    points = seen(later_ns=(3_000, 5_000, 4_000))
    points[3] = points[3].at(np.arange(0, N, 3))
    assert branches_of_groups(points, EDGES, Routes({GROUP: True}, [[0, 1, 2, 3]])) == {
        GROUP: EDGES[:2]
    }


@pytest.mark.parametrize("offsets_ns", [(0, 0, 0, 0), OFFSETS_NS])
def test_receivers_are_joined_to_the_point_where_they_part(offsets_ns: tuple[int, ...]) -> None:
    points = seen(later_ns=(3_000, 5_000, 4_000), offsets_ns=offsets_ns)
    assert find_edges(points, points, range(4), Routes({}, [range(4)])) == EDGES


def entering(at: int, points: list[Observations]) -> list[Observations]:
    """Unicast of the group's sender too, which enters at a point and goes to the others."""
    found = []
    for point, one in enumerate(points):
        yes = np.ones(N, np.bool_)
        t_ns = one.t_ns + (0 if point == at else 4_000)
        unicast = replace(one, key=one.key + N, pair=one.pair + 1, is_directed=yes, t_ns=t_ns)
        columns = {
            each.name: np.concatenate((getattr(one, each.name), getattr(unicast, each.name)))
            for each in fields(one)
        }
        found.append(Observations(**columns))
    return found


def test_what_enters_in_the_middle_where_its_sender_does_goes_both_ways() -> None:
    points = entering(1, seen(later_ns=(-9_000, 5_000, 4_000)))
    # the unicast of the sender passes point 1 first, on a route of its own
    routes = Routes({GROUP + 1: True}, [[0, 1, 2, 3], [1, 0, 2, 3]], {GROUP + 1: 1})
    found = with_groups(SegmentsSeen(relate(points)[0], EDGES, routes, (0, 0, 0, 0)), points)
    steps = [(1, 0), (1, 2), (1, 3)]
    assert sorted(found.steps[found.of_pair[GROUP]]) == steps
    assert found.order_of(GROUP, is_toward=True)[0] == 1
    assert sorted(branches_of_groups(points, EDGES, found)[GROUP]) == steps


def test_what_enters_where_its_sender_does_not_stays_out() -> None:
    points = entering(1, seen(later_ns=(-9_000, 5_000, 4_000)))
    routes = Routes({GROUP + 1: True}, [[0, 1, 2, 3]])
    found = with_groups(SegmentsSeen(relate(points)[0], EDGES, routes, (0, 0, 0, 0)), points)
    assert GROUP not in found.toward
