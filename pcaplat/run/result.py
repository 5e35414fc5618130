"""The result of a merge: the summary as it is, the large tables when they are asked for."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from pcaplat import _native, tables
from pcaplat.breakdowns import Breakdown, Breakdowns, parse_by
from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.errors import InputError, PcaplatWarning
from pcaplat.model.blocks import Blocks, BlockTimes, Key
from pcaplat.model.centre import Centre
from pcaplat.model.clocks import Clocks, fastest_centre, offset_centre
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import Capture
from pcaplat.model.matches.lost_table import LostTable
from pcaplat.model.matches.match_table import MatchTable
from pcaplat.model.matches.spilled_rows import rows_as_spilled
from pcaplat.model.matches.traffic import CountedTraffic, TrafficPlan
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair, PointTree
from pcaplat.records import dataclass
from pcaplat.run.answer.notebook import html_of
from pcaplat.run.answer.sentences import answer_lines
from pcaplat.run.answer.view import LatencyView
from pcaplat.run.engines import Engine
from pcaplat.run.engines.unfinished import forget
from pcaplat.run.folder import RunFolder, scan_holding
from pcaplat.run.measurement import MeasuredPath
from pcaplat.run.merged.frame_latencies import write_latencies
from pcaplat.run.merged.point_description import describe_point
from pcaplat.run.options import MergeOptions, given_options
from pcaplat.run.rows.large import LargeTable, LostRows, MatchRows, Origin, PacketRows
from pcaplat.stages.summarize import clock_band_rows, warning_rows
from pcaplat.tables.breakdowns import BY
from pcaplat.tables.traffic import TRAFFIC
from pcaplat.traffic import Traffic, TrafficTables
from pcaplat.traffic.measuring import TrafficRun

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from pcaplat.plots import Plots
    from pcaplat.tables.columns import Row


MergeFile = tuple[int, str, int | None, PointTree | None]
MergePoint = tuple[str, str, int | None, list[MergeFile], list[tuple[int, int]]]
"""A file, which part of it is meant (None: all of it), and how it is divided."""


@dataclass(frozen=True)
class Run:
    """What a run leaves behind besides its summary."""

    captures: Sequence[Capture]
    settings: _native.Settings
    findings: Findings
    clocks: Clocks
    reference: int
    point_of: Sequence[Sequence[int | None]]
    divisions: Sequence[PointTree | None]
    names: Sequence[str]
    rows: Sequence[str]
    crossings: tuple[Sequence[str], Sequence[str]]
    lost_packets: Sequence[str]
    folder: RunFolder
    engine: Engine
    links: Sequence[Pair]
    times: BlockTimes
    blocks: Mapping[Key, Blocks]
    options: MergeOptions

    @classmethod
    def of(cls, measured: MeasuredPath) -> "Run":
        """Keep of a merge what the large tables are made from, and not what it was made by."""
        course, matched = measured.course, measured.matched
        scan, job = course.scan, course.scan.job
        return cls(
            captures=job.captures,
            settings=course.settings,
            findings=course.findings,
            clocks=measured.clocks,
            reference=course.reference,
            point_of=scan.point_of,
            divisions=scan.divisions,
            names=scan.names,
            rows=matched.rows,
            crossings=(matched.crossed, matched.lost),
            lost_packets=matched.lost_packets,
            folder=job.folder,
            engine=job.engine,
            links=course.links,
            times=course.times,
            blocks=measured.blocks,
            options=job.options,
        )

    def origins(self) -> list[Origin]:
        """Per file its path, name and division, and per part its point and that point's clock.

        Where a clock cannot be related there is none, so there is no aligned time either. Frames
        that are of no point of their file are of its clock.
        """
        clocks = {
            point: centre
            for point in self.findings.along
            if (centre := offset_centre(self.clocks, point, self.reference))
        }
        origins = []
        files = zip(self.captures, self.names, self.divisions, self.point_of, strict=True)
        for capture, name, division, of_file in files:
            of_part = list(of_file) or [None]
            points = [name if point is None else self.findings.name(point) for point in of_part]
            known = [None if point is None else clocks.get(point) for point in of_part]
            of_file_clock = next(filter(None, known), None)
            known = [one or (of_file_clock if division else None) for one in known]
            origins.append((capture.path, capture.name, points, known, division))
        return origins

    @property
    def traffic(self) -> TrafficRun:
        """What makes rows of the traffic that is counted."""
        return TrafficRun(self.findings, self.links, self.times)

    def counting(self) -> TrafficPlan:
        """Say what of the traffic is to be counted."""
        return self.traffic.counting(self.rows, self.folder.name)

    def files_of(self, sources: Sequence[Pair]) -> list[MergeFile]:
        """Say which frames of which files are a point's."""
        files: list[MergeFile] = []
        for file, part in sources:
            division = self.divisions[file]
            is_whole = division is None and len(self.point_of[file]) == 1
            only = None if is_whole else part
            files.append((file, self.captures[file].path, only, division))
        return files

    def points_in(self, name: str) -> list[int]:
        """Give the points of the files that were given for one."""
        files = zip(self.names, self.point_of, strict=True)
        return [point for own, at in files if own == name for point in at if point is not None]

    def rest_of(self, name: str) -> list[MergeFile]:
        """Say which frames of divided files are of none of their points."""
        sources = [
            (file, part)
            for file, (own, at) in enumerate(zip(self.names, self.point_of, strict=True))
            for part, point in enumerate(at)
            if own == name and point is None
        ]
        return self.files_of(sources)


