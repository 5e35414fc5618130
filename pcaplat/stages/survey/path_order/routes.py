"""Routes: the orders in which packets pass the points, where no one order is that of all.

On a line packets pass the points in one order, or in the opposite one. Ports of a switch with a
host at each are no line: whichever order the path is written in, some pairs of hosts go with it on
one segment and against it on the next. Such pairs have a route of their own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from pcaplat.model.arrays import Bools, Ints, distinct, distinct_columns
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.relations import Shared
from pcaplat.stages.survey.observations import Observations, among, places

FEWEST = 5
"""Fewer packets that go against an order may be chance."""

DEVIATIONS = 4
"""More of them than would by chance, by so many standard deviations, are none."""

LIKELY = 2
"""Of fewer packets, where some do not take the path: these may as well."""

MOSTLY = 0.5
"""And more than the others by this share of all."""

AGREE_ROUNDS = 4
"""Packets of some points and those of others say so many times in turn which way pairs go."""

Packets = TypeVar("Packets", Shared, Observations)


@dataclass(frozen=True)
class Routes:
    """Which way packets of each address pair go, and along which order of the points.

    `toward` says whether packets from the smaller address go forward, `of_pair` which of `orders`
    they take; the first is the path, and that of all other pairs. `steps` has, of routes on which
    only some segments are crossed, from which point to which they lead.
    """

    toward: Mapping[int, bool]
    orders: Sequence[Sequence[int]]
    of_pair: Mapping[int, int] = field(default_factory=dict[int, int])
    steps: Mapping[int, Sequence[Pair]] = field(default_factory=dict[int, Sequence[Pair]])

    def with_tree(self, pair: int, steps: Sequence[Pair], *, is_toward: bool) -> "Routes":
        """Give an address pair a route of its own, whose steps lead from its sender outward.

        Args:
            pair: The address pair.
            steps: From which point to which, the sender's first.
            is_toward: Whether its packets leave the smaller address.
        """
        path = self.orders[0]
        is_forward = 2 * sum(is_along(path, step) for step in steps) >= len(steps)
        own = [steps[0][0], *(down for _, down in steps)]
        order = over(path, own if is_forward else own[::-1])
        alike = (n for n, known in self.steps.items() if (self.orders[n], known) == (order, steps))
        number = next(alike, len(self.orders))
        return Routes(
            {**self.toward, pair: is_forward == is_toward},
            [*self.orders, order] if number == len(self.orders) else self.orders,
            {**self.of_pair, pair: number},
            {**self.steps, number: steps},
        )

    def order_of(self, pair: int, *, is_toward: bool) -> list[int]:
        """Give the points in the order in which packets of an address pair pass them."""
        order = [*self.orders[self.of_pair.get(pair, 0)]]
        return order if self.toward.get(pair, True) == is_toward else order[::-1]

    def ways(self, both: Shared | Observations) -> tuple[Bools, Bools]:
        """Tell which rows are of oriented address pairs, and which of those go forward."""
        if not self.toward:
            nothing = np.zeros(len(both), np.bool_)
            return nothing, nothing
        pairs, is_toward = self._oriented
        at, is_known = both.places(pairs)
        return is_known, is_known & (both.is_toward == is_toward[at])

    @cached_property
    def _oriented(self) -> tuple[Ints, Bools]:
        """Address pairs that are oriented, ascending, and `toward` of each."""
        pairs = np.array(sorted(self.toward), np.int64)
        return pairs, np.array([self.toward[pair] for pair in pairs.tolist()], np.bool_)

    def side(self, both: Packets, side: int) -> Packets:
        """Give what goes forward along its route (0) or in reverse; all if nothing has a way."""
        if not np.any(both.is_directed):
            return both
        is_known, is_forward = self.ways(both)
        is_way = is_forward if side == 0 else is_known & ~is_forward
        return both.at(both.is_directed & is_way)

    def is_going(self, both: Shared, ends: Pair) -> Bools:
        """Tell what goes from the first of two points to the second; all if nothing has a way."""
        return self._going(both, ends)[0]

    def going(self, both: Shared, ends: Pair) -> tuple[Shared, Shared]:
        """Give what goes from one point to another, forward along its route and in reverse."""
        is_going, is_forward = self._going(both, ends)
        return both.at(is_going & is_forward), both.at(is_going & ~is_forward)

    def _going(self, both: Shared, ends: Pair) -> tuple[Bools, Bools]:
        """Tell what goes from the first of two points to the second, and what goes forward."""
        if not np.any(both.is_directed):
            return np.ones(len(both), np.bool_), np.full(len(both), self._is_along(ends)[0])
        is_known, is_forward = self.ways(both)
        is_with_route = np.array(self._is_along(ends), np.bool_)[self.of_rows(both.pair)]
        return both.is_directed & is_known & (is_forward == is_with_route), is_forward

    def of_rows(self, pair: Ints) -> Ints:
        """The route of each row."""
        if not self.of_pair:
            return np.zeros(len(pair), np.int64)
        pairs, routes = (np.array(c) for c in zip(*sorted(self.of_pair.items()), strict=True))
        at = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
        return np.where(pairs[at] == pair, routes[at], 0)

    def _is_along(self, ends: Pair) -> list[bool]:
        up, down = ends
        return [
            order.index(up) < order.index(down) if {up, down} <= {*order} else False
            for order in self.orders
        ]


@dataclass(frozen=True)
class Votes:
    """What packets of each address pair say of two points, or of more.

    `n_toward` is by how many more of those from the smaller address go from the first point to the
    second than back.
    """

    pair: Ints
    n_toward: Ints
    n: Ints

    def against(
        self, is_forward: Bools, deviations: int = DEVIATIONS, fewest: int = FEWEST
    ) -> Bools:
        """Where most say the opposite, clearly."""
        away = np.where(is_forward, -self.n_toward, self.n_toward)
        clearly = np.maximum(deviations * np.sqrt(self.n), MOSTLY * self.n)
        return np.asarray((self.n >= fewest) & (away >= clearly))


@dataclass(frozen=True)
class SeenBy:
    """Address pairs, ascending, and which points saw packets of each.

    `sets` are sets of points, a column for each point of the order; `set_of` which of them saw
    which pair.
    """

    pair: Ints
    sets: Bools
    set_of: Ints

    @property
    def n_points(self) -> Ints:
        """How many points saw each pair."""
        return np.asarray(self.sets.sum(axis=1)[self.set_of])


def seen_by(
    directed: Mapping[Pair, Shared], order: Sequence[int], seen: Mapping[int, Ints]
) -> SeenBy:
    """Tell which points saw packets of which address pairs.

    A point may share no packet of a pair that can be told from others, though it saw them: what
    says which way the pair goes may come from the other points alone.

    Args:
        directed: What points share.
        order: The points.
        seen: Per point the address pairs it saw anything of, ascending.
    """
    at = {point: place for place, point in enumerate(order)}
    pairs = distinct(np.concatenate([both.pairs for both in directed.values()]))
    is_seen = np.zeros((len(pairs), len(order)), np.bool_)
    for point, place in at.items():
        is_seen[:, place] = among(pairs, seen.get(point, pairs[:0]))
    for (near, far), both in directed.items():
        rows = np.searchsorted(pairs, both.pairs)
        is_seen[rows, at[near]] = is_seen[rows, at[far]] = True
    sets, set_of, _ = distinct_columns(is_seen.T.astype(np.int64))
    return SeenBy(pairs, sets.T.astype(np.bool_), set_of)


def votes(both: Shared, *, is_one_clock: bool) -> Votes:
    """Ask packets that two points share which way they go, without regard to any others.

    Those of addresses that go both ways say it by how long both take; others by the clock, if it is
    one, or by how many routers they passed.
    """
    values_ns, pair = both.changes
    rest = both.at(~both.are_of(distinct(pair)))
    away = rest.d_ns if is_one_clock else rest.n_hops
    away = np.where(rest.is_toward, away, -away)
    is_told = away != 0
    pair = np.concatenate((pair, rest.pair[is_told]))
    return summed(pair, np.sign(np.concatenate((values_ns, away[is_told]))), np.ones_like(pair))


def summed(pair: Ints, n_toward: Ints, n: Ints) -> Votes:
    """Add up the votes of each address pair."""
    pairs, at = np.unique(pair, return_inverse=True)
    sums = np.zeros((2, len(pairs)), np.int64)
    np.add.at(sums[0], at, n_toward)
    np.add.at(sums[1], at, n)
    return Votes(pairs, *sums)


def turned_by_votes(
    asked: Mapping[Pair, Votes], toward: Mapping[int, bool], order: Sequence[int]
) -> dict[int, bool]:
    """Orient anew the address pairs of which all points together say the opposite."""
    rows = [
        (one.pair, one.n_toward if is_along(order, ends) else -one.n_toward, one.n)
        for ends, one in asked.items()
    ]
    if not rows:
        return {}
    whole = summed(*(np.concatenate(column) for column in zip(*rows, strict=True)))
    is_forward = np.array([toward.get(pair, True) for pair in whole.pair.tolist()], np.bool_)
    wrong = whole.against(is_forward)
    return {pair: not toward[pair] for pair in whole.pair[wrong].tolist() if pair in toward}


def off_path(
    asked: Mapping[Pair, Votes], toward: Mapping[int, bool], order: Sequence[int]
) -> set[int]:
    """Address pairs whose packets go against the order between some of the points."""
    return set(_against(asked, toward, order))


def off_path_by_points(
    seen: SeenBy,
    asked: Mapping[Pair, Votes],
    toward: Mapping[int, bool],
    order: Sequence[int],
) -> dict[tuple[int, ...], Ints]:
    """Address pairs whose packets go against the order, by the points that saw them.

    Where few packets of each pair were seen, those of all that the same points saw tell.
    """
    told = np.array(sorted(off_path(asked, toward, order)), np.int64)
    is_told = among(seen.pair, told)
    agreed = _agreed_by_points(asked, order, seen)
    is_against = _any_against(agreed)
    if is_told.any() or is_against.any():
        is_against = _any_against(agreed, LIKELY)
    is_with = _are_with(asked, toward, order, seen)
    is_off = is_told | (is_against & _are_along(seen.sets))[seen.set_of] & ~is_with
    found = dict[tuple[int, ...], Ints]()
    for number in distinct(seen.set_of[is_off]).tolist():
        is_in_set = zip(order, seen.sets[number], strict=True)
        points = sorted(point for point, is_in in is_in_set if is_in)
        found[tuple(points)] = seen.pair[is_off & (seen.set_of == number)]
    return found


def in_doubt(
    seen: SeenBy,
    asked: Mapping[Pair, Votes],
    toward: Mapping[int, bool],
    order: Sequence[int],
    *,
    has_routes: bool,
) -> set[int]:
    """Address pairs whose packets, or those of others of their points, go against the order.

    They are too few to tell. Where others do not take the path, a single packet is in doubt. What
    goes with the order between all of its points is not.
    """
    deviations, fewest = (0, 1) if has_routes else (LIKELY, FEWEST)
    few = [
        replace(one, n=np.where(one.n < DEVIATIONS**2, one.n, 0))
        for one in _agreed_by_points(asked, order, seen)
    ]
    is_against = _any_against(few, deviations, fewest) & _are_along(seen.sets)
    is_with = _are_with(asked, toward, order, seen)
    return set(seen.pair[is_against[seen.set_of] & ~is_with].tolist())


def _are_with(
    asked: Mapping[Pair, Votes],
    toward: Mapping[int, bool],
    order: Sequence[int],
    seen: SeenBy,
) -> Bools:
    """Which pairs go with the order between all points that saw them."""
    n_with = np.zeros(len(seen.pair), np.int64)
    for one, is_forward in _oriented(asked, toward, order):
        at, is_asked = places(one.pair, seen.pair)
        n_with[at[is_asked]] += one.against(~is_forward, LIKELY)[is_asked]
    return np.asarray(n_with == seen.n_points * (seen.n_points - 1) // 2)


def _are_along(sets: Bools) -> Bools:
    """Which sets have an order of their own: two points are in one order or the other."""
    return np.asarray(sets.sum(axis=1) > 2)  # noqa: PLR2004


def partly_seen(
    seen: SeenBy,
    asked: Mapping[Pair, Votes],
    order: Sequence[int],
    routed: Iterable[Sequence[int]],
) -> set[int]:
    """Address pairs that some of these points saw, too few packets to tell whether others do not.

    Their packets may take the route of those that all of these points saw.
    """
    is_part = np.zeros(len(seen.sets), np.bool_)
    for points in routed:
        is_in = np.array([point in points for point in order], np.bool_)
        is_part |= (seen.sets <= is_in).all(axis=1) & (seen.sets != is_in).any(axis=1)
    rows = [(one.pair, one.n_toward, one.n) for one in asked.values()]
    whole = summed(*(np.concatenate(column) for column in zip(*rows, strict=True)))
    many = whole.pair[whole.n >= DEVIATIONS**2]
    return set(seen.pair[is_part[seen.set_of] & ~among(seen.pair, many)].tolist())


def _any_against(
    agreed: Sequence[Votes], deviations: int = DEVIATIONS, fewest: int = FEWEST
) -> Bools:
    """Which sets of pairs go against the order between some points."""
    is_forward = np.ones(len(agreed[0].n), np.bool_)
    found = [one.against(is_forward, deviations, fewest) for one in agreed]
    return np.asarray(np.any(found, axis=0))


def _agreed_by_points(
    asked: Mapping[Pair, Votes], order: Sequence[int], seen: SeenBy
) -> list[Votes]:
    """Votes of the pairs that the same points saw: for each two points, by the number of the set.

    Each pair is oriented as its own packets agree best with those of the others of its set: of what
    goes with the order between as many points as against it, most packets of a pair say nothing.
    """
    n_sets, set_of = len(seen.sets), seen.set_of
    along = []
    for ends, one in asked.items():
        at, is_asked = places(one.pair, seen.pair)
        n_along = one.n_toward if is_along(order, ends) else -one.n_toward
        along.append((at[is_asked], n_along[is_asked], one.n[is_asked]))
    # at first the two points that tell most count alone: over all, what is with and against the
    # order may be in balance
    n_told = np.array([_by_set(set_of[at], np.abs(n_along), n_sets) for at, n_along, _ in along])
    weights = (n_told == n_told.max(axis=0)).astype(np.float64)
    weights *= np.cumsum(weights, axis=0) == 1
    for _ in range(AGREE_ROUNDS):
        of_pair = np.zeros(len(set_of))
        for weight, (at, n_along, _) in zip(weights, along, strict=True):
            of_pair[at] += weight[set_of[at]] * n_along
        sign = np.where(of_pair > 0, 1, -1)
        sums = [_by_set(set_of[at], sign[at] * n_along, n_sets) for at, n_along, _ in along]
        weights = np.sign(sums)
    forward = np.where(np.sum(sums, axis=0) < 0, -1, 1)
    n_asked = [_by_set(set_of[at], n, n_sets) for at, _, n in along]
    numbers = np.arange(n_sets)
    return [Votes(numbers, forward * n, total) for n, total in zip(sums, n_asked, strict=True)]


def _by_set(set_of: Ints, n: Ints, n_sets: int) -> Ints:
    sums = np.zeros(n_sets, np.int64)
    np.add.at(sums, set_of, n)
    return sums


def _against(
    asked: Mapping[Pair, Votes], toward: Mapping[int, bool], order: Sequence[int]
) -> Iterator[int]:
    for one, is_forward in _oriented(asked, toward, order):
        yield from one.pair[one.against(is_forward)].tolist()


def _oriented(
    asked: Mapping[Pair, Votes], toward: Mapping[int, bool], order: Sequence[int]
) -> Iterator[tuple[Votes, Bools]]:
    """Of each two points the votes, and which pairs go from the first to the second so far."""
    for ends, one in asked.items():
        goes_on = is_along(order, ends)
        is_first = [toward.get(pair, True) == goes_on for pair in one.pair.tolist()]
        yield one, np.array(is_first, np.bool_)


def is_along(order: Sequence[int], ends: Pair) -> bool:
    """Whether the first of two points is before the second."""
    return order.index(ends[0]) < order.index(ends[1])


def over(path: Sequence[int], some: Sequence[int]) -> list[int]:
    """Give the path, with some of its points in another order."""
    others = iter(some)
    return [next(others) if point in some else point for point in path]
