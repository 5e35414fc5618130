"""Whether a point captures some of the packets that pass it, whichever (RFC 5475)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pcaplat.model.arrays import Floats
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.survey.observations import Observations, among

RUN = 16
"""Of so many packets of a flow, one after the other, a point that samples mostly sees some."""

ENOUGH_SEEN = 2 * RUN
"""So many packets that a point saw tell that they pass it."""

N_SIGMA = 4
"""So far from its mean the dispersion of a sample is by chance."""

_OF_RUN = ("key", "flow", "is_toward", "t_ns")


def in_runs(unique: Sequence[Observations]) -> list[Observations]:
    """Number the packets of each flow, in the order of their first points, in runs of `RUN`.

    Runs stand in for pairs of addresses.
    """
    every = [np.concatenate([getattr(one, name) for one in unique]) for name in _OF_RUN]
    keys, first = np.unique(every[0], return_index=True)
    flow, is_toward, t_ns = (column[first] for column in every[1:])
    by = np.lexsort((t_ns, is_toward, flow))
    is_new = np.diff(flow[by], prepend=-1) != 0
    is_new |= np.diff(is_toward[by].astype(np.int8), prepend=-1) != 0
    at = np.arange(len(by))
    rank = at - np.maximum.accumulate(np.where(is_new, at, 0))
    run = np.empty(len(by), np.int64)
    run[by] = np.cumsum(is_new | (rank % RUN == 0))
    return [replace(one, pair=run[np.searchsorted(keys, one.key)]) for one in unique]


def is_sampled(runs: Sequence[Observations], along: Sequence[int], ends: Pair) -> bool:
    """Tell whether points between two see as much of each run as of another.

    Where flows, addresses or times go another way, these see some and not others. The dispersion of
    the counts then is many times that of a random sample: Pearson's X² of a binomial.

    Args:
        runs: What each point saw once, numbered by `in_runs`.
        along: The points, forward.
        ends: Two of them.
    """
    ways = list(_seen_between(runs, along, ends))
    return any(one.jumps for one in ways) and all(_is_sample(one) for one in ways)


@dataclass(frozen=True)
class RunCounts:
    """Packets of one direction at two points, and what points between saw of them, by run.

    Runs of one packet are one together, the last, if there are any.

    Attributes:
        n: Packets of each.
        n_seen: Of these, seen between.
        n_single: Packets that are alone in their run.
    """

    n: Floats
    n_seen: Floats
    n_single: int

    @property
    def jumps(self) -> bool:
        """Whether no point between saw some."""
        return bool((self.n_seen < self.n).any())


def _seen_between(
    some: Sequence[Observations], along: Sequence[int], ends: Pair
) -> Iterator[RunCounts]:
    start, stop = map(along.index, ends)
    between = [one.key for one in some[start + 1 : stop]]
    if not between:
        return
    # what goes to several receivers does not pass from one to the other
    near, far = some[start].at(some[start].is_directed), some[stop]
    key, here, _ = np.intersect1d(near.key, far.key, return_indices=True)
    is_seen = among(key, np.unique(np.concatenate(between)))
    for way in np.unique(near.is_toward[here]):
        rows = near.is_toward[here] == way
        _, run, n = np.unique(near.pair[here][rows], return_inverse=True, return_counts=True)
        few, n_single = len(n), int((n == 1).sum())
        run = np.where(n[run] > 1, run, few)
        n_of = np.bincount(run, minlength=few + 1).astype(np.float64)
        n_seen = np.bincount(run, weights=is_seen[rows], minlength=few + 1).astype(np.float64)
        has_some = n_of > 0
        yield RunCounts(n_of[has_some], n_seen[has_some], n_single)


def _is_sample(one: RunCounts) -> bool:
    """Also of a direction of which nothing is missing, or every nth packet."""
    n, n_seen = one.n, one.n_seen
    if n_seen.sum() < ENOUGH_SEEN or not one.jumps:
        return not one.jumps
    share = n_seen.sum() / n.sum()
    variance = share * (1 - share)
    dispersion = ((n_seen - n * share) ** 2 / (n * variance)).sum()
    spread = 2 * len(n) + ((1 - 6 * variance) / (n * variance)).sum()
    most = len(n) - 1 + N_SIGMA * np.sqrt(spread)
    # of runs that are seen in whole or not at all it is the number of packets: to be told apart
    return bool(dispersion <= most < (n.sum() - one.n_single) / 2)
