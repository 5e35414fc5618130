"""What two points share: packets that each saw once, with the difference of their raw stamps."""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property

import numpy as np

from pcaplat.model.arrays import Bools, Ints, median, quantile, rows_by
from pcaplat.model.centre import Tail
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.drift import without_drift_of_ways
from pcaplat.stages.survey.observations import Observations, OfPairs, places
from pcaplat.stages.survey.recurrence import NONE_RECUR, Recurring, again_after_ns, ways_of

FAR_NS = np.iinfo(np.int64).max

BLOCK = 101
"""Neighbours in time whose median stands for all of them."""

OUTLIER_NS = 1_000_000
OUTLIER_DEVIATIONS = 30
"""What is farther from its neighbours in time than `OUTLIER_NS`, and than so many deviations, is an
outlier."""

COMPANY = 3
"""A packet that is far from its neighbours in time is no outlier where so many of them are no
farther from it: they go the other way."""

ENOUGH_OF_WAY = 3
"""So many packets of two addresses and one way have a median."""

RELATED_WITHIN_NS = 10_000_000_000
"""Differences of unicast packets that scatter more than this relate nothing."""

REPEATED_WITHIN_NS = 1_000_000
"""Differences of broadcasts, which repeat themselves, must agree within this."""

ENOUGH_REPEATED = 5
"""So many differences of broadcasts must agree, for they come in bursts."""

LEAST_SURE = 32
"""So many packets say where latencies lie."""

SELDOM_JUMPS, FARTHER = 0.05, 4
"""This share of the packets of a way may differ by more from the one before; of packets that are
one each they differ by at most so many times as much as others do."""

ALIKE_NS = 1_000_000_000
"""Between clocks that agree to this, two differences of broadcasts are enough."""


@dataclass(frozen=True)
class Shared(OfPairs):
    """Packets that are unique at two points, in the first one's time order.

    `d_ns` is the second point's raw time minus the first's, `n_hops` how much less TTL the second
    saw. `is_strong`: unicast, or numbered (an IP identification), so that equal bytes are no
    chance. Most packets of their address pair and direction come again
    after `again_ns` at least; 0 where they do not.
    """

    t_ns: Ints
    d_ns: Ints
    flow: Ints
    pair: Ints
    is_toward: Bools
    is_directed: Bools
    is_strong: Bools
    again_ns: Ints
    n_hops: Ints

    def at(self, index: Ints | Bools) -> "Shared":
        """Take the rows of `index`."""
        rows = np.flatnonzero(index) if index.dtype == np.bool_ else index
        return Shared(**{one.name: getattr(self, one.name)[rows] for one in fields(self)})

    @cached_property
    def changes(self) -> tuple[Ints, Ints]:
        """Two-way distances at the changes of direction of each address pair, ns, and the pairs.

        Positive where what leaves the smaller address passes the first point first.
        """
        return direction_changes(self, self.is_toward, self.pair)

    @cached_property
    def turned(self) -> "Shared":
        """The same, seen from the second point; in the same order."""
        return Shared(
            self.t_ns + self.d_ns,
            -self.d_ns,
            self.flow,
            self.pair,
            self.is_toward,
            self.is_directed,
            self.is_strong,
            self.again_ns,
            -self.n_hops,
        )

    @cached_property
    def without_drift(self) -> "Shared":
        """The same as if the clocks differed all the time as they do in the middle of it."""
        if len(self) == 0:
            return self
        _, of_way = np.unique(ways_of(self.pair, self.is_toward), return_inverse=True)
        d_ns = np.rint(without_drift_of_ways(self.t_ns, self.d_ns, of_way)).astype(np.int64)
        middle = len(self) // 2
        return replace(self, d_ns=d_ns + self.d_ns[middle] - d_ns[middle])

    @property
    def sure(self) -> "Shared":
        """Those that are one packet each for all that is seen; all, where these are few."""
        is_few, is_far = self._in_doubt
        return self._but(is_few | is_far)

    @property
    def agreeing(self) -> "Shared":
        """All but those that disagree with others of their way."""
        return self._but(self._in_doubt[1])

    def _but(self, is_left_out: Bools) -> "Shared":
        n_others = len(self) - int(is_left_out.sum())
        return self.at(~is_left_out) if LEAST_SURE <= n_others < len(self) else self

    @cached_property
    def _in_doubt(self) -> tuple[Bools, Bools]:
        """Of packets that come again: which are too few of their way, and which disagree."""
        if not self.again_ns.any():
            none = np.zeros(len(self), np.bool_)
            return none, none
        way = ways_of(self.pair, self.is_toward)
        by = np.argsort(way, kind="stable")
        again_ns = self.again_ns[by]
        is_last = np.append(np.diff(way[by]) != 0, True)
        jump_ns = np.where(is_last, -1, np.abs(np.diff(self.d_ns[by], append=0)))
        of_others = jump_ns[(again_ns == 0) & ~is_last]
        is_enough = len(of_others) >= LEAST_SURE
        usual_ns = quantile(of_others, 1 - SELDOM_JUMPS) if is_enough else float(FAR_NS)
        limit_ns = np.minimum(again_ns / 2, FARTHER * usual_ns)
        # rows of one way after the other
        ends = np.flatnonzero(is_last) + 1
        n = np.diff(ends, prepend=0)
        in_order_ns = jump_ns[np.lexsort((jump_ns, way[by]))]
        most_ns = in_order_ns[ends - 1 - (SELDOM_JUMPS * (n - 1)).astype(np.int64)]
        is_few, is_far = np.zeros((2, len(self)), np.bool_)
        is_few[by] = np.repeat(n < ENOUGH_OF_WAY, n) & (again_ns > 0)
        is_far[by] = (np.repeat(most_ns, n) > limit_ns) & (again_ns > 0)
        return is_few, is_far

    def __len__(self) -> int:
        return len(self.t_ns)


