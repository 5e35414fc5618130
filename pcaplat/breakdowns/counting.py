"""Counting by key and block of time; memory grows with keys, not with packets."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pcaplat.model.arrays import Ints

PRECISION_BITS = 11
"""Bits of a latency that are kept, as in rust/src/base/histogram.rs: it is off by at most 2^-11 of
itself."""

MOST_LOOSE_ROWS = 1 << 19
"""Rows that are counted apart before they are added up."""

CELL = ["link", "way", "key"]
COUNTED = ("n", "n_duplicated", "n_reordered")


@dataclass
class Sums:
    """Frames of partial counts, added up when they become many."""

    by: list[str]
    added: list[pl.Expr]
    parts: list[pl.DataFrame] = field(default_factory=list)
    n_loose: int = 0

    def add(self, counted: pl.DataFrame) -> None:
        """Take what was counted of some packets."""
        self.parts.append(counted)
        self.n_loose += len(counted)
        if self.n_loose > MOST_LOOSE_ROWS:
            self.parts = [self.total()]
            self.n_loose = 0

    def total(self) -> pl.DataFrame:
        """Add everything up, in the order of what it is by."""
        return pl.concat(self.parts).group_by(self.by).agg(self.added).sort(self.by)


class BreakdownCounts:
    """What is kept of one breakdown."""

    def __init__(self) -> None:
        sums = [pl.col(name).sum() for name in (*COUNTED, "n_known", "sum_ns", "sum_of_squares")]
        self.blocks = Sums(
            [*CELL, "block"], [*sums, pl.col("max_ns").max(), pl.col("min_ns").min()]
        )
        self.bins = Sums([*CELL, "middle_ns"], _BIN)
        self.variation = Sums([*CELL, "middle_ns"], _BIN)

    def add(self, pairs: pl.DataFrame) -> None:
        """Count packets: CELL, block, latency_ns and variation_ns (null: unknown), and COUNTED."""
        latency = pl.col("latency_ns")
        self.blocks.add(
            pairs.group_by(*CELL, "block").agg(
                pl.col("n_duplicated", "n_reordered").sum(),
                n=pl.len().cast(pl.Int64),
                n_known=latency.count().cast(pl.Int64),
                sum_ns=latency.sum(),
                sum_of_squares=(latency.cast(pl.Float64) ** 2).sum(),
                max_ns=latency.max(),
                min_ns=latency.min(),
            )
        )
        self.bins.add(_binned(pairs, "latency_ns"))
        self.variation.add(_binned(pairs, "variation_ns"))


_BIN = [pl.col("n").sum(), pl.col("least_ns").min(), pl.col("most_ns").max()]


def _binned(pairs: pl.DataFrame, name: str) -> pl.DataFrame:
    known = pairs.filter(pl.col(name).is_not_null())
    middles = bin_middles_ns(known[name].to_numpy())
    known = known.with_columns(middle_ns=pl.Series(middles, dtype=pl.Int64))
    value = pl.col(name)
    return known.group_by(*CELL, "middle_ns").agg(
        n=pl.len().cast(pl.Int64), least_ns=value.min(), most_ns=value.max()
    )


def bin_middles_ns(values_ns: Ints) -> Ints:
    """Give the middle of each value's bin.

    Example:
        >>> bin_middles_ns(np.array([2047, 100_001, -100_001])).tolist()
        [2047, 100000, -100000]
    """
    sizes = np.abs(values_ns)
    n_bits = np.frexp(sizes.astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(n_bits - PRECISION_BITS, 0)
    middles = (sizes >> shift << shift) + (1 << shift >> 1)
    return np.where(values_ns < 0, -middles, middles)
