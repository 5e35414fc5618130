"""Frames of the sender's point, each with what became of it at the receiver's."""

from typing import Any

import numpy as np
import polars as pl

from pcaplat.model.arrays import Ints
from pcaplat.records import dataclass

DIRECTIONS = ("forward", "reverse")
UNTOLD = ("ambiguous", "coalesced")
"""Statuses of frames of which nobody can tell whether they arrived."""


@dataclass(frozen=True)
class Sent:
    """Frames of one direction, in the order that they were sent; times on one clock.

    `latency_ns` is of frames that `is_received`. What the receiver's capture does not cover in
    time is neither lost nor received: `is_outside`.
    """

    sender: str
    receiver: str
    direction: str
    t_ns: Ints
    wire_bytes: Ints
    is_received: np.ndarray[Any, np.dtype[np.bool_]]
    is_untold: np.ndarray[Any, np.dtype[np.bool_]]
    is_outside: np.ndarray[Any, np.dtype[np.bool_]]
    latency_ns: Ints
    is_ethernet: bool
    is_tcp: bool
    cover_ns: tuple[int, int]
    """When the receiver's capture begins and ends."""


def sent_frames(packets: pl.LazyFrame, matches: pl.LazyFrame, ends: tuple[str, str]) -> list[Sent]:
    """Take what both ends of a path sent, from the tables of one result.

    Args:
        packets: The table of that name.
        matches: Likewise.
        ends: First and last point.
    """
    near, far = ends
    wanted = ("point", "file", "frame", "status", "layers", "src", "dst", "protocol")
    frames = (
        packets.filter(pl.col("point").is_in([near, far]) & pl.col("src").is_not_null())
        .filter(~pl.col("status").is_in(["duplicate", "undecoded"]))
        .select(
            *wanted,
            "wire_bytes",
            "trajectory_id",
            t_ns=pl.coalesce("aligned_ns", "stamp_ns", "t_ns"),
        )
        .collect()
    )
    ways = (
        matches.select("trajectory_id", "direction")
        .drop_nulls()
        .unique("trajectory_id", keep="first", maintain_order=True)
    )
    way_of = _ways_of_addresses(frames, ways.collect())
    placed = frames.join(way_of, on=["point", "src", "dst"], how="left").filter(
        pl.col("direction").is_not_null()
    )
    directions = []
    for direction, (sender, receiver) in zip(DIRECTIONS, ((near, far), (far, near)), strict=True):
        there = placed.filter(pl.col("direction") == direction)
        sent = there.filter(pl.col("point") == sender).sort("t_ns")
        if len(sent):
            came = there.filter(pl.col("point") == receiver)
            cover = frames.filter(pl.col("point") == receiver)["t_ns"]
            directions.append(_joined(sent, came, cover, (sender, receiver, direction)))
    return directions


def _ways_of_addresses(frames: pl.DataFrame, ways: pl.DataFrame) -> pl.DataFrame:
    """Say which way packets of two addresses go at a point, by those that were followed."""
    known = frames.join(ways, on="trajectory_id")
    counted = known.group_by("point", "src", "dst", "direction").agg(n=pl.len())
    usual = counted.sort("n", "direction").group_by("point", "src", "dst").last()
    return usual.drop("n")


def _joined(
    sent: pl.DataFrame, came: pl.DataFrame, cover: pl.Series, names: tuple[str, str, str]
) -> Sent:
    arrived = came.filter(pl.col("trajectory_id").is_not_null()).select(
        "trajectory_id", came_ns="t_ns"
    )
    frames = sent.join(
        arrived.unique("trajectory_id", keep="first", maintain_order=True),
        on="trajectory_id",
        how="left",
        maintain_order="left",
    )
    t_ns = frames["t_ns"].to_numpy()
    is_received = frames["came_ns"].is_not_null().to_numpy()
    latency_ns = (frames["came_ns"] - frames["t_ns"]).fill_null(0).to_numpy()
    usual_ns = int(np.median(latency_ns[is_received])) if is_received.any() else 0
    first_ns, last_ns = int(cover.min()), int(cover.max())  # type: ignore[arg-type] # of integers
    due_ns = t_ns + usual_ns
    is_outside = ~is_received & ((due_ns < first_ns) | (due_ns > last_ns))
    sender, receiver, direction = names
    return Sent(
        sender=sender,
        receiver=receiver,
        direction=direction,
        t_ns=t_ns,
        wire_bytes=frames["wire_bytes"].to_numpy(),
        is_received=is_received,
        is_untold=frames["status"].is_in(UNTOLD).to_numpy() & ~is_received,
        is_outside=is_outside,
        latency_ns=latency_ns,
        is_ethernet=bool(frames["layers"].str.starts_with("ethernet").all()),
        is_tcp=bool((frames["protocol"] == TCP).sum() * 2 > len(frames)),
        cover_ns=(first_ns, last_ns),
    )


TCP = 6
