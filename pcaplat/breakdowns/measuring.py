"""From the packets table and the spilled crossings, batch by batch, to the rows of breakdowns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from pcaplat.breakdowns import Breakdown, Breakdowns
from pcaplat.breakdowns.counting import BreakdownCounts, Sums
from pcaplat.breakdowns.crossings import Crossings
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
from pcaplat.breakdowns.losses import AS_SEEN, NearKeys, lost_sums, without_near
from pcaplat.breakdowns.round_trips import BOTH_WAYS, round_trip_rows
from pcaplat.breakdowns.rows import Broken, fit_rows, rows_of
from pcaplat.errors import OptionError
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.arrays import Ints
from pcaplat.model.blocks import N_BLOCKS
from pcaplat.units import format_ns

if TYPE_CHECKING:
    import pyarrow as pa

MOST_WINDOWS = 20
"""A run has as many windows at most where no length was asked for."""

LABELLED: Mapping[str, Callable[[], Labels | Firsts]] = {
    "flow": partial(Labels, FLOW),
    "tunnel": partial(Labels, ["tunnel_id"]),
    "first": Firsts,
}
COLUMN = {"size": "wire_bytes", "dscp": "dscp"}
WAYS = ("forward", "reverse")


@dataclass
class Kind:
    """What is kept of one breakdown while packets are counted."""

    name: str
    window_ns: int
    frames: FrameKeys
    near: NearKeys
    labels: Labels | Firsts | None
    counts: BreakdownCounts = field(default_factory=BreakdownCounts)
    lost: Sums = field(default_factory=lost_sums)

    @property
    def names(self) -> Sequence[Label]:
        """Labels by number."""
        return self.labels.labels if self.labels else ()

    def place(self, file: int, batch: pl.DataFrame) -> None:
        """Note the keys of frames of a file."""
        if self.labels:
            self.frames.place(file, batch["frame"].to_numpy(), self.labels.numbers(batch))
        elif self.name in COLUMN:
            values = batch[COLUMN[self.name]].fill_null(NO_KEY).to_numpy()
            self.frames.place(file, batch["frame"].to_numpy(), values)

    def keys(self, rows: pl.DataFrame) -> tuple[Ints, Ints]:
        """Give the keys that packets have at the near end, and those that they have at the far."""
        near, far = (self.frames.at(rows[end].to_numpy()) for end in ("near", "far"))
        if self.name == "flow":
            way = rows["way"].to_numpy()
            near, far = as_forward(near, way), as_forward(far, way)
        if self.name == "tunnel":
            near = np.where(near == NO_KEY, far, near)
        return near, far

    def keys_of_lost(self, rows: pl.DataFrame) -> Ints:
        """Give the keys that lost packets have, or would have had, at the near end."""
        near, far = self.keys(rows)
        seen = np.where(rows["near"].to_numpy() < 0, far, near)
        keys = self.near.of(rows.with_columns(key=pl.Series(seen, dtype=pl.Int64)))
        return size_class(keys) if self.name == "size" else keys


@dataclass(frozen=True)
class BreakdownRun:
    """What breaking a run down needs to know of it."""

    crossings: Crossings
    document: Mapping[str, Any]
    is_resampled: bool

    def measure(
        self, asked: Sequence[Breakdown], batches: "Callable[[], Iterable[pa.RecordBatch]]"
    ) -> Breakdowns:
        """Count what was asked for: a pass over packets, one over what crossed, two over losses.

        Args:
            asked: What to break down by.
            batches: Gives the packets table with its details.
        """
        wanted = pl.concat(map(without_near, self.crossings.losses())).unique()
        kinds = [self._kind(one, wanted) for one in asked]
        if any(kind.name != "window" for kind in kinds):
            for batch in batches():
                self._place(pl.DataFrame(batch), kinds)
        lines = self._count(kinds)
        self._count_lost(kinds)
        found: Breakdowns = {}
        for kind in kinds:
            found |= self._found(kind)
        with_sizes = any(kind.name == "size" for kind in kinds)
        return found | ({"size_fits": fit_rows(self._broken, lines)} if with_sizes else {})

    def _count(self, kinds: Sequence[Kind]) -> Sums:
        """Count what crossed segments; give the sums of the line through sizes."""
        lines = Sums([*LINK, "block"], _LINE_SUMS)
        for packets in self.crossings.packets():
            known = self._without_unknown(packets)
            for kind in kinds:
                pairs = self._keyed(kind, known)
                kind.counts.add(pairs)
                if kind.name == "size":
                    lines.add(line_sums(pairs))
        return lines

    def _count_lost(self, kinds: Sequence[Kind]) -> None:
        for losses in self.crossings.losses():
            for kind in kinds:
                lost = self._timed(kind, losses)
                if kind.name != "window":
                    keys = pl.Series(kind.keys_of_lost(losses), dtype=pl.Int64)
                    lost = lost.with_columns(key=keys)
                kind.lost.add(lost.select(*kind.lost.by, "weight"))

    def _kind(self, asked: Breakdown, wanted: pl.DataFrame) -> Kind:
        name, n_files = asked.kind, len(self.crossings.table.captures)
        labels = LABELLED[name]() if name in LABELLED else None
        near = NearKeys(name, wanted)
        return Kind(name, self._window_ns(asked), FrameKeys(n_files), near, labels)

    @cached_property
    def _broken(self) -> Broken:
        run, times = MeasuredRun("", self.document, {}), self.crossings.times
        return Broken(run, self.segments, times, is_resampled=self.is_resampled)

    def _found(self, kind: Kind) -> Breakdowns:
        """Give the rows of one breakdown, and of both directions together where that says it."""
        about = (kind.name, kind.names, kind.window_ns)
        found = {f"by_{kind.name}": rows_of(self._broken, kind.counts, kind.lost, about)}
        if kind.name in BOTH_WAYS:
            rows = round_trip_rows(self._broken, kind.counts, about)
            found[f"round_trips_by_{kind.name}"] = rows
        return found

    @cached_property
    def segments(self) -> list[Mapping[str, Any]]:
        """Rows of the summary's segments of whole packets: a link's two ways."""
        name = self.crossings.table.findings.name
        names = [(name(near), name(far)) for near, far in self.crossings.links]
        known = MeasuredRun("", self.document, {}).segments
        return [known.get((*ends, way), {}) for ends in names for way in WAYS]

    def _window_ns(self, asked: Breakdown) -> int:
        """Give the length of a window; refuse one that leaves too many."""
        if asked.kind != "window":
            return 0
        times = self.crossings.times
        span_ns = max(1, times.end_ns - times.start_ns)
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

    def _place(self, batch: pl.DataFrame, kinds: Sequence[Kind]) -> None:
        """Note the keys of a batch of frames."""
        names = [capture.name for capture in self.crossings.table.captures]
        for name in batch["file"].unique(maintain_order=True):
            some, file = batch.filter(pl.col("file") == name), names.index(name)
            for kind in kinds:
                kind.place(file, some)

    def _timed(self, kind: Kind, rows: pl.DataFrame) -> pl.DataFrame:
        """Add the block of time; and of windows, whose blocks are their own, the key."""
        since, window_ns = pl.col("since_ns"), kind.window_ns
        if kind.name == "window":
            key = since.floordiv(window_ns)
            return rows.with_columns(
                key=key, block=(since - key * window_ns) * N_BLOCKS // window_ns
            )
        block = (since // self.crossings.times.length_ns).clip(0, N_BLOCKS - 1)
        return rows.with_columns(block=block)

    def _keyed(self, kind: Kind, rows: pl.DataFrame) -> pl.DataFrame:
        """Add key and block to packets."""
        keyed = self._timed(kind, rows)
        if kind.name == "window":
            return keyed
        near, far = kind.keys(rows)
        keyed = keyed.with_columns(key=pl.Series(near, dtype=pl.Int64))
        if kind.name not in AS_SEEN:
            kind.near.learn(keyed.with_columns(far_key=pl.Series(far, dtype=pl.Int64)))
        if kind.name != "size":
            return keyed
        classes = pl.Series(size_class(near), dtype=pl.Int64)
        y_ns = pl.col("latency_ns") - (2 * pl.col("link") + pl.col("way")).replace_strict(
            self._pivots(), return_dtype=pl.Int64
        )
        return keyed.with_columns(bytes=pl.col("key"), key=classes, y_ns=y_ns)

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
