"""Parquet: packets, matches, blocks, clocks, round trips, traffic, breakdowns."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pcaplat.model.blocks import BLOCKS, block_rows
from pcaplat.tables import CLOCKS, MATCHES, PACKETS, ROUND_TRIPS
from pcaplat.tables.breakdowns import BREAKDOWN_TABLES
from pcaplat.tables.columns import TableSchema
from pcaplat.tables.exchanges import TRIP_TABLES
from pcaplat.tables.traffic import TRAFFIC_TABLES

if TYPE_CHECKING:
    from pcaplat.run.merge import Result

N_ROWS_PER_GROUP = 500_000


def save(result: "Result", directory: Path) -> None:
    """Write the tables into a folder."""
    write_table(PACKETS, result.packet_batches(), directory / "packets.parquet")
    write_table(MATCHES, result.match_batches(), directory / "matches.parquet")
    blocks = _batch(BLOCKS, block_rows(result.blocks))
    write_table(BLOCKS, [blocks], directory / "blocks.parquet")
    for table in (CLOCKS, ROUND_TRIPS, *TRIP_TABLES):
        batch = _batch(table, result.document[table.name])
        write_table(table, [batch], directory / f"{table.name}.parquet")
    for table in TRAFFIC_TABLES:
        batch = _batch(table, result.traffic_rows[table.name])
        write_table(table, [batch], directory / f"{table.name}.parquet")
    for table in BREAKDOWN_TABLES:
        rows = result.document.get("breakdowns", {}).get(table.name)
        if rows is not None:
            batch = _batch(table, rows)
            write_table(table, [batch], directory / f"{table.name}.parquet")


def save_rows(batches: Iterable[Any], stream: IO[bytes]) -> None:
    """Write Arrow batches of packets."""
    write_table(PACKETS, batches, stream)


def write_table(table: TableSchema, batches: Iterable[Any], path: Path | IO[bytes]) -> None:
    """Write Arrow batches as one file; columns beyond the table's are kept."""
    stream = iter(batches)
    first = next(stream, None)
    schema = table.arrow_schema() if first is None else _schema(table, first.schema)
    with pq.ParquetWriter(path, schema, **_encoding(schema)) as writer:
        for group in _groups(first, stream):
            writer.write_table(pa.Table.from_batches(group).select(schema.names).cast(schema))


def _schema(table: TableSchema, given: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Give the table's columns, then those of `given` that it does not name."""
    more = [field for field in given if field.name not in table.names]
    return pa.schema([*table.arrow_schema(), *more])


def _encoding(schema: Any) -> dict[str, Any]:  # noqa: ANN401 - pyarrow has no types
    words = [field.name for field in schema if pa.types.is_string(field.type)]
    # neighbours differ little: the differences are small
    rising = [field.name for field in schema if pa.types.is_int64(field.type)]
    deltas = dict.fromkeys(rising, "DELTA_BINARY_PACKED")
    return {"compression": "zstd", "use_dictionary": words, "column_encoding": deltas}


def _groups(first: Any, rest: Iterator[Any]) -> Iterator[list[Any]]:  # noqa: ANN401 - see above
    """Gather batches until a row group is full."""
    group = [] if first is None else [first]
    for batch in rest:
        if sum(b.num_rows for b in group) >= N_ROWS_PER_GROUP:
            yield group
            group = []
        group.append(batch)
    if group:
        yield group


def _batch(table: TableSchema, rows: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - see above
    more = {name for row in rows for name in row} - set(table.names)
    schema = table.arrow_schema()
    batch = pa.RecordBatch.from_pylist([{n: r.get(n) for n in table.names} for r in rows], schema)
    for name in sorted(more):
        batch = batch.append_column(name, pa.array([row.get(name) for row in rows]))
    return batch
