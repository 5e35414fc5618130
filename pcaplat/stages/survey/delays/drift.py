"""What the clocks of two points drift apart, told by the packets of all ways together.

A raw difference is what is usual for its way (two addresses, and which of them sends), and what the
clocks have drifted by then. Packets of one way may be seconds apart, so that drift hides how long
they take; those of all ways are not, and tell the drift.
"""

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.stages.survey.delays.centres import without_drift

BLOCK = 31
"""Neighbours in time whose median says how far the clocks have drifted."""

TIMES = 10
"""Drift is taken out so often: what is usual for a way is known better without it."""


def without_drift_of_ways(t_ns: Ints, d_ns: Ints, of_way: Ints) -> Floats:
    """Differences, from the first on, less what all ways drift alike, ns.

    Args:
        t_ns: Raw times, ascending, one at least.
        d_ns: Raw differences at them.
        of_way: Which way each went, numbered from 0.
    """
    rest_ns = without_drift(t_ns, d_ns)
    n = len(rest_ns)
    block = np.arange(n) * max(n // BLOCK, 1) // n
    at_ns = np.asarray(t_ns - t_ns[0], np.float64)
    middle_ns = medians(at_ns, block)
    for _ in range(TIMES):
        drift_ns = medians(rest_ns - medians(rest_ns, of_way)[of_way], block)
        rest_ns = rest_ns - np.interp(at_ns, middle_ns, drift_ns)
    return rest_ns


def medians(values: Floats, group: Ints) -> Floats:
    """Median of each group; groups are numbers from 0 on."""
    by = np.lexsort((values, group))
    n = np.bincount(group)
    start = np.cumsum(n) - n
    return np.asarray((values[by][start + (n - 1) // 2] + values[by][start + n // 2]) / 2)
