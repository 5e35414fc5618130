"""Crossings: what the core kept of each packet and segment, and of each that was lost there."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from pcaplat.model.arrays import Ints
from pcaplat.model.blocks import BlockTimes
from pcaplat.model.matches.match_table import MatchTable
from pcaplat.model.matches.spilled_rows import (
    CROSSING,
    Rows,
    arrivals,
    ends,
    rows_as_spilled,
    weights,
)
from pcaplat.model.points import Pair
from pcaplat.records import dataclass

NOT_SEEN = -1
"""Stands for the frame that a lost packet has not at the far end of its way."""


@dataclass(frozen=True)
class Crossings:
    """Reads them batch by batch, on the path's first clock.

    Columns of each batch: `link` (a number in `links`), `way` (1: reverse), `near` and `far` (the
    frames' ids), `since_ns` (when it was at the near end, from the begin of the time that all
    points cover).
    """

    table: MatchTable
    links: Sequence[Pair]
    crossed: Sequence[str]
    lost: Sequence[str]
    times: BlockTimes

    def packets(self) -> Iterator[pl.DataFrame]:
        """Give whole packets: latency_ns (null: unknown), COUNTED, variation_ns (null: alone)."""
        for rows in _batches(self.crossed):
            n_duplicated, n_reordered = arrivals(rows)
            latency = pl.Series(self.table.latencies(rows)[0]).fill_nan(None).cast(pl.Int64)
            yield self._located(rows).with_columns(
                latency_ns=latency,
                n_duplicated=pl.Series(n_duplicated),
                n_reordered=pl.Series(n_reordered),
                variation_ns=pl.Series(rows["variation_ns"]).replace(NOT_SEEN, None),
            )

    def losses(self) -> Iterator[pl.DataFrame]:
        """Give what was lost, with `weight`: how much of the packet was booked on the segment."""
        for rows in _batches(self.lost):
            yield self._located(rows).with_columns(weight=pl.Series(weights(rows)))

    def _located(self, rows: Rows) -> pl.DataFrame:
        up, down, way = ends(rows["points"])
        near, far = np.where(way, down, up), np.where(way, up, down)
        number = np.full((len(self.table.findings.points),) * 2, NOT_SEEN)
        for at, link in enumerate(self.links):
            number[link] = at
        up_frame, down_frame = rows["up"], rows["down"]
        return pl.DataFrame(
            {
                "link": number[near, far],
                "way": way,
                "near": np.where(way, down_frame, up_frame),
                "far": np.where(way, up_frame, down_frame),
                "since_ns": self._since_ns(rows, way),
            }
        )

    def _since_ns(self, rows: Rows, way: Ints) -> Ints:
        """When packets were at the near end, or would have been there if they were not seen."""
        t_ns = rows["t_ns"] + np.where(way != 0, rows["raw_ns"], 0)
        is_seen = np.where(way != 0, rows["down"], rows["up"]) != NOT_SEEN
        since = np.zeros(len(rows), np.int64)
        for code in np.unique(rows["points"]):
            up, down, is_reverse = (int(part) for part in ends(code))
            of_code = rows["points"] == code
            here, there = (down, up) if is_reverse else (up, down)
            of_way = self.table.findings.centres[is_reverse]
            at = of_code & ~is_seen
            t_ns[at] = of_way[here].raw(t_ns[at] - of_way[there].at(t_ns[at]))
            centre = self.table.findings.centres[0][here]
            since[of_code] = t_ns[of_code] - centre.at(t_ns[of_code]) - self.times.start_ns
        return since


def _batches(paths: Sequence[str]) -> Iterator[Rows]:
    """Give what was spilled, and at last an empty batch, so that there is one."""
    yield from rows_as_spilled(paths, CROSSING)
    yield np.zeros(0, CROSSING)
