"""Packets with several receivers: which way they go, and where they branch.

Multicast has a sender, so it has a way, but no answer that would tell it. What tells is time: under
one clock a packet arrives after it left; else it takes about as long as unicast that goes its way.
What is born on the path and goes both ways from there (neighbour discovery, queries of a bridge)
has none; what enters at a point in the middle has, if its sender's unicast enters there too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pcaplat.model.arrays import Ints, distinct_columns
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.centres import fit_centre
from pcaplat.stages.survey.delays.relations import Relations, Shared, between
from pcaplat.stages.survey.observations import Observations, among
from pcaplat.stages.survey.path_order.groups import Way, goes_by_senders
from pcaplat.stages.survey.path_order.routes import Routes, is_along
from pcaplat.stages.survey.path_order.spanning import spread_ns

ENOUGH = 8
"""So many packets of one sender to one group have a way."""

AGREEING = 0.9
"""This share of them must go the same way, on each segment."""

AS_A_RULE = 0.8
"""A branch that a smaller share of the packets take is not one that all of them should."""

CLEARLY = 0.5
"""How much nearer to the one direction's time than to the other's is clear."""


@dataclass(frozen=True)
class Vote:
    """What the packets of one sender to one group say of a segment: from which end to which."""

    pair: int
    is_toward: bool
    ends: Pair
    goes: int

    @property
    def step(self) -> Pair:
        """Upstream and downstream point."""
        return self.ends if self.goes > 0 else self.ends[::-1]


@dataclass(frozen=True)
class SegmentsSeen:
    """The segments of a path, and what is known of packets that go from one end to the other.

    `routes` has the address pairs with a known way, and `domains` the clock of each point.
    """

    relations: Relations
    edges: Sequence[Pair]
    routes: Routes
    domains: Sequence[int]

    def votes(self) -> Iterator[Vote]:
        """What each group says of each segment that tells: 1 to the far end, -1 to the near one."""
        for ends in self.edges:
            both = between(self.relations, *ends)
            both = both.at(~both.is_directed)
            (pairs, toward), of_way, n = distinct_columns(np.stack((both.pair, both.is_toward)))
            goes = self._goes(ends, both)
            for place in np.flatnonzero(n >= ENOUGH).tolist():
                mean = float(np.mean(goes[of_way == place]))
                sure = 0 if abs(mean) < 2 * AGREEING - 1 else int(np.sign(mean))
                yield Vote(int(pairs[place]), bool(toward[place]), ends, sure)

    def _goes(self, ends: Pair, both: Shared) -> Ints:
        if self.domains[ends[0]] == self.domains[ends[1]]:
            return np.asarray(np.sign(both.d_ns))
        unicast = between(self.relations, *ends)
        unicast = unicast.at(unicast.is_directed)
        is_there = self.routes.is_going(unicast, ends)
        is_back = self.routes.is_going(unicast, ends[::-1])
        if not len(unicast):
            goes = self._by_senders.get(ends, {})
            ways = zip(both.pair.tolist(), both.is_toward.tolist(), strict=True)
            return np.array([goes.get(way, 0) for way in ways], np.int64)
        if not np.any(is_there) or not np.any(is_back):
            return np.zeros(len(both), np.int64)
        there, back = unicast.at(is_there), unicast.at(is_back)
        to_far_ns = fit_centre(there.t_ns, there.d_ns).at(both.t_ns)
        to_near_ns = fit_centre(back.t_ns, back.d_ns).at(both.t_ns)
        to_far, to_near = np.abs(both.d_ns - to_far_ns), np.abs(both.d_ns - to_near_ns)
        is_apart = to_far_ns > to_near_ns
        is_far, is_near = to_far < CLEARLY * to_near, to_near < CLEARLY * to_far
        return np.asarray(np.where(is_apart, is_far.astype(np.int64) - is_near, 0))

    @cached_property
    def _by_senders(self) -> dict[Pair, dict[Way, int]]:
        """What groups say by their senders alone, where there is no unicast."""
        found = {ends: between(self.relations, *ends) for ends in self.edges}
        if any(np.any(both.is_directed) for both in found.values()):
            return {}
        return goes_by_senders(found)


def with_groups(segments: SegmentsSeen, unique: Sequence[Observations]) -> Routes:
    """Add the ways of what goes to several receivers.

    A group whose packets do not step from point to point as others do that go along the path has a
    route of its own: from the point where they enter, outward.

    Args:
        segments: The segments, and which way unicast goes there.
        unique: The packets that each point saw once.
    """
    said: dict[int, list[Vote]] = {}
    for vote in segments.votes():
        said.setdefault(vote.pair, []).append(vote)
    said = {pair: votes for pair, votes in said.items() if any(vote.goes for vote in votes)}
    known = segments.routes
    some = {pair: [one.at(one.pair == pair) for one in unique] for pair in said}
    trees = {pair: _tree(votes, some[pair]) for pair, votes in said.items()}
    found = replace(known, toward={**_ways(said, trees), **known.toward})
    entries = _entries(unique, known) if said else {}
    for pair, steps in sorted(trees.items()):
        if steps and (pair in found.toward or _enters_at(steps[0][0], some[pair], entries)):
            is_toward = said[pair][0].is_toward
            seen = {point for step in steps for point in step}
            order = found.order_of(pair, is_toward=is_toward)
            if _steps_along(order, segments.edges, seen) != {*steps}:
                found = found.with_tree(pair, steps, is_toward=is_toward)
    return found


def _ways(
    said: Mapping[int, Sequence[Vote]], trees: Mapping[int, Sequence[Pair]]
) -> dict[int, bool]:
    """Orient groups: whether packets from the smaller address go forward.

    Args:
        said: What each says of segments. All that tell must say the same.
        trees: The steps of each. Where several ways lead from point to point, only they tell which
            its packets take: the order of the points does not.
    """
    found: dict[int, bool] = {}
    for pair, votes in said.items():
        ways = {(vote.goes > 0) == vote.is_toward for vote in votes if vote.goes}
        n_points = len({end for vote in votes for end in vote.ends})
        is_no_ring = len({vote.ends for vote in votes}) < n_points
        if len(ways) == 1 and (is_no_ring or trees[pair]):
            found[pair] = ways.pop()
    return found


def _tree(votes: Sequence[Vote], some: Sequence[Observations]) -> list[Pair]:
    """Steps from the point where packets enter, outward; nothing if there is no one such point.

    Of several points that a packet may have come from it came from the one from which it takes the
    most constant time.
    """
    seen = {end for vote in votes for end in vote.ends}
    above: dict[int, list[int]] = {point: [] for point in seen}
    for vote in votes:
        if vote.goes:
            above[vote.step[1]].append(vote.step[0])
    first = [point for point, ups in above.items() if not ups]
    if len(first) != 1 or len({vote.is_toward for vote in votes}) != 1:
        return []
    parent = {
        point: min(ups, key=lambda up, point=point: spread_ns(some[up], some[point]))  # type: ignore[misc]
        for point, ups in above.items()
        if ups
    }
    steps, reached = list[Pair](), first
    while reached:
        steps += [(up, down) for up in reached for down, its in parent.items() if its == up]
        reached = [down for down, its in parent.items() if its in reached]
    return steps if len(steps) == len(parent) else []


def _entries(unique: Sequence[Observations], routes: Routes) -> dict[int, int]:
    """By source address, the point that nearly all of its unicast passes first."""
    columns = []
    for point, seen in enumerate(unique):
        is_known, is_forward = routes.ways(seen)
        of_route = routes.of_rows(seen.pair)
        place = np.array(
            [order.index(point) if point in order else -1 for order in routes.orders], np.int64
        )[of_route]
        place = np.where(is_forward, place, -place)
        rows = np.flatnonzero(is_known & seen.is_directed)
        of_point = np.full(len(rows), point)
        columns.append(np.stack((seen.key[rows], place[rows], seen.source[rows], of_point)))
    key, place, source, point = np.concatenate(columns, axis=1)
    by = np.lexsort((place, key))
    is_first = np.append(True, key[by][1:] != key[by][:-1])[: len(by)]
    sources, of_source = np.unique(source[by][is_first], return_inverse=True)
    n = np.zeros((len(sources), len(unique)), np.int64)
    np.add.at(n, (of_source, point[by][is_first]), 1)
    is_sure = n.max(axis=1, initial=0) >= AGREEING * n.sum(axis=1)
    return dict(zip(sources[is_sure].tolist(), n[is_sure].argmax(axis=1).tolist(), strict=True))


def _enters_at(point: int, some: Sequence[Observations], entries: Mapping[int, int]) -> bool:
    return all(entries.get(source) == point for source in np.unique(some[point].source).tolist())


def _steps_along(order: Sequence[int], edges: Sequence[Pair], seen: set[int]) -> set[Pair]:
    """Steps of packets that follow an order of the points as far as segments lead."""
    behind: dict[int, set[int]] = {point: set() for point in order}
    for point in reversed(order):
        for near, far in edges:
            ahead = far if near == point else near if far == point else None
            if ahead in behind and order.index(ahead) > order.index(point):
                behind[point] |= {ahead} | behind[ahead]
    steps, before = set[Pair](), list[int]()
    for point in (one for one in order if one in seen):
        leading = [up for up in before if point in behind[up]]
        steps |= {(leading[-1], point)} if leading else set()
        before.append(point)
    return steps


def branches_of_groups(
    unique: Sequence[Observations], edges: Sequence[Pair], routes: Routes
) -> dict[int, list[Pair]]:
    """Give the steps (upstream, downstream) that packets to several receivers take as a rule.

    Args:
        unique: The packets that each point saw once.
        edges: The segments.
        routes: The way of each address pair.
    """
    some = [one.at(~one.is_directed) for one in unique]
    pairs, n = np.unique(np.concatenate([one.pair for one in some]), return_counts=True)
    found: dict[int, list[Pair]] = {}
    for pair in sorted({*pairs[n >= ENOUGH].tolist()} & routes.toward.keys()):
        of_pair = [one.at(one.pair == pair) for one in some]
        for up, down, toward in _possible(edges, routes, pair):
            sent = of_pair[up].at(of_pair[up].is_toward == toward)
            if _share(sent, of_pair[down]) >= AS_A_RULE:
                found.setdefault(pair, []).append((up, down))
    return found


def _possible(edges: Sequence[Pair], routes: Routes, pair: int) -> Iterator[tuple[int, int, bool]]:
    """Steps that packets of a group may take, and whether these leave the smaller address."""
    number = routes.of_pair.get(pair, 0)
    for toward in (True, False):
        order = routes.order_of(pair, is_toward=toward)
        for ends in routes.steps.get(number, edges):
            near, far = ends if is_along(order, ends) else ends[::-1]
            yield near, far, toward


def _share(sent: Observations, there: Observations) -> float:
    """What share of packets came to a point, from the first that did to the last."""
    is_there = among(sent.key, there.key)
    if is_there.sum() < ENOUGH:
        return 0.0
    t_ns = sent.t_ns[is_there]
    is_meanwhile = (sent.t_ns >= t_ns.min()) & (sent.t_ns <= t_ns.max())
    return float(is_there.sum() / is_meanwhile.sum())
