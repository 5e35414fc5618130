"""Tenants whose hosts have the same addresses: equal flows in two tunnels, each of another tenant.

A place is an interface of a point, a node what it sees in one tunnel, or in none. Nodes at which
the same packets are seen are one tenant's, whatever the numbers of their tunnels. Nodes that share
no packets, and of which one place has both in the same flow by turns, are two tenants'.

Packets of two tenants may be equal to the byte. A packet that a place has in two tunnels may also
have passed it twice, as behind a gateway. Then the two observations are farther apart, or closer
together, at each other place, by what the way between takes. Two tenants' packets are as far apart
at every place.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from pcaplat.model.arrays import Ints, distinct, distinct_columns
from pcaplat.model.files.tenants import Tenants
from pcaplat.model.sampled import SampleColumns
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.centres import without_drift
from pcaplat.stages.survey.points_in_file.repeats import WITHIN_NS, linked

ENOUGH = 20
"""So many packets that two places both have twice tell whether they are as far apart at both; so
often a flow goes from one tunnel to another and back where it is two tenants'."""

NARROWER = 3
"""Times between the observations of one packet vary so many times less than those of two."""

FEW = 3
"""So few packets may be equal by chance, or lost just so."""

LEAST_SHARE = 0.25
"""Two nodes are one tenant's if one has so much of what it shares with a place from the other."""

PASSED_TWICE = 0.05
"""And two at one place if so much of what one of them has is seen in both."""

MOST_NODES = 16
"""A packet is seen in so many tunnels and places at most."""

Nodes = tuple[int, int]


@dataclass(frozen=True)
class Seen:
    """The first observation of every packet at every node, by packet, then by node.

    `place`, `tunnel` and `name` are of the nodes, by their numbers.
    """

    key: Ints
    node: Ints
    t_ns: Ints
    flow: Ints
    place: Ints
    tunnel: Ints

    @classmethod
    def of(cls, columns: SampleColumns, place: Ints) -> "Seen":
        """Take the unicast packets of a sample, given the place of every row."""
        places = np.stack((place, columns["tunnel"]))
        nodes, node, _ = distinct_columns(places)
        rows = np.flatnonzero(columns["is_directed"] != 0)
        by = np.lexsort((columns["t_ns"][rows], node[rows], columns["key"][rows]))
        rows = rows[by]
        key, node = columns["key"][rows], node[rows]
        is_first = np.ones(len(rows), np.bool_)
        is_first[1:] = (np.diff(key) != 0) | (np.diff(node) != 0)
        rows, flow = rows[is_first], columns["flow"] ^ columns["is_toward"]
        return cls(key[is_first], node[is_first], columns["t_ns"][rows], flow[rows], *nodes)

    def pairs(self, *, at_one_place: bool) -> tuple[Ints, Ints]:
        """Observations of one packet at two nodes: the row of the lower node, and of the higher."""
        ones, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for step in range(1, MOST_NODES):
            one = np.flatnonzero(self.key[step:] == self.key[:-step])
            if not len(one):
                break
            place = self.place[self.node]
            one = one[(place[one] == place[one + step]) == at_one_place]
            ones.append(one)
            others.append(one + step)
        return np.concatenate(ones), np.concatenate(others)

    @cached_property
    def n_at(self) -> Ints:
        """How many packets each node has."""
        return np.bincount(self.node, minlength=len(self.place))


@dataclass(frozen=True)
class Doubles:
    """Packets that a place has in two tunnels: their keys, and how much later the second is."""

    nodes: Nodes
    key: Ints
    lag_ns: Ints


def find_tenants(columns: SampleColumns, names: Sequence[str]) -> Tenants | None:
    """Find the tunnels of tenants whose hosts have the same addresses.

    Args:
        columns: The sample, as an engine gives it.
        names: The point that each file is of.

    Returns:
        Whose packets are seen where; None where no two tenants have the same addresses.
    """
    if len(distinct(columns["tunnel"][columns["tunnel"] >= 0])) < 2:  # noqa: PLR2004 - two tenants
        return None
    point = np.unique(np.asarray(names), return_inverse=True)[1]
    places = np.stack((point[columns["file"]], columns["interface"]))
    inside, place, _ = distinct_columns(places)
    seen = Seen.of(columns, place)
    equal, doubles = _links_of_equal(seen)
    told = _told(doubles, equal)
    links = [*equal, *_links_by_nearness(seen, told, equal), *_links_of_others(seen, told, equal)]
    links += _passed_twice(seen, doubles, equal)
    alone = [(node, node) for node in _of_unknown_tenant(seen, told, links)]
    apart = {node for ends in (*equal, *alone) for node in ends}
    tenant = _numbered(seen, _tenants(seen, [*links, *alone], apart))
    if not tenant.any():
        return None
    known = [
        [
            ((int(inside[1, seen.place[node]]), int(seen.tunnel[node])), int(tenant[node]))
            for node in np.flatnonzero((tenant > 0) & (inside[0, seen.place] == of_file))
        ]
        for of_file in point
    ]
    return Tenants(known, have_equal_packets=bool(equal))


