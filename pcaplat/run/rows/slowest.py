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
    ranked = rank_slowest(matches, document, n).drop("up_file", "up_frame")
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


def rank_slowest(matches: pl.LazyFrame, document: Mapping[str, Any], n: int) -> pl.DataFrame:
    """Rank the `n` slowest packets of each segment and direction, from the slowest on.

    Returns:
        One row per packet and segment: SEGMENT, rank, latency_ns, trajectory_id, and the frame
        before the segment (up_file, up_frame); in the order of the document's segments.
    """
    edges = {(row["near"], row["far"]) for row in document["edges"]}
    segments = dict.fromkeys(
        (row["near"], row["far"], row["direction"]) for row in document["segments"]
    )
    rows = [_slowest_of(matches, one, n) for one in segments if one[:2] in edges]
    none = _slowest_of(matches, ("", "", ""), 0)
    return pl.concat([none, *rows])


def _slowest_of(matches: pl.LazyFrame, segment: tuple[str, str, str], n: int) -> pl.DataFrame:
    near, far, direction = segment
    up, down = (near, far) if direction == "forward" else (far, near)
    latency = pl.col("latency_ns")
    crossed = matches.filter(
        pl.col("up_point") == up,
        pl.col("down_point") == down,
        pl.col("direction") == direction,
        pl.col("kind") == "packet",
    )
    # in two steps, because a table of many millions has its other columns read for a few rows alone
    longest = crossed.filter(latency.is_not_null()).select(latency.top_k(n))
    least_ns = longest.collect(engine="streaming").get_column("latency_ns").min()
    found = crossed.filter(latency >= pl.lit(least_ns, pl.Float64)).select(
        *(pl.lit(text, pl.String).alias(name) for name, text in zip(SEGMENT, segment, strict=True)),
        latency,
        "trajectory_id",
        "up_file",
        "up_frame",
    )
    ordered = found.collect(engine="streaming").sort(-latency, "trajectory_id").head(n)
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("rank")
    return ordered.select(*SEGMENT, rank, pl.exclude(SEGMENT))
