"""The slowest packets of each segment, with their frame at every point that saw them."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from pcaplat import tables


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
    is_forward = pl.col("direction") == "forward"
    ends = pl.DataFrame(document["edges"], schema={"near": pl.String, "far": pl.String})
    ranked = (
        matches.filter(pl.col("latency_ns").is_not_null())
        .with_columns(
            near=pl.when(is_forward).then("up_point").otherwise("down_point"),
            far=pl.when(is_forward).then("down_point").otherwise("up_point"),
        )
        .join(ends.lazy(), on=["near", "far"])
        .with_columns(
            rank=pl.struct(-pl.col("latency_ns"), "trajectory_id")
            .rank("ordinal")
            .over("near", "far", "direction")
            .cast(pl.Int64)
        )
        .filter(pl.col("rank") <= n)
        .select("near", "far", "direction", "rank", "latency_ns", "trajectory_id")
        .collect()
    )
    wanted = ranked.get_column("trajectory_id").unique()
    frames = (
        packets.filter(
            pl.col("trajectory_id").is_in(wanted.implode()), pl.col("status") == "matched"
        )
        .select("trajectory_id", "point", "file", "frame", "t_ns")
        .collect()
    )
    place = {name: at for at, name in enumerate(document["path"])}
    found = ranked.join(frames, on="trajectory_id").with_columns(
        place=pl.col("point").replace_strict(place, default=len(place), return_dtype=pl.Int64)
    )
    by = ["near", "far", "direction"]
    segment = pl.DataFrame(
        [(row["near"], row["far"], row["direction"]) for row in document["segments"]],
        schema=by,
        orient="row",
    ).with_row_index("segment")
    found = found.join(segment, on=by, how="left").sort("segment", "rank", "place")
    return found.select(tables.SLOWEST.names)
