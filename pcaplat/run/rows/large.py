"""Rows of the large tables: what makes them, here or wherever a task runs.

Each is made of what a run left in its folder and in its captures, and goes wherever both can be
read. The traffic is counted while packets are read.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Protocol

from pcaplat import _native, tables
from pcaplat.model.centre import Centre
from pcaplat.model.matches.lost_table import LostTable
from pcaplat.model.matches.match_table import MatchTable
from pcaplat.model.matches.spilled_rows import in_blocks, rows_in_order
from pcaplat.model.matches.traffic import CountedTraffic, TrafficPlan
from pcaplat.model.points import PointTree
from pcaplat.records import dataclass
from pcaplat.stages.read import batches_of

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 15

Origin = tuple[str, str, list[str], list[Centre | None], PointTree | None]
"""A file of the packets table, as the core takes it."""


class LargeTable(Protocol):
    """One of them."""

    def batches(self, counted: list[CountedTraffic]) -> "Iterator[pa.RecordBatch]":
        """Give it batch by batch; what is counted meanwhile is added to `counted`."""


@dataclass(frozen=True)
class PacketRows:
    """A row for each captured frame, in the order of files and frames.

    Attributes:
        origins: By file its name, its points and their clocks.
        settings: How captures are read.
        folder: Where the outcomes of the run are.
        counting: What of the traffic is counted; None: nothing.
        details: With the further columns of pcaplat.tables.DETAILS.
        columns: Only these; None: all.
    """

    origins: Sequence[Origin]
    settings: _native.Settings
    folder: str
    counting: TrafficPlan | None
    details: bool = False
    columns: Sequence[str] | None = None

    def batches(self, counted: list[CountedTraffic]) -> "Iterator[pa.RecordBatch]":
        """See `LargeTable.batches`."""
        stream = _native.PacketStream(
            self.origins,
            self.settings,
            outcomes_in=self.folder,
            batch_rows=BATCH_ROWS,
            details=self.details,
            columns=self.columns,
            counting=self.counting,
        )
        yield from batches_of(stream)
        if found := stream.traffic():
            counted.append(found)


@dataclass(frozen=True)
class MatchRows:
    """A row for each matched pair, by trajectory, each from its sender on."""

    table: MatchTable
    spilled: Sequence[str]
    folder: str

    def batches(self, counted: list[CountedTraffic]) -> "Iterator[pa.RecordBatch]":  # noqa: ARG002 - counts nothing
        """See `LargeTable.batches`."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

        schema = tables.MATCHES.arrow_schema()
        places = self.table.findings.places
        for rows in in_blocks(rows_in_order(self.spilled, places, self.folder), BATCH_ROWS):
            columns = self.table.columns(rows)
            yield pa.RecordBatch.from_arrays([columns[n] for n in schema.names], schema=schema)


@dataclass(frozen=True)
class LostRows:
    """A row for each lost packet and segment, in the order of files and frames."""

    table: LostTable
    listed: Sequence[str]

    def batches(self, counted: list[CountedTraffic]) -> "Iterator[pa.RecordBatch]":  # noqa: ARG002 - counts nothing
        """See `LargeTable.batches`."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

        schema = tables.LOST.arrow_schema()
        for columns in self.table.batches(self.listed):
            yield pa.RecordBatch.from_arrays([columns[n] for n in schema.names], schema=schema)


def packed(counted: Sequence[CountedTraffic]) -> bytes:
    """Pack what was counted, for another process of this version."""
    return pickle.dumps(
        [[_portable(getattr(one, of.name)) for of in fields(one)] for one in counted]
    )


def _portable(value: object) -> object:
    import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

    if not hasattr(value, "__arrow_c_stream__"):
        return value
    # `pyarrow.table` imports pandas where that is installed
    return pa.RecordBatchReader.from_stream(value).read_all()


def unpacked(octets: bytes) -> list[CountedTraffic]:
    """Give what was packed."""
    rows = pickle.loads(octets)  # noqa: S301 - from tasks of this run
    return [CountedTraffic(*values) for values in rows]
