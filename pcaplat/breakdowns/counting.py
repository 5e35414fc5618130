"""Counting by key and block of time; memory grows with keys, not with packets."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pcaplat.model.arrays import Ints

PRECISION_BITS = 11
"""Bits of a latency that are kept, as in rust/src/base/histogram.rs: it is off by at most 2^-11 of
itself."""

FEW = 1 << 12
"""So many latencies of a cell are kept as they are; of more there are bins alone, as there."""

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


class ValueSums(Sums):
    """Values of cells, with how often they stand there: bins where a cell has many."""

    def total(self) -> pl.DataFrame:
        """Add everything up; values of cells that have many give way to the middles of bins."""
        known = super().total()
        return _binned(known).group_by(self.by).agg(self.added).sort(self.by)


class BreakdownCounts:
    """What is kept of one breakdown."""

    def __init__(self) -> None:
        sums = [pl.col(name).sum() for name in (*COUNTED, "n_known", "sum_ns", "sum_of_squares")]
        self.blocks = Sums(
            [*CELL, "block"], [*sums, pl.col("max_ns").max(), pl.col("min_ns").min()]
        )
        self.latencies = ValueSums([*CELL, "value_ns"], _ADDED)
        self.variation = ValueSums([*CELL, "value_ns"], _ADDED)

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
        self.latencies.add(_counted(pairs, "latency_ns"))
        self.variation.add(_counted(pairs, "variation_ns"))


_ADDED = [pl.col("n").sum(), pl.col("least_ns").min(), pl.col("most_ns").max()]


def _counted(pairs: pl.DataFrame, name: str) -> pl.DataFrame:
    known = pairs.filter(pl.col(name).is_not_null())
    values = known.select(*CELL, n=pl.lit(1, pl.Int64), value_ns=name, least_ns=name, most_ns=name)
    return _binned(values).group_by(*CELL, "value_ns").agg(_ADDED)


def _binned(values: pl.DataFrame) -> pl.DataFrame:
    """Put the values of cells that have many into bins."""
    middles_ns = pl.Series("middle_ns", bin_middles_ns(values["value_ns"].to_numpy()), pl.Int64)
    is_many = pl.col("n").sum().over(CELL) > FEW
    narrowed = pl.when(is_many).then("middle_ns").otherwise("value_ns")
    return values.with_columns(middles_ns).with_columns(value_ns=narrowed).drop("middle_ns")


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
