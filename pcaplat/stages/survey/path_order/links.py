"""Which points are neighbours: the edges of the path."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Bools, Ints, distinct_columns
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.survey.observations import Observations, among, places
from pcaplat.stages.survey.path_order.routes import Routes, is_along
from pcaplat.stages.survey.path_order.spanning import tree_of_all, trees_of_groups
from pcaplat.stages.survey.sampling import in_runs, is_sampled

LEAST_SHARE = 0.02
"""An edge that fewer trajectories than this share of the busiest one took is chance, unless nothing
else joins its ends: how busy other parts of the path are says nothing of it."""

MUCH_OF_END = 0.25
"""Nor is it chance if it is so much of the busiest edge at one of its ends, which few pass."""

ENOUGH_OF_WAY = 8
"""So many packets of two addresses and one direction tell which points they pass."""

ENOUGH_OF_PAUSE = 32
"""So many packets in a row pass a point that pauses, and not by chance one that captures some."""

MOST_PAUSES = 3
"""A capture seldom pauses; a link that is used in turns with another is not used more often."""

HARDLY_EVER = 0.05
"""A point that sees a smaller share of them is not on their way."""


def find_edges(
    seen: Sequence[Observations],
    unique: Sequence[Observations],
    along: Sequence[int],
    routes: Routes,
) -> list[Pair]:
    """Edges of one component: pairs of points that trajectories visit one after the other.

    A pair that is passed over by a point in between is an edge if packets of two addresses go that
    way which never pass the point; else only if more trajectories jump than go through, without
    those of flows that the point sees now and then at the time. A mirror that samples makes no
    shortcut, unless packets that it did not see take another time.

    Args:
        seen: All packets of each point: of those that it saw again it may have missed one.
        unique: The packets that each point saw once.
        along: The points of the component, forward.
        routes: Which address pairs pass them in another order.
    """
    visits = Visits.of([_on_route(unique[point], routes, 0) for point in along], along)
    # what goes to several receivers does not pass from one to the other
    others = Visits.of([_numbered(unique[point]) for point in along], along)
    taken = visits.taken()
    busy = _busy(taken)
    own = visits.of_own_way([seen[point] for point in along])
    for number, route in enumerate(routes.orders[1:], 1):
        some = [point for point in route if point in along]
        visits = Visits.of([_on_route(unique[point], routes, number) for point in some], some)
        own_way = visits.of_own_way([seen[point] for point in some])
        found = {_forward(ends, along) for ends in own_way}
        own |= found
        taken = {ends: taken.get(ends, 0) + ENOUGH_OF_WAY for ends in found} | taken
    kept = {ends: n for ends, n in taken.items() if ends in busy | own}
    kept = _joined(kept, taken)
    on_path = [unique[point] for point in along]
    trees = _not_joined(trees_of_groups(on_path, along), kept)
    own |= trees.keys()
    taken = _joined(kept | trees, tree_of_all(on_path, along))
    taken = _joined(taken, others.taken())
    runs = in_runs(on_path)
    jumps = taken | Visits.of(runs, along).taken_past(runs)
    around = {ends: _detour(taken, ends, along) for ends in taken}
    edges = own & taken.keys()
    edges |= {ends for ends, n in around.items() if n <= HARDLY_EVER * taken[ends]}
    edges |= {ends for ends, n in around.items() if n < jumps[ends]}
    edges -= {ends for ends in edges if around[ends] and is_sampled(runs, along, ends)}
    doubtful = {ends for ends, n in around.items() if n < taken[ends]} - edges
    edges |= {ends for ends in doubtful if _takes_other_time(on_path, along, ends)}
    place = {point: i for i, point in enumerate(along)}
    return sorted(edges, key=lambda ends: (place[ends[0]], place[ends[1]]))


def _takes_other_time(unique: Sequence[Observations], along: Sequence[int], ends: Pair) -> bool:
    """Tell whether packets that no point between saw take another time than those that one saw."""
    start, stop = map(along.index, ends)
    near, far = unique[start], unique[stop]
    key, here, there = np.intersect1d(near.key, far.key, return_indices=True)
    between = np.concatenate([one.key for one in unique[start + 1 : stop]])
    is_seen = among(key, np.unique(between))
    took_ns, is_toward = far.t_ns[there] - near.t_ns[here], near.is_toward[here]
    return any(
        _are_apart(took_ns[is_seen & (is_toward == way)], took_ns[~is_seen & (is_toward == way)])
        for way in (False, True)
    )


def _are_apart(some: Ints, others: Ints) -> bool:
    """Tell whether the middle of either lies outside of nearly all of the other."""
    if min(len(some), len(others)) < ENOUGH_OF_WAY:
        return False
    edges = [np.quantile(one, (HARDLY_EVER, 0.5, 1 - HARDLY_EVER)) for one in (some, others)]
    pairs = (edges, edges[::-1])
    return all(not lo <= other[1] <= hi for (lo, _, hi), other in pairs)


def _busy(taken: Mapping[Pair, int]) -> set[Pair]:
    """Edges that too many trajectories took for chance: of all, or of those at one end."""
    busiest = max(taken.values(), default=0)
    at_point: dict[int, int] = {}
    for ends, n in taken.items():
        at_point |= {point: max(at_point.get(point, 0), n) for point in ends}
    return {
        ends
        for ends, n in taken.items()
        if n >= LEAST_SHARE * busiest
        or n >= max(ENOUGH_OF_WAY, MUCH_OF_END * min(at_point[point] for point in ends))
    }


@dataclass(frozen=True)
class Visits:
    """Steps of packets from one point to the next: places in the path, and whose packet it was.

    `passed` has the packets of each of `ways` (two addresses, one direction) that each place saw.
    """

    along: Sequence[int]
    near: Ints
    far: Ints
    way: Ints
    ways: Ints
    passed: Ints

    @classmethod
    def of(cls, some: Sequence[Observations], along: Sequence[int]) -> "Visits":
        """Follow packets that are unique wherever they were seen; those of each point, forward."""
        key = np.concatenate([one.key for one in some])
        place = np.repeat(np.arange(len(along)), [len(one) for one in some])
        ways, way = np.unique(np.concatenate(list(map(_ways, some))), return_inverse=True)
        by = np.lexsort((place, key))
        key, place, way = key[by], place[by], way[by]
        is_next = key[1:] == key[:-1]
        steps = np.stack((place[:-1][is_next], place[1:][is_next]))
        t_ns, flow = (
            np.concatenate([getattr(one, name) for one in some])[by][:-1][is_next]
            for name in ("t_ns", "flow")
        )
        is_watched = _is_watched(some, steps, t_ns, flow)
        near, far = steps[:, is_watched]
        of_steps = way[1:][is_next][is_watched]
        return cls(along, near, far, of_steps, ways, _passed(some, ways))

    def taken(self) -> dict[Pair, int]:
        """How often two points follow each other."""
        return self._counted(np.ones(len(self.near), np.bool_), least=1)

    def taken_past(self, seen: Sequence[Observations]) -> dict[Pair, int]:
        """How often two points follow each other on ways that pass none of those between them.

        Ways of few packets may be such.
        """
        passed, most = self._passed_by(seen)
        is_few = most < ENOUGH_OF_WAY
        is_past = self._is_past(passed > HARDLY_EVER * most[:, None]) | is_few[self.way]
        none = dict.fromkeys(self.taken(), 0)
        return none | self._counted(is_past, least=1)

    def of_own_way(self, seen: Sequence[Observations]) -> set[Pair]:
        """Points that follow each other on a way which passes none of those between them."""
        passed, most = self._passed_by(seen)
        is_passed = passed > HARDLY_EVER * most[:, None]
        # of few packets nobody knows where they do not pass
        is_passed |= most[:, None] < ENOUGH_OF_WAY
        own = self._steps_of_ways(self._is_past(is_passed))
        return {(self.along[near], self.along[far]) for near, far in own.T.tolist()}

    def _passed_by(self, seen: Sequence[Observations]) -> tuple[Ints, Ints]:
        passed = _passed(seen, self.ways)
        return passed, passed.max(axis=1, initial=0)

    def _is_past(self, is_passed: Bools) -> Bools:
        """Tell which steps go past no point between that their way passes."""
        before = np.cumsum(is_passed, axis=1)
        is_past: Bools = before[self.way, self.far - 1] == before[self.way, self.near]
        return is_past

    def _steps_of_ways(self, is_free: Bools) -> Ints:
        """Steps that most packets of some way took, of those that are enough."""
        steps = np.stack((self.way, self.near, self.far))[:, is_free]
        (way, near, far), _, n = distinct_columns(steps)
        is_enough = (n >= ENOUGH_OF_WAY) & (2 * n > self.passed[way, near])
        return np.stack((near, far))[:, is_enough]

    def _counted(self, which: Bools, least: int) -> dict[Pair, int]:
        found, _, counts = distinct_columns(np.stack((self.near, self.far))[:, which])
        rows = zip(*found.tolist(), counts.tolist(), strict=True)
        return {(self.along[near], self.along[far]): n for near, far, n in rows if n >= least}


def _ways(one: Observations) -> Ints:
    return np.where(one.is_toward, one.pair, ~one.pair)


def _passed(some: Sequence[Observations], ways: Ints) -> Ints:
    """Count the packets of each way that each of some points saw."""
    counts = []
    for one in some:
        at, is_known = places(_ways(one), ways)
        counts.append(np.bincount(at[is_known], minlength=len(ways)))
    return np.stack(counts, axis=1)


def _is_watched(some: Sequence[Observations], steps: Ints, t_ns: Ints, flow: Ints) -> Bools:
    """Tell which steps no point in between was on the way of while it did not capture.

    A capture that begins late, ends early or pauses sees, of what passes its place, only what
    passes meanwhile: at other times, packets step over it that they would pass.

    Args:
        some: What each place saw.
        steps: From which place to which.
        t_ns: When they left the first, by its own clock.
        flow: Of which flow.
    """
    is_watched = np.ones(len(t_ns), np.bool_)
    for near, far in distinct_columns(steps)[0].T.tolist():
        rows = np.flatnonzero((steps[0] == near) & (steps[1] == far))
        both = some[near].key[among(some[near].key, some[far].key)]
        for between in range(near + 1, far):
            is_on_way = among(both, some[between].key).sum() >= ENOUGH_OF_WAY
            span_ns = _capturing(some[near], some[between]) if is_on_way else None
            if span_ns:
                is_watched[rows] &= (t_ns[rows] >= span_ns[0]) & (t_ns[rows] <= span_ns[1])
                if not _takes_other_time(some, range(len(some)), (near, far)):
                    here, there = some[near], some[between]
                    is_watched[rows] &= ~_in_pauses(here, there, t_ns[rows], flow[rows])
    return is_watched


def _in_pauses(near: Observations, point: Observations, t_ns: Ints, flow: Ints) -> Bools:
    """Tell which steps fall into a time in which a point saw nothing, and far more than usual.

    Some of them are of flows that it saw before or after. Flows that go past it one after the other
    are not.
    """
    _, here, there = np.intersect1d(near.key, point.key, return_indices=True)
    by = np.argsort(near.t_ns[here])
    shared_ns, own_ns = near.t_ns[here][by], point.t_ns[there][by]
    gap = np.searchsorted(shared_ns, t_ns)
    n_steps, n_known = (
        np.bincount(gap, weights=one, minlength=len(shared_ns) + 1)
        for one in (None, np.isin(flow, point.flow))
    )
    seen_ns = np.sort(point.t_ns)
    begin, end = (np.searchsorted(seen_ns, one) for one in (own_ns[:-1], own_ns[1:]))
    is_idle = np.concatenate(([False], end - begin <= 1, [False]))
    usual = max(len(t_ns) / len(shared_ns), 1)
    is_pause: Bools = is_idle & (n_known > 0) & (n_steps >= ENOUGH_OF_PAUSE * usual)
    # of packets that come through now and then, as keepalives do, there are many gaps
    return is_pause[gap] if is_pause.sum() <= MOST_PAUSES else np.zeros(len(gap), np.bool_)


def _capturing(near: Observations, point: Observations) -> tuple[int, int] | None:
    """From when to when a point captured, by the clock of one before it; None if hardly known."""
    _, here, there = np.intersect1d(near.key, point.key, return_indices=True)
    if len(here) < ENOUGH_OF_WAY:
        return None
    at_ns, point_ns = near.t_ns[here], point.t_ns[there]
    first, last = at_ns.argmin(), at_ns.argmax()
    # what else it saw, before and after what both did
    before_ns = max(0, int(point_ns[first] - point.t_ns.min()))
    after_ns = max(0, int(point.t_ns.max() - point_ns[last]))
    return int(at_ns[first]) - before_ns, int(at_ns[last]) + after_ns


def _not_joined(found: Mapping[Pair, int], links: Mapping[Pair, int]) -> dict[Pair, int]:
    """Keep the edges between points that no other edges join."""
    group = _groups(found, links)
    return {ends: n for ends, n in found.items() if group[ends[0]] is not group[ends[1]]}


def _groups(points: Iterable[Pair], links: Iterable[Pair]) -> dict[int, set[int]]:
    group = {point: {point} for ends in (*points, *links) for point in ends}
    for near, far in links:
        joined = group[near] | group[far]
        group |= dict.fromkeys(joined, joined)
    return group


def _joined(busy: dict[Pair, int], taken: Mapping[Pair, int]) -> dict[Pair, int]:
    """Add the busiest of the other edges between points that nothing joins."""
    group = {point: {point} for ends in (*busy, *taken) for point in ends}
    taken = {**taken, **busy}
    links = dict(busy)
    for ends in sorted(taken, key=lambda ends: (ends not in busy, -taken[ends], ends)):
        near, far = (group[end] for end in ends)
        if far is not near:
            links[ends] = taken[ends]
            joined = near | far
            group |= dict.fromkeys(joined, joined)
    return links


def _forward(ends: Pair, along: Sequence[int]) -> Pair:
    return ends if is_along(along, ends) else ends[::-1]


def _on_route(observations: Observations, routes: Routes, number: int) -> Observations:
    """Unicast packets of address pairs that take a route."""
    is_on_it = routes.of_rows(observations.pair) == number
    return observations.at(observations.is_directed & is_on_it)


def _numbered(observations: Observations) -> Observations:
    """Unicast and numbered packets; all if there are none."""
    strong = observations.at(observations.is_directed | (observations.copy_tag != 0))
    return strong if len(strong) else observations


def _detour(taken: Mapping[Pair, int], ends: Pair, along: Sequence[int]) -> int:
    """Trajectories that the best way around a pair carries, over points in between."""
    start, stop = along.index(ends[0]), along.index(ends[1])
    width = {along[start]: max(taken.values())}
    for i in range(start + 1, stop + 1):
        point = along[i]
        ways = [
            min(width[before], n)
            for (before, after), n in taken.items()
            if after == point and before in width and (before, after) != ends
        ]
        if ways:
            width[point] = max(ways)
    return width.get(ends[1], 0)
