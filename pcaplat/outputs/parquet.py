"""Parquet: packets, matches, lost packets, segments, blocks, clocks, round trips, traffic."""

import pickle
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from threading import Event
from typing import IO, TYPE_CHECKING, Any

from pcaplat.records import dataclass

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pcaplat.model.blocks import Blocks, Key
    from pcaplat.model.matches.traffic import CountedTraffic
    from pcaplat.run.engines.tasks import TaskResult
    from pcaplat.run.result import Result
    from pcaplat.run.rows.large import LargeTable
    from pcaplat.tables.columns import TableSchema
    from pcaplat.traffic.measuring import TrafficRun

MadeBy = Mapping[str, str]
"""Metadata of a file: version, command and options."""
N_ROWS_PER_GROUP = 1 << 15
MOST_GROUP_BYTES = 8 << 20
"""Rows with lists are long: a group has so many of them, and is written."""
N_ROWS_AT_ONCE = 1 << 5
"""Of rows that are made one by one, so many lie in memory."""


def files() -> list[str]:
    """Name what `save` may write: breakdowns only where they were asked for."""
    return [_file(table) for table in _tables()]


def prepare(result: "Result") -> None:
    """Import what writes tables, if they are written here."""
    from pcaplat.run.engines.local import LocalEngine

    # engines that run tasks are of this kind too, but their workers write
    if type(getattr(result, "engine", None)) is LocalEngine:
        import polars as pl  # noqa: F401
        import pyarrow.parquet  # noqa: F401


def save(result: "Result", directory: Path) -> None:
    """Write the tables into a folder."""
    from pcaplat.run.rows.memory import give_back_memory
    from pcaplat.tables.traffic import TRAFFIC_TABLES

    made_by = {f"pcaplat.{name}": text for name, text in result.made_by.items()}
    packets, matches, lost, *others = _tables()
    give_back_memory()
    if not _written_elsewhere(result, directory, made_by):
        # those of traffic are known when packets are read
        known = [table for table in others if table not in TRAFFIC_TABLES]
        small = SmallTables(known, _rows(result), result.blocks, None, made_by)
        _write_large(
            (packets, result.packet_batches(), directory / _file(packets), made_by),
            (matches, result.match_batches(), directory / _file(matches), made_by),
            (lost, result.lost_batches(), directory / _file(lost), made_by),
            beside=partial(small.write, [], directory),
        )
        give_back_memory()
        traffic = SmallTables([*TRAFFIC_TABLES], result.traffic_tables, {}, None, made_by)
        traffic.write([], directory)
    give_back_memory()


def _rows(result: "Result") -> dict[str, Any]:
    """Give what there is in rows already, by the names of tables."""
    known = result.document | result.document.get("breakdowns", {})
    rows = {table.name: known[table.name] for table in _tables() if table.name in known}
    return rows | {"clock_bands": result.clock_bands}


@dataclass(frozen=True)
class SmallTables:
    """Tables to be written, here or by a worker.

    Attributes:
        tables: Their schemas.
        rows: Lists, or frames, by the names of tables; tables that are not in it are left out.
        blocks: What the rows of blocks of time are made from.
        traffic: What makes the tables of traffic of what is counted; None: they are in `rows`.
        made_by: Metadata of the files.
    """

    tables: "list[TableSchema]"
    rows: Mapping[str, Any]
    blocks: "Mapping[Key, Blocks]"
    traffic: "TrafficRun | None"
    made_by: MadeBy

    def write(self, counted: "list[CountedTraffic]", folder: Path) -> None:
        """Write them into a folder; `counted` is the traffic, if it is not in the rows."""
        from pcaplat.model.blocks import block_rows
        from pcaplat.run.rows.memory import give_back_memory

        rows = {**self.rows, "blocks": block_rows(self.blocks)}
        if self.traffic:
            for each in counted:
                rows |= self.traffic.tables(each)
        for table in self.tables:
            if table.name in rows:
                batches = _batches(table, rows[table.name])
                write_table(table, batches, folder / _file(table), self.made_by)
                give_back_memory()


