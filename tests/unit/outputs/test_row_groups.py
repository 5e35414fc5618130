"""Groups of rows in Parquet: bounded in rows and in bytes, for a group lies in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pcaplat.outputs import parquet
from pcaplat.tables.columns import TableSchema

if TYPE_CHECKING:
    from pathlib import Path

N_BATCHES, N_ROWS, N_COUNTS = 20, 32, 100


@pytest.mark.parametrize(("most_bytes", "n_groups"), [(1 << 30, 1), (100_000, 5)])
def test_long_rows_make_short_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_bytes: int, n_groups: int
) -> None:
    monkeypatch.setattr(parquet, "MOST_GROUP_BYTES", most_bytes)
    counts = pa.array([[*range(N_COUNTS)]] * N_ROWS)
    batches = [pa.record_batch({"counts": counts}) for _ in range(N_BATCHES)]
    parquet.write_table(TableSchema("long", "", ()), batches, tmp_path / "long.parquet")
    file = pq.ParquetFile(tmp_path / "long.parquet")
    assert file.metadata.num_rows == N_BATCHES * N_ROWS
    assert (file.num_row_groups == 1) == (n_groups == 1)
    assert file.num_row_groups >= n_groups