def direction_changes(both: Shared, is_forward: Bools, group: Ints) -> tuple[Ints, Ints]:
    """Two-way distances at the changes of direction within each group, and their groups, ns."""
    by = rows_by(both.t_ns, both.d_ns)
    by = by[np.argsort(group[by], kind="stable")]
    d_ns, forward, group = both.d_ns[by], is_forward[by], group[by]
    changes = (group[1:] == group[:-1]) & (forward[1:] != forward[:-1])
    at = np.flatnonzero(changes) + 1
    sign = np.where(forward[at], 1, -1)
    return (d_ns[at] - d_ns[at - 1]) * sign, group[at]


_NONE, _NEITHER = np.zeros(0, np.int64), np.zeros(0, np.bool_)
NOTHING_SHARED = Shared(_NONE, _NONE, _NONE, _NONE, _NEITHER, _NEITHER, _NEITHER, _NONE, _NONE)

Relations = dict[Pair, Shared]
"""What pairs of points share, smaller index first; pairs that cannot be related are absent."""


def relate(
    unique: Sequence[Observations], recurring: Recurring = NONE_RECUR
) -> tuple[Relations, list[Tail]]:
    """Give what each pair of points shares, and the tails of their differences.

    Args:
        unique: What each point saw once.
        recurring: See `ways_seen_once`.
    """
    relations: Relations = {}
    tails: list[Tail] = []
    for near in range(len(unique)):
        for far in range(near + 1, len(unique)):
            both, tail = shared(unique[near], unique[far], recurring=recurring)
            if share_anything(both):
                relations[near, far] = both
                tails.append(tail)
    return relations, tails


