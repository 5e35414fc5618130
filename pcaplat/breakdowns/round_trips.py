"""Two-way contributions by key: of what both directions of a packet's dialogue have in common.

A flow, a tunnel, a window of time are such keys. A size, a codepoint or being the first is of one
packet: its answer has another.
"""

from collections.abc import Sequence

import polars as pl

from pcaplat.breakdowns.counting import BreakdownCounts
from pcaplat.breakdowns.keys import NO_KEY, Label
from pcaplat.breakdowns.rows import (
    NOT_AMONG,
    Broken,
    IntervalOrReason,
    blocks_of,
    columns_of_key,
    largest_of,
    told,
)
from pcaplat.metrics.bias import drift_ns, waiting_ns
from pcaplat.metrics.means import NOT_ASKED, TOO_FEW, of_means
from pcaplat.statistics.intervals import LEAST_BLOCKS, SHORT_BLOCK
from pcaplat.tables.columns import Row

BOTH_WAYS = ("flow", "tunnel", "window")
CELL = ["link", "key"]


def round_trip_rows(
    broken: Broken, counts: BreakdownCounts, about: tuple[str, Sequence[Label], int]
) -> list[Row]:
    """Give the sum of means there and back, of keys seen both ways; `about` as for `rows_of`."""
    kind = about[0]
    blocks = counts.blocks.total().filter((pl.col("n_known") > 0) & (pl.col("key") != NO_KEY))
    each = blocks.group_by("link", "way", "key").agg(pl.col("n_known", "sum_ns").sum())
    mean_ns = pl.col("sum_ns") / pl.col("n_known")
    each = each.select(*CELL, "way", n="n_known", mean_ns=mean_ns)
    there, back = (each.filter(pl.col("way") == way).drop("way") for way in (0, 1))
    cells = there.join(back, CELL, suffix="_back").with_columns(
        n=pl.min_horizontal("n", "n_back"), mean_ns=pl.col("mean_ns") + pl.col("mean_ns_back")
    )
    by = ["link", "n", "key"] if kind == "flow" else CELL
    cells = cells.sort(by, descending=[name == "n" for name in by])
    largest = largest_of(cells, pl.col("n"), CELL)
    parts = blocks.join(largest, CELL, "semi").partition_by(CELL, as_dict=True)
    rows = []
    for cell in cells.iter_rows(named=True):
        segment = broken.segments[2 * cell["link"]]
        ends = (segment["near"], segment["far"])
        why, lo_ns, hi_ns = _interval(broken, ends, parts.get((cell["link"], cell["key"])))
        rows.append(
            {"near": ends[0], "far": ends[1]}
            | columns_of_key(about, cell["key"], broken.times.start_ns)
            | {"n": cell["n"], "mean_ns": cell["mean_ns"]}
            | {"mean_lo_ns": lo_ns, "mean_hi_ns": hi_ns, "interval_reason": why}
        )
    return rows


def _interval(broken: Broken, ends: tuple[str, str], part: pl.DataFrame | None) -> IntervalOrReason:
    if not broken.is_resampled:
        return NOT_ASKED, None, None
    if part is None:
        return NOT_AMONG, None, None
    sides = [part.filter(pl.col("way") == way) for way in (0, 1)]
    if min(map(len, sides)) < LEAST_BLOCKS * SHORT_BLOCK:
        return TOO_FEW, None, None
    at = part["block"].to_numpy()
    # a key that lived for a part of the time has blocks there only
    blocks = [blocks_of(side).part(int(at.min()), int(at.max()) + 1) for side in sides]
    off_ns = drift_ns(broken.run, ends, blocks) + waiting_ns(broken.run, ends)
    return told(of_means(broken.run, ends, blocks, clock_ns=off_ns))
