"""From the packets table, batch by batch, to the tables of traffic."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from pcaplat.model.arrays import Ints
from pcaplat.model.blocks import N_BLOCKS
from pcaplat.model.matches.spilled_rows import rows_as_spilled
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.tables.columns import Row
from pcaplat.traffic import Traffic
from pcaplat.traffic.connections import Connections
from pcaplat.traffic.counts import WAYS, TrafficCounts, with_bytes
from pcaplat.traffic.overhead import Frames, overhead_rows
from pcaplat.traffic.rows import block_rows, size_rows, traffic_rows
from pcaplat.traffic.transactions import transaction_rows

if TYPE_CHECKING:
    import pyarrow as pa

ALONE = np.iinfo(np.int64).min
"""Time at points that share nothing with the path."""

NAMES = ("traffic", "transactions", "overhead", "frame_sizes", "traffic_blocks")


@dataclass(frozen=True)
class CountedTime:
    """The time that is counted, on the path's first clock, and its blocks."""

    start_ns: int
    end_ns: int
    block_ns: int


@dataclass(frozen=True)
class TrafficRun:
    """What counting the traffic of a run needs to know of it."""

    findings: Findings
    files: Sequence[str]
    links: Sequence[Pair]
    spilled: Sequence[str]
    span: CountedTime

    def measure(self, batches: "Iterable[pa.RecordBatch]") -> Traffic:
        """Count the packets table (with its details), in the order of files and frames."""
        frames = Frames(len(self.files))
        for rows in rows_as_spilled(self.spilled):
            frames.mark(rows)
        counts, connections = TrafficCounts(), Connections()
        for batch in batches:
            chosen = self._placed(pl.DataFrame(batch), frames)
            counted = chosen.filter(~pl.col("is_early"))
            if len(counted):
                counts.add(counted)
            connections.add(chosen)
        pairs = rows_as_spilled(self.spilled)
        if counts.is_empty:
            return {name: [] for name in NAMES}
        blocks, sizes = counts.finish()
        finished = connections.finish()
        order = [self.findings.name(point) for point in self.findings.components[0]]
        span = self.span
        return {
            "traffic": traffic_rows(blocks, sizes, finished, order, span.end_ns - span.start_ns),
            "transactions": _in_order(transaction_rows(finished), order),
            "overhead": overhead_rows(self.findings, self.links, frames, pairs),
            "frame_sizes": size_rows(sizes, order),
            "traffic_blocks": block_rows(blocks, finished, order, span.start_ns, span.block_ns),
        }

    def _placed(self, batch: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        """Give frames their direction and block, and leave out copies and what comes too late.

        What comes before the time that is counted is marked.
        """
        way = np.full(len(batch), WAYS.index("unknown"), np.int8)
        for name in batch["file"].unique():
            file = self.files.index(name)
            at = (batch["file"] == name).to_numpy()
            numbers = batch["frame"].to_numpy()[at]
            way[at] = frames.place(file, numbers, batch["wire_bytes"].to_numpy()[at])
        placed = batch.with_columns(
            pl.Series("way", way), at_ns=pl.Series(self._aligned(batch), dtype=pl.Int64)
        )
        in_time = pl.col("at_ns").is_between(ALONE, self.span.end_ns, closed="right")
        chosen = placed.filter(in_time & (pl.col("status") != "duplicate"))
        chosen = chosen.with_columns(is_early=pl.col("at_ns") < self.span.start_ns)
        since = pl.col("at_ns") - self.span.start_ns
        # the last instant may be the first of a block beyond the last
        block = (since // self.span.block_ns).clip(0, N_BLOCKS - 1)
        return with_bytes(chosen.with_columns(block=block))

    def _aligned(self, batch: pl.DataFrame) -> list[int | None] | Ints:
        """Time on the path's first clock."""
        t_ns = batch.select(pl.coalesce("stamp_ns", "t_ns"))["stamp_ns"].to_numpy()
        found = np.full(len(batch), ALONE)
        for point in self.findings.components[0]:
            at = (batch["point"] == self.findings.name(point)).to_numpy()
            if at.any():
                found[at] = t_ns[at] - self.findings.centres[0][point].at(t_ns[at])
        return found


def _in_order(frame: pl.DataFrame, order: Sequence[str]) -> list[Row]:
    rows = frame.to_dicts()
    return sorted(rows, key=lambda row: order.index(row["point"]))
