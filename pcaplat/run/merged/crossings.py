"""Crossings with their times: each match between two points, on the reference clock."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcaplat.tables.columns import Row

if TYPE_CHECKING:
    import polars as pl

    from pcaplat.run.result import Result

BATCH_ROWS = 1 << 16


def crossings_of(result: "Result") -> Iterator[Row]:
    """Give the matches with a latency, by the time at the upstream point.

    Returns:
        Rows of matches, with `up_ns` on the reference clock and `segment`, as the packet went.
        Matches at points whose clock cannot be related have no latency, and are left out.
    """
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

    names = ("up_point", "up_file", "up_frame", "down_point", "down_file", "down_frame")
    found = (
        result.matches.filter(pl.col("latency_ns").is_not_null())
        .join(_times(result), on=["up_file", "up_frame"])
        .filter(pl.col("up_ns").is_not_null())
        .with_columns(segment=pl.concat_str("up_point", pl.lit(" → "), "down_point"))
        .select(*names, "direction", "kind", "latency_ns", "trajectory_id", "up_ns", "segment")
        .sort("up_ns", "trajectory_id", "up_frame", "down_frame")
        .collect()
    )
    for rows in found.iter_slices(BATCH_ROWS):
        yield from rows.iter_rows(named=True)


def _times(result: "Result") -> "pl.LazyFrame":
    return result.packets.select(up_file="file", up_frame="frame", up_ns="aligned_ns")