def shared(
    near: Observations, far: Observations, *, recurring: Recurring = NONE_RECUR
) -> tuple[Shared, Tail]:
    """Join two points on the packets that are unique at both; keys ascend.

    Returns:
        What they share, less outliers in `d_ns`; and how far all are from the median of their
        neighbours in time, or of those that go the same way. Two addresses of which all packets
        seem late have no tail: they may be others with the same bytes.
    """
    packets = _joined(near, far, recurring)
    if len(packets) == 0:
        return packets, Tail.of(packets.d_ns, packets.d_ns)
    apart_ns = np.abs(packets.d_ns - _medians(packets.d_ns, [len(packets)]))
    is_kept = _is_usual(apart_ns, apart_ns)
    # what goes the other way lies elsewhere, by as much as both ways take
    rows, starts = _ways(packets)
    n_of = np.diff(starts, append=len(rows))
    own_ns = _apart_by_way(packets.d_ns, rows, n_of, apart_ns)
    comes_once = packets.again_ns == 0
    is_strong = packets.is_strong & (comes_once | ~comes_once.any())
    to_company_ns = _to_company(packets.d_ns)
    tail = Tail.of(np.minimum(own_ns, apart_ns)[is_strong], to_company_ns[is_strong])
    is_kept |= _is_usual(own_ns, own_ns) | _is_usual(to_company_ns, own_ns)
    is_nothing_kept = ~np.logical_or.reduceat(is_kept[rows], starts)
    is_kept[rows] |= packets.is_directed[rows] & np.repeat(is_nothing_kept, n_of)
    return packets.at(is_kept), tail


def _is_usual(away_ns: Ints, spread_ns: Ints) -> Bools:
    limit_ns = OUTLIER_NS + OUTLIER_DEVIATIONS * median(spread_ns)
    return np.asarray(away_ns <= limit_ns)


def _ways(both: Shared) -> tuple[Ints, Ints]:
    """Rows by addresses and way, each in order of time, and where those of the next way start."""
    by = np.lexsort((both.is_toward, both.pair))
    pair, is_toward = both.pair[by], both.is_toward[by]
    is_new = (pair[1:] != pair[:-1]) | (is_toward[1:] != is_toward[:-1])
    return by, np.flatnonzero(np.append(True, is_new))


def _apart_by_way(d_ns: Ints, by_way: Ints, n_of: Ints, apart_ns: Ints) -> Ints:
    """How far from the median of neighbours that go the same way; of few, as far as from all.

    Args:
        d_ns: Differences.
        by_way: Rows, one way after the other.
        n_of: How many each way has.
        apart_ns: How far from all.
    """
    found, is_enough = apart_ns.copy(), n_of >= ENOUGH_OF_WAY
    if is_enough.any():
        rows = by_way[np.repeat(is_enough, n_of)]
        found[rows] = np.abs(d_ns[rows] - _medians(d_ns[rows], n_of[is_enough]))
    return found


def _to_company(d_ns: Ints) -> Ints:
    """How far off the third nearest difference among the neighbours in time is."""
    lengths = _block_lengths([len(d_ns)])
    blocks, is_filled = _in_rows(d_ns, lengths)
    by = np.argsort(blocks, axis=1, kind="stable")
    ordered = np.take_along_axis(blocks, by, axis=1)
    # of every few that are next to each other: each has the others no farther than the ends
    width_ns = ordered[:, COMPANY:] - ordered[:, :-COMPANY]
    width_ns[~is_filled[:, COMPANY:]] = FAR_NS
    nearest_ns = np.full_like(blocks, FAR_NS)
    for place in range(COMPANY + 1):
        part = nearest_ns[:, place : place + width_ns.shape[1]]
        np.minimum(part, width_ns, out=part)
    found = np.empty_like(blocks)
    np.put_along_axis(found, by, nearest_ns, axis=1)
    return np.asarray(found[is_filled])


