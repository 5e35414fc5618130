"""The result of a merge: the summary as it is, the large tables when they are asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from pcaplat import _native, tables
from pcaplat.captures import Capture
from pcaplat.clocks import Clocks, offset_centre
from pcaplat.errors import InputError
from pcaplat.path import Bools, Centre, Findings, Floats, Ints

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

ROW = np.dtype([(name, "<i8") for name in ("points", "up", "down", "t_ns", "raw_ns", "trajectory")])
"""A spilled pair of frames, as rust/src/matching/tally.rs writes it."""

BATCH_ROWS = 1 << 16
NUMBER_BITS = 44
"""Of a frame's id (rust/src/matching/mod.rs); the bits above are its file."""


class Spill:
    """A temporary folder that goes with the last one who holds it, without a warning."""

    def __init__(self) -> None:
        self.name = mkdtemp(prefix="pcaplat-")
        self.cleanup = finalize(self, rmtree, self.name, ignore_errors=True)


@dataclass(frozen=True)
class Run:
    """What a run leaves behind besides its summary."""

    captures: Sequence[Capture]
    settings: _native.Settings
    findings: Findings
    clocks: Clocks
    reference: int
    point_of: Sequence[Sequence[int | None]]
    rows: Sequence[str]
    directory: "Spill"
    n_slowest: int


class Result:
    """What a merge found.

    `document` is summary.json. The large tables are made when they are first asked for, from files
    in a temporary folder that goes with the result (or with `close`).
    """

    def __init__(self, document: dict[str, Any], run: Run) -> None:
        self.document = document
        self._run = run

    def close(self) -> None:
        """Delete the temporary files; the large tables are gone then."""
        self._run.directory.cleanup()

    @cached_property
    def summary(self) -> "pl.DataFrame":
        """The segments: one row per segment, direction and class (pcaplat.tables.SEGMENTS)."""
        return _frame(self.document["segments"], tables.SEGMENTS)

    @cached_property
    def clocks(self) -> "pl.DataFrame":
        """One row per point (pcaplat.tables.CLOCKS)."""
        return _frame(self.document["clocks"], tables.CLOCKS)

    @cached_property
    def round_trips(self) -> "pl.DataFrame":
        """One row per segment crossed both ways (pcaplat.tables.ROUND_TRIPS)."""
        return _frame(self.document["round_trips"], tables.ROUND_TRIPS)

    @cached_property
    def packets(self) -> "pl.LazyFrame":
        """One row per captured frame (pcaplat.tables.PACKETS)."""
        return self._scan("packets", self.packet_batches())

    @cached_property
    def matches(self) -> "pl.LazyFrame":
        """One row per pair of frames that carry the same packet (pcaplat.tables.MATCHES)."""
        return self._scan("matches", self.match_batches())

    def _scan(self, name: str, batches: "Iterator[pa.RecordBatch]") -> "pl.LazyFrame":
        import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import, seldom needed

        path = Path(self._run.directory.name) / f"{name}.parquet"
        schema = getattr(tables, name.upper()).arrow_schema()
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch.cast(schema))
        return _scan_holding(path, self._run.directory)

    def packet_batches(self) -> "Iterator[pa.RecordBatch]":
        """Give the packets table batch by batch, in the order of files and frames."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

        run = self._run
        clocks = {
            point: centre.native()
            for point in run.findings.along
            if (centre := offset_centre(run.clocks, point, run.reference))
        }
        names = [point.name for point in run.findings.points]
        origins = []
        for capture, points in zip(run.captures, run.point_of, strict=True):
            points_here = list(points) or [None]
            labels = [names[point] if point is not None else capture.name for point in points_here]
            offsets = [clocks.get(point) if point is not None else None for point in points_here]
            origins.append((capture.path, capture.name, labels, offsets))
        self._need_rows()
        stream = _native.PacketStream(
            origins, run.settings, outcomes_in=run.directory.name, batch_rows=BATCH_ROWS
        )
        yield from pa.RecordBatchReader.from_stream(stream)

    def match_batches(self) -> "Iterator[pa.RecordBatch]":
        """Give the matches table batch by batch."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

        self._need_rows()
        schema = tables.MATCHES.arrow_schema()
        for rows in self._spilled():
            yield pa.RecordBatch.from_pydict(self._match_columns(rows), schema=schema)

    def _need_rows(self) -> None:
        if not self._run.rows:
            raise InputError.rows_not_kept()

    def _spilled(self) -> "Iterator[np.ndarray[Any, np.dtype[Any]]]":
        for path in self._run.rows:
            with Path(path).open("rb") as file:
                while block := file.read(BATCH_ROWS * ROW.itemsize):
                    yield np.frombuffer(block, dtype=ROW)

    def _match_columns(self, rows: "np.ndarray[Any, np.dtype[Any]]") -> dict[str, Any]:
        names = np.array([point.name for point in self._run.findings.points], dtype=object)
        files = np.array([capture.name for capture in self._run.captures], dtype=object)
        up, down = rows["points"] & 0xFFFF, rows["points"] >> 16 & 0xFFFF
        is_reverse = rows["points"] >> 32 != 0
        latency, lo, hi = self._latencies(rows, up, down, is_reverse)
        number = (1 << NUMBER_BITS) - 1
        trajectory = rows["trajectory"]
        return {
            "up_point": names[up],
            "up_file": files[rows["up"] >> NUMBER_BITS],
            "up_frame": rows["up"] & number,
            "down_point": names[down],
            "down_file": files[rows["down"] >> NUMBER_BITS],
            "down_frame": rows["down"] & number,
            "direction": np.where(is_reverse, "reverse", "forward").astype(object),
            "kind": np.full(len(rows), "packet", dtype=object),
            "latency_ns": [None if np.isnan(x) else x for x in latency.tolist()],
            "latency_lo_ns": [None if np.isnan(x) else x for x in lo.tolist()],
            "latency_hi_ns": [None if np.isnan(x) else x for x in hi.tolist()],
            "trajectory_id": trajectory,
        }

    def _latencies(
        self, rows: "np.ndarray[Any, np.dtype[Any]]", up: Ints, down: Ints, is_reverse: Bools
    ) -> tuple[Floats, Floats, Floats]:
        """Latency of each pair, and what clocks and resolutions leave open."""
        latency, lo, hi = (np.full(len(rows), np.nan) for _ in range(3))
        for code in np.unique(rows["points"]):
            at = rows["points"] == code
            ends = (int(up[at][0]), int(down[at][0]))
            near, far = ends[::-1] if is_reverse[at][0] else ends
            relation = self._run.clocks.relation(near, far)
            if relation.kind not in ("same-clock", "bounded"):
                continue
            raw = rows["raw_ns"][at]
            t_near = rows["t_ns"][at] + (raw if is_reverse[at][0] else 0)
            knots = relation.t_ns + self._run.findings.centres[0][near].at(relation.t_ns)
            sign = -1 if is_reverse[at][0] else 1
            value, least, most = (
                sign * _between(knots, edge, t_near, relation.drift_ppm or 0.0)
                for edge in (relation.value_ns, relation.lo_ns, relation.hi_ns)
            )
            cut_up, cut_down = (
                _cut_ns(self._run.findings.points[one].resolution_ns) for one in ends
            )
            latency[at] = raw - np.rint(value)
            lo[at] = raw - np.maximum(least, most) - cut_up
            hi[at] = raw - np.minimum(least, most) + cut_down
        return latency, lo, hi

    @cached_property
    def slowest(self) -> "pl.DataFrame | None":
        """The slowest packets of each segment (pcaplat.tables.SLOWEST); None if not asked for."""
        if not self._run.n_slowest:
            return None
        from pcaplat.slowest import find_slowest  # noqa: PLC0415 - needs polars

        return find_slowest(self.matches, self.packets, self.document, self._run.n_slowest)

    def write_merged(self, path: Path) -> None:
        """Write every frame of every capture, in aligned time order, into one pcapng file."""
        run = self._run
        points: list[tuple[str, list[str], int | None, list[tuple[int, int]]]] = []
        for i, point in enumerate(run.findings.points):
            centre = offset_centre(run.clocks, i, run.reference) or _usual(run.findings, i)
            knots = list(zip(centre.t_ns.tolist(), centre.offset_ns.tolist(), strict=True))
            files = [run.captures[file].path for file, _ in point.sources]
            is_shared = any(len(run.point_of[file]) > 1 for file, _ in point.sources)
            points.append((point.name, files, point.sources[0][1] if is_shared else None, knots))
        order = {name: at for at, name in enumerate(self.document["path"])}
        points.sort(key=lambda one: order.get(one[0], len(order)))
        _native.write_merged(points, path)


