"""Latencies of a run, block by block of time: what comparing runs and judging claims needs.

The time of a run is cut into equal blocks. For each segment and direction, every block keeps
count, sum and sum of squares (exact) and a histogram; losses and clocks stay in the summary. The
core counts them (rust/src/base/blocks.rs).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.files.time_range import TimeRange
from pcaplat.model.latencies.histogram import Bins
from pcaplat.model.path import Findings
from pcaplat.records import dataclass
from pcaplat.tables.columns import ColumnSchema, TableSchema

N_BLOCKS = 256
"""Fine blocks of a run (rust/src/base/blocks.rs): a few make one that is long against the likeness
of neighbours."""

BLOCKS = TableSchema(
    "blocks",
    "latencies of each segment and direction, one row per block of time: what compare and validate "
    "need",
    (
        ColumnSchema("near", "String", "the end nearer the path's first point"),
        ColumnSchema("far", "String", "the end nearer the path's last point"),
        ColumnSchema("direction", "String", "forward (as the path is written) or reverse"),
        ColumnSchema("block", "Int64", "number of the block, from 0; the whole time has 256"),
        ColumnSchema(
            "start_ns", "Int64", "when it begins, by the path's first clock", unit="ns since 1970"
        ),
        ColumnSchema("length_ns", "Int64", "how long it is", unit="ns"),
        ColumnSchema("n", "Int64", "packets that set out in it"),
        ColumnSchema("sum_ns", "Int64", "sum of their latencies, exact", unit="ns"),
        ColumnSchema("sum_of_squares", "Float64", "sum of their latencies' squares", unit="ns²"),
        ColumnSchema(
            "middles_ns",
            "Floats",
            "latencies, ascending; of more than 4096 packets, middles of bins",
            unit="ns",
        ),
        ColumnSchema("counts", "Counts", "packets of each of these"),
        ColumnSchema(
            "n_lost", "Int64", "packets that were last seen in it, and lost", is_nullable=True
        ),
        ColumnSchema(
            "n_waited",
            "Int64",
            "packets of n that would count as lost if they had not arrived (segments: n_waited)",
            is_nullable=True,
        ),
        ColumnSchema(
            "kinds", "Counts", "kind of traffic of each cell of the block: an arbitrary number"
        ),
        ColumnSchema(
            "cells",
            "Counts",
            "where each begins, in 4096ths of the block; a kind's are as long",
        ),
        ColumnSchema("cell_n", "Counts", "packets of its kind that set out in it"),
        ColumnSchema("cell_sum_ns", "Counts", "sum of their latencies, exact", unit="ns"),
        ColumnSchema("cell_squares", "Floats", "sum of their latencies' squares", unit="ns²"),
    ),
)

Key = tuple[str, str, str]
"""Near point, far point and direction of a segment."""


CELLS_OF_BLOCK = 4096
"""Shortest cells of a block (rust/src/base/blocks/strata.rs)."""

KINDS_OF_ROLE = 128
"""Numbers of kinds of one role, as that of a datagram (rust/src/identity/traffic_kind.rs)."""

KINDS_OF_FAMILY = 8
"""Numbers of kinds that differ by connection alone (rust/src/identity/traffic_kind.rs)."""


@dataclass(frozen=True)
class Strata:
    """Latencies by kind of traffic and cell of time: what the mean of mixed traffic needs.

    Of a kind, cells are as long as each other, ascending, and each lies within a block; those in
    which it was not seen are left out. Numbers tell kinds apart; eight neighbours are one family,
    what several connections have of the same.

    Attributes:
        kind: The kind of each cell, ascending.
        at: Where it begins, in shortest cells from the first block on.
        n: Latencies.
        sum_ns: Their sum.
        sum_of_squares: The sum of their squares, ns².
    """

    kind: Ints
    at: Ints
    n: Ints
    sum_ns: Ints
    sum_of_squares: Floats

    @cached_property
    def block(self) -> Ints:
        """The block of each cell."""
        return np.asarray(self.at // CELLS_OF_BLOCK)

    def n_of_roles(self, roles: Sequence[int]) -> int:
        """Count the latencies of packets of some roles."""
        return int(self.n[np.isin(self.kind // KINDS_OF_ROLE, roles)].sum())

    def part(self, first: int, end: int) -> "Strata":
        """Give the cells of blocks from `first` up to, but not with, `end`."""
        keep = (self.block >= first) & (self.block < end)
        at = self.at[keep] - first * CELLS_OF_BLOCK
        return Strata(
            self.kind[keep], at, self.n[keep], self.sum_ns[keep], self.sum_of_squares[keep]
        )

    @classmethod
    def none(cls) -> "Strata":
        """No cells: kinds are not known."""
        ints = np.zeros(0, np.int64)
        return cls(ints, ints, ints, ints, np.zeros(0))


@dataclass(frozen=True)
class Blocks:
    """One segment and direction, over equal blocks of time from `start_ns` on.

    `bin_of`, `middles_ns` and `counts` are the histograms' occupied bins: the block of each, the
    middle of the bin (of up to 4096 packets the latency itself), and how many latencies lie in it.
    `n_lost` are packets that were last seen in the block; None where an earlier version wrote it.
    `strata` are the same latencies by kind of traffic, None where that is not known. `n_waited` are
    those of `n` that would count as lost if they had not arrived; None where that is all of them.
    """

    start_ns: int
    length_ns: int
    n: Ints
    sum_ns: Ints | Floats
    sum_of_squares: Floats
    bin_of: Ints
    middles_ns: Floats
    counts: Ints
    n_lost: Ints | None = None
    strata: Strata | None = None
    n_waited: Ints | None = None

    @classmethod
    def of_moments(cls, n: Ints, sum_ns: Ints | Floats, sum_of_squares: Floats) -> "Blocks":
        """Give what a mean needs, without times and histograms."""
        no_bins = np.zeros(0, np.int64)
        return cls(0, 1, n, sum_ns, sum_of_squares, no_bins, np.zeros(0), no_bins)

    def waited_until(self, at_ns: int) -> "Blocks":
        """Note who set out before an instant; within its block packets are taken to come evenly."""
        before = (at_ns - self.start_ns) / self.length_ns - np.arange(len(self.n))
        n_waited = np.rint(np.clip(before, 0, 1) * self.n).astype(np.int64)
        return replace(self, n_waited=n_waited)

    @property
    def n_judged(self) -> Ints:
        """Packets of each block that arrived, and would count as lost if they had not."""
        return self.n if self.n_waited is None else self.n_waited

    @cached_property
    def n_all(self) -> int:
        """Latencies of all blocks."""
        return int(self.n.sum())

    @cached_property
    def mean_ns(self) -> float:
        """Mean; the sum is exact."""
        return int(self.sum_ns.sum()) / self.n_all

    @cached_property
    def variance(self) -> float:
        """Variance, ns²."""
        return max(float(self.sum_of_squares.sum()) / self.n_all - self.mean_ns**2, 0.0)

    @cached_property
    def least_ns(self) -> float:
        """The smallest latency, to the width of a bin."""
        return float(self.middles_ns.min())

    def quantile_ns(self, share: float) -> float | None:
        """Value that `share` of the latencies do not exceed, to the width of a bin."""
        if not len(self.counts):
            return None
        reached = np.cumsum(self.bins.in_all)
        return float(self.bins.values[np.searchsorted(reached, np.ceil(share * reached[-1]))])

    def part(self, first: int, end: int) -> "Blocks":
        """Give the blocks from `first` up to, but not with, `end`."""
        keep = (self.bin_of >= first) & (self.bin_of < end)
        return Blocks(
            self.start_ns + first * self.length_ns,
            self.length_ns,
            self.n[first:end],
            self.sum_ns[first:end],
            self.sum_of_squares[first:end],
            self.bin_of[keep] - first,
            self.middles_ns[keep],
            self.counts[keep],
            None if self.n_lost is None else self.n_lost[first:end],
            None if self.strata is None else self.strata.part(first, end),
            None if self.n_waited is None else self.n_waited[first:end],
        )

    def influence(self) -> Floats:
        """What each block adds to the error of the mean; sums to 0."""
        return np.asarray((self.sum_ns - self.mean_ns * self.n) / self.n_all)

    def histograms(self, length: int) -> tuple[Floats, Floats]:
        """Values, ascending, and how often each stands in every block of `length` fine ones."""
        return self.bins.values, self.bins.joined(length, 0, len(self.bins.values) - 1)

    @cached_property
    def bins(self) -> Bins:
        """The histograms of all blocks over the same values."""
        return Bins.of(len(self.n), self.bin_of, self.middles_ns, self.counts)


@dataclass(frozen=True)
class CountedBlocks:
    """Latencies block by block of time, as the core counts them; without any, all is empty.

    Attributes:
        n: Latencies of each block.
        sum_ns: Their sum.
        sum_of_squares: The sum of their squares, ns².
        bin_of: The block of each occupied bin, ascending.
        middles_ns: The middle of each.
        counts: Latencies in each.
        strata: The same by kind of traffic; empty where that was not asked.
    """

    n: Ints
    sum_ns: Ints
    sum_of_squares: Floats
    bin_of: Ints
    middles_ns: Floats
    counts: Ints
    strata: Strata


@dataclass(frozen=True)
class BlockTimes:
    """First and last instant of what is counted, on the path's first clock."""

    start_ns: int
    end_ns: int

    @classmethod
    def of(cls, findings: Findings, range_ns: TimeRange) -> "BlockTimes":
        """Take the time that two points cover at least, or what was asked for of it."""
        start_ns, end_ns = findings.shared_time(findings.components[0])
        low, high = range_ns
        return cls(
            start_ns if low is None else max(low, start_ns),
            end_ns if high is None else min(high, end_ns),
        )

    @property
    def length_ns(self) -> int:
        """Length of a block."""
        return max(1, -(-(self.end_ns - self.start_ns) // N_BLOCKS))

    def blocks(self, counted: CountedBlocks, n_lost: Sequence[int] = ()) -> Blocks | None:
        """Take what the core counted; None if that is nothing. `n_lost` is empty where none was."""
        if not len(counted.n):
            return None
        return Blocks(
            self.start_ns,
            self.length_ns,
            counted.n,
            counted.sum_ns,
            counted.sum_of_squares,
            counted.bin_of,
            counted.middles_ns,
            counted.counts,
            np.array(n_lost or [0] * N_BLOCKS, dtype=np.int64),
            counted.strata if len(counted.strata.n) else None,
        )


def joined(values: Floats | Ints, length: int) -> Floats:
    """Add up `length` neighbours each; what is left over at the end is left out."""
    n = len(values) // length
    return np.asarray(values[: n * length].reshape(n, length).sum(axis=1), dtype=np.float64)


def block_rows(all_blocks: Mapping[Key, Blocks]) -> Iterator[dict[str, Any]]:
    """Write blocks as rows of BLOCKS, one by one; empty blocks too, for they are time."""
    for (near, far, direction), blocks in all_blocks.items():
        yield from _rows({"near": near, "far": far, "direction": direction}, blocks)


def _rows(names: dict[str, Any], blocks: Blocks) -> Iterable[dict[str, Any]]:
    edges = np.searchsorted(blocks.bin_of, np.arange(len(blocks.n) + 1))
    strata = blocks.strata or Strata.none()
    order = np.argsort(strata.block, kind="stable")
    cell_edges = np.searchsorted(strata.block[order], np.arange(len(blocks.n) + 1))
    for at, n in enumerate(blocks.n.tolist()):
        bins = slice(edges[at], edges[at + 1])
        cells = order[cell_edges[at] : cell_edges[at + 1]]
        yield names | {
            "block": at,
            "start_ns": blocks.start_ns + at * blocks.length_ns,
            "length_ns": blocks.length_ns,
            "n": n,
            "sum_ns": int(blocks.sum_ns[at]),
            "sum_of_squares": float(blocks.sum_of_squares[at]),
            "middles_ns": blocks.middles_ns[bins].tolist(),
            "counts": blocks.counts[bins].tolist(),
            "n_lost": None if blocks.n_lost is None else int(blocks.n_lost[at]),
            "n_waited": int(blocks.n_judged[at]),
            "kinds": strata.kind[cells].tolist(),
            "cells": (strata.at[cells] - at * CELLS_OF_BLOCK).tolist(),
            "cell_n": strata.n[cells].tolist(),
            "cell_sum_ns": strata.sum_ns[cells].tolist(),
            "cell_squares": strata.sum_of_squares[cells].tolist(),
        }


def blocks_of_rows(rows: Iterable[Mapping[str, Any]]) -> dict[Key, Blocks]:
    """Read what `block_rows` wrote."""
    by_key: dict[Key, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_key.setdefault((row["near"], row["far"], row["direction"]), []).append(row)
    return {key: _of_rows(sorted(some, key=lambda r: r["block"])) for key, some in by_key.items()}


def _of_rows(rows: Sequence[Mapping[str, Any]]) -> Blocks:
    def column(name: str, kind: type) -> Any:  # noqa: ANN401 - of either kind
        return np.array([row[name] for row in rows], dtype=kind)

    def flat(name: str, kind: type) -> Any:  # noqa: ANN401 - of either kind
        return np.array([value for row in rows for value in row[name]], dtype=kind)

    return Blocks(
        rows[0]["start_ns"],
        rows[0]["length_ns"],
        column("n", np.int64),
        column("sum_ns", np.int64),
        column("sum_of_squares", np.float64),
        np.repeat(np.arange(len(rows)), [len(row["counts"]) for row in rows]),
        flat("middles_ns", np.float64),
        flat("counts", np.int64),
        None if rows[0].get("n_lost") is None else column("n_lost", np.int64),
        _strata_of_rows(rows),
        None if rows[0].get("n_waited") is None else column("n_waited", np.int64),
    )


def _strata_of_rows(rows: Sequence[Mapping[str, Any]]) -> Strata | None:
    """Read the cells of all blocks; None where there are none, or an earlier version wrote them."""
    found = [(at, row) for at, row in enumerate(rows) if row.get("kinds")]
    if not found:
        return None

    def flat(name: str, kind: type) -> Any:  # noqa: ANN401 - of either kind
        return np.array([value for _, row in found for value in row[name]], dtype=kind)

    block = np.repeat([at for at, _ in found], [len(row["kinds"]) for _, row in found])
    kind, at = flat("kinds", np.int64), flat("cells", np.int64) + block * CELLS_OF_BLOCK
    order = np.lexsort((at, kind))
    n, sum_ns = (flat(name, np.int64)[order] for name in ("cell_n", "cell_sum_ns"))
    return Strata(kind[order], at[order], n, sum_ns, flat("cell_squares", np.float64)[order])
