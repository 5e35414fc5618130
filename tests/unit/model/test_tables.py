"""Tables: their declarations are whole, and `check` sees every way to differ."""

import polars as pl
import pytest

from pcaplat.errors import TableError
from pcaplat.tables import MATCHES, PACKETS, TABLES
from pcaplat.tables.columns import TableSchema
from tests.support.results import packet


def packets() -> pl.DataFrame:
    return pl.DataFrame([packet(1), packet(2)], schema=PACKETS.schema())


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.name))
def test_declarations_are_whole(table: TableSchema) -> None:
    assert len(set(table.names)) == len(table.names)
    assert all(column.meaning for column in table.columns)
    assert table.arrow_schema().names == list(table.schema())
    timed = [c for c in table.columns if c.name.endswith("_ns")]
    assert all("ns" in column.unit for column in timed)


def test_no_integer_is_unsigned() -> None:
    for table in TABLES:
        assert not any(dtype.is_unsigned_integer() for dtype in table.schema().values())


def test_a_right_table_passes_with_more_columns_in_any_order() -> None:
    frame = packets().with_columns(more=1)
    PACKETS.check(frame.select(reversed(frame.columns)))
    PACKETS.check(frame.lazy())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda frame: frame.drop("t_ns"), "column t_ns: is missing"),
        (lambda frame: frame.cast({"frame": pl.UInt32}), "frame: is UInt32 and should be Int64"),
        (lambda frame: frame.with_columns(t_ns=pl.lit(None, pl.Int64)), "t_ns: has 2 nulls"),
    ],
)
def test_a_wrong_table_is_refused(change: "type[pl.DataFrame]", reason: str) -> None:
    with pytest.raises(TableError, match=reason):
        PACKETS.check(change(packets()))


def test_a_table_is_not_another() -> None:
    with pytest.raises(TableError, match="table matches"):
        MATCHES.check(packets())


def test_polars_and_arrow_mean_the_same_types() -> None:
    for table in TABLES:
        empty = pl.DataFrame(table.arrow_schema().empty_table())
        assert dict(empty.schema) == table.schema()
