"""How often a point sees the same packet twice, and how much later."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pcaplat.path import Copies, Ints
from pcaplat.stages.survey.latencies import of_side
from pcaplat.stages.survey.sights import COPIES_WITHIN_NS, Sights

ENOUGH = 20
"""Copies below which their delay is not known."""

MARGIN_NS = 300
"""What is added to the delays that were seen, beside half their spread."""


def find_copies(
    seen: Sequence[Sights], components: Sequence[Sequence[int]], toward: Mapping[int, bool]
) -> list[Copies]:
    """Tell for each point how many of its packets it saw again soon after.

    Only of those that another point saw once: packets that repeat themselves are seen several
    times everywhere. Two of them of which one was lost are seen twice where they came from, so
    where enough are such, only packets count that came from another point and that no other saw
    twice.

    Args:
        seen: What each point saw.
        components: Points that share packets, each in forward order.
        toward: For each address pair whether packets from the smaller address go forward.
    """
    arriving = list(seen)
    for component in components:
        for end, side in ((component[0], 1), (component[-1], 0)):
            here = of_side(seen[end], toward, side)
            arriving[end] = here if len(here) >= ENOUGH else seen[end]
    runs = [_runs(one) for one in seen]
    n_once = Counted.of([key[n == 1] for key, n, _ in runs])
    n_several = Counted.of([key[n > 1] for key, n, _ in runs])
    found = []
    for key, n, gap_ns in map(_runs, arriving):
        is_once_elsewhere = n_once.of_keys(key) > (n == 1)
        is_alone = is_once_elsewhere & (n_several.of_keys(key) == (n > 1))
        counts = is_alone if 2 * is_alone.sum() > is_once_elsewhere.sum() else is_once_elsewhere
        is_copied = counts & (n == 2) & (gap_ns <= COPIES_WITHIN_NS)  # noqa: PLR2004 - original and copy
        found.append(_copies(int(counts.sum()), gap_ns[is_copied]))
    return found


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


def _runs(seen: Sights) -> tuple[Ints, Ints, Ints]:
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
