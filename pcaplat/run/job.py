"""A merge to be done: what was asked for, and the two passes over all frames."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from pcaplat import _native
from pcaplat.model.captures import Capture, by_their_names, point_names
from pcaplat.model.centre import Centre
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files_to_points import PointOf
from pcaplat.model.plan import Beforehand, Plan
from pcaplat.model.points import Point, PointTree
from pcaplat.model.stamping import Stamping, stampings
from pcaplat.points import Profile
from pcaplat.points.placing import Placing, place_captures
from pcaplat.run.checked import check_options
from pcaplat.run.engines import Engine, Tell
from pcaplat.run.engines import engine as engine_named
from pcaplat.run.folder import Spill

SAMPLE_PACKETS = 8_192
"""Packets a point that the survey selects: bands to 1 in 200 need a few thousand."""


@dataclass(frozen=True)
class Places:
    """Where translations are learned: names, which part of which file is which, and its parts."""

    names: Sequence[str]
    place_of: PointOf
    divisions: Sequence[PointTree | None] | None


class Progress(Protocol):
    """Told how far the reading is."""

    def update(self, done_bytes: int, total_bytes: int, stage: str) -> None:
        """Say how many of how many bytes a stage has read."""


@dataclass(frozen=True)
class Options:
    """What a user may ask for; `merge` says what each means."""

    path: Sequence[str] | None
    same_clock: Sequence[Sequence[str] | str]
    clock_accuracy: Sequence[tuple[str, int]]
    reference: str | None
    bpf: str | None
    bpf_outer: str | None
    start: str | None
    end: str | None
    sample: int
    window_ns: int | None
    vxlan_ports: Sequence[int]
    decode: Sequence[str]
    slowest: int
    keep_rows: bool
    keep_crossings: bool
    strict: bool
    engine: str
    stamped_at: Sequence[tuple[str, str]] = ()
    link_rate: Sequence[tuple[str, int]] = ()
    intervals: bool = True
    placing: Placing | None = None
    translations: _native.Learned | None = None
    places: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_options(vars(self))

    def settings(
        self,
        last_bit_bps: Sequence[int | None],
        prefixes: Sequence[int] | None = None,
        stamps: Sequence[Sequence[object]] | None = None,
    ) -> _native.Settings:
        """Say how captures are read: filters, tunnels, the bytes all frames have, and their stamps.

        Args:
            last_bit_bps: By file, bit/s of the link if frames are stamped at their last one.
            prefixes: Bytes that all frames have, by class of packet, as the survey found.
            stamps: By file and interface, the in-packet stamps that it found; None: to be found.
        """
        ports = [*self.placing.udp_ports] if self.placing else []
        ports += [(port, "vxlan") for port in self.vxlan_ports]
        return _native.Settings(
            filter=self.bpf,
            filter_outer=self.bpf_outer,
            decode=[*(f"udp.port={port}:{kind}" for port, kind in ports), *self.decode],
            one_in=self.sample,
            prefixes=None if prefixes is None else list(prefixes),
            translations=self.translations,
            stamp_names=self.placing.stamp_names if self.placing else [],
            stamps=stamps,
            last_bit_bps=last_bit_bps,
        )


@dataclass(frozen=True)
class Job:
    """One merge: what was given, and where its temporary files go."""

    captures: Sequence[Capture]
    options: Options
    spill: Spill
    progress: Progress | None

    @cached_property
    def engine(self) -> Engine:
        """Where the two passes over all frames run."""
        return engine_named(self.options.engine)

    @cached_property
    def names(self) -> list[str]:
        """Paths of the files."""
        return [one.path for one in self.captures]

    @cached_property
    def stampings(self) -> list[Stamping]:
        """What the stamps of each file stand for, and the rate of its link."""
        placing, options = self.options.placing, self.options
        known = placing.stampings if placing else [Stamping()] * len(self.captures)
        return stampings(point_names(self.captures), options.stamped_at, options.link_rate, known)

    @property
    def _last_bit_bps(self) -> list[int | None]:
        return [one.last_bit_bps for one in self.stampings]

    def sample(self) -> dict[str, Any]:
        """Read all files, and bring home the same few packets of each."""
        tell, settings = self._tell("surveying"), self.options.settings(self._last_bit_bps)
        with by_their_names(self.captures):
            return self.engine.sample(self.names, settings, SAMPLE_PACKETS, tell)

    def translated(
        self, sampled: dict[str, Any], places: Places, centres: Sequence[Centre], window_ns: int
    ) -> "Job":
        """Read all files once more, and learn which flows are known by other addresses where."""
        divisions = places.divisions or [None] * len(self.names)
        beforehand = Beforehand(places.place_of, divisions, centres, window_ns)
        tell = self._tell("learning translations")
        learned = self.engine.learn(self.names, self.settings(sampled), beforehand, tell)
        if not len(learned) and learned.left_out is None:
            return self
        options = replace(self.options, translations=learned, places=places.names)
        return replace(self, options=options)

    def settings(self, sampled: dict[str, Any]) -> _native.Settings:
        """Say how captures are read from now on, by what their first reading found."""
        found = (sampled["prefixes"], sampled["stamps"])
        return self.options.settings(self._last_bit_bps, *found)

    def match(self, settings: _native.Settings, plan: Plan) -> dict[str, Any]:
        """Read all files again, and match their frames."""
        return self.engine.match(
            self.names,
            settings,
            plan,
            self.spill.name,
            keep_rows=self.options.keep_rows,
            keep_crossings=self.options.keep_crossings,
            tell=self._tell("matching"),
        )

    def _tell(self, stage: str) -> Tell | None:
        progress = self.progress
        if progress is None:
            return None
        n_bytes = sum(Path(name).stat().st_size for name in self.names)
        return lambda done: progress.update(done, n_bytes, stage)

    def placed(self, profile: Profile) -> "Job":
        """Give captures and options what a profile knows of the captures' names."""
        placing = place_captures(profile, [(one.name, one.point) for one in self.captures])
        named = zip(self.captures, placing.names, strict=True)
        captures = [replace(one, point=name) for one, name in named]
        return replace(self, captures=captures, options=replace(self.options, placing=placing))

    def ordered(self, points: Sequence[Point]) -> "Job":
        """Take the profile's path and clocks, as far as its points are there; a given path wins."""
        options = self.options
        if options.placing is None:
            return self
        placing = options.placing.among([point.name for point in points])
        path = placing.path if options.path is None else options.path
        same_clock = [*options.same_clock, *placing.same_clock]
        return replace(self, options=replace(options, path=path, same_clock=same_clock))

    @property
    def translations(self) -> list[dict[str, Any]]:
        """What was learned of translated flows, for `translation_rows`."""
        learned, names = self.options.translations, self.options.places
        sessions = learned.sessions() if learned else []
        for side in (side for session in sessions for side in session["sides"]):
            side["point"] = names[side["place"]]
        return sessions

    @property
    def translations_left_out(self) -> tuple[int, int] | None:
        """Packets of translated flows beyond those that are kept, and when the first was seen."""
        learned = self.options.translations
        return None if learned is None else learned.left_out

    @property
    def stamp_names(self) -> list[str | None]:
        """The in-packet stamp that a profile knows of, by file."""
        placing = self.options.placing
        return placing.stamp_names if placing else [None] * len(self.captures)

    @property
    def warnings(self) -> list[Diagnostic]:
        """What a profile cannot place."""
        placing = self.options.placing
        return [Diagnostic("profile", None, note) for note in placing.notes] if placing else []
