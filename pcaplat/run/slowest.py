"""The slowest packets of each segment, with their frame at every point that saw them."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from pcaplat import tables

SEGMENT = ["near", "far", "direction"]


def find_slowest(
    matches: pl.LazyFrame, packets: pl.LazyFrame, document: Mapping[str, Any], n: int
) -> pl.DataFrame:
    """Give the `n` slowest packets of each segment and direction.

    Args:
        matches: See pcaplat.tables.MATCHES.
        packets: See pcaplat.tables.PACKETS.
        document: The summary, for the order of the path.
        n: How many.

    Returns:
        One row per slow packet and point (pcaplat.tables.SLOWEST).
    """
    ranked = _ranked(matches, document).filter(pl.col("rank") <= n).collect()
    wanted = ranked.get_column("trajectory_id").unique()
    frames = packets.filter(
        pl.col("trajectory_id").is_in(wanted.implode()), pl.col("status") == "matched"
    ).select("trajectory_id", "point", "file", "frame", "t_ns")
    place = {name: at for at, name in enumerate(document["path"])}
    found = ranked.join(frames.collect(), on="trajectory_id").with_columns(
        place=pl.col("point").replace_strict(place, default=len(place), return_dtype=pl.Int64)
    )
    segments = [tuple(row[name] for name in SEGMENT) for row in document["segments"]]
    order = pl.DataFrame(segments, schema=SEGMENT, orient="row").with_row_index("segment")
    found = found.join(order, on=SEGMENT, how="left").sort("segment", "rank", "place")
    return found.select(tables.SLOWEST.names)


def _ranked(matches: pl.LazyFrame, document: Mapping[str, Any]) -> pl.LazyFrame:
    """Packets of neighbours with a latency, and their rank from the slowest on."""
    is_forward = pl.col("direction") == "forward"
    ends = pl.LazyFrame(document["edges"], schema={"near": pl.String, "far": pl.String})
    slower_first = pl.struct(-pl.col("latency_ns"), "trajectory_id").rank("ordinal")
    return (
        matches.filter(pl.col("latency_ns").is_not_null(), pl.col("kind") == "packet")
        .with_columns(
            near=pl.when(is_forward).then("up_point").otherwise("down_point"),
            far=pl.when(is_forward).then("down_point").otherwise("up_point"),
        )
        .join(ends, on=["near", "far"])
        .with_columns(rank=slower_first.over(SEGMENT).cast(pl.Int64))
        .select(*SEGMENT, "rank", "latency_ns", "trajectory_id")
    )