@dataclass(frozen=True)
class TableTask:
    """The writing of one large table, wherever captures and the folder of the run can be read.

    Attributes:
        index: Its number.
        table: Its schema.
        rows: What makes its rows.
        folder: Where a task makes a folder of its own; one that is run again makes another.
        made_by: Metadata of the file.
        small: A file with the small tables that are written too, pickled; empty: none are.
    """

    index: int
    table: "TableSchema"
    rows: "LargeTable"
    folder: str
    made_by: MadeBy
    small: str

    def run(self) -> "TaskResult":
        """Write it, and return what was counted meanwhile."""
        from pcaplat.run.engines.tasks import TaskResult
        from pcaplat.run.rows.large import packed
        from pcaplat.run.rows.memory import give_back_memory

        own = mkdtemp(prefix=f"{self.table.name}-", dir=self.folder)
        counted: list[CountedTraffic] = []
        path = Path(own) / _file(self.table)
        _write_ahead(self.table, iter(self.rows.batches(counted)), path, self.made_by, Event())
        give_back_memory()
        if self.small:
            small = pickle.loads(Path(self.small).read_bytes())  # noqa: S301 - of this run
            small.write(counted, Path(own))
            give_back_memory()
        return TaskResult(packed(counted), own)


def _written_elsewhere(result: "Result", directory: Path, made_by: MadeBy) -> bool:
    """Let the run's engine write all tables where its tasks run, if it has such a place."""
    from pcaplat.run.rows.large import unpacked

    # a result that was put together by hand has no engine
    engine = getattr(result, "engine", None)
    if engine is None:
        return False
    tasks = _table_tasks(result, made_by)
    done = engine.run_elsewhere(tasks)
    if done is None:
        return False
    counted: list[CountedTraffic] = []
    for written in done:
        for file in Path(written.folder).iterdir():
            shutil.move(file, directory)
        Path(written.folder).rmdir()
        counted += unpacked(written.sums)
    result.take_counted(counted)
    return True


def _table_tasks(result: "Result", made_by: MadeBy) -> list[TableTask]:
    """Give a task for each large table; the first, which counts the traffic, writes small ones."""
    packets, matches, lost, *others = _tables()
    traffic = result.traffic_to_count
    rows = _rows(result) | ({} if traffic else result.traffic_tables)
    small = Path(result.folder).absolute() / "small-tables"
    with small.open("wb") as file:
        # tasks are what engines send: blocks of time are long
        job = SmallTables(others, rows, result.blocks, traffic, made_by)
        pickle.dump(job, file, protocol=5)
    makers = result.large_tables
    return [
        TableTask(index, table, makers[table.name], result.folder, made_by, with_table)
        for index, (table, with_table) in enumerate(
            [(packets, str(small)), (matches, ""), (lost, "")]
        )
    ]


def _write_large(
    *tables: "tuple[TableSchema, Iterator[Any], Path, MadeBy]", beside: Callable[[], None]
) -> None:
    """Write tables at once, and do something else `beside`."""
    from concurrent.futures import ThreadPoolExecutor

    is_over = Event()
    with ThreadPoolExecutor(len(tables) + 1) as writers:
        jobs = [writers.submit(_write_ahead, *table, is_over) for table in tables]
        jobs.append(writers.submit(beside))
        try:
            for job in jobs:
                job.result()
        finally:
            is_over.set()


