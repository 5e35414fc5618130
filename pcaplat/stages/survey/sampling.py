"""Whether a point captures some of the packets that pass it (RFC 5475), or all of some flows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pcaplat.model.arrays import Floats
from pcaplat.model.points import Pair
from pcaplat.stages.survey.observations import Observations, among

RUN = 16
"""Of so many packets of a flow, one after the other, a point that samples mostly sees some."""

ENOUGH_OF_RUN = RUN // 2
"""So many packets of a run tell how many a point sees."""

ENOUGH_SEEN = 4 * ENOUGH_OF_RUN
"""So many packets that a point saw tell that they pass it."""

N_SIGMA = 4
"""So far from its mean the dispersion of a sample is by chance."""

SOME_RUNS = 8
"""So many runs of either kind tell that flows take different ways."""

NEARLY = 0.9
"""A point that sees this share of a run sees it; chance loses or repeats the others."""

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

    Where flows or times go another way, these see some runs and not others. The dispersion of the
    counts then is many times that of a random sample: Pearson's X² of a binomial.

    Args:
        runs: What each point saw, numbered by `in_runs`.
        along: The points, forward.
        ends: Two of them.
    """
    ways = list(_seen_between(runs, along, ends))
    return bool(ways) and all(_is_sample(*way) for way in ways)


def are_flows_apart(runs: Sequence[Observations], along: Sequence[int], ends: Pair) -> bool:
    """Tell whether points between two see all of some runs and nothing of others at the time.

    A mirror that stops for a while sees nothing of all runs of that time.
    """
    return any(_are_apart(*way) for way in _seen_between(runs, along, ends))


def _seen_between(
    runs: Sequence[Observations], along: Sequence[int], ends: Pair
) -> Iterator[tuple[Floats, Floats]]:
    """Per direction: the packets of each run at both ends, and of these those seen between.

    Runs of few packets are left out; the others are in the order of time.
    """
    start, stop = map(along.index, ends)
    # what goes to several receivers does not pass from one to the other
    near, far = runs[start].at(runs[start].is_directed), runs[stop]
    key, here, _ = np.intersect1d(near.key, far.key, return_indices=True)
    between = [one.key for one in runs[start + 1 : stop]]
    is_seen = among(key, np.unique(np.concatenate(between))) if between else key < 0
    for way in np.unique(near.is_toward[here]) if between else ():
        rows = np.flatnonzero(near.is_toward[here] == way)
        rows = rows[np.argsort(near.t_ns[here][rows], kind="stable")]
        _, first, run = np.unique(near.pair[here][rows], return_index=True, return_inverse=True)
        n = np.bincount(run).astype(np.float64)
        n_seen = np.bincount(run, weights=is_seen[rows]).astype(np.float64)
        in_time = np.argsort(first)
        in_time = in_time[n[in_time] >= ENOUGH_OF_RUN]
        yield n[in_time], n_seen[in_time]


def _is_sample(n: Floats, n_seen: Floats) -> bool:
    share = n_seen.sum() / max(n.sum(), 1)
    if n_seen.sum() < ENOUGH_SEEN:
        return False
    if share == 1:
        return True
    variance = share * (1 - share)
    dispersion = ((n_seen - n * share) ** 2 / (n * variance)).sum()
    spread = 2 * len(n) + ((1 - 6 * variance) / (n * variance)).sum()
    # if each run were seen in whole or not at all, it would be the number of packets
    most = len(n) - 1 + N_SIGMA * np.sqrt(spread)
    return bool(dispersion <= most < n.sum() / 2)


def _are_apart(n: Floats, n_seen: Floats) -> bool:
    seen_frac = n_seen / n
    is_whole, is_none = seen_frac >= NEARLY, seen_frac <= 1 - NEARLY
    n_whole, n_none = int(is_whole.sum()), int(is_none.sum())
    if min(n_whole, n_none) < SOME_RUNS or n_whole + n_none < NEARLY * len(n):
        return False
    alternates = np.diff(is_whole[is_whole | is_none].astype(np.int8)) != 0
    by_chance = 2 * n_whole * n_none / (n_whole + n_none)
    return bool(2 * alternates.sum() > by_chance)
