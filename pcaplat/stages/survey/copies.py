"""How often a point sees the same packet twice, and how much later."""

import numpy as np

from pcaplat.path import Copies, Ints
from pcaplat.stages.survey.sights import COPIES_WITHIN_NS, Sights

ENOUGH = 20
"""Copies below which their delay is not known."""

MARGIN_NS = 300
"""What is added to the delays that were seen, beside half their spread."""


def find_copies(points: list[Sights]) -> list[Copies]:
    """Tell for each point how many of its packets it saw again soon after.

    Only of those that another point saw once: packets that repeat themselves are seen several
    times everywhere.
    """
    runs = [_runs(one) for one in points]
    keys, n_points = np.unique(
        np.concatenate([key[n == 1] for key, n, _ in runs]), return_counts=True
    )
    found = []
    for key, n, gap_ns in runs:
        at = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        n_once = np.where(keys[at] == key, n_points[at], 0) if len(keys) else np.zeros(len(key))
        is_once_elsewhere = n_once > (n == 1)
        is_copied = is_once_elsewhere & (n == 2) & (gap_ns <= COPIES_WITHIN_NS)  # noqa: PLR2004 - original and copy
        found.append(_copies(int(is_once_elsewhere.sum()), gap_ns[is_copied]))
    return found


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
