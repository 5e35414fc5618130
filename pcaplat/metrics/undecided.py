"""What identical packets that could not be told apart may do to the figures of the others.

They crossed the segment and stand in no latency of it. Often they are the slow ones, and cannot be
told apart because they are slow. The core bounds what they took; so far, an interval reaches.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pcaplat.model.blocks import Blocks


def of_mean_ns(row: Mapping[str, Any]) -> float:
    """Bound what they do to a mean.

    Args:
        row: Of the summary's segments; 0 where an earlier version wrote it.
    """
    mean_ns, least_ns = row.get("mean_ns"), row.get("mean_least_ns")
    most_ns = row.get("mean_most_ns")
    if mean_ns is None or least_ns is None or most_ns is None:
        return 0.0
    return float(max(mean_ns - least_ns, most_ns - mean_ns, 0.0))


def of_quantile_ns(row: Mapping[str, Any], blocks: Blocks, share: float) -> float:
    """Bound what they do to a quantile: all of them as quick as one may have been, or as slow.

    Args:
        row: Of the summary's segments.
        blocks: The latencies of the others.
        share: Of the packets that take no longer.
    """
    ends_ns = (row.get("undecided_min_ns"), row.get("undecided_max_ns"))
    value_ns, n = blocks.quantile_ns(share), row.get("n_undecided")
    if value_ns is None or not n:
        return 0.0
    with_them = [_with(blocks, end_ns, n, share) for end_ns in ends_ns if end_ns is not None]
    return max((abs(one_ns - value_ns) for one_ns in with_them), default=0.0)


def _with(blocks: Blocks, value_ns: float, n: int, share: float) -> float:
    """Give the quantile with `n` more packets of one latency."""
    values, counts = blocks.bins.values, blocks.bins.in_all
    at = int(np.searchsorted(values, value_ns))
    reached = np.cumsum(np.insert(counts, at, n))
    place = int(np.searchsorted(reached, np.ceil(share * reached[-1])))
    return float(np.insert(values, at, value_ns)[place])
