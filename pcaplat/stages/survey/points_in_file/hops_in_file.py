"""Places that only a packet's passage tells apart: before and after a router, in and out.

A router takes one off the TTL whichever way a packet goes, so a TTL is no place; with the sender it
is one, for the way from a sender to a place is the same for all its packets. Which of a sender's
TTLs belong together show the packets seen with both; on which side of the router it sits show the
packets between two senders, for they sit on opposite sides.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pcaplat.model.arrays import Bools, Ints
from pcaplat.model.points import Pair
from pcaplat.stages.survey.points_in_file.repeats import (
    Columns,
    Repeats,
    count_keys,
    is_enough,
    linked,
)

Marks = dict[Pair, int]
"""The place, by mark and source."""

Node = tuple[str, int]
"""Of a graph of senders, and of what they have in common."""


LEAST_OF_FLOW = 2
"""A flow of which fewer packets are seen as another one may be equal to it by chance."""

SELDOM_SHARE = 0.1
"""Of the packets of a sender that are seen under another one: fewer were equal by chance."""


class Passed(NamedTuple):
    """The marks of a source, in the order in which its packets pass them."""

    source: int
    marks: tuple[int, ...]


def find_hops(columns: Columns, rows: Ints, repeats: Repeats, mark: str) -> Marks:
    """Give the places that a mark of the packets, with its sender, tells apart.

    Args:
        columns: The sample.
        rows: The rows that are asked about.
        repeats: The packets seen repeatedly among them.
        mark: The column. A TTL falls on the way; what else there is comes in order of time.

    Returns:
        The places by mark and source, numbered along one way through the file; nothing if the mark
        tells no places apart. Sources whose side is not known are left out.
    """
    value, source = columns[mark], columns["source"]
    is_both = (value[repeats.first] != value[repeats.then]) & (
        source[repeats.first] == source[repeats.then]
    )
    if mark == "direction":
        is_both &= (value[repeats.first] != 0) & (value[repeats.then] != 0)
    if not np.any(is_both):
        return {}
    passed = _passed(columns, repeats, is_both, mark)
    n_places = Counter(len(one.marks) for one in passed).most_common(1)[0][0]
    side = _sides(columns, repeats.first[is_both])
    found: Marks = {}
    for one in passed:
        if len(one.marks) == n_places and one.source in side:
            places = range(n_places) if side[one.source] else range(n_places - 1, -1, -1)
            found |= {(m, one.source): at for m, at in zip(one.marks, places, strict=True)}
    return found if _tells(columns, rows, repeats, mark, found) else {}


def find_legs(columns: Columns, rows: Ints, repeats: Repeats, mark: str) -> Marks:
    """Give the places that senders' addresses tell apart, where both ends are translated.

    Of a packet seen under two senders' addresses, one is in use before the translator and one
    behind it; the two senders of a flow are on one side. Where that leads to a contradiction, an
    address is in use on both sides, and tells nothing.

    Args:
        columns: The sample.
        rows: The rows that are asked about.
        repeats: The packets seen repeatedly among them, whatever their addresses.
        mark: The column by which, with the sender, frames are placed.

    Returns:
        The places by mark and source, in no order; nothing if there are no two. Sources that have
        nothing to do with the largest group are left out.
    """
    source = columns["source"]
    first, then = _moved(columns, rows, repeats)
    around: defaultdict[Node, list[tuple[Node, bool]]] = defaultdict(list)
    ends = Counter(zip(source[first].tolist(), source[then].tolist(), strict=True))
    n_of = Counter[Node]()
    for (one, other), n in ends.items():
        n_of["source", one] += n
        n_of["source", other] += n
    for (one, other), n in ends.items():
        if n > SELDOM_SHARE * min(n_of["source", one], n_of["source", other]):
            _link(around, ("source", one), ("source", other), is_alike=False)
    both = np.concatenate((first, then))
    for who, leg in {*zip(source[both].tolist(), columns["leg"][both].tolist(), strict=True)}:
        _link(around, ("source", who), ("leg", leg), is_alike=True)
    side = _largest(around, n_of)
    marks = {*zip(columns[mark][rows].tolist(), source[rows].tolist(), strict=True)}
    found = {(m, who): int(side["source", who]) for m, who in marks if ("source", who) in side}
    return found if _tells(columns, rows, repeats, mark, found) else {}


def _moved(columns: Columns, rows: Ints, repeats: Repeats) -> tuple[Ints, Ints]:
    """Both rows of each packet that was seen twice, and no more often, under two senders.

    Only of flows of which most were seen so, as one other flow: single packets are equal by chance.
    """
    source, leg = columns["source"], columns["leg"]
    _, at, n = np.unique(repeats.key, return_inverse=True, return_counts=True)
    is_moved = (source[repeats.first] != source[repeats.then]) & (n[at] == 1)
    first, then = repeats.first[is_moved], repeats.then[is_moved]
    ends = np.sort(np.stack((leg[first], leg[then])), axis=0)
    flows, pair_of, n_of_pair = np.unique(ends, axis=1, return_inverse=True, return_counts=True)
    known, n_of_leg = np.unique(leg[rows], return_counts=True)
    most = n_of_leg[np.searchsorted(known, flows)].max(axis=0)
    is_one_flow = (n_of_pair >= LEAST_OF_FLOW) & (2 * n_of_pair > most)
    keep = is_one_flow[pair_of]
    return first[keep], then[keep]


def _link(
    around: defaultdict[Node, list[tuple[Node, bool]]], one: Node, other: Node, *, is_alike: bool
) -> None:
    around[one].append((other, is_alike))
    around[other].append((one, is_alike))


def _largest(
    around: defaultdict[Node, list[tuple[Node, bool]]], n_of: Mapping[Node, int]
) -> dict[Node, bool]:
    """Give the sides of the group with the most packets, if they agree, else of the next."""
    best: tuple[int, dict[Node, bool]] = 0, {}
    reached: set[Node] = set()
    for start in sorted(around):
        if start not in reached:
            side, is_sound = _walk(around, start)
            reached |= side.keys()
            weight = sum(n_of.get(node, 0) for node in side)
            if is_sound and weight > best[0]:
                best = weight, side
    return best[1]


def _passed(columns: Columns, repeats: Repeats, is_both: Bools, mark: str) -> list[Passed]:
    """For every source the marks that its packets were seen with, first one first."""
    first, then = repeats.first[is_both], repeats.then[is_both]
    edges: defaultdict[int, list[Pair]] = defaultdict(list)
    value, source = columns[mark], columns["source"]
    seen = zip(*(one.tolist() for one in (source[first], value[first], value[then])), strict=True)
    for who, one, other in seen:
        edges[who].append((one, other))
    passed = []
    for who, of_source in edges.items():
        lead = Counter(one for one, _ in of_source)
        lead.subtract(other for _, other in of_source)
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for node, root in linked(of_source).items():
            groups[root].append(node)
        for marks in groups.values():
            in_order = sorted(marks, key=lambda m: (-m if mark.endswith("ttl") else -lead[m], m))
            passed.append(Passed(who, tuple(in_order)))
    return passed


def _sides(columns: Columns, rows: Ints) -> dict[int, bool]:
    """On which side of the places each source sits; of groups without contact only the largest.

    A source and its address pairs form a graph: in a pair, the two senders are on opposite sides.
    Where that leads to a contradiction, more than two networks meet, and there is no side.
    """
    names = ("source", "pair", "is_toward")
    links = Counter(zip(*(columns[name][rows].tolist() for name in names), strict=True))
    around: defaultdict[Node, list[tuple[Node, bool]]] = defaultdict(list)
    for source, pair, is_toward in links:
        around["source", source].append((("pair", pair), bool(is_toward)))
        around["pair", pair].append((("source", source), bool(is_toward)))
    n_of: Counter[Node] = Counter()
    for (source, _, _), n in links.items():
        n_of["source", source] += n
    sides = _largest(around, n_of).items()
    return {node: is_first for (kind, node), is_first in sides if kind == "source"}


def _walk(
    around: defaultdict[Node, list[tuple[Node, bool]]],
    start: Node,
) -> tuple[dict[Node, bool], bool]:
    """Give the side of all nodes that are linked with one, and whether they agree."""
    side, waiting, is_sound = {start: True}, [start], True
    while waiting:
        node = waiting.pop()
        for other, is_alike in around[node]:
            expected = side[node] == is_alike
            if other not in side:
                side[other] = expected
                waiting.append(other)
            is_sound &= side[other] == expected
    return side, is_sound


def _tells(columns: Columns, rows: Ints, repeats: Repeats, mark: str, found: Marks) -> bool:
    """Tell whether enough packets were seen at two of the places."""

    def place(at: Ints) -> Ints:
        ends = zip(columns[mark][at].tolist(), columns["source"][at].tolist(), strict=True)
        return np.array([found.get(end, -1) for end in ends], np.int64)

    one, other = place(repeats.first), place(repeats.then)
    is_both = (one != other) & (one >= 0) & (other >= 0)
    n_both = len(np.unique(repeats.key[is_both]))
    return n_both > 0 and is_enough(n_both, [count_keys(columns, rows)])
