"""How often a point sees the same packet twice, and how much later."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from pcaplat.path import Bools, Copies, Ints
from pcaplat.stages.survey.latencies import of_side
from pcaplat.stages.survey.sights import COPIES_WITHIN_NS, Sights, among

ENOUGH = 20
"""Copies below which their delay is not known."""

MARGIN_NS = 300
"""What is added to the delays that were seen, beside half their spread."""

SURELY_MORE = 3
"""By so many standard deviations of what equal packets explain, of which one is missing."""

Run = tuple[Ints, Ints, Ints]
"""Keys, how often each was seen, and the time from the first to the second sight."""


def find_copies(
    seen: Sequence[Sights], components: Sequence[Sequence[int]], toward: Mapping[int, bool]
) -> list[Copies]:
    """Tell for each point how many of its packets it saw again soon after.

    Only of those that another point saw once: packets that repeat themselves are seen several
    times everywhere. Two of them of which one was lost are seen twice up to there, so where enough
    are such, only packets count that came from another point and that none before saw twice. Where
    there are not, copies are told if any of those is one, or if equal packets explain fewer.

    Args:
        seen: What each point saw.
        components: Points that share packets, each in forward order.
        toward: For each address pair whether packets from the smaller address go forward.
    """
    runs = [_runs(one) for one in seen]
    once = Counted.of([key[n == 1] for key, n, _ in runs])
    everywhere = Counted.of([key for key, _, _ in runs])
    arrived: list[list[Run]] = [[] for _ in seen]
    for component in components:
        for side in (0, 1):
            several: Ints = np.zeros(0, np.int64)
            for place, point in enumerate(component[:: -1 if side else 1]):
                run = _runs(of_side(seen[point], toward, side))
                if place:
                    arrived[point].append(_at(run, ~among(run[0], several)))
                several = np.union1d(several, run[0][run[1] > 1])
    n_points = {point: len(group) for group in components for point in group}
    return [
        _best(run, some, once, _n_explained(run, once, everywhere, n_points.get(point, 1)))
        for point, (run, some) in enumerate(zip(runs, arrived, strict=True))
    ]


def _n_explained(run: Run, once: "Counted", everywhere: "Counted", n_points: int) -> float:
    """How many of two equal packets lie as copies do, because elsewhere one of them is missing.

    As many as are seen twice wherever they are, by how often a packet is missing at another point.
    """
    key, n, gap_ns = run
    n_at = everywhere.of_keys(key)
    is_twice, is_alone = (n == 2) & (gap_ns <= COPIES_WITHIN_NS), n == 1  # noqa: PLR2004 - two equal ones
    n_equal = int((is_twice & (n_at > 1) & (once.of_keys(key) == 0)).sum())
    n_missing = int((is_alone & (n_at < n_points)).sum())
    return 2 * n_equal * n_missing / max(int(is_alone.sum()), 1)


def _best(every: Run, arrived: Sequence[Run], once: "Counted", n_explained: float) -> Copies:
    """From what arrived alone once, if that is not too little."""
    every = _at(every, once.of_keys(every[0]) > (every[1] == 1))
    alone = [_at(one, once.of_keys(one[0]) > (one[1] == 1)) for one in arrived]
    is_enough = sum(len(key) for key, _, _ in alone) >= max(ENOUGH, len(every[0]) // 4)
    n_alone, gaps_of_alone_ns = _gaps(alone)
    if is_enough:
        return _copies(n_alone, gaps_of_alone_ns)
    n, gap_ns = _gaps([every])
    is_explained = len(gap_ns) <= n_explained + SURELY_MORE * sqrt(n_explained)
    return Copies() if is_explained and not len(gaps_of_alone_ns) else _copies(n, gap_ns)


def _gaps(runs: Sequence[Run]) -> tuple[int, Ints]:
    """How many keys there are, and the gaps of those that may be an original and its copy."""
    if not runs:
        return 0, np.zeros(0, dtype=np.int64)
    n, gap_ns = (np.concatenate([one[column] for one in runs]) for column in (1, 2))
    return len(n), gap_ns[(n == 2) & (gap_ns <= COPIES_WITHIN_NS)]  # noqa: PLR2004


def _at(run: Run, which: Bools) -> Run:
    key, n, gap_ns = run
    return key[which], n[which], gap_ns[which]


class Counted(NamedTuple):
    """Keys, ascending, and at how many points each is."""

    key: Ints
    n: Ints

    @classmethod
    def of(cls, keys: Sequence[Ints]) -> "Counted":
        """Count each key of each point."""
        return cls(*np.unique(np.concatenate(keys), return_counts=True))

    def of_keys(self, keys: Ints) -> Ints:
        """Look up, 0 where a key is not there."""
        if len(self.key) == 0:
            return np.zeros(len(keys), np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, self.n[at], 0)


def _runs(seen: Sights) -> Run:
    """Keys, how often each was seen, and the time from the first to the second sight."""
    order = np.lexsort((seen.t_ns, seen.key))
    key, start, n = np.unique(seen.key[order], return_index=True, return_counts=True)
    t_ns = seen.t_ns[order]
    second = np.minimum(start + 1, max(len(t_ns) - 1, 0))
    return key, n, t_ns[second] - t_ns[start]


def _copies(n_packets: int, gap_ns: Ints) -> Copies:
    if len(gap_ns) == 0:
        return Copies()
    copied_frac = len(gap_ns) / n_packets
    if len(gap_ns) < ENOUGH:
        return Copies(copied_frac, 0, COPIES_WITHIN_NS)
    lo, hi = (int(edge) for edge in np.quantile(gap_ns, (0.005, 0.995)))
    more = (hi - lo) // 2 + MARGIN_NS
    return Copies(copied_frac, max(lo - more, 0), hi + more)
