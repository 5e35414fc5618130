"""A distribution in one line of a terminal."""

import numpy as np

from pcaplat.model.blocks import Blocks

BARS = "▁▂▃▄▅▆▇█"


def sparkline(blocks: Blocks, width: int = 16) -> str:
    """Draw how many packets took how long: from the least latency to the 99 % quantile.

    Args:
        blocks: Latencies of a segment and direction (`Result.blocks`).
        width: Characters; each stands for an equal ratio of latencies where all are above 0, else
            for an equal difference.

    Returns:
        One character a level, higher for more packets; a blank for none; "" where nothing was
        timed.
    """
    most_ns = blocks.quantile_ns(0.99)
    if most_ns is None:
        return ""
    values, counts = blocks.bins.values, blocks.bins.in_all
    is_within = values <= most_ns
    least_ns = float(values[0])
    space = np.geomspace if least_ns > 0 else np.linspace
    edges = space(least_ns, max(most_ns, least_ns + 1), width + 1)
    level = np.clip(np.searchsorted(edges, values[is_within], side="right") - 1, 0, width - 1)
    heights = np.bincount(level, counts[is_within], width)
    steps = np.ceil(heights / heights.max() * len(BARS)).astype(int)
    return "".join(BARS[step - 1] if step else " " for step in steps.tolist())