def _doubles(seen: Seen) -> Iterator[Doubles]:
    one, other = seen.pairs(at_one_place=True)
    is_tunnelled = (seen.tunnel[seen.node[one]] >= 0) & (seen.tunnel[seen.node[other]] >= 0)
    one, other = one[is_tunnelled], other[is_tunnelled]
    lag_ns = seen.t_ns[other] - seen.t_ns[one]
    nodes, of, _ = distinct_columns(np.stack((seen.node[one], seen.node[other])))
    by = np.lexsort((seen.key[one], of))
    bounds = np.searchsorted(of[by], np.arange(nodes.shape[1] + 1))
    for number, (here, there) in enumerate(nodes.T.tolist()):
        at = by[bounds[number] : bounds[number + 1]]
        if len(at) >= FEW:
            yield Doubles((here, there), seen.key[one[at]], lag_ns[at])


def _links_of_equal(seen: Seen) -> tuple[list[Nodes], list[Doubles]]:
    """Nodes of two places that have the same tenant's packets, where both have another's too."""
    doubles, links = list(_doubles(seen)), list[Nodes]()
    often = [one for one in doubles if len(one.key) >= ENOUGH]
    for one in often:
        for place in range(seen.place[one.nodes[0]]):
            there = [other for other in often if seen.place[other.nodes[0]] == place]
            links += _as_far_apart(one, there)
    return links, doubles


def _as_far_apart(one: Doubles, there: Sequence[Doubles]) -> list[Nodes]:
    """Which nodes belong together where equal packets are as far apart at two places.

    Of several tenants, two may happen to be nearly as far apart as two others: the nearest count.
    """
    nearest, links = np.inf, list[Nodes]()
    for other in there:
        both = np.intersect1d(one.key, other.key, assume_unique=True, return_indices=True)[1:]
        if len(both[0]) < ENOUGH:
            continue
        here_ns, there_ns = one.lag_ns[both[0]], other.lag_ns[both[1]]
        for sign, nodes in ((1, other.nodes), (-1, other.nodes[::-1])):
            more_ns = sign * there_ns - here_ns
            most_ns = max(_spread(more_ns), abs(float(np.median(more_ns))))
            if NARROWER * most_ns < _spread(here_ns) and most_ns < nearest:
                nearest, links = most_ns, list(zip(one.nodes, nodes, strict=True))
    return links


def _spread(values: Ints) -> float:
    return float(np.median(np.abs(values - np.median(values))))


def _told(doubles: Sequence[Doubles], equal: Sequence[Nodes]) -> Ints:
    """Keys of packets that several tenants have."""
    of_tenants = {node for ends in equal for node in ends}
    keys = [one.key for one in doubles if {*one.nodes} <= of_tenants]
    return distinct(np.concatenate([np.zeros(0, np.int64), *keys]))


def _links_by_nearness(seen: Seen, told: Ints, equal: Sequence[Nodes]) -> Iterator[Nodes]:
    """Where several tenants' equal packets were seen once: whose times are nearest to theirs."""
    root = linked(equal)
    is_told = np.isin(seen.key, told)
    for node in np.unique(seen.node[is_told]).tolist():
        if node in root:
            continue
        own = np.flatnonzero(is_told & (seen.node == node))
        spreads = sorted(
            (_spread_to(seen, own, np.flatnonzero(is_told & (seen.node == other))), other)
            for other in root
        )
        others = [spread for spread, other in spreads if root[other] != root[spreads[0][1]]]
        if others and NARROWER * spreads[0][0] < min(others):
            yield node, spreads[0][1]


def _spread_to(seen: Seen, own: Ints, others: Ints) -> float:
    """By how much times to equal packets vary from one to the next, by direction of flows."""
    _, here, there = np.intersect1d(seen.key[own], seen.key[others], return_indices=True)
    own, others = own[here], others[there]
    in_time = np.argsort(seen.t_ns[own], kind="stable")
    own, others = own[in_time], others[in_time]
    d_ns = without_drift(seen.t_ns[own], seen.t_ns[others] - seen.t_ns[own])
    by = np.argsort(seen.flow[own], kind="stable")
    steps_ns = np.abs(np.diff(d_ns[by]))[np.diff(seen.flow[own][by]) == 0]
    return float(np.median(steps_ns)) if len(steps_ns) >= ENOUGH else np.inf