def _usual(findings: Findings, point: int) -> Centre:
    """Where a clock cannot be bounded: as if its usual difference were all clock."""
    return findings.centres[0][point]


def _cut_ns(resolution_ns: float) -> float:
    """A stamp is cut to its resolution; single nanoseconds are the table's own."""
    return resolution_ns if resolution_ns > 1 else 0.0


def _between(knots: Ints, values: Floats, t_ns: Ints, slope_ppm: float) -> Floats:
    x, at = (t_ns - knots[0]).astype(np.float64), (knots - knots[0]).astype(np.float64)
    beyond = np.minimum(x, 0) + np.maximum(x - at[-1], 0)
    return np.asarray(np.interp(x, at, values) + slope_ppm * 1e-6 * beyond)


def _frame(rows: list[dict[str, Any]], table: "tables.Table") -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

    frame = pl.DataFrame(rows, schema_overrides=table.schema(), infer_schema_length=None)
    return frame if rows else pl.DataFrame(schema=table.schema())


def _scan_holding(path: Path, folder: Spill) -> "pl.LazyFrame":
    """Scan a file of a temporary folder, which stays as long as a frame made from it does."""
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed
    from polars.io.plugins import register_io_source  # noqa: PLC0415 - likewise

    def batches(
        columns: list[str] | None,
        predicate: "pl.Expr | None",
        n_rows: int | None,
        n_each: int | None,
    ) -> "Iterator[pl.DataFrame]":
        frame = pl.scan_parquet(Path(folder.name) / path.name)
        frame = frame if n_rows is None else frame.head(n_rows)
        frame = frame if columns is None else frame.select(columns)
        frame = frame if predicate is None else frame.filter(predicate)
        yield from frame.collect_batches(chunk_size=n_each, maintain_order=True)

    return register_io_source(batches, schema=pl.scan_parquet(path).collect_schema())
