"""From the packets table and the spilled pairs, batch by batch, to the rows of breakdowns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from pcaplat.blocks import N_BLOCKS, BlockTimes
from pcaplat.breakdowns import Asked, Breakdowns
from pcaplat.breakdowns.counting import Counts, Sums
from pcaplat.breakdowns.keys import (
    FLOW,
    MOST_KEYS,
    NO_KEY,
    Firsts,
    FrameKeys,
    Label,
    Labels,
    as_forward,
    size_class,
)
from pcaplat.breakdowns.lines import LINK, SUMS, line_sums
from pcaplat.breakdowns.round_trips import BOTH_WAYS, round_trip_rows
from pcaplat.breakdowns.rows import Broken, fit_rows, rows_of
from pcaplat.errors import OptionError
from pcaplat.match_table import MatchTable
from pcaplat.path import Ints
from pcaplat.scenario import MeasuredRun
from pcaplat.spill import KINDS, Rows, ends, kinds, rows_as_spilled
from pcaplat.units import format_ns

if TYPE_CHECKING:
    import pyarrow as pa

MOST_WINDOWS = 20
"""Where no length was asked for."""

LABELLED: Mapping[str, Callable[[], Labels | Firsts]] = {
    "flow": partial(Labels, FLOW),
    "tunnel": partial(Labels, ["tunnel_id"]),
    "first": Firsts,
}
COLUMN = {"size": "wire_bytes", "dscp": "dscp"}
WAYS = ("forward", "reverse")


@dataclass(frozen=True)
class Measuring:
    """What breaking a run down needs to know of it."""

    table: MatchTable
    spilled: Sequence[str]
    times: BlockTimes
    document: Mapping[str, Any]
    is_resampled: bool

    def measure(
        self, asked: Sequence[Asked], batches: "Callable[[], Iterable[pa.RecordBatch]]"
    ) -> Breakdowns:
        """Count what was asked for: one pass over the packets, one over the pairs.

        Args:
            asked: What to break down by.
            batches: Gives the packets table with its details.
        """
        frames = {one.kind: FrameKeys(len(self.table.captures)) for one in asked}
        labels = {one.kind: LABELLED[one.kind]() for one in asked if one.kind in LABELLED}
        if any(one.kind != "window" for one in asked):
            for batch in batches():
                self._place(pl.DataFrame(batch), frames, labels)
        windows = {one.kind: self._window_ns(one) for one in asked}
        counts = {one.kind: Counts() for one in asked}
        lines = Sums([*LINK, "block"], _LINE_SUMS)
        for rows in rows_as_spilled(self.spilled):
            for kind, keys in frames.items():
                pairs = self._pairs(rows, kind, keys, windows[kind])
                counts[kind].add(pairs)
                if kind == "size":
                    lines.add(line_sums(pairs))
        found: Breakdowns = {}
        for kind, count in counts.items():
            names = labels[kind].labels if kind in labels else ()
            found |= self._found(kind, count, names, windows[kind])
        return found | ({"size_fits": fit_rows(self._broken, lines)} if "size" in counts else {})

    @property
    def _broken(self) -> Broken:
        run = MeasuredRun("", self.document, {})
        return Broken(run, self.segments, self.times, is_resampled=self.is_resampled)

    def _found(
        self, kind: str, count: Counts, labels: Sequence[Label], window_ns: int
    ) -> Breakdowns:
        """Give the rows of one breakdown, and of both directions together where that says it."""
        of_kind = (self._broken, kind, count, labels, window_ns)
        found = {f"by_{kind}": rows_of(*of_kind)}
        if kind in BOTH_WAYS:
            found[f"round_trips_by_{kind}"] = round_trip_rows(*of_kind)
        return found

    @property
    def segments(self) -> list[Mapping[str, Any]]:
        """Rows of the summary's segments of whole packets between neighbours: a link's two ways."""
        names = [(self._name(near), self._name(far)) for near, far in self.table.findings.edges]
        known = MeasuredRun("", self.document, {}).segments
        return [known.get((*ends, way), {}) for ends in names for way in WAYS]

    def _name(self, point: int) -> str:
        return self.table.findings.name(point)

    def _window_ns(self, asked: Asked) -> int:
        """Give the length of a window; refuse one that leaves too many."""
        if asked.kind != "window":
            return 0
        span_ns = max(1, self.times.end_ns - self.times.start_ns)
        if asked.window_ns is None:
            least_ns = -(-span_ns // MOST_WINDOWS)
            power: int = 10 ** (len(str(least_ns)) - 1)
            return next(step * power for step in (1, 2, 5, 10) if step * power >= least_ns)
        if span_ns // asked.window_ns > MOST_KEYS:
            raise OptionError(
                f"--by window={asked.window_ns}ns: the captures cover {format_ns(span_ns)}, "
                f"more than {MOST_KEYS:,} windows; choose longer ones"
            )
        return asked.window_ns

    def _place(
        self,
        batch: pl.DataFrame,
        frames: Mapping[str, FrameKeys],
        labels: Mapping[str, Labels | Firsts],
    ) -> None:
        """Note the keys of a batch of frames."""
        names = [capture.name for capture in self.table.captures]
        for name in batch["file"].unique():
            some, file = batch.filter(pl.col("file") == name), names.index(name)
            for kind, keys in frames.items():
                if kind in labels:
                    keys.place(file, some["frame"].to_numpy(), labels[kind].numbers(some))
                elif kind in COLUMN:
                    values = some[COLUMN[kind]].fill_null(NO_KEY).to_numpy()
                    keys.place(file, some["frame"].to_numpy(), values)

    def _pairs(self, rows: Rows, kind: str, keys: FrameKeys, window_ns: int) -> pl.DataFrame:
        """Whole packets between neighbours, with their key, block and latency."""
        rows = rows[kinds(rows["points"]) == KINDS.index("packet")]
        up, down, way = ends(rows["points"])
        near, far = np.where(way, down, up), np.where(way, up, down)
        link = np.full((len(self.table.findings.points),) * 2, -1)
        for number, edge in enumerate(self.table.findings.edges):
            link[edge] = number
        at = link[near, far] >= 0
        rows, near, far, way = rows[at], near[at], far[at], way[at]
        since = self._since_ns(rows, near, way)
        found = pl.DataFrame({"link": link[near, far], "way": way, "since_ns": since}).with_columns(
            latency_ns=pl.Series(self.table.latencies(rows)[0]).fill_nan(None).cast(pl.Int64)
        )
        found = self._without_unknown(found)
        if kind == "window":
            # blocks of a window are its own
            key = pl.col("since_ns").floordiv(window_ns)
            block = (pl.col("since_ns") - key * window_ns) * N_BLOCKS // window_ns
            return found.with_columns(key=key, block=block)
        block = (pl.col("since_ns") // self.times.length_ns).clip(0, N_BLOCKS - 1)
        values = _keys_of(rows, kind, keys, way)
        found = found.with_columns(block=block, key=pl.Series(values, dtype=pl.Int64))
        if kind != "size":
            return found
        classes = pl.Series(size_class(values), dtype=pl.Int64)
        y_ns = pl.col("latency_ns") - (2 * pl.col("link") + pl.col("way")).replace_strict(
            self._pivots(), return_dtype=pl.Int64
        )
        return found.with_columns(bytes=pl.col("key"), key=classes, y_ns=y_ns)

    def _since_ns(self, rows: Rows, near: Ints, way: Ints) -> Ints:
        """When packets were at the near end, since the begin of the time that all points cover."""
        t_ns = rows["t_ns"] + np.where(way != 0, rows["raw_ns"], 0)
        since = np.zeros(len(rows), np.int64)
        for point in np.unique(near):
            at = near == point
            centre = self.table.findings.centres[0][int(point)]
            since[at] = t_ns[at] - centre.at(t_ns[at]) - self.times.start_ns
        return since

    def _without_unknown(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Leave out latencies of segments for which the summary gives none."""
        known = [at for at, row in enumerate(self.segments) if row.get("mean_ns") is not None]
        is_known = (2 * pl.col("link") + pl.col("way")).is_in(known)
        return pairs.with_columns(latency_ns=pl.when(is_known).then("latency_ns"))

    def _pivots(self) -> dict[int, int]:
        return {at: round(row.get("p50_ns") or 0) for at, row in enumerate(self.segments)}


_LINE_SUMS = [
    *(pl.col(name).sum() for name in SUMS),
    pl.col("min_bytes").min(),
    pl.col("max_bytes").max(),
]


def _keys_of(rows: Rows, kind: str, keys: FrameKeys, way: Ints) -> Ints:
    """Give the keys of packets, as their near end has them."""
    near = keys.at(np.where(way != 0, rows["down"], rows["up"]))
    if kind == "flow":
        return as_forward(near, way)
    if kind == "tunnel":
        far = keys.at(np.where(way != 0, rows["up"], rows["down"]))
        return np.where(near == NO_KEY, far, near)
    return near
