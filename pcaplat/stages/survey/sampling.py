"""Whether a point captures some of the packets that pass it (RFC 5475), or all of some flows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.survey.observations import Observations, among

RUN = 16
"""Of so many packets of a flow, one after the other, a point that samples mostly sees some."""

ENOUGH_OF_RUN = RUN // 2
"""So many packets of a run tell that a point sees all of it, or nothing."""

ENOUGH_SEEN = 4 * ENOUGH_OF_RUN
"""So many packets that a point saw tell that they pass it."""

N_SIGMA = 4
"""So far from its mean the dispersion of a sample is by chance."""

SOME_RUNS = 8
"""So many runs of either kind tell that flows take different ways."""

NEARLY = 0.75
"""A point that sees this share of a run sees it: it may drop some packets."""

HARDLY = 0.1
"""A point that sees no more of a run sees none of it."""

MOST_RUNS = 0.9
"""So many runs must be seen or not."""

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


def is_sampled(
    unique: Sequence[Observations],
    runs: Sequence[Observations],
    along: Sequence[int],
    ends: Pair,
) -> bool:
    """Tell whether points between two see as much of each run as of another, and of each pair.

    Where flows, addresses or times go another way, these see some and not others. The dispersion of
    the counts then is many times that of a random sample: Pearson's X² of a binomial.

    Args:
        unique: What each point saw once.
        runs: The same, numbered by `in_runs`.
        along: The points, forward.
        ends: Two of them.
    """
    ways = [*_seen_between(runs, along, ends), *_seen_between(unique, along, ends)]
    return any(one.jumps for one in ways) and all(_is_sample(one) for one in ways)


def are_flows_apart(runs: Sequence[Observations], along: Sequence[int], ends: Pair) -> bool:
    """Tell whether points between two see all of some runs and nothing of others at the same time.

    A mirror that stops for a while sees nothing of all runs of that time.
    """
    return any(_take_two_ways(one) for one in _seen_between(runs, along, ends))


def check_flows_apart(findings: Findings, unique: Sequence[Observations]) -> Iterator[Diagnostic]:
    """Say which links some flows take past a point, while others of the same addresses pass it.

    Args:
        findings: What the survey found.
        unique: What each point saw once.
    """
    for along in findings.components:
        for ends in findings.edges:
            if ends[0] not in along:
                continue
            start, stop = sorted(map(along.index, ends))
            some = [unique[point] for point in along[start : stop + 1]]
            if len(some) > 2 and _are_mixed(some):  # noqa: PLR2004 - one segment passes no point
                near, far = (findings.name(along[at]) for at in (start, stop))
                names = [findings.name(point) for point in along[start + 1 : stop]]
                text = (
                    f"flows go from {near} to {far} of which {' and '.join(names)} captured "
                    "nothing, beside others that it captured"
                )
                yield diagnose("flows-apart", names[0], text)


def _are_mixed(some: Sequence[Observations]) -> bool:
    """Tell whether flows of the same addresses are apart, between the first and the last point."""
    near, far = some[0], some[-1]
    both = near.at(np.isin(near.key, far.key))
    is_seen = np.isin(both.key, np.concatenate([one.key for one in some[1:-1]]))
    n = np.bincount(both.of_pair, minlength=len(both.pairs))
    n_seen = np.bincount(both.of_pair, weights=is_seen, minlength=len(both.pairs))
    is_mixed = np.minimum(n_seen, n - n_seen) >= ENOUGH_OF_RUN
    mixed = [one.at(np.isin(one.pair, both.pairs[is_mixed])) for one in some]
    places = list(range(len(some)))
    return bool(is_mixed.any()) and are_flows_apart(in_runs(mixed), places, (0, places[-1]))


@dataclass(frozen=True)
class RunCounts:
    """Packets of one direction at two points, and what points between saw of them, by run.

    Runs of one packet are one together, the last, if there are any.

    Attributes:
        n: Packets of each.
        n_seen: Of these, seen between.
        begin_ns: When the first of them passed the first point.
        end_ns: The last.
        n_single: Packets that are alone in their run.
    """

    n: Floats
    n_seen: Floats
    begin_ns: Ints
    end_ns: Ints
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
        t_ns = near.t_ns[here][rows]
        _, run, n = np.unique(near.pair[here][rows], return_inverse=True, return_counts=True)
        few, n_single = len(n), int((n == 1).sum())
        run = np.where(n[run] > 1, run, few)
        n_of = np.bincount(run, minlength=few + 1).astype(np.float64)
        n_seen = np.bincount(run, weights=is_seen[rows], minlength=few + 1).astype(np.float64)
        begin_ns, end_ns = np.full(few + 1, t_ns.max()), np.full(few + 1, t_ns.min())
        np.minimum.at(begin_ns, run, t_ns)
        np.maximum.at(end_ns, run, t_ns)
        has_some = n_of > 0
        yield RunCounts(
            n_of[has_some], n_seen[has_some], begin_ns[has_some], end_ns[has_some], n_single
        )


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


def _take_two_ways(one: RunCounts) -> bool:
    is_enough = one.n >= ENOUGH_OF_RUN
    is_whole = is_enough & (one.n_seen >= NEARLY * one.n)
    is_none = is_enough & (one.n_seen <= HARDLY * one.n)
    if min(is_whole.sum(), is_none.sum()) < SOME_RUNS:
        return False
    if (is_whole | is_none).sum() < MOST_RUNS * is_enough.sum():
        return False
    begun = np.searchsorted(np.sort(one.begin_ns[is_whole]), one.end_ns[is_none], side="right")
    ended = np.searchsorted(np.sort(one.end_ns[is_whole]), one.begin_ns[is_none], side="left")
    return bool((begun > ended).mean() > 1 / 2)