def _write_ahead(
    table: "TableSchema", batches: Iterator[Any], path: Path, made_by: MadeBy, is_over: Event
) -> None:
    """Write a table while a thread makes its next batch; always the same one, for its memory."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as maker:
        write_table(table, _ahead(batches, maker, is_over), path, made_by)


def _ahead(batches: Iterator[Any], maker: "Executor", is_over: Event) -> Iterator[Any]:
    """Give batches, the next of which is in the making already, until nobody wants them."""
    coming = maker.submit(next, batches, None)
    while (batch := coming.result()) is not None and not is_over.is_set():
        coming = maker.submit(next, batches, None)
        yield batch


def _tables() -> "tuple[TableSchema, ...]":
    from pcaplat.model.blocks import BLOCKS
    from pcaplat.tables import (
        CLOCK_BANDS,
        CLOCKS,
        LOST,
        MATCHES,
        PACKETS,
        ROUND_TRIPS,
        SEGMENTS,
    )
    from pcaplat.tables.breakdowns import BREAKDOWN_TABLES
    from pcaplat.tables.exchanges import TRIP_TABLES
    from pcaplat.tables.traffic import TRAFFIC_TABLES

    of_all = (PACKETS, MATCHES, LOST, SEGMENTS, BLOCKS, CLOCKS, CLOCK_BANDS, ROUND_TRIPS)
    return (*of_all, *TRIP_TABLES, *TRAFFIC_TABLES, *BREAKDOWN_TABLES)


def _file(table: "TableSchema") -> str:
    return f"{table.name}.parquet"


def save_rows(batches: Iterable[Any], stream: IO[bytes]) -> None:
    """Write Arrow batches of packets."""
    from pcaplat.tables import PACKETS

    write_table(PACKETS, batches, stream)


def write_table(
    table: "TableSchema",
    batches: Iterable[Any],
    path: Path | IO[bytes],
    made_by: MadeBy | None = None,
) -> None:
    """Write Arrow batches as one file; columns beyond the table's are kept.

    The schema's metadata have what the table is and what made it, a field's its unit and meaning.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = iter(batches)
    first = next(stream, None)
    schema = table.arrow_schema() if first is None else _schema(table, first.schema)
    about = {"pcaplat.table": table.name, "pcaplat.meaning": table.meaning}
    schema = schema.with_metadata(about | dict(made_by or {}))
    # Arrow's own pool keeps what was freed, of each thread that ever wrote
    pool = pa.system_memory_pool()
    with pq.ParquetWriter(path, schema, memory_pool=pool, **_encoding(schema)) as writer:
        for group in _groups(first, stream):
            writer.write_table(pa.Table.from_batches(group).select(schema.names).cast(schema))


def _schema(table: "TableSchema", given: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Give the table's columns, then those of `given` that it does not name."""
    import pyarrow as pa

    more = [field for field in given if field.name not in table.names]
    return pa.schema([*table.arrow_schema(), *more])


def _encoding(schema: Any) -> dict[str, Any]:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa

    words = [field.name for field in schema if pa.types.is_string(field.type)]
    # neighbours differ little: the differences are small
    rising = [field.name for field in schema if pa.types.is_int64(field.type)]
    deltas = dict.fromkeys(rising, "DELTA_BINARY_PACKED")
    # what is least and greatest of words costs much, and rules out no row group but by these
    bounded = [name for name in schema.names if name not in words or name in {"point", "file"}]
    return {
        "compression": "zstd",
        "use_dictionary": words,
        "column_encoding": deltas,
        "write_statistics": bounded,
    }


def _groups(first: Any, rest: Iterator[Any]) -> Iterator[list[Any]]:  # noqa: ANN401 - see above
    """Gather batches until a row group is full."""
    group = [] if first is None else [first]
    for batch in rest:
        n_rows, n_bytes = sum(b.num_rows for b in group), sum(b.nbytes for b in group)
        if n_rows >= N_ROWS_PER_GROUP or n_bytes >= MOST_GROUP_BYTES:
            yield group
            group = []
        group.append(batch)
    if group:
        yield group


def _batches(table: "TableSchema", rows: Any) -> Iterator[Any]:  # noqa: ANN401 - see below
    """Give a list, a frame, or rows that are made one by one."""
    if isinstance(rows, list):
        yield _batch(table, rows)
    elif isinstance(rows, Iterator):
        while some := list(islice(rows, N_ROWS_AT_ONCE)):
            yield _batch(table, some)
    else:
        yield from rows.to_arrow().to_batches()


def _batch(table: "TableSchema", rows: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - see above
    import pyarrow as pa

    from pcaplat.tables.arrow_arrays import of_values

    more = {name for row in rows for name in row} - set(table.names)
    schema = table.arrow_schema()
    columns = [of_values([row.get(field.name) for row in rows], field.type) for field in schema]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    for name in sorted(more):
        batch = batch.append_column(name, pa.array([row.get(name) for row in rows]))
    return batch
