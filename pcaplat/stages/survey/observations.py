"""The survey's sample: what each point saw of the same few packets."""

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np

from pcaplat.model.arrays import Bools, Ints, distinct, rows_by
from pcaplat.model.points import Point, PointTree
from pcaplat.model.sampled import SampleColumns
from pcaplat.records import dataclass

COPIES_WITHIN_NS = 2_000_000
"""Copies of a frame at one point lie within this (docs/method/match.md)."""

ENOUGH = 20
"""Copies below which little is known of them."""

NEARLY_ALL = 0.9
"""A point that sees such a share of its packets exactly twice sees all of them so."""

ANY_PART = -1
"""Flows of divided files began somewhere in the file; its points share a clock."""

FLAGS = ("is_toward", "is_directed")


class OfPairs:
    """Rows of address pairs: many packets are of one, so that each pair is looked up once."""

    pair: Ints

    @property
    def pairs(self) -> Ints:
        """Address pairs that were seen, ascending."""
        return self._pairs[0]

    @property
    def of_pair(self) -> Ints:
        """Which of `pairs` each row is of."""
        return self._pairs[1]

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        return np.unique(self.pair, return_inverse=True)

    def places(self, pairs: Ints) -> tuple[Ints, Bools]:
        """Find the pair of each row among others, which ascend; see `places`."""
        at, is_there = places(self.pairs, pairs)
        return at[self.of_pair], is_there[self.of_pair]

    def are_of(self, pairs: Ints) -> Bools:
        """Tell which rows are of some address pairs, which ascend."""
        return among(self.pairs, pairs)[self.of_pair]


@dataclass(frozen=True)
class Observations(OfPairs):
    """Sampled packets of one point; equal indices belong together.

    `pair` is the two addresses with direction ignored, `is_toward` whether the source is the
    smaller one, `is_directed` whether the packet has a sender at one end of the path. `copy_tag`
    is equal, and not 0, for frames that are equal to the byte and numbered. `tcp_bytes` is 0 for
    anything but TCP. `source` is the innermost source address, as a hash.
    """

    key: Ints
    flow: Ints
    pair: Ints
    is_toward: Bools
    is_directed: Bools
    copy_tag: Ints
    t_ns: Ints
    ttl: Ints
    tcp_bytes: Ints
    source: Ints

    def at(self, index: Ints | Bools) -> "Observations":
        """Take the rows of `index`."""
        rows = np.flatnonzero(index) if index.dtype == np.bool_ else index
        # twice as fast as an index
        return Observations(
            **{one.name: getattr(self, one.name).take(rows) for one in fields(self)}
        )

    @cached_property
    def by_time(self) -> Ints:
        """Rows in order of time; of one time, in the order that they are in."""
        return np.argsort(self.t_ns, kind="stable")

    @cached_property
    def by_key(self) -> Ints:
        """Rows in order of packets, and of each in order of time."""
        return rows_by(self.key, self.t_ns)

    def __len__(self) -> int:
        return len(self.key)


def among(values: Ints, ascending: Ints) -> Bools:
    """Tell which values are in a column that ascends; numpy's isin sorts what is sorted."""
    return places(values, ascending)[1]


def places(values: Ints, ascending: Ints) -> tuple[Ints, Bools]:
    """Find values in a column that ascends: at which row each is, and whether it is there."""
    if len(ascending) == 0:
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return at, np.asarray(ascending[at] == values)


PARTS = 1 << 32
"""More than a file has."""


@dataclass(frozen=True)
class Sample:
    """The same packets of every point, and how their flows began.

    `source` has the file index of each packet, and the part of the file that saw it, as rows. The
    last `n_more` packets are further ones, for what neighbours in a flow tell of each other.
    `flows` are columns: file, interface, flow, pair, first_t_ns, is_first_toward, opens; where a
    file is divided, the interface is `ANY_PART`. `fragmented` is that of `Findings`.
    """

    packets: Observations
    source: Ints
    flows: SampleColumns
    fragmented: Sequence[tuple[int, int]] = ()
    n_more: int = 0

    @classmethod
    def of(
        cls,
        packets: SampleColumns,
        flows: SampleColumns,
        divisions: Sequence[PointTree | None] = (),
        part: Ints | None = None,
        fragmented: Sequence[tuple[int, int]] = (),
        n_more: int = 0,
    ) -> "Sample":
        """Read the columns that an engine's `sample` gives, without copying them.

        Args:
            packets: Selected packets.
            flows: Selected flows.
            divisions: How each file is divided.
            part: The part of its file that saw each packet; by default its interface.
            fragmented: Address pairs with packets in fragments, and bytes in the shortest of those.
            n_more: How many of the packets, at their end, are further ones.
        """
        columns = {**packets} | {name: packets[name] != 0 for name in FLAGS}
        at = flows["interface"].copy()
        divided = [file for file, division in enumerate(divisions) if division]
        for file in divided:
            at[flows["file"] == file] = ANY_PART
        return cls(
            Observations(**{one.name: columns[one.name] for one in fields(Observations)}),
            np.stack((columns["file"], columns["interface"] if part is None else part), axis=1),
            {**flows, "interface": at},
            fragmented,
            n_more,
        )

    def seen_at(self, point: Point) -> Observations:
        """Give what one point saw, but for what there is more."""
        rows = self._rows_of(point)
        return self.packets.at(rows[: np.searchsorted(rows, len(self.packets) - self.n_more)])

    def all_seen_at(self, point: Point) -> Observations:
        """Give what one point saw, and what there is more."""
        return self.packets.at(self._rows_of(point))

    def _rows_of(self, point: Point) -> Ints:
        keys, rows = self._by_source
        own = [file * PARTS + part for file, part in point.sources]
        ends = np.searchsorted(keys, own), np.searchsorted(keys, own, "right")
        found = [rows[first:end] for first, end in zip(*ends, strict=True)]
        return np.sort(np.concatenate([rows[:0], *found]))

    @cached_property
    def _by_source(self) -> tuple[Ints, Ints]:
        """Files with parts, ascending, as one number each, and their rows."""
        file_of, part_of = self.source.T
        keys = file_of * PARTS + part_of
        rows = np.argsort(keys, kind="stable")
        return keys[rows], rows