class Result:
    """The result of a merge.

    `document` is summary.json. The large tables are made when they are first asked for, from files
    in a temporary folder that goes with the result, or with `close`, or at the end of a `with`.
    A result can be pickled: the document goes along, the large tables are made again from the
    captures, which must be where they were.

    Example:
        >>> import pcaplat
        >>> with pcaplat.merge(sorted(Path("samples/vxlan").glob("*.pcap"))) as result:
        ...     result.matches.select("direction").collect()["direction"].n_unique()
        2
    """

    def __init__(self, document: dict[str, Any], run: Run) -> None:
        self.document = document
        self._options = replace(run.options, progress=None)
        self._made: Run | None = run
        self._counted: CountedTraffic | None = None

    def __getstate__(self) -> dict[str, object]:
        """Keep the document and the options; the captures are merged again where more is asked."""
        if self._made and any(self._made.folder.holds(one.path) for one in self._made.captures):
            raise InputError.read_only_once()
        return {"document": self.document, "_options": self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what another process, or an earlier one, kept."""
        vars(self).update(state, _made=None, _counted=None)

    @property
    def _run(self) -> Run:
        """What the run left behind; of a result that was unpickled, what one just like it does."""
        if self._made is None:
            from pcaplat.run.merge import measure  # noqa: PLC0415 - it makes results

            again = measure(self._options).completed()
            # what is known of the traffic may have been told since
            ours, theirs = (one.document | {"warnings": []} for one in (self, again))
            if json.dumps(ours) != json.dumps(theirs):
                raise InputError.merged_differently()
            vars(self).update(_made=vars(again)["_made"])
        return cast("Run", self._made)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        elif self._made:
            self._made.folder.cleanup()

    def close(self) -> None:
        """Delete the temporary files; the large tables are gone then."""
        if self._made:
            self._made.folder.cleanup()
        if self._options.resume is not None:
            forget(self._options.resume)

    def __repr__(self) -> str:
        """Give the path, and the answer in a few lines."""
        latencies = LatencyView.of(self.document)
        lines = [" → ".join(self.path), *answer_lines(self.document, latencies)]
        if n := len(self.warnings):
            lines.append(f"{n} warning{'' if n == 1 else 's'}: see .warnings")
        return "\n  ".join(["<pcaplat.Result", *lines]) + ">"

    def _repr_html_(self) -> str:
        """Give what a notebook shows: the answer, the path, warnings and the table."""
        return html_of(self.document)

    @property
    def path(self) -> list[str]:
        """The points in forward order; a topological order where it forks."""
        return [*self.document["path"]]

    @cached_property
    def segments(self) -> "pl.DataFrame":
        """One row per segment, direction and class (pcaplat.tables.SEGMENTS)."""
        return tables.SEGMENTS.frame(self.document["segments"])

    @property
    def summary(self) -> "pl.DataFrame":
        """The segments, by their older name."""
        return self.segments

    @property
    def warnings(self) -> list[PcaplatWarning]:
        """The warnings, the most serious first; notes are in the document alone."""
        rows = self.document["warnings"]
        return [
            PcaplatWarning(**row)
            for severity in ("error", "warning")
            for row in rows
            if row["severity"] == severity
        ]

    @property
    def made_by(self) -> dict[str, str]:
        """Origin of the result: version, command, and the given options as JSON."""
        from importlib.metadata import version  # noqa: PLC0415 - slow, seldom needed

        from pcaplat.run.provenance import command_of  # noqa: PLC0415 - seldom needed

        options = self._options
        given = json.dumps(given_options(options), ensure_ascii=True, default=str)
        return {
            "version": version("pcaplat"),
            "command": command_of(options),
            "options": given,
        }

    @cached_property
    def clocks(self) -> "pl.DataFrame":
        """One row per point (pcaplat.tables.CLOCKS)."""
        return tables.CLOCKS.frame(self.document["clocks"])

    @cached_property
    def round_trips(self) -> "pl.DataFrame":
        """One row per segment crossed both ways (pcaplat.tables.ROUND_TRIPS)."""
        return tables.ROUND_TRIPS.frame(self.document["round_trips"])

    @cached_property
    def translations(self) -> "pl.DataFrame":
        """One row per flow whose addresses change on the way (pcaplat.tables.TRANSLATIONS)."""
        return tables.TRANSLATIONS.frame(self.document["translations"])

    @cached_property
    def packets(self) -> "pl.LazyFrame":
        """One row per captured frame (pcaplat.tables.PACKETS)."""
        return self._scan("packets", self.packet_batches())

    @cached_property
    def matches(self) -> "pl.LazyFrame":
        """One row per pair of frames that carry the same packet (pcaplat.tables.MATCHES)."""
        return self._scan("matches", self.match_batches())

    @cached_property
    def lost(self) -> "pl.LazyFrame":
        """One row per lost packet and segment it may have been lost on (pcaplat.tables.LOST)."""
        return self._scan("lost", self.lost_batches())

    def _scan(self, name: str, batches: "Iterator[pa.RecordBatch]") -> "pl.LazyFrame":
        import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import, seldom needed

        path = Path(self._run.folder.name) / f"{name}.parquet"
        schema = getattr(tables, name.upper()).arrow_schema()
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch.cast(schema))
        return scan_holding(path, self._run.folder)

    def packet_batches(
        self, *, details: bool = False, columns: "Sequence[str] | None" = None
    ) -> "Iterator[pa.RecordBatch]":
        """Give the packets table batch by batch, in the order of files and frames.

        When all have been taken, the traffic is counted.

        Args:
            details: With the further columns of pcaplat.tables.DETAILS.
            columns: Only these.
        """
        counted: list[CountedTraffic] = []
        asked = replace(self._packet_rows(), details=details, columns=columns)
        yield from asked.batches(counted)
        self.take_counted(counted)

    def take_counted(self, counted: Sequence[CountedTraffic]) -> None:
        """Keep what was counted while packets were read."""
        for found in counted:
            self._counted = found
            if found.n_left_out:
                evidence = f"{found.n_left_out:,} connections were answered, point by point"
                self._warn(diagnose("transactions-not-reported", None, evidence))

    def _warn(self, diagnostic: Diagnostic) -> None:
        """Tell of what is known only now, once."""
        rows = self.document["warnings"]
        new = [row for row in warning_rows([diagnostic]) if row not in rows]
        self.document["warnings"] = [*rows, *new]

    def match_batches(self) -> "Iterator[pa.RecordBatch]":
        """Give the matches table batch by batch, by trajectory, each from its sender on."""
        yield from self.large_tables["matches"].batches([])

    def lost_batches(self) -> "Iterator[pa.RecordBatch]":
        """Give the lost packets batch by batch, in the order of files and frames."""
        yield from self.large_tables["lost"].batches([])

    @property
    def large_tables(self) -> "dict[str, LargeTable]":
        """The makers of rows of each large table, here or where tasks run."""
        self._need_rows()
        run = self._run
        matches = MatchTable(run.captures, run.findings, run.clocks)
        lost = LostTable(run.captures, run.findings)
        packets = self._packet_rows()
        # a worker may run in another folder
        origins = [(str(Path(one[0]).absolute()), *one[1:]) for one in packets.origins]
        return {
            "packets": replace(packets, origins=origins),
            "matches": MatchRows(matches, run.rows, run.folder.name),
            "lost": LostRows(lost, run.lost_packets),
        }

    def _packet_rows(self) -> PacketRows:
        self._need_rows()
        run = self._run
        counting = None if self._counted else run.counting()
        return PacketRows(run.origins(), run.settings, run.folder.name, counting)

    @property
    def engine(self) -> Engine:
        """The engine that read the captures, and may write tables."""
        return self._run.engine

    @property
    def folder(self) -> str:
        """The folder of the temporary files of the run."""
        return self._run.folder.name

    @cached_property
    def traffic(self) -> "pl.DataFrame":
        """Rates of each point and direction (pcaplat.tables.traffic.TRAFFIC)."""
        return TRAFFIC.frame(self.traffic_rows["traffic"])

    @cached_property
    def traffic_rows(self) -> Traffic:
        """Rows of all tables of pcaplat.tables.traffic, by name; counted when first asked for."""
        tables = self.traffic_tables.items()
        return {name: t if isinstance(t, list) else t.to_dicts() for name, t in tables}

    @property
    def traffic_to_count(self) -> TrafficRun | None:
        """Maker of the tables of traffic, as long as that is not counted; None afterwards."""
        return None if self._counted else self._run.traffic

    @cached_property
    def traffic_tables(self) -> TrafficTables:
        """The same, the large ones as frames."""
        self._need_rows()
        # some column gives the rows their number
        for _ in self.packet_batches(columns=["frame"]) if not self._counted else ():
            pass
        return self._run.traffic.tables(self._counted) if self._counted else {}

    def completed(self) -> Self:
        """Count the traffic, if that was asked for."""
        return self.with_traffic() if self._options.traffic else self

    def with_traffic(self) -> Self:
        """Count the traffic, and take it into the summary."""
        rows = self.traffic_rows
        self.document |= {name: rows[name] for name in ("traffic", "transactions", "overhead")}
        return self

    def by(self, what: str) -> "pl.DataFrame":
        """Break every figure down by flow, size, dscp, tunnel, first or window=1s."""
        asked = parse_by(what)
        return BY[asked.kind].frame(self.breakdowns([asked])[f"by_{asked.kind}"])

    def breakdowns(self, asked: Sequence[Breakdown]) -> Breakdowns:
        """Rows of the tables of pcaplat.tables.breakdowns, by name; counted anew every time."""
        from pcaplat.breakdowns.crossings import Crossings  # noqa: PLC0415 - needs polars
        from pcaplat.breakdowns.measuring import BreakdownRun  # noqa: PLC0415 - likewise

        self._need_rows()
        run = self._run
        if not run.crossings[0]:
            raise InputError.rows_not_kept("by=[...]")
        table = MatchTable(run.captures, run.findings, run.clocks)
        found = Crossings(table, run.links, *run.crossings, run.times)
        batches = partial(self.packet_batches, details=True)
        return BreakdownRun(found, self.document, run.options.intervals).measure(asked, batches)

    @cached_property
    def clock_bands(self) -> "list[Row]":
        """Each clock over time (pcaplat.tables.CLOCK_BANDS)."""
        return clock_band_rows(self._run.findings, self._run.clocks, self._run.reference)

    @cached_property
    def provenance(self) -> "Row":
        """How it was made: version, command, and the captures with their digests."""
        from pcaplat.run.provenance import provenance_of  # noqa: PLC0415 - reads all files again

        return provenance_of(self._options, self._run.captures)

    @cached_property
    def plot(self) -> "Plots":
        """Charts: `result.plot.path()`, `.ccdf("uplink", "mirror")` and others."""
        from pcaplat.plots import Plots  # noqa: PLC0415 - seldom needed
        from pcaplat.plots.figure import Measured  # noqa: PLC0415 - likewise

        return Plots(Measured(self.document, self.blocks, self.clock_bands))

    @property
    def blocks(self) -> Mapping[Key, Blocks]:
        """Latencies of each segment and direction, by blocks of time (pcaplat.model.blocks)."""
        return self._run.blocks

    def _need_rows(self) -> None:
        if not self._run.rows:
            raise InputError.rows_not_kept()

    @cached_property
    def slowest(self) -> "pl.DataFrame | None":
        """The slowest packets of each segment (pcaplat.tables.SLOWEST); None if not asked for."""
        if not self._options.slowest:
            return None
        from pcaplat.run.rows.slowest import find_slowest  # noqa: PLC0415 - needs polars

        return find_slowest(self.matches, self.packets, self.document, self._options.slowest)

    def write_merged(self, path: Path) -> None:
        """Write every frame of every capture, in aligned time order, into one pcapng file.

        With rows kept, a comment says of each frame its status, its trajectory and its latency.
        """
        run, points = self._run, self._points()
        places = {name: at for at, (name, *_) in enumerate(points)}
        captured = {row["point"] for row in self.document["captures"]}
        for name in captured - places.keys():
            points += [
                (name, describe_point(self.document, name), None, run.rest_of(name), self._knots(i))
                for i in run.points_in(name)[:1]
            ]
        found = (run.folder.name, self._frame_latencies(places)) if run.rows else None
        _native.write_merged(points, run.settings, path, found=found)

    def _frame_latencies(self, places: Mapping[str, int]) -> list[Path]:
        """Write the latency of each frame beside the outcomes of the run."""
        run = self._run
        n_frames = dict.fromkeys((capture.name for capture in run.captures), 0)
        for row in self.document["captures"]:
            n_frames[row["file"]] += row["n_frames"]
        table = MatchTable(run.captures, run.findings, run.clocks)
        order = [places[point.name] for point in run.findings.points]
        blocks = rows_as_spilled(run.rows)
        return write_latencies(table, blocks, [*n_frames.values()], order, run.folder.name)

    def write_lost(self, path: Path) -> None:
        """Write the lost packets, in aligned time order, into one pcapng file.

        Each is as the point captured it that saw it last, with a comment that names the segment.
        """
        self._need_rows()
        run = self._run
        names = [point.name for point in run.findings.points]
        [listed] = run.lost_packets
        path.parent.mkdir(parents=True, exist_ok=True)
        _native.write_merged(self._points(), run.settings, path, lost=(listed, names))

    def _points(self) -> list[MergePoint]:
        """Give the points in the order of the path, each with its files and its clock."""
        run, document = self._run, self.document
        points = [
            (
                point.name,
                describe_point(document, point.name),
                run.clocks.domain[i],
                run.files_of(point.sources),
                self._knots(i),
            )
            for i, point in enumerate(run.findings.points)
        ]
        order = {name: at for at, name in enumerate(self.document["path"])}
        return sorted(points, key=lambda one: order.get(one[0], len(order)))

    def write_unmatched(self, name: str, path: Path) -> None:
        """Write the frames of a point that were matched nowhere, as they were captured."""
        self._need_rows()
        run = self._run
        point = next(point for point in run.findings.points if point.name == name)
        one = (name, "", 0, run.files_of(point.sources), [(0, 0)])
        _native.write_merged([one], run.settings, path, unmatched_in=run.folder.name)

    def _knots(self, point: int) -> list[tuple[int, int]]:
        """A clock that cannot be bounded is set by its fastest packets, else by the usual ones."""
        clocks, reference = self._run.clocks, self._run.reference
        centre = offset_centre(clocks, point, reference)
        centre = centre or fastest_centre(clocks, point, reference)
        if centre is None:
            usual = self._run.findings.centres[0][point]
            middle = slice(len(usual.t_ns) // 2, len(usual.t_ns) // 2 + 1)
            centre = Centre(usual.t_ns[middle], usual.offset_ns[middle], 0.0)
        return list(zip(centre.t_ns.tolist(), centre.offset_ns.tolist(), strict=True))
