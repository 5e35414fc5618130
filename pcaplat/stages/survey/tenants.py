"""Tenants whose hosts have the same addresses: equal packets in two tunnels, each of another flow.

A packet that one file has in two tunnels may have passed its place twice, as behind a gateway. Then
every file that has it twice has the first one earlier or the second one later than the others, by
what the way between takes. Two tenants' packets are as far apart in every file.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from pcaplat.model.arrays import Bools, Ints
from pcaplat.model.sampled import SampleColumns
from pcaplat.records import dataclass
from pcaplat.stages.survey.points_in_file.repeats import WITHIN_NS, linked

ENOUGH = 20
"""So many packets that two files both have twice tell whether they are as far apart in both."""

NARROWER = 3
"""Times between the observations of one packet vary so many times less than those of two."""

MULTIPLIER = -7_046_029_254_386_353_131
"""Odd: so that equal packets of several tenants have different numbers."""

Node = tuple[int, int]
"""A file, and the identifier of a tunnel in it."""


@dataclass(frozen=True)
class Doubles:
    """Packets that a file has in two tunnels: rows of the earlier one and of the later one."""

    key: Ints
    first: Ints
    then: Ints


def tenants_apart(columns: SampleColumns) -> SampleColumns:
    """Give equal packets of several tenants different keys.

    Args:
        columns: The sample, as an engine gives it.

    Returns:
        The same, with other keys where files have equal packets in two tunnels, as far apart in
        each of the files.
    """
    doubles = {file: _doubles(columns, file) for file in np.unique(columns["file"]).tolist()}
    links, shared = list[tuple[Node, Node]](), list[Ints]()
    for one, other in combinations(doubles, 2):
        both = np.intersect1d(doubles[one].key, doubles[other].key, return_indices=True)
        here, there = both[1:]
        if _are_tenants(columns, doubles[one], doubles[other], here, there):
            links += _links(columns, doubles[one], doubles[other], here, there)
            shared += [doubles[one].key, doubles[other].key]
    if not shared:
        return columns
    keys, tenants = np.unique(np.concatenate(shared)), _numbered(links)
    is_told = np.isin(columns["key"], keys)
    tenants |= _tenants_of_others(columns, is_told, tenants)
    nodes = zip(columns["file"].tolist(), columns["tunnel"].tolist(), strict=True)
    number = np.array([tenants.get(node, 0) for node in nodes], np.int64)
    key = np.where(is_told, columns["key"] ^ (number * MULTIPLIER), columns["key"])
    return {**columns, "key": key}


def _doubles(columns: SampleColumns, file: int) -> Doubles:
    rows = np.flatnonzero((columns["file"] == file) & (columns["is_directed"] != 0))
    rows = rows[np.lexsort((columns["t_ns"][rows], columns["key"][rows]))]
    keys, starts, n = np.unique(columns["key"][rows], return_index=True, return_counts=True)
    is_twice = n == 2  # noqa: PLR2004 - once in each tunnel
    first, then = rows[starts[is_twice]], rows[starts[is_twice] + 1]
    tunnel, t_ns = columns["tunnel"], columns["t_ns"]
    is_apart = (tunnel[first] != tunnel[then]) & (tunnel[first] >= 0) & (tunnel[then] >= 0)
    is_apart &= t_ns[then] - t_ns[first] <= WITHIN_NS
    return Doubles(keys[is_twice][is_apart], first[is_apart], then[is_apart])


def _are_tenants(
    columns: SampleColumns, one: Doubles, other: Doubles, here: Ints, there: Ints
) -> bool:
    """Whether equal packets are as far apart in two files."""
    if len(here) < ENOUGH:
        return False
    t_ns = columns["t_ns"]
    lag_ns = t_ns[one.then[here]] - t_ns[one.first[here]]
    more_ns = t_ns[other.then[there]] - t_ns[other.first[there]] - lag_ns
    narrow_ns = _spread(more_ns)
    return NARROWER * max(narrow_ns, abs(float(np.median(more_ns)))) < _spread(lag_ns)


def _spread(values: Ints) -> float:
    return float(np.median(np.abs(values - np.median(values))))


def _links(
    columns: SampleColumns, one: Doubles, other: Doubles, here: Ints, there: Ints
) -> Iterator[tuple[Node, Node]]:
    """Tunnels of two files that have the same tenant's packets, by the most of them."""
    counted: dict[tuple[Node, Node], int] = {}
    for rows, others in ((one.first, other.first), (one.then, other.then)):
        for ends in zip(_nodes(columns, rows[here]), _nodes(columns, others[there]), strict=True):
            counted[ends] = counted.get(ends, 0) + 1
    taken = set[Node]()
    for ends in sorted(counted, key=lambda ends: -counted[ends]):
        if taken.isdisjoint(ends):
            taken |= {*ends}
            yield ends


def _nodes(columns: SampleColumns, rows: Ints) -> list[Node]:
    return list(zip(columns["file"][rows].tolist(), columns["tunnel"][rows].tolist(), strict=True))


def _numbered(links: Sequence[tuple[Node, Node]]) -> dict[Node, int]:
    """Number the tenants from 1 on."""
    nodes = sorted({node for ends in links for node in ends})
    roots = linked([(nodes.index(one), nodes.index(other)) for one, other in links])
    number = {root: at for at, root in enumerate(sorted(set(roots.values())), 1)}
    return {node: number[roots[at]] for at, node in enumerate(nodes)}


def _tenants_of_others(
    columns: SampleColumns, is_told: Bools, tenants: Mapping[Node, int]
) -> dict[Node, int]:
    """By file and tunnel where equal packets were seen once: the tenant they are nearest to."""
    rows = np.flatnonzero(is_told)
    nodes = _nodes(columns, rows)
    number = np.array([tenants.get(node, 0) for node in nodes], np.int64)
    found: dict[Node, int] = {}
    for node in sorted({*nodes} - tenants.keys()):
        own = rows[np.array([one == node for one in nodes], np.bool_)]
        spreads = sorted(
            (float(np.median(np.abs(np.diff(d_ns)))), tenant)
            for tenant in sorted(set(tenants.values()))
            for d_ns in _times_to(columns, own, rows[number == tenant])
        )
        best = spreads[0] if spreads else (0.0, 0)
        others = [spread for spread, tenant in spreads if tenant != best[1]]
        if others and NARROWER * best[0] < min(others):
            found[node] = best[1]
    return found


def _times_to(columns: SampleColumns, own: Ints, rows: Ints) -> Iterator[Ints]:
    """How much later equal packets were seen, by file and direction, in order of time."""
    key, t_ns = columns["key"], columns["t_ns"]
    ends = np.stack((columns["file"], columns["is_toward"]))[:, rows]
    own = own[np.argsort(t_ns[own], kind="stable")]
    for end in np.unique(ends, axis=1).T:
        at = rows[(ends == end[:, None]).all(axis=0)]
        by = np.argsort(key[at], kind="stable")
        place = np.searchsorted(key[at], key[own], sorter=by)
        there = at[by[np.minimum(place, len(at) - 1)]]
        is_equal = key[there] == key[own]
        if is_equal.sum() >= ENOUGH:
            yield t_ns[there[is_equal]] - t_ns[own[is_equal]]
