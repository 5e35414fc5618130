"""Losses by key: each lost packet at the key it had, or would have had, at the near end."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pcaplat.breakdowns.counting import CELL, Sums
from pcaplat.model.arrays import Floats, Ints

AS_SEEN = ("first", "window")
"""Breakdowns by what is told of the packet itself: where it was seen changes nothing."""


def without_near(losses: pl.DataFrame) -> pl.DataFrame:
    """Give segments and directions in which lost packets were seen at the far end only."""
    return losses.filter(pl.col("near") < 0).select("link", "way").unique()


@dataclass
class NearKeys:
    """Which key packets that have some key at the far end have at the near end, mostly.

    Of a flow both directions tell it: addresses that are translated forward are translated back.
    """

    kind: str
    wanted: pl.DataFrame
    sums: Sums = field(
        default_factory=lambda: Sums(["link", "way", "far_key", "key"], [pl.col("n").sum()])
    )

    def learn(self, pairs: pl.DataFrame) -> None:
        """Take packets that were seen at both ends: columns link, way, key, far_key."""
        on = ["link"] if self.kind == "flow" else ["link", "way"]
        some = pairs.join(self.wanted.select(on).unique(), on=on, how="semi")
        way = pl.lit(0) if self.kind == "flow" else pl.col("way")
        self.sums.add(
            some.with_columns(way=way.cast(pl.Int64))
            .group_by(self.sums.by)
            .agg(n=pl.len().cast(pl.Int64))
        )

    def of(self, losses: pl.DataFrame) -> Ints:
        """Give the keys of lost packets at the near end; as seen where nothing is known of them."""
        if self.kind in AS_SEEN or losses.is_empty():
            return losses["key"].to_numpy()
        most = pl.col("key").sort_by("n", "key", descending=[True, False]).first()
        known = self.sums.total().group_by("link", "way", "far_key").agg(near_key=most)
        way = pl.lit(0) if self.kind == "flow" else pl.col("way")
        joined = losses.with_columns(as_way=way.cast(pl.Int64)).join(
            known,
            left_on=["link", "as_way", "key"],
            right_on=["link", "way", "far_key"],
            how="left",
            maintain_order="left",
        )
        at_near = pl.when(pl.col("near") < 0).then(pl.coalesce("near_key", "key")).otherwise("key")
        keys: Ints = joined.select(key=at_near)["key"].to_numpy()
        return keys


def lost_sums() -> Sums:
    """Give sums of what was lost, by key and block of time."""
    return Sums([*CELL, "block"], [pl.col("weight").sum()])


def apportioned(parts: Floats, total: int) -> Ints:
    """Give whole numbers in proportion to the parts that add up to the total.

    Parts that are counts and add up to it stay as they are; less than nothing is nothing.

    Example:
        >>> apportioned(np.array([2.0, 0.0, 1.0]), 3).tolist()
        [2, 0, 1]
        >>> apportioned(np.array([1.0, 1.5, -0.5]), 3).tolist()
        [1, 2, 0]
    """
    some = np.maximum(parts, 0.0)
    if not some.sum():
        return np.zeros(len(parts), np.int64)
    exact = some * (total / some.sum())
    found: Ints = np.floor(exact).astype(np.int64)
    first = np.argsort(found - exact, kind="stable")[: total - int(found.sum())]
    found[first] += 1
    return found


def lost_cells(sums: Sums, n_lost: dict[tuple[int, int], int]) -> pl.DataFrame:
    """Give the losses of each key, columns CELL and n_lost: of a segment as many as it lost.

    Args:
        sums: What was lost, by key and block.
        n_lost: Of each link and way, what the summary says.
    """
    cells = sums.total().group_by(CELL).agg(pl.col("weight").sum()).sort(CELL)
    parts = [
        part.with_columns(
            n_lost=pl.Series(apportioned(part["weight"].to_numpy(), n_lost.get((link, way), 0)))
        )
        for (link, way), part in cells.partition_by("link", "way", as_dict=True).items()
    ]
    schema = cells.schema | {"n_lost": pl.Int64()}
    found = pl.concat(parts) if parts else pl.DataFrame(schema=schema)
    return found.filter(pl.col("n_lost") > 0)
