"""The survey's sample: what each point saw of the same few packets, and what two points share."""

from dataclasses import dataclass, fields

import numpy as np

from pcaplat.path import Bools, Ints

COPIES_WITHIN_NS = 2_000_000
"""Copies of a frame at one point lie within this (docs/stages/match.md)."""

BLOCK = 101
"""Neighbours in time whose median stands for all of them."""


@dataclass(frozen=True)
class Sights:
    """Sampled packets of one point; equal indices belong together.

    `pair` is the two addresses with direction ignored, `is_toward` whether the source is the
    smaller one, `is_directed` whether the packet has a sender at one end of the path.
    """

    key: Ints
    flow: Ints
    pair: Ints
    is_toward: Bools
    is_directed: Bools
    copy_tag: Ints
    t_ns: Ints
    depth: Ints
    ttl: Ints
    tcp_bytes: Ints

    def at(self, index: Ints | Bools | slice) -> "Sights":
        """Take the rows of `index`."""
        return Sights(**{one.name: getattr(self, one.name)[index] for one in fields(self)})

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True)
class Shared:
    """Packets that are unique at two points, in the first one's time order.

    `d_ns` is the second point's raw time minus the first's. `is_strong`: unicast, or numbered (an
    IP identification), so that equal bytes are no chance.
    """

    t_ns: Ints
    d_ns: Ints
    pair: Ints
    is_toward: Bools
    is_directed: Bools
    is_strong: Bools

    def at(self, index: Ints | Bools) -> "Shared":
        """Take the rows of `index`."""
        return Shared(**{one.name: getattr(self, one.name)[index] for one in fields(self)})

    def __len__(self) -> int:
        return len(self.t_ns)


def unique_sights(points: list[Sights]) -> list[Sights]:
    """Keep of every point the packets it saw once, copies folded, sorted by key.

    Same bytes soon after are a copy only where some point saw the packet once and none saw it far
    apart, or where the frames are equal to the byte and numbered.
    """
    key = np.concatenate([one.key for one in points])
    point = np.repeat(np.arange(len(points)), [len(one) for one in points])
    t_ns = np.concatenate([one.t_ns for one in points])
    tag = np.concatenate([one.copy_tag for one in points])
    order = np.lexsort((t_ns, point, key))
    key, point, t_ns, tag = key[order], point[order], t_ns[order], tag[order]
    is_new_key = np.append(True, key[1:] != key[:-1])
    is_new = is_new_key | np.append(True, point[1:] != point[:-1])
    starts = np.flatnonzero(is_new)
    n = np.diff(np.append(starts, len(key)))
    is_close = is_new | (np.diff(t_ns, prepend=t_ns[:1]) <= COPIES_WITHIN_NS)
    is_equal = is_new | ((tag == np.roll(tag, 1)) & (tag != 0))
    all_close = np.logical_and.reduceat(is_close, starts)
    all_equal = np.logical_and.reduceat(is_equal, starts)
    key_starts = np.flatnonzero(is_new_key[starts])
    seen_once = np.logical_or.reduceat(n == 1, key_starts)
    never_far = np.logical_and.reduceat(all_close, key_starts)
    is_one_packet = np.repeat(seen_once & never_far, np.diff(np.append(key_starts, len(n))))
    is_unique = (n == 1) | is_one_packet | (all_close & all_equal)
    rows, owner = order[starts[is_unique]], point[starts[is_unique]]
    first = np.cumsum([0, *(len(one) for one in points)])
    return [one.at(rows[owner == i] - first[i]) for i, one in enumerate(points)]


def shared(near: Sights, far: Sights) -> tuple[Shared, int]:
    """Join two points on the packets that are unique at both.

    Returns:
        What they share, less outliers in `d_ns`; and how far from the median of their neighbours
        in time 99 % of all are, ns.
    """
    _, i, j = np.intersect1d(near.key, far.key, assume_unique=True, return_indices=True)
    order = np.argsort(near.t_ns[i], kind="stable")
    i, j = i[order], j[order]
    both = Shared(
        near.t_ns[i],
        far.t_ns[j] - near.t_ns[i],
        near.pair[i],
        near.is_toward[i],
        near.is_directed[i],
        near.is_directed[i] | (near.copy_tag[i] != 0),
    )
    if len(both) == 0:
        return both, 0
    # Farther than 1 ms and 30 median deviations from its neighbours in time is an outlier.
    apart_ns = np.abs(both.d_ns - np.repeat(*_block_medians(both.d_ns)))
    kept = both.at(np.asarray(apart_ns <= 1_000_000 + 30 * np.median(apart_ns)))
    return kept, int(np.quantile(apart_ns[both.is_strong], 0.99)) if np.any(both.is_strong) else 0


def _block_medians(values: Ints) -> tuple[Ints, Ints]:
    """Medians of blocks of neighbours, and the blocks' lengths."""
    n_blocks = max(1, len(values) // BLOCK)
    blocks = np.array_split(values, n_blocks)
    medians = [np.partition(block, len(block) // 2)[len(block) // 2] for block in blocks]
    return np.array(medians, dtype=np.int64), np.array([len(block) for block in blocks])


def share_anything(both: Shared) -> bool:
    """Tell whether two points can be related by what they share.

    One unicast or numbered packet with equal bytes is enough. Of broadcast and neighbour discovery,
    which repeat themselves, at least two must agree within a millisecond.
    """
    if np.any(both.is_strong):
        spread_ns = np.median(np.abs(both.d_ns - np.median(both.d_ns)))
        return bool(spread_ns < 10_000_000_000)
    return len(both) > 1 and int(np.ptp(both.d_ns)) <= 1_000_000