def _joined(near: Observations, far: Observations, recurring: Recurring) -> Shared:
    at, is_there = places(near.key, far.key)
    i = near.by_time[is_there[near.by_time]]
    j = at[i]
    is_numbered = near.copy_tag[i] != 0
    return Shared(
        t_ns=near.t_ns[i],
        d_ns=far.t_ns[j] - near.t_ns[i],
        flow=near.flow[i],
        pair=near.pair[i],
        is_toward=near.is_toward[i],
        is_directed=near.is_directed[i],
        is_strong=near.is_directed[i] | is_numbered,
        again_ns=again_after_ns(near.pair[i], near.is_toward[i], recurring),
        n_hops=near.ttl[i] - far.ttl[j],
    )


def _medians(values: Ints, n_of: Ints | Sequence[int]) -> Ints:
    """Give every value the median of its block of neighbours.

    Args:
        values: Of one group after the other.
        n_of: How many each group has.
    """
    lengths = _block_lengths(n_of)
    ordered = np.sort(_in_rows(values, lengths)[0], axis=1)
    return np.repeat(ordered[np.arange(len(lengths)), lengths // 2], lengths)


def _in_rows(values: Ints, lengths: Ints) -> tuple[Ints, Bools]:
    """Stand blocks of values below each other, filled up with what sorts behind them."""
    is_filled = np.arange(lengths.max()) < lengths[:, None]
    rows = np.full(is_filled.shape, FAR_NS)
    rows[is_filled] = values
    return rows, is_filled


def _block_lengths(n_of: Ints | Sequence[int]) -> Ints:
    """Cut groups into blocks of neighbours, as equal as can be; the first are longer by one."""
    n = np.array(n_of, np.int64)
    n_blocks = np.maximum(1, n // BLOCK)
    at = np.arange(n_blocks.sum()) - np.repeat(np.cumsum(n_blocks) - n_blocks, n_blocks)
    is_longer = at < np.repeat(n % n_blocks, n_blocks)
    return np.asarray(np.repeat(n // n_blocks, n_blocks) + is_longer)


def share_anything(both: Shared) -> bool:
    """Tell whether two points can be related by what they share.

    One unicast or numbered packet with equal bytes is enough. Broadcast and neighbour discovery
    repeat themselves, and in bursts: two must agree within a millisecond between clocks that nearly
    agree, between others several.
    """
    if np.any(both.is_strong):
        scatter_ns = median(np.abs(both.d_ns - median(both.d_ns)))
        return bool(scatter_ns < RELATED_WITHIN_NS)
    if len(both) < ENOUGH_REPEATED and np.any(np.abs(both.d_ns) > ALIKE_NS):
        return False
    return len(both) > 1 and int(np.ptp(both.d_ns)) <= REPEATED_WITHIN_NS


def between(relations: Relations, up: int, down: int) -> Shared:
    """Give what two points share, seen from the first; nothing if they are not related."""
    if (up, down) in relations:
        return relations[up, down]
    return relations[down, up].turned if (down, up) in relations else NOTHING_SHARED


def components(relations: Relations, n_points: int) -> list[list[int]]:
    """Groups of points that share packets, largest first."""
    group = {point: {point} for point in range(n_points)}
    for near, far in relations:
        merged = group[near] | group[far]
        group |= dict.fromkeys(merged, merged)
    found = {min(members): sorted(members) for members in group.values() if len(members) > 1}
    return sorted(found.values(), key=lambda members: (-len(members), members))


def spanning_steps(relations: Relations, along: list[int]) -> list[Pair]:
    """Steps (known point, new point) that reach every point over the pairs that share most."""
    n_shared = {frozenset(ends): len(both) for ends, both in relations.items()}
    place = {point: at for at, point in enumerate(along)}

    def merit(step: Pair) -> tuple[int, int, Pair]:
        known, new = step
        return n_shared.get(frozenset(step), 0), -abs(place[known] - place[new]), step

    reached, steps = [along[0]], list[Pair]()
    while len(reached) < len(along):
        options = [(known, new) for known in reached for new in along if new not in reached]
        steps.append(max(options, key=merit))
        reached.append(steps[-1][1])
    return steps
