"""Encapsulation overhead: how much longer a packet's frame is at the far end of a segment."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcaplat.model.arrays import Ints
from pcaplat.model.matches.match_table import NUMBER_BITS
from pcaplat.model.matches.spilled_rows import KINDS, Rows, ends, kinds
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.traffic.counts import WAYS
from pcaplat.traffic.headers import FCS_BYTES, LINE_BYTES

NUMBER = (1 << NUMBER_BITS) - 1


@dataclass
class Frames:
    """Five bytes a frame: which way its packet goes, and how long it is."""

    n_files: int
    way: list[NDArray[np.int8]] = field(init=False)
    n_bytes: list[NDArray[np.int32]] = field(init=False)

    def __post_init__(self) -> None:
        self.way = [np.zeros(0, np.int8) for _ in range(self.n_files)]
        self.n_bytes = [np.zeros(0, np.int32) for _ in range(self.n_files)]

    def mark(self, rows: Rows) -> None:
        """Note the direction of the frames of some pairs."""
        _, _, is_reverse = ends(rows["points"])
        for end in ("up", "down"):
            file = rows[end] >> NUMBER_BITS
            for one in np.unique(file):
                at = file == one
                numbers = rows[end][at] & NUMBER
                self._hold(one, numbers)
                self.way[one][numbers] = is_reverse[at]

    def place(self, file: int, numbers: Ints, n_bytes: Ints) -> NDArray[np.int8]:
        """Note the lengths of frames, and give their directions."""
        self._hold(file, numbers)
        self.n_bytes[file][numbers] = n_bytes
        return np.asarray(self.way[file][numbers])

    def _hold(self, file: int, numbers: Ints) -> None:
        """Grow with the files: by half, so that seldom."""
        n, n_needed = len(self.way[file]), int(numbers.max(initial=0)) + 1
        if n_needed > n:
            n_more = max(n_needed, n + n // 2) - n
            unknown = np.full(n_more, WAYS.index("unknown"), np.int8)
            self.way[file] = np.concatenate([self.way[file], unknown])
            longer = [self.n_bytes[file], np.zeros(n_more, np.int32)]
            self.n_bytes[file] = np.concatenate(longer)

    def bytes_of(self, ids: Ints) -> Ints:
        """Give the lengths of frames, by their ids."""
        found = np.zeros(len(ids), np.int64)
        file = ids >> NUMBER_BITS
        for one in np.unique(file):
            at = file == one
            found[at] = self.n_bytes[one][ids[at] & NUMBER]
        return found


def overhead_rows(
    findings: Findings, links: Sequence[Pair], frames: Frames, pairs: Iterable[Rows]
) -> list[dict[str, Any]]:
    """Compare the frames of whole packets at both ends of each segment, near and far.

    Args:
        findings: What the survey found.
        links: Segments.
        frames: Lengths of all frames.
        pairs: Matched pairs of frames.

    Returns:
        Rows of OVERHEAD.
    """
    sizes: dict[tuple[Pair, int], Counter[tuple[int, int]]] = {}
    for rows in pairs:
        whole = rows[kinds(rows["points"]) == KINDS.index("packet")]
        up, down, is_reverse = ends(whole["points"])
        n_up, n_down = frames.bytes_of(whole["up"]), frames.bytes_of(whole["down"])
        near, far = np.where(is_reverse, down, up), np.where(is_reverse, up, down)
        n_near, n_far = np.where(is_reverse, n_down, n_up), np.where(is_reverse, n_up, n_down)
        for link in links:
            for side in (0, 1):
                at = (near == link[0]) & (far == link[1]) & (is_reverse == side)
                both = np.stack([n_near[at], n_far[at]], axis=1)
                found, counts = np.unique(both, axis=0, return_counts=True)
                counter = sizes.setdefault((link, side), Counter())
                for (a, b), n in zip(found.tolist(), counts.tolist(), strict=True):
                    counter[a, b] += n
    return [
        {"near": findings.name(link[0]), "far": findings.name(link[1]), "direction": WAYS[side]}
        | _row(counter)
        for (link, side), counter in sizes.items()
        if counter
    ]


def _row(counter: Counter[tuple[int, int]]) -> dict[str, Any]:
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
