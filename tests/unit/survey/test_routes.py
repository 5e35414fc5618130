"""Routes: address pairs that do not pass the points in the order of the path."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey.delays.relations import Relations, Shared
from pcaplat.stages.survey.path_order.order import PathOrder, order_points
from pcaplat.stages.survey.path_order.routes import Routes, Votes, off_path_by_points, seen_by

if TYPE_CHECKING:
    from collections.abc import Sequence

TAKES_NS = 9_000
N = 30


def talk(pair: int, *, with_points: bool, offset_ns: int, n: int = N) -> Shared:
    """Packets there and back; the smaller address is at the first of the two points."""
    at = np.arange(2 * n)
    toward = at % 2 == 0
    away = np.where(toward == with_points, TAKES_NS, -TAKES_NS)
    some = np.ones(len(at), np.bool_)
    of = np.full(len(at), pair)
    return Shared(at * 100_000 + pair, offset_ns + away, of, of, toward, some, some, 0 * at, 0 * at)


def together(*parts: Shared) -> Shared:
    columns = Shared.__dataclass_fields__
    both = {name: np.concatenate([getattr(one, name) for one in parts]) for name in columns}
    return Shared(**both).at(np.argsort(both["t_ns"]))


def star(offset_ns: int) -> Relations:
    """Three hosts (0, 1, 2) at three ports (3, 4, 5); all talk with all, in pairs 0 to 2."""
    relations: Relations = {}
    for pair, (one, other) in enumerate(((0, 1), (1, 2), (0, 2))):
        way = (one, one + 3, other + 3, other)
        for a in range(4):
            for b in range(a + 1, 4):
                ends = min(way[a], way[b]), max(way[a], way[b])
                talked = talk(pair, with_points=ends == (way[a], way[b]), offset_ns=offset_ns)
                known = relations.get(ends)
                relations[ends] = together(known, talked) if known else talked
    return relations


def order_of(found: PathOrder, pair: int) -> tuple[int, ...]:
    """The points that packets from the smaller address of a pair pass."""
    orders = [found.points, *found.routes]
    order = orders[found.route_of.get(pair, 0)]
    order = order if found.toward_is_forward[pair] else order[::-1]
    ends = ((0, 1), (1, 2), (0, 2))[pair]
    return tuple(point for point in order if point % 3 in ends)


def along(ways: Sequence[tuple[int, ...]], offset_ns: int, n: Sequence[int]) -> Relations:
    """Each pair goes its way, so many times there and back."""
    relations: Relations = {}
    for pair, way in enumerate(ways):
        for a, b in combinations(way, 2):
            ends = min(a, b), max(a, b)
            talked = talk(pair, with_points=ends == (a, b), offset_ns=offset_ns, n=n[pair])
            known = relations.get(ends)
            relations[ends] = together(known, talked) if known else talked
    return relations


def way_of(found: PathOrder, pair: int, points: tuple[int, ...]) -> tuple[int, ...]:
    """Of some points those that packets from the smaller address pass, one after the other."""
    order = [found.points, *found.routes][found.route_of.get(pair, 0)]
    order = order if found.toward_is_forward[pair] else order[::-1]
    return tuple(point for point in order if point in points)


@pytest.mark.parametrize("first", [0, 64], ids=["few points", "more than a word has bits"])
@pytest.mark.parametrize("offset_ns", [0, 5_000_000_000])
def test_pairs_of_few_packets_go_the_way_of_those_that_the_same_points_saw(
    offset_ns: int, first: int
) -> None:
    core, leaves = first, range(first + 1, first + 4)
    ways = [(one, core, other) for one, other in combinations(leaves, 2)] * 12
    relations = along(ways, offset_ns, [2] * len(ways))
    found = order_points(relations, range(first, first + 4), {}, range(first + 4), {})
    for pair, way in enumerate(ways):
        assert way_of(found, pair, way) == way


@pytest.mark.parametrize("scarce", range(6))
@pytest.mark.parametrize(("n_leaves", "n"), [(4, 1), (4, 2), (3, 3), (4, 4), (3, 6), (4, 6)])
def test_few_packets_that_go_against_the_path_have_a_route_or_no_direction(
    n: int, n_leaves: int, scarce: int
) -> None:
    ways = [(one, 0, other) for one, other in combinations(range(1, n_leaves + 1), 2)]
    scarce %= len(ways)
    n_of = [n if pair == scarce else N for pair in range(len(ways))]
    found = order_points(along(ways, 0, n_of), range(n_leaves + 1), {}, range(n_leaves + 1), {})
    is_told = n_leaves == 4 and n >= 4
    for pair, way in enumerate(ways):
        if pair in found.toward_is_forward or pair != scarce or is_told:
            assert way_of(found, pair, way) == way


def test_what_takes_the_path_keeps_its_direction_beside_many_that_do_not() -> None:
    """Most of what points 1, 2 and 3 saw goes round; the path is that of what is farthest apart."""
    ways = [(0, 1, 2, 3)] * 3 + [(1, 2, 3)] * 3 + [(2, 1, 3)] * 15
    found = order_points(along(ways, 0, [N] * len(ways)), range(4), {}, range(4), {})
    for pair, way in enumerate(ways):
        assert way_of(found, pair, way) == way


def test_pairs_are_oriented_as_they_agree_best() -> None:
    """All go from 0 past 2 to 1; one of them says more of 1 and 2 than of all else."""
    n_of = {(0, 1): [7, 10, *[1] * 11], (0, 2): [7, 10, *[1] * 11], (1, 2): [5, 23, *[1] * 11]}
    pairs = np.arange(13)
    asked = {
        ends: Votes(pairs, np.array(n) * (-1 if ends == (1, 2) else 1), np.array(n))
        for ends, n in n_of.items()
    }
    directed = along([(0, 2, 1)] * 13, 0, [1] * 13)
    found = off_path_by_points(
        seen_by(directed, [0, 1, 2], {}), asked, dict.fromkeys(range(13), True), [0, 1, 2]
    )
    assert {points: of.tolist() for points, of in found.items()} == {(0, 1, 2): pairs.tolist()}


@pytest.mark.parametrize("scarce", range(3))
def test_what_a_point_saw_has_its_way_though_only_others_tell_it(scarce: int) -> None:
    """Of packets that equal each other, some points may not tell one from the next."""
    ways = [(one, 0, other) for one, other in combinations(range(1, 4), 2)]
    seen = {
        point: np.array([p for p, way in enumerate(ways) if point in way]) for point in range(4)
    }
    for told in combinations(ways[scarce], 2):
        ends = min(told), max(told)
        relations = {
            two: both if two == ends else both.at(both.pair != scarce + 3)
            for two, both in along(ways * 2, 0, [N] * 6).items()
        }
        of_both = {point: np.concatenate((some, some + 3)) for point, some in seen.items()}
        found = order_points(relations, range(4), {}, range(4), of_both)
        assert way_of(found, scarce + 3, ways[scarce]) == ways[scarce]


@pytest.mark.parametrize("offset_ns", [0, 5_000_000_000])
def test_each_pair_of_hosts_goes_its_own_way(offset_ns: int) -> None:
    found = order_points(star(offset_ns), range(6), {}, range(6), {})
    for pair, (one, other) in enumerate(((0, 1), (1, 2), (0, 2))):
        assert order_of(found, pair) == (one, one + 3, other + 3, other)
    assert found.routes, "no order is that of all"


def test_what_goes_from_one_point_to_another_is_told_by_the_route() -> None:
    both = together(*(talk(pair, with_points=True, offset_ns=0) for pair in (0, 1)))
    routes = Routes({0: True, 1: True}, [[0, 1, 2], [2, 1, 0]], {1: 1})
    going = both.at(routes.is_going(both, (0, 1)))
    assert {*zip(going.pair.tolist(), going.is_toward.tolist(), strict=True)} == {
        (0, True),
        (1, False),
    }
    assert {*routes.going(both, (0, 1))[0].pair.tolist()} == {0}
    assert len(routes.side(both, 0)) == 2 * N
