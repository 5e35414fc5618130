"""What the captures of a run hold: layers of their frames, and stamps that tell copies."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.metrics.flow_ends import COLUMNS as FLOW_COLUMNS
from pcaplat.metrics.flow_ends import NUMBERS, FlowEnds, FlowEndsTable
from pcaplat.records import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = list(dict.fromkeys(["point", "layers", "t_ns", *FLOW_COLUMNS]))
FURTHER = [*COLUMNS, *NUMBERS]
"""What captures tell beyond what `merge -o` wrote of them."""

MOST_STAMPS = 4096
"""So many stamps of a point are kept, chosen by their hash: equal ones everywhere."""

N_TIMES = 2_049
"""The first times of a point that are kept as they are: what lies between them tells copies that
were moved, trimmed or stamped anew."""

WINDOW = 256
"""So many gaps between frames are looked for among those of another capture."""

LEAST_GAPS = 32
"""Fewer may be alike by chance."""

JITTER_NS = 100
"""Gaps of a copy differ by no more, beyond the resolution of its stamps."""

ALIKE_SHARE, UNLIKE_SHARE = 0.99, 0.9
"""A copy has so many of the gaps at one place, and fewer at all others; else they tell nothing."""

MIX = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ by the golden ratio (Knuth, TAOCP 3, §6.4)."""


@dataclass(frozen=True)
class Contents:
    """By point: frames by their layers, hashes of stamps, ascending, the first times, and flows."""

    layers: Mapping[str, Mapping[str, int]]
    stamps: Mapping[str, "np.ndarray"]
    times_ns: Mapping[str, "np.ndarray"]
    flows: Mapping[str, FlowEnds]

    def share_of(self, point: str, layer: str) -> float:
        """Share of a point's frames that have a layer, at any depth."""
        counts = self.layers.get(point, {})
        n = sum(counts.values())
        return sum(k for name, k in counts.items() if layer in name.split("/")) / n if n else 0.0

    def share_encapsulated(self, point: str) -> float:
        """Share of a point's frames that carry an IP packet within another."""
        counts = self.layers.get(point, {})
        n = sum(counts.values())
        inner = sum(k for name, k in counts.items() if name.count("ipv") > 1)
        return inner / n if n else 0.0


def contents_of(batches: "Iterable[pa.RecordBatch | pa.Table]") -> Contents:
    """Sum up the packets table, whole or batch by batch."""
    layers: dict[str, Counter[str]] = {}
    stamps: dict[str, np.ndarray] = {}
    times: dict[str, np.ndarray] = {}
    flows = FlowEndsTable()
    for batch in batches:
        flows.take(batch)
        points = batch["point"].to_numpy(zero_copy_only=False)
        names, t_ns = batch["layers"].to_pylist(), batch["t_ns"].to_numpy()
        for point in dict.fromkeys(points):
            mine = points == point
            counted = Counter(name for name, is_mine in zip(names, mine, strict=True) if is_mine)
            layers.setdefault(point, Counter()).update(counted)
            first = times.get(point, np.zeros(0, np.int64))
            times[point] = np.concatenate([first, t_ns[mine][: N_TIMES - len(first)]])
            hashes = t_ns[mine].astype(np.uint64) * MIX
            known = stamps.get(point, np.zeros(0, np.uint64))
            stamps[point] = np.unique(np.concatenate([known, hashes]))[:MOST_STAMPS]
    return Contents(layers, stamps, times, flows.ends())


def share_in_common(one: "np.ndarray", other: "np.ndarray") -> float:
    """Give the share of the shorter capture's stamps that the longer one has too.

    Only as far as both were kept: the least hashes of one go farther than those of a longer one.
    """
    if not len(one) or not len(other):
        return 0.0
    last = min(
        (each[-1] for each in (one, other) if len(each) == MOST_STAMPS),
        default=max(one[-1], other[-1]),
    )
    kept = [each[each <= last] for each in (one, other)]
    least = min(map(len, kept))
    return len(np.intersect1d(*kept)) / least if least else 0.0


def rhythm_in_common(
    one: "np.ndarray", other: "np.ndarray", resolution_ns: float
) -> tuple[float, float]:
    """Give the share of equal gaps between frames at the best place of one capture, and the next.

    Args:
        one: Times of the frames of one capture, ns.
        other: Of the other one, of which a stretch is looked for.
        resolution_ns: Of the coarser stamps.
    """
    gaps, others = np.diff(one), np.diff(other)
    n = min(WINDOW, min(len(gaps), len(others)) // 2)
    if n < LEAST_GAPS:
        return 0.0, 0.0
    start = (len(others) - n) // 2
    places = np.lib.stride_tricks.sliding_window_view(gaps, n)
    off = np.abs(places - others[start : start + n])
    shares = np.sort((off <= JITTER_NS + resolution_ns).mean(axis=1))
    return float(shares[-1]), float(shares[-2])
