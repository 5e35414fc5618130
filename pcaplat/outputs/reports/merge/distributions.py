"""The distribution of each segment, drawn in a line."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pcaplat.model.blocks import Blocks, Key
from pcaplat.outputs.report import Drawing, Paragraph, Section
from pcaplat.run.answer.view import BOTH_WAYS, LEAST_N, LatencyLine, LatencyView
from pcaplat.text import n_cells
from pcaplat.units import Scale

BARS = "▁▂▃▄▅▆▇█"
WIDEST, NARROWEST = 32, 8
"""Of what is drawn, in characters."""
Drawn = tuple[LatencyLine, Blocks]


def distribution_sections(
    latencies: LatencyView, blocks: Mapping[Key, Blocks], short: Mapping[str, str]
) -> Iterator[Section]:
    """Draw how many packets took how long on each segment and direction.

    Args:
        latencies: What is shown, with the names that points have on the screen.
        blocks: Latencies by the points' own names.
        short: What these names are on the screen, where they are cut.
    """
    named = {(short.get(k[0], k[0]), short.get(k[1], k[1]), k[2]): one for k, one in blocks.items()}
    found = [
        (line, named[key])
        for line in latencies.in_order()
        if (key := (*line.ends, line.way)) in named and _has_shape(line)
    ]
    if not found:
        return
    unit = latencies.scale.unit
    title = f"Distribution of each segment, {unit}, from the least latency to p99 (logarithmic)"
    yield Paragraph(title, style="bold", only="verbose")
    yield Drawing(lambda width: _lines(found, latencies.scale, width), style="", only="verbose")


def _has_shape(line: LatencyLine) -> bool:
    is_whole = line.row.get("class", "packet") == "packet"
    return line.way != BOTH_WAYS and is_whole and line.n >= LEAST_N["p90"]


def _lines(found: Sequence[Drawn], scale: Scale, width: int) -> list[str]:
    texts = [(line.label, *_ends(line, blocks, scale)) for line, blocks in found]
    label, least, most = (max(map(n_cells, column)) for column in zip(*texts, strict=True))
    left = min(width - label - least - most - 6, WIDEST)
    if left < NARROWEST:
        return [f"too narrow to draw at {width} columns"]
    return [
        f"{name}{' ' * (label - n_cells(name))}  {low:>{least}}  "
        f"{sparkline(blocks, left, _share(line)):{left}}  {high:>{most}}"
        for (name, low, high), (line, blocks) in zip(texts, found, strict=True)
    ]


def _share(line: LatencyLine) -> float:
    """Of few packets the slowest is drawn too."""
    return 0.99 if line.n >= LEAST_N["p99"] else 1.0


def _ends(line: LatencyLine, blocks: Blocks, scale: Scale) -> tuple[str, str]:
    """Write both ends of what is drawn, as the table writes them."""
    if line.figures["mean"] is None:
        most_ns = blocks.quantile_ns(_share(line))
        return "least", "" if most_ns is None else f"+ {scale.text(most_ns - blocks.least_ns)}"
    high = "p99" if line.n >= LEAST_N["p99"] else "max"
    return line.text("min", scale), line.text(high, scale)


def sparkline(blocks: Blocks, width: int = 16, share: float = 0.99) -> str:
    """Draw how many packets took how long: from the least latency to a quantile.

    Args:
        blocks: Latencies of a segment and direction (`Result.blocks`).
        width: Characters; each stands for an equal ratio of latencies where all are above 0, else
            for an equal difference.
        share: Of the packets that are drawn, the fastest first.

    Returns:
        One character a level, higher for more packets; a blank for none; "" where nothing was
        timed.
    """
    most_ns = blocks.quantile_ns(share)
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