Occasions = tuple[Observations, Ints]
"""Packets, ascending by key, as they were seen first, and how often each was seen."""


def occasions(seen: Observations) -> Occasions:
    """Count how often one point saw each packet, copies left out."""
    by_key = seen.by_key
    key, t_ns = seen.key[by_key], seen.t_ns[by_key]
    is_new = np.diff(key, prepend=key[:1] - 1) != 0
    is_again = ~is_new & (np.diff(t_ns, prepend=t_ns[:1]) > COPIES_WITHIN_NS)
    starts = np.flatnonzero(is_new)
    n = 1 + np.add.reduceat(is_again, starts, dtype=np.int64) if len(starts) else starts
    return seen.at(by_key[starts]), n


def come_again_ns(seen: Observations) -> Ints:
    """How long after each packet one point saw it, or a copy, again: ascending."""
    by_key = seen.by_key
    is_same = np.diff(seen.key[by_key]) == 0
    return np.sort(np.diff(seen.t_ns[by_key])[is_same])


def unique_observations(points: list[Observations]) -> list[Observations]:
    """Keep of every point the packets it saw once, copies folded into the first.

    Same bytes soon after are a copy only where some point saw the packet once and none saw it far
    apart, where the point sees nearly all packets twice, or where the frames are equal to the byte
    and numbered.

    Returns:
        Per point its unique packets, ascending by key.
    """
    owner = np.repeat(np.arange(len(points)), [len(one) for one in points])
    key, t_ns, tag = (
        np.concatenate([getattr(one, name) for one in points])
        for name in ("key", "t_ns", "copy_tag")
    )
    order = np.lexsort((t_ns, owner, key))
    rows = order[_unique_runs(key[order], owner[order], t_ns[order], tag[order])]
    first = np.cumsum([0, *(len(one) for one in points)])
    return [one.at(rows[owner[rows] == i] - first[i]) for i, one in enumerate(points)]


def _unique_runs(key: Ints, owner: Ints, t_ns: Ints, tag: Ints) -> Ints:
    """Where the runs of one key and point start that are one packet, given in that order."""
    is_new_key = np.append(True, key[1:] != key[:-1])[: len(key)]
    is_new = is_new_key | np.append(True, owner[1:] != owner[:-1])[: len(key)]
    starts = np.flatnonzero(is_new)
    n = np.diff(np.append(starts, len(key)))
    is_close = is_new | (np.diff(t_ns, prepend=t_ns[:1]) <= COPIES_WITHIN_NS)
    is_equal = is_new | ((tag == np.roll(tag, 1)) & (tag != 0))
    all_close = np.logical_and.reduceat(is_close, starts)
    all_equal = np.logical_and.reduceat(is_equal, starts)
    key_starts = np.flatnonzero(is_new_key[starts])
    seen_once = np.logical_or.reduceat(n == 1, key_starts)
    never_far = np.logical_and.reduceat(all_close, key_starts)
    n_points = np.diff(np.append(key_starts, len(n)))
    is_one_packet = np.repeat(seen_once & never_far, n_points)
    is_twice = all_close & (n == 2)  # noqa: PLR2004
    is_told = (n == 1) | is_one_packet | (all_close & all_equal)
    # there, once is the first time or the second
    is_told = np.where(_at_doubling(owner[starts], is_twice), is_twice, is_told)
    found: Ints = starts[is_told]
    return found


def _at_doubling(owner: Ints, is_twice: Bools) -> Bools:
    """Which runs are of points that see nearly all packets twice."""
    points = distinct(owner)
    doubling = [point for point in points if sees_all_twice(is_twice[owner == point])]
    return np.isin(owner, doubling)


def sees_all_twice(is_twice: Bools) -> bool:
    """Tell whether a point sees nearly all of its packets exactly twice, soon after each other.

    Its mirror then copies all it sees, whatever other points see: packets that equal each other
    by chance, or because a flow repeats itself, do not come in twos.
    """
    return int(is_twice.sum()) >= max(ENOUGH, NEARLY_ALL * len(is_twice))
