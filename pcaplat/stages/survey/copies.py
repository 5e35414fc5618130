"""How often a point sees the same packet twice, and how much later."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from pcaplat.model.arrays import Bools, Ints, distinct, quantile
from pcaplat.model.band import Copies
from pcaplat.stages.survey.observations import (
    COPIES_WITHIN_NS,
    ENOUGH,
    Observations,
    among,
    sees_all_twice,
)
from pcaplat.stages.survey.path_order.routes import Routes

MARGIN_NS = 300
"""What is added to the delays that were seen, beside half their spread."""

SURELY_MORE = 3
"""Copies are told where packets seen twice exceed what equal packets, of which one is missing,
explain by so many standard deviations."""


class KeyRun(NamedTuple):
    """Keys of one point, ascending; `way` tells addresses and direction apart."""

    key: Ints
    n: Ints
    gap_ns: Ints
    """From the first observation to the second."""
    way: Ints

    def is_twice(self) -> Bools:
        """Whether it may be an original and its copy."""
        return np.asarray((self.n == 2) & (self.gap_ns <= COPIES_WITHIN_NS))  # noqa: PLR2004

    def at(self, which: Bools) -> "KeyRun":
        """Only these."""
        return KeyRun(*(column[which] for column in self))


def find_copies(
    seen: Sequence[Observations], components: Sequence[Sequence[int]], routes: Routes
) -> list[Copies]:
    """Tell for each point how many of its packets it saw again soon after.

    A point that sees nearly all of its packets exactly twice sees copies, whatever others see. Else
    only those count that another point saw once: packets that repeat themselves are seen several
    times everywhere. Two of them of which one was lost are seen twice up to there, so where enough
    are such, only packets count that came from another point and that none before saw twice. Where
    there are not, copies are told if any of those is one, or if equal packets explain fewer.

    Args:
        seen: What each point saw.
        components: Points that share packets, each in forward order.
        routes: Which way address pairs go.
    """
    runs = [_runs(one) for one in seen]
    once = Counted.of([run.key[run.n == 1] for run in runs])
    everywhere = Counted.of([run.key for run in runs])
    reach = _reach(runs, everywhere)
    arrived: list[list[KeyRun]] = [[] for _ in seen]
    for component in components:
        for side in (0, 1):
            several: Ints = np.zeros(0, np.int64)
            for place, point in enumerate(component[:: -1 if side else 1]):
                run = _runs(routes.side(seen[point], side))
                if place:
                    arrived[point].append(run.at(~among(run.key, several)))
                several = distinct(np.concatenate((several, run.key[run.n > 1])))
    return [
        _best(run, some, once, _n_explained(run, once, everywhere, reach))
        for run, some in zip(runs, arrived, strict=True)
    ]


def _reach(runs: Sequence[KeyRun], everywhere: "Counted") -> "Counted":
    """To how many points packets of each way go: as many as saw the one that went farthest."""
    ways, of_way = np.unique(np.concatenate([run.way for run in runs]), return_inverse=True)
    n_points = np.zeros(len(ways), np.int64)
    np.maximum.at(n_points, of_way, everywhere.of_keys(np.concatenate([run.key for run in runs])))
    return Counted(ways, n_points)


def _n_explained(run: KeyRun, once: "Counted", everywhere: "Counted", reach: "Counted") -> float:
    """How many of two equal packets lie as copies do, because elsewhere one of them is missing.

    As many as are seen twice wherever they are, by how often a packet is missing at another point,
    at most: few packets say little of how often that is.
    """
    n_at, n_points = everywhere.of_keys(run.key), reach.of_keys(run.way)
    n_equal = int((run.is_twice() & (n_at > 1) & (once.of_keys(run.key) == 0)).sum())
    is_alone = (run.n == 1) & (n_points > 1)
    n_missing = int((is_alone & (n_at < n_points)).sum())
    n_missing_at_most = n_missing + SURELY_MORE * sqrt(n_missing + 1)
    return 2 * n_equal * n_missing_at_most / max(int(is_alone.sum()), 1)


def _best(every: KeyRun, arrived: Sequence[KeyRun], once: "Counted", n_explained: float) -> Copies:
    """From all, if nearly all come twice; else from what arrived alone once, if that is enough."""
    is_twice = every.is_twice()
    if sees_all_twice(is_twice):
        return _copies(len(is_twice), every.gap_ns[is_twice])
    told = every.at(once.of_keys(every.key) > (every.n == 1))
    alone = [one.at(once.of_keys(one.key) > (one.n == 1)) for one in arrived]
    n_alone = sum(len(one.key) for one in alone)
    gaps_of_alone_ns = [one.gap_ns[one.is_twice()] for one in alone]
    if n_alone >= max(ENOUGH, len(told.key) // 4):
        return _copies(n_alone, np.concatenate(gaps_of_alone_ns))
    gap_ns = told.gap_ns[told.is_twice()]
    is_explained = len(gap_ns) <= n_explained + SURELY_MORE * sqrt(n_explained)
    if is_explained and not any(map(len, gaps_of_alone_ns)):
        return Copies()
    return _copies(len(told.key), gap_ns)


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


def _runs(seen: Observations) -> KeyRun:
    order = seen.by_key
    key, start, n = np.unique(seen.key[order], return_index=True, return_counts=True)
    t_ns = seen.t_ns[order]
    second = np.minimum(start + 1, max(len(t_ns) - 1, 0))
    first = order[start]
    way = np.where(seen.is_toward[first], seen.pair[first], ~seen.pair[first])
    return KeyRun(key, n, t_ns[second] - t_ns[start], way)


def _copies(n_packets: int, gap_ns: Ints) -> Copies:
    if len(gap_ns) == 0:
        return Copies()
    copied_frac = len(gap_ns) / n_packets
    if len(gap_ns) < ENOUGH:
        return Copies(copied_frac, 0, COPIES_WITHIN_NS)
    lo, hi = (int(quantile(gap_ns, share)) for share in (0.005, 0.995))
    more = (hi - lo) // 2 + MARGIN_NS
    return Copies(copied_frac, max(lo - more, 0), hi + more)
