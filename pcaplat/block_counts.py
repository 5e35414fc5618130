"""From matched pairs of frames to blocks of time: latencies of each segment and direction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pcaplat.blocks import N_BLOCKS, Blocks, Key
from pcaplat.clocks import Clocks
from pcaplat.path import Centre, Ends, Findings, Floats, Ints
from pcaplat.spill import KINDS, Rows, ends, kinds
from pcaplat.stages.attribute import clock_between
from pcaplat.time_range import Range

PRECISION_BITS = 11
"""Of a latency, in a histogram (rust/src/histogram.rs)."""

BIN_BITS = 18
MOST_CODES = 1 << 22
"""Occupied bins that are kept apart before they are added up."""


@dataclass
class BlockCounts:
    """Counts the pairs of a run, which come by trajectory, each from its sender on."""

    findings: Findings
    clocks: Clocks
    links: Sequence[Ends]
    range_ns: Range
    _codes: list[Ints] = field(default_factory=list)
    _counts: list[Ints] = field(default_factory=list)

    def __post_init__(self) -> None:
        shape = (2 * len(self.links), N_BLOCKS)
        self._n = np.zeros(shape, dtype=np.int64)
        self._sum_ns = np.zeros(shape, dtype=np.int64)
        self._squares = np.zeros(shape)

    @cached_property
    def start_ns(self) -> int:
        """When the first block begins, on the path's first clock."""
        return self.span_ns[0]

    @cached_property
    def length_ns(self) -> int:
        """Length of a block."""
        start_ns, end_ns = self.span_ns
        return max(1, -(-(end_ns - start_ns) // N_BLOCKS))

    @cached_property
    def span_ns(self) -> tuple[int, int]:
        """First and last instant of what is counted, on the path's first clock."""
        start_ns, end_ns = self.findings.cover(self.findings.components[0])
        low, high = self.range_ns
        return (
            start_ns if low is None else max(low, start_ns),
            end_ns if high is None else min(high, end_ns),
        )

    @cached_property
    def _clock(self) -> dict[Ends, Centre]:
        """Offset of the far clock against the near one, by link."""
        relation = self.clocks.relation
        return {ends: clock_between(self.findings, relation(*ends), *ends) for ends in self.links}

    def add(self, rows: Rows) -> None:
        """Count whole trajectories; of TCP that was cut or joined, what stayed whole."""
        rows = rows[kinds(rows["points"]) == KINDS.index("packet")]
        if not len(rows):
            return
        up, down, is_reverse = ends(rows["points"])
        self._add(up, down, is_reverse, rows["t_ns"], rows["raw_ns"])
        # the whole path, of packets that were seen in between too
        first = np.flatnonzero(np.diff(rows["trajectory"], prepend=rows["trajectory"][0] - 1))
        last = np.append(first[1:], len(rows)) - 1
        is_gap = np.append(False, up[1:] != down[:-1])
        is_gap[first] = False
        jumps = (first != last) & ~np.logical_or.reduceat(is_gap, first)
        whole_ns = np.add.reduceat(rows["raw_ns"], first)
        self._add(
            up[first][jumps],
            down[last][jumps],
            is_reverse[first][jumps],
            rows["t_ns"][first][jumps],
            whole_ns[jumps],
            only=self._whole,
        )

    @property
    def _whole(self) -> Ends:
        path = self.findings.components[0]
        return path[0], path[-1]

    def _add(
        self,
        up: Ints,
        down: Ints,
        is_reverse: Ints,
        t_ns: Ints,
        raw_ns: Ints,
        only: Ends | None = None,
    ) -> None:
        near, far = np.where(is_reverse, down, up), np.where(is_reverse, up, down)
        for index, link in enumerate(self.links):
            if only not in {None, link}:
                continue
            on_link = (near == link[0]) & (far == link[1])
            for side in (0, 1):
                at = on_link & ((is_reverse != 0) == bool(side))
                if at.any():
                    point = link[side]
                    block = self._block(point, t_ns[at])
                    latency_ns = self._latency(link, side, t_ns[at], raw_ns[at])
                    self._count(2 * index + side, block, latency_ns)

    def _block(self, up: int, t_ns: Ints) -> Ints:
        aligned_ns = t_ns - self.findings.centres[0][up].at(t_ns)
        block = (aligned_ns - self.start_ns) // self.length_ns
        return np.asarray(np.clip(block, 0, N_BLOCKS - 1))

    def _latency(self, link: Ends, side: int, t_ns: Ints, raw_ns: Ints) -> Ints:
        """Latencies as the core gives them (rust/src/attribute.rs)."""
        clock = self._clock[link]
        return raw_ns + clock.at(t_ns + raw_ns) if side else raw_ns - clock.at(t_ns)

    def _count(self, row: int, block: Ints, latency_ns: Ints) -> None:
        np.add.at(self._n[row], block, 1)
        np.add.at(self._sum_ns[row], block, latency_ns)
        np.add.at(self._squares[row], block, latency_ns.astype(np.float64) ** 2)
        place = (row * N_BLOCKS + block) << BIN_BITS
        codes, counts = np.unique(place + bin_of(latency_ns) + HALF_BINS, return_counts=True)
        self._codes.append(codes)
        self._counts.append(counts)
        if sum(map(len, self._codes)) > MOST_CODES:
            self._fold()

    def _fold(self) -> None:
        codes, place = np.unique(np.concatenate(self._codes), return_inverse=True)
        counts = np.bincount(place, np.concatenate(self._counts)).astype(np.int64)
        self._codes, self._counts = [codes], [counts]

    def finish(self) -> dict[Key, Blocks]:
        """Give what was counted, of each segment and direction with a packet."""
        if not self._codes:
            return {}
        self._fold()
        (codes,), (counts,) = self._codes, self._counts
        row_of, block_of = np.divmod(codes >> BIN_BITS, N_BLOCKS)
        middles_ns = middle_ns((codes & ((1 << BIN_BITS) - 1)) - HALF_BINS)
        found = {}
        for row in range(len(self._n)):
            mine = row_of == row
            if mine.any():
                near, far = (self.findings.name(point) for point in self.links[row // 2])
                found[near, far, ("forward", "reverse")[row % 2]] = Blocks(
                    self.start_ns,
                    self.length_ns,
                    self._n[row],
                    self._sum_ns[row],
                    self._squares[row],
                    block_of[mine],
                    middles_ns[mine],
                    counts[mine],
                )
        return found


HALF_BINS = 1 << (BIN_BITS - 1)
HALF = 1 << (PRECISION_BITS - 1)


def bin_of(values_ns: Ints) -> Ints:
    """Give the bin of each value, as rust/src/histogram.rs has it.

    Example:
        >>> bin_of(np.array([5, -5, 2048, 4095]))
        array([   5,   -5, 2048, 3071])
    """
    size = np.abs(values_ns)
    n_bits = np.frexp(size.astype(np.float64))[1].astype(np.int64)
    # a float rounds large values up, to one bit more
    n_bits -= (n_bits > 0) & (size >> np.maximum(n_bits - 1, 0) == 0)
    shift = np.maximum(n_bits - PRECISION_BITS, 0)
    return np.asarray(np.sign(values_ns) * (shift * HALF + (size >> shift)))


def middle_ns(bins: Ints) -> Floats:
    """Give the middle of each bin, ns.

    Example:
        >>> middle_ns(np.array([5, -5, 2048]))
        array([   5. ,   -5. , 2048.5])
    """
    index = np.abs(bins)
    shift = np.maximum(index // HALF - 1, 0)
    low = (index - shift * HALF) << shift
    return np.asarray(np.sign(bins) * (low + ((1 << shift) - 1) / 2))
