"""Encapsulation overhead: how much longer a packet's frame is at the far end of a segment."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from pcaplat.tables.columns import Row
from pcaplat.traffic.rows import FCS_BYTES, LINE_BYTES, WAYS


def overhead_rows(pairs: pl.DataFrame, links: Sequence[tuple[str, str]]) -> list[Row]:
    """Compare the frames of whole packets at both ends of each segment, near and far.

    Args:
        pairs: How many packets crossed which segment which way, by the lengths of their frames.
        links: The names of the segments' ends.

    Returns:
        Rows of OVERHEAD.
    """
    sizes: dict[tuple[int, int], Counter[tuple[int, int]]] = {}
    for link, way, near_bytes, far_bytes, n in pairs.iter_rows():
        sizes.setdefault((link, way), Counter())[near_bytes, far_bytes] = n
    return [
        {"near": links[link][0], "far": links[link][1], "direction": WAYS[way]} | _row(counter)
        for (link, way), counter in sizes.items()
    ]


def _row(counter: Counter[tuple[int, int]]) -> Row:
    n = counter.total()
    near_bytes = sum(near * k for (near, _), k in counter.items())
    far_bytes = sum(far * k for (_, far), k in counter.items())
    added = Counter[int]()
    for (near, far), k in counter.items():
        added[far - near] += k
    on_line = [total + (FCS_BYTES + LINE_BYTES) * n for total in (near_bytes, far_bytes)]
    return {
        "n": n,
        "mean_bytes": (far_bytes - near_bytes) / n,
        "min_bytes": min(added),
        "max_bytes": max(added),
        "usual_bytes": max(added, key=lambda size: (added[size], -abs(size))),
        "near_frame_bytes": near_bytes / n,
        "far_frame_bytes": far_bytes / n,
        # of a line that is full with the longer frames, what the shorter ones would not need
        "line_frac": 1 - min(on_line) / max(on_line),
    }
