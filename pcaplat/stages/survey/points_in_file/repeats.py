"""Packets that one file saw more than once, and by which features the observations differ."""

from collections.abc import Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Ints, distinct, distinct_columns
from pcaplat.model.points import Pair
from pcaplat.records import dataclass

WITHIN_NS = 150_000_000
"""Observations of one packet in one file lie within this; a TCP retransmission takes 200 ms or
more."""

ENOUGH = 3
"""So many packets seen at both of two places make them two, or all there are."""

LEAST_SHARE = 0.02
"""Two places share so much, at least, of what was seen at the one that saw less."""

MOST_PLACES = 16
"""A dimension with more values than this is a property of the traffic, not of the places."""

Columns = Mapping[str, Ints]
"""The survey's sample by column; see rust/src/location/ for what the file says of each frame."""


@dataclass(frozen=True)
class Repeats:
    """Consecutive observations of a unicast packet in one file: row of the one, row of the next."""

    key: Ints
    first: Ints
    then: Ints

    @classmethod
    def among(cls, columns: Columns, rows: Ints) -> "Repeats":
        """Find those among some rows of the sample."""
        rows = rows[columns["is_directed"][rows] != 0]
        key, file, t_ns = (columns[name][rows] for name in ("key", "file", "t_ns"))
        by = np.lexsort((t_ns, file, key))
        key, file, t_ns, rows = key[by], file[by], t_ns[by], rows[by]
        is_same = (key[1:] == key[:-1]) & (file[1:] == file[:-1])
        at = np.flatnonzero(is_same & (t_ns[1:] - t_ns[:-1] <= WITHIN_NS))
        return cls(key[at], rows[at], rows[at + 1])

    def alike_in(self, value: Ints) -> "Repeats":
        """Keep those whose observations have a feature in common."""
        same = value[self.first] == value[self.then]
        return Repeats(self.key[same], self.first[same], self.then[same])

    def __len__(self) -> int:
        return len(self.key)


def count_keys(columns: Columns, rows: Ints) -> int:
    """Count the unicast packets among some rows."""
    return len(distinct(columns["key"][rows[columns["is_directed"][rows] != 0]]))


def is_enough(n_both: int, n_seen: Sequence[int]) -> bool:
    """Tell whether so many packets of two places were seen at both, that they are two places."""
    return n_both >= min(ENOUGH, max(n_seen)) and n_both >= LEAST_SHARE * min(n_seen)


def places(columns: Columns, rows: Ints, repeats: Repeats, value: Ints) -> list[int]:
    """Give the values that tell places apart: the same packets were seen with one and another.

    Args:
        columns: The sample.
        rows: The rows that are asked about.
        repeats: The packets seen repeatedly among them.
        value: The feature of every row of the sample.

    Returns:
        The values, ascending; none if they are of the traffic and not of the places.
    """
    one, other = value[repeats.first], value[repeats.then]
    is_both = one != other
    if not np.any(is_both):
        return []
    ends = np.stack((np.minimum(one, other), np.maximum(one, other), repeats.key))[:, is_both]
    edges, _, n_both = distinct_columns(distinct_columns(ends)[0][:2])
    found: set[int] = set()
    n_seen = {place: count_keys(columns, rows[value[rows] == place]) for place in set(edges.flat)}
    for (near, far), n in zip(edges.T.tolist(), n_both.tolist(), strict=True):
        if is_enough(n, (n_seen[near], n_seen[far])):
            found |= {near, far}
    return sorted(found) if len(found) <= MOST_PLACES else []


def is_passing(columns: Columns, repeats: Repeats, value: Ints) -> bool:
    """Tell whether a feature changes the same way whichever way packets go.

    Then it is no place: it says how far a packet has come, like "in" and "out". A place that one
    direction passes first the other passes last.
    """
    first, then = repeats.first, repeats.then
    is_both = (value[first] != value[then]) & (columns["t_ns"][first] != columns["t_ns"][then])
    votes: dict[tuple[int, int], int] = {}
    names = ("pair", "is_toward")
    ends = zip(*(columns[name][first[is_both]].tolist() for name in names), strict=True)
    rises = np.where(value[then] > value[first], 1, -1)[is_both].tolist()
    for end, rise in zip(ends, rises, strict=True):
        votes[end] = votes.get(end, 0) + rise
    both = [
        (votes[pair, 0], votes[pair, 1]) for pair, toward in votes if toward and (pair, 0) in votes
    ]
    return sum(1 if one * other > 0 else -1 for one, other in both) > 0


def travel_order(columns: Columns, part: Ints, forward: Mapping[int, bool]) -> list[int]:
    """Order the parts of a file as packets pass them that go away from who opened the flow.

    Args:
        columns: The sample.
        part: Of every row, or below 0 for rows that do not count.
        forward: By address pair, whether packets from the smaller address go that way.
    """
    score: dict[int, list[float]] = {int(place): [] for place in np.unique(part[part >= 0])}
    rows = np.flatnonzero((part >= 0) & (columns["is_directed"] != 0))
    by = np.lexsort((rows, columns["t_ns"][rows], columns["key"][rows]))
    rows = rows[by]
    starts = np.flatnonzero(np.diff(columns["key"][rows], prepend=columns["key"][rows[:1]] - 1))
    for observations in np.split(rows, starts[1:]):
        passed = list(dict.fromkeys(part[observations].tolist()))
        if len(passed) > 1:
            first = observations[0]
            toward = bool(columns["is_toward"][first])
            if toward != forward.get(int(columns["pair"][first]), True):
                passed.reverse()
            for at, place in enumerate(passed):
                score[place].append(at / (len(passed) - 1))
    return sorted(score, key=lambda place: (np.mean(score[place] or [1.0]), place))


def flow_openers(flows: Columns) -> dict[int, bool]:
    """By address pair, whether more flows were opened from the smaller address than to it."""
    sense: dict[int, int] = {}
    rows = zip(*(flows[name].tolist() for name in ("pair", "is_first_toward")), strict=True)
    for pair, is_toward in rows:
        sense[pair] = sense.get(pair, 0) + (1 if is_toward else -1)
    return {pair: total >= 0 for pair, total in sense.items()}


def linked(edges: Sequence[Pair] | Ints) -> dict[int, int]:
    """Give every node of a graph the least node of its component."""
    root: dict[int, int] = {}

    def find(node: int) -> int:
        while root.setdefault(node, node) != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for one, other in edges:
        low, high = sorted((find(int(one)), find(int(other))))
        root[high] = low
    return {node: find(node) for node in list(root)}