def _links_of_others(seen: Seen, told: Ints, equal: Sequence[Nodes]) -> Iterator[Nodes]:
    """Nodes of two places that share packets, but for those that several tenants have."""
    one, other = seen.pairs(at_one_place=False)
    is_told = np.isin(seen.key[one], told)
    ends = np.stack((seen.node[one], seen.node[other]))
    nodes, of, n = distinct_columns(ends)
    n_told = np.bincount(of, weights=is_told, minlength=len(n))
    apart = {node for two in equal for node in two}
    shares = [n / _n_from(end, seen.place[far], n) for end, far in (nodes, nodes[::-1])]
    for at, (node, next_node) in enumerate(nodes.T.tolist()):
        is_enough = n[at] >= FEW and max(share[at] for share in shares) >= LEAST_SHARE
        if is_enough and 2 * n_told[at] < n[at] and not {node, next_node} <= apart:
            yield node, next_node


def _n_from(node: Ints, place: Ints, n: Ints) -> Ints:
    """Of each link, how much its node shares with all nodes of that place."""
    of = distinct_columns(np.stack((node, place)))[1]
    return np.bincount(of, weights=n)[of]


def _passed_twice(
    seen: Seen, doubles: Sequence[Doubles], equal: Sequence[Nodes]
) -> Iterator[Nodes]:
    """Nodes of one place that have the same packets, and not two tenants'."""
    of_tenants = {node for ends in equal for node in ends}
    for one in doubles:
        least = min(int(seen.n_at[node]) for node in one.nodes)
        n_near = np.count_nonzero(np.abs(one.lag_ns) <= WITHIN_NS)
        if not {*one.nodes} <= of_tenants and n_near >= max(FEW, PASSED_TWICE * least):
            yield one.nodes


def _of_unknown_tenant(seen: Seen, told: Ints, links: Sequence[Nodes]) -> Ints:
    """Nodes with packets that several tenants have, and nothing tells which of them it is.

    Each counts as a tenant of its own: a packet of it that was matched might be another's.
    """
    n_told = np.bincount(seen.node[np.isin(seen.key, told)], minlength=len(seen.n_at))
    return np.setdiff1d(np.flatnonzero(2 * n_told > seen.n_at), np.array(links).ravel())


def _tenants(seen: Seen, links: Sequence[Nodes], equal: set[int]) -> list[list[int]]:
    """Nodes by tenant, of those that have flows of other tenants' addresses."""
    root = linked(links)
    members = {one: [node for node in root if root[node] == one] for one in set(root.values())}
    is_wide = {one: len(np.unique(seen.place[nodes])) > 1 for one, nodes in members.items()}
    of_node = np.array([root.get(node, -1) for node in range(len(seen.place))])
    rows = np.flatnonzero(np.array([is_wide.get(one, False) for one in of_node])[seen.node])
    rows = rows[np.lexsort((seen.t_ns[rows], seen.flow[rows], seen.place[seen.node[rows]]))]
    found = {root[node] for node in equal}
    found |= _by_turns(seen.place[seen.node[rows]], seen.flow[rows], of_node[seen.node[rows]])
    return [members[one] for one in found]


def _by_turns(place: Ints, flow: Ints, tenant: Ints) -> set[int]:
    """Tenants that have packets of the same flow by turns, at one place; rows in order of time."""
    is_same = (np.diff(place) == 0) & (np.diff(flow) == 0)
    at = np.flatnonzero(is_same & (np.diff(tenant) != 0))
    turns = np.sort(np.stack((tenant[at], tenant[at + 1])), axis=0)
    each, of, n = distinct_columns(turns)
    n_flows = [len(np.unique(flow[at[of == number]])) for number in range(len(n))]
    return set(each[:, n >= ENOUGH + np.array(n_flows, np.int64)].ravel().tolist())


def _numbered(seen: Seen, tenants: Sequence[Sequence[int]]) -> Ints:
    """Number tenants from 1 on, in an order that files and points have no part in."""
    number = np.zeros(len(seen.place), np.int64)
    tunnels = sorted((sorted(seen.tunnel[nodes].tolist())[::-1], nodes) for nodes in tenants)
    for at, (_, nodes) in enumerate(tunnels, 1):
        number[nodes] = at
    return number
