"""A merge to be done: what its options mean, and the two passes over all frames."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pcaplat import _native
from pcaplat.breakdowns import Breakdown, parse_all
from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.errors import EngineError
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import (
    Capture,
    by_their_names,
    in_any_order,
    parse_captures,
    point_index,
    point_names,
)
from pcaplat.model.files.files_to_points import PointOf
from pcaplat.model.files.hops import Hop, find_hops
from pcaplat.model.files.libpcap import packaged_libpcap
from pcaplat.model.files.sequences import sequences
from pcaplat.model.files.stamping import Stamping, stampings
from pcaplat.model.files.tenants import Tenants
from pcaplat.model.matched import Matched
from pcaplat.model.plan import Beforehand, Plan
from pcaplat.model.points import Point, PointTree
from pcaplat.model.sampled import FoundStamp, Sampled
from pcaplat.model.translated import TranslatedSession
from pcaplat.records import dataclass
from pcaplat.run.engines import Engine, Tell
from pcaplat.run.engines import engine as engine_named
from pcaplat.run.folder import RunFolder
from pcaplat.run.options import MergeOptions
from pcaplat.run.values import parse_window_ns

PairsOfInts = Sequence[tuple[str, int]]

if TYPE_CHECKING:
    from pcaplat.model.centre import Centre
    from pcaplat.points.placing import Placing

SAMPLE_PACKETS = 8_192
"""Packets a point that the survey selects: bands to 1 in 200 need a few thousand."""

_NO_MOMENT = "--link-rate {}: without --stamped-at for this point"
EXTENT_BYTES = 64 << 20
"""A capture may be divided at multiples of so many bytes. There, what the survey counts from packet
to packet begins anew, divided or not."""


@dataclass(frozen=True)
class PointsFound:
    """Where translations are learned: names, which part of which file is which, and its parts."""

    names: Sequence[str]
    point_of: PointOf
    divisions: Sequence[PointTree | None] | None


def _placed(captures: Sequence[Capture], name: str) -> "tuple[list[Capture], Placing]":
    """Name the points of captures as a profile does."""
    from pcaplat.points import load_profile  # noqa: PLC0415 - few merges have a profile
    from pcaplat.points.placing import place_captures  # noqa: PLC0415 - likewise

    placing = place_captures(load_profile(name), [(one.name, one.point) for one in captures])
    named = zip(captures, placing.names, strict=True)
    return [replace(one, point=point) for one, point in named], placing


def _engine(options: MergeOptions, captures: Sequence[Capture], folder: RunFolder) -> Engine:
    """Give where the two passes over all frames run."""
    if options.executor is None and options.resume is None:
        return engine_named(options.engine, options.slices)
    from pcaplat.run.engines.executor import sliced_engine  # noqa: PLC0415 - seldom used
    from pcaplat.run.engines.unfinished import Unfinished  # noqa: PLC0415 - likewise

    if options.resume is not None:
        for one in captures:
            if folder.holds(one.path):
                raise EngineError.read_only_once(one.name)
    engine = sliced_engine(options.engine, options.executor, options.slices)
    if options.resume is not None:
        try:
            engine.unfinished = Unfinished.at(options.resume)
        except BaseException:
            engine.close()
            raise
    return engine


@dataclass(frozen=True)
class Job:
    """One merge: what its options mean, and where its temporary files go.

    `path` and `same_clock` are those that were given, or a profile's; `places` names the points
    between which translations were `learned`. `tenants` tells whose packets tunnels have, where
    several have the same addresses. `hops` are the nodes whose times the captures are read by. Jobs
    that replace one another share their `engine`, which whoever made the first one closes.
    """

    options: MergeOptions
    captures: Sequence[Capture]
    folder: RunFolder
    engine: Engine
    path: Sequence[str] | None
    same_clock: Sequence[Sequence[str] | str]
    placing: "Placing | None" = None
    learned: _native.Learned | None = None
    tenants: Tenants | None = None
    places: Sequence[str] = ()
    hops: Sequence[Hop | None] = ()

    @classmethod
    def of(cls, options: MergeOptions, folder: RunFolder) -> "Job":
        """Read what options name: captures, and a profile, which places them by their names."""
        given = parse_captures(cast("Sequence[str]", options.captures), Path(folder.name))
        captures, placing = in_any_order(given), None
        if options.profile is not None:
            captures, placing = _placed(captures, options.profile)
        # the last, for it may open what has to be closed
        engine = _engine(options, captures, folder)
        return cls(options, captures, folder, engine, options.path, options.same_clock, placing)

    def ordered(self, points: Sequence[Point]) -> "Job":
        """Take the profile's path and clocks, as far as its points are there; a given path wins."""
        if self.placing is None:
            return self
        placing = self.placing.among([point.name for point in points])
        path = placing.path if self.path is None else self.path
        return replace(self, path=path, same_clock=[*self.same_clock, *placing.same_clock])

    @property
    def n_files(self) -> int:
        """How many of the captures are files; the others are nodes that wrote into these."""
        return sum(hop is None for hop in self.hops) if self.hops else len(self.captures)

    @cached_property
    def names(self) -> list[str]:
        """Paths of the files."""
        return [one.path for one in self.captures]

    @cached_property
    def stampings(self) -> list[Stamping]:
        """What the stamps of each file stand for, and the rate of its link."""
        placing, options = self.placing, self.options
        known = [*placing.stampings] if placing else []
        known += [Stamping()] * (len(self.captures) - len(known))
        moments = cast("Sequence[tuple[str, str]]", options.stamped_at)
        rates = cast("PairsOfInts", options.link_rate)
        return stampings(point_names(self.captures), moments, rates, known)

    @cached_property
    def lost_after_ns(self) -> int | None:
        """The waiting time after which a packet is lost, if one was asked for."""
        text = self.options.lost_after
        return None if text is None else parse_window_ns("--lost-after", text)

    @cached_property
    def breakdowns(self) -> list[Breakdown]:
        """What every figure is broken down by."""
        return parse_all(self.options.by)

    @property
    def keeps_rows(self) -> bool:
        """Whether every pair is kept: what else is asked for may be counted from them."""
        options = self.options
        is_counted = bool(options.slowest) or options.traffic or bool(options.by)
        return options.keep_rows or is_counted

    @property
    def keeps_crossings(self) -> bool:
        """Whether every crossing of a segment is kept, from which breakdowns are counted."""
        options = self.options
        return bool(options.by) or (options.keep_rows and options.keep_crossings)

    @cached_property
    def sampled(self) -> Sampled:
        """Read all files, and bring home the same few packets of each."""
        tell, settings = self._tell("surveying"), self._settings()
        n_files = Counter(point_names(self.captures))
        n_parts = [n_files[point] for point in point_names(self.captures)]
        with by_their_names(self.captures):
            folder = self.folder.name
            return self.engine.sample(self.names, settings, SAMPLE_PACKETS, n_parts, folder, tell)

    def at_hops(self, sampled: Sampled) -> "Job":
        """Add a capture for each node of the path that wrote its times into packets."""
        found = find_hops(sampled.facts)
        names = point_names(self.captures)
        captures = [
            replace(
                self.captures[file],
                name=f"{self.captures[file].name}#{hop.label}",
                point=f"{names[file]}/{hop.label}",
                clock=hop.clock,
            )
            for file, hop in found
        ]
        hops = [*(None for _ in self.captures), *(hop for _, hop in found)]
        return replace(self, captures=[*self.captures, *captures], hops=hops)

    def translated(
        self,
        sampled: Sampled,
        places: PointsFound,
        centres: "Sequence[Centre]",
        window_ns: int,
    ) -> "Job":
        """Read all files once more, and learn which flows are known by other addresses where."""
        divisions = places.divisions or [None] * len(self.names)
        beforehand = Beforehand(
            places.point_of,
            divisions,
            centres,
            window_ns,
            sequences(sampled.facts, places.point_of),
        )
        tell = self._tell("learning translations")
        learned = self.engine.learn(self.names, self.settings(sampled), beforehand, tell)
        if not len(learned) and learned.left_out is None:
            return self
        return replace(self, learned=learned, places=places.names)

    def match(self, sampled: Sampled, plan: Plan) -> Matched:
        """Read all files again, and match their frames."""
        return self.engine.match(
            self.names,
            self.settings(sampled),
            plan,
            self.folder.name,
            [one.places for one in sampled.facts],
            keep_rows=self.keeps_rows,
            keep_crossings=self.keeps_crossings,
            tell=self._tell("matching"),
        )

    def settings(self, sampled: Sampled) -> _native.Settings:
        """Say how captures are read from now on, by what their first reading found."""
        return self._settings(sampled.prefixes, sampled.stamps)

    def _settings(
        self,
        prefixes: Sequence[int] | None = None,
        stamps: Sequence[Sequence[FoundStamp | None]] | None = None,
    ) -> _native.Settings:
        """Say how captures are read: filters, tunnels, the bytes all frames have, and their stamps.

        Args:
            prefixes: Bytes that all frames have, by class of packet, as the survey found.
            stamps: By file and interface, the in-packet stamps that it found; None: to be found.
        """
        placing, options, tenants = self.placing, self.options, self.tenants
        ports = [*placing.udp_ports] if placing else []
        ports += [(port, "vxlan") for port in options.vxlan_ports]
        return _native.Settings(
            filter=options.bpf,
            filter_outer=options.bpf_outer,
            decode=[*(f"udp.port={port}:{kind}" for port, kind in ports), *options.decode],
            one_in=options.sample,
            prefixes=None if prefixes is None else list(prefixes),
            libpcap=packaged_libpcap() if options.bpf or options.bpf_outer else None,
            tenants=None if tenants is None else (tenants.of_file, tenants.have_equal_packets),
            translations=self.learned,
            stamp_names=placing.stamp_names if placing else [],
            stamps=stamps,
            last_bit_bps=[one.last_bit_bps for one in self.stampings],
            hops=[None if hop is None else hop.values for hop in self.hops],
            extent_bytes=EXTENT_BYTES,
        )

    def _tell(self, stage: str) -> Tell | None:
        progress = self.options.progress
        if progress is None:
            return None
        n_bytes = sum(Path(name).stat().st_size for name in self.names)
        return lambda done: progress.update(done, n_bytes, stage)

    def announce(self, stage: str) -> None:
        """Say that a stage begins that reads nothing."""
        if self.options.progress:
            self.options.progress.update(0, 0, stage)

    def accuracy_ns(self, points: Sequence[Point]) -> dict[int, int]:
        """How far a point's clock may be off, as declared."""
        return {
            point_index(points, "--clock-accuracy", name): off_ns
            for name, off_ns in cast("PairsOfInts", self.options.clock_accuracy)
        }

    @property
    def translations(self) -> list[TranslatedSession]:
        """What was learned of translated flows."""
        return self.learned.sessions() if self.learned else []

    @property
    def translations_left_out(self) -> tuple[int, int] | None:
        """Packets of translated flows beyond those that are kept, and when the first was seen."""
        return None if self.learned is None else self.learned.left_out

    @property
    def n_not_followed(self) -> int:
        """Packets of translated flows that cannot be told from others of them."""
        return 0 if self.learned is None else self.learned.n_not_followed

    @property
    def stamp_names(self) -> list[str | None]:
        """The in-packet stamp that a profile knows of, by file."""
        known = [*self.placing.stamp_names] if self.placing else []
        return known + [None] * (len(self.captures) - len(known))

    @property
    def warnings(self) -> list[Diagnostic]:
        """What a profile cannot place, and what is declared to no effect."""
        notes = self.placing.notes if self.placing else []
        rated = dict.fromkeys(point for point, _ in cast("PairsOfInts", self.options.link_rate))
        moment = dict(zip(point_names(self.captures), self.stampings, strict=True))
        return [
            *(Diagnostic("profile", None, note) for note in notes),
            *(
                diagnose("link-rate-unused", point, _NO_MOMENT.format(point))
                for point in rated
                if moment[point].stamped_at is None
            ),
        ]
