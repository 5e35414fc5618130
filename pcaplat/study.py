"""A study: captures in, the stages in order, a result out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from pcaplat import _native
from pcaplat.capture_facts import capture_rows, refuse_damage, warn_of_files, warn_of_overlap
from pcaplat.captures import (
    Capture,
    by_their_names,
    clock_domains,
    find_points,
    parse_captures,
    point_index,
)
from pcaplat.engines import Tell
from pcaplat.engines import engine as engine_named
from pcaplat.errors import EvidenceError, InputError
from pcaplat.path import Findings, Point, Warn
from pcaplat.points import Profile, load_profile
from pcaplat.points.placing import Placing, place_captures
from pcaplat.result import Result, Run
from pcaplat.spill import Spill
from pcaplat.stages.align import align
from pcaplat.stages.attribute import attribute
from pcaplat.stages.match import measured_links, plan_matching
from pcaplat.stages.summarize import summarize, warning_rows
from pcaplat.stages.survey import Sample, survey
from pcaplat.time_range import asked_range

__all__ = ["Result", "merge"]

SAMPLE_PACKETS = 8_192
"""Packets a point that the survey selects: bands to 1 in 200 need a few thousand."""


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
    slowest: int
    keep_rows: bool
    strict: bool
    engine: str
    placing: Placing | None = None

    def settings(self, prefixes: Sequence[int] | None = None) -> _native.Settings:
        """Say how captures are read: filters, ports, and the bytes that all frames have."""
        tunnels = self.placing.udp_ports if self.placing else []
        return _native.Settings(
            filter=self.bpf,
            filter_outer=self.bpf_outer,
            udp_ports=[*tunnels, *((port, "vxlan") for port in self.vxlan_ports)],
            one_in=self.sample,
            prefixes=None if prefixes is None else list(prefixes),
        )


def merge(
    captures: Sequence[str | PathLike[str]],
    *,
    path: Sequence[str] | None = None,
    same_clock: Sequence[Sequence[str] | str] = (),
    clock_accuracy: Sequence[tuple[str, int]] = (),
    reference: str | None = None,
    bpf: str | None = None,
    bpf_outer: str | None = None,
    start: str | None = None,
    end: str | None = None,
    sample: int = 1,
    window_ns: int | None = None,
    vxlan_ports: Sequence[int] = (),
    profile: str | None = None,
    slowest: int = 0,
    keep_rows: bool = True,
    strict: bool = False,
    engine: str = "local",
    progress: Progress | None = None,
) -> Result:
    """Match the packets of several captures of one path, and time every segment.

    Args:
        captures: PATH, POINT=PATH, or "-" for standard input.
        path: The points in forward order; found from the captures by default.
        same_clock: Groups of points that share a clock, or ["all"].
        clock_accuracy: (point, ns) that a clock may be off at most; tested against the packets.
        reference: The point whose clock times are given in; the path's first by default.
        bpf: Only packets whose innermost packet passes, in libpcap's filter language.
        bpf_outer: Only frames that pass as captured.
        start: Only from this time on the reference clock on ("+1.5s", a date, seconds since 1970).
        end: Only up to this time.
        sample: The same one in so many packets at every point.
        window_ns: How far a packet may be from its usual time between neighbouring points; found
            by default.
        vxlan_ports: UDP ports that carry VXLAN, besides 4789 and 8472.
        profile: A capture-point profile that names the points, or the path of a file.
        slowest: How many of the slowest packets of each segment to list.
        keep_rows: Keep what `matches`, `packets` and merged captures need.
        strict: Damage in a capture is an error.
        engine: Where the work runs.
        progress: Told how far the reading is.

    Returns:
        The result; its tables are those of pcaplat.tables.

    Raises:
        InputError: What was given cannot be used.
        EvidenceError: Nothing can be measured with these captures.
        OSError: A file cannot be opened.

    Assumes:
        Every packet keeps its innermost addresses, ports and bytes along the path; see
        docs/stages/match.md for what may change.

    Example:
        >>> result = merge(sorted(Path("samples/vxlan").glob("*.pcap")), same_clock=["all"])
        >>> result.document["path"]
        ['host1-vm', 'host1-up', 'sw-a', 'sw-b', 'host2-up', 'host2-vm']
    """
    if window_ns is not None and window_ns <= 0:
        raise InputError.no_window()
    options = Options(
        path=path,
        same_clock=same_clock,
        clock_accuracy=clock_accuracy,
        reference=reference,
        bpf=bpf,
        bpf_outer=bpf_outer,
        start=start,
        end=end,
        sample=sample,
        window_ns=window_ns,
        vxlan_ports=vxlan_ports,
        slowest=slowest,
        keep_rows=keep_rows or slowest > 0,
        strict=strict,
        engine=engine,
    )
    spill = Spill()
    try:
        parsed = parse_captures(captures, Path(spill.name))
        if profile is not None:
            parsed, options = _placed(load_profile(profile), parsed, options)
        return _merge(parsed, options, spill, progress)
    except BaseException:
        spill.cleanup()
        raise


def _placed(
    profile: Profile, captures: Sequence[Capture], options: Options
) -> tuple[list[Capture], Options]:
    """Give captures and options what a profile knows of the captures' names."""
    placing = place_captures(profile, [(one.name, one.point) for one in captures])
    named = zip(captures, placing.names, strict=True)
    return [replace(one, point=name) for one, name in named], replace(options, placing=placing)


def _ordered(options: Options, points: Sequence[Point]) -> Options:
    """Take the profile's path and clocks, as far as its points are there; a given path wins."""
    if options.placing is None:
        return options
    placing = options.placing.among([point.name for point in points])
    path = placing.path if options.path is None else options.path
    return replace(options, path=path, same_clock=[*options.same_clock, *placing.same_clock])


def _profile_warnings(placing: Placing | None) -> list[Warn]:
    return [Warn("profile", None, note) for note in placing.notes] if placing else []


def _merge(
    captures: Sequence[Capture], options: Options, spill: Spill, progress: Progress | None
) -> Result:
    engine = engine_named(options.engine)
    names = [one.path for one in captures]
    tell = _teller(names, progress)
    with by_their_names(captures):
        sampled = engine.sample(names, options.settings(), SAMPLE_PACKETS, tell("surveying"))
    facts = sampled["facts"]
    points, point_of = find_points(captures, facts)
    _check(captures, facts, points, strict=options.strict)
    options = _ordered(options, points)
    domains = clock_domains(points, options.same_clock)
    file_warnings = warn_of_files(captures, facts) + warn_of_overlap(captures, facts, points)
    try:
        sample = Sample.of(sampled["packets"], sampled["flows"])
        findings = survey(sample, points, options.path, domains)
    except EvidenceError as problem:
        raise problem.because([warning.text for warning in file_warnings]) from None
    reference = _reference(findings, options.reference)
    range_ns = asked_range(findings, options.start, options.end)
    plan = plan_matching(
        findings, domains, point_of, window_ns=options.window_ns, range_ns=range_ns
    )
    settings = options.settings(sampled["prefixes"])
    matched = engine.match(
        names, settings, plan, spill.name, keep_rows=options.keep_rows, tell=tell("matching")
    )
    clocks = align(findings, domains, matched["least"], _accuracy_ns(points, options))
    links, _ = measured_links(findings)
    segments = attribute(findings, clocks, links, matched["links"])
    if not any(segment.n for segment in segments):
        raise EvidenceError.nothing_matched([point.name for point in points])
    document = summarize(findings, clocks, segments, _n_by_status(matched), reference)
    document["captures"] = capture_rows(captures, facts, points, point_of)
    early = [*_profile_warnings(options.placing), *file_warnings]
    document["warnings"] = warning_rows(early) + document["warnings"]
    return Result(
        document,
        Run(
            captures=captures,
            settings=settings,
            findings=findings,
            clocks=clocks,
            reference=reference,
            point_of=point_of,
            rows=matched["rows"],
            spill=spill,
            n_slowest=options.slowest,
        ),
    )


def _teller(names: Sequence[str], progress: Progress | None) -> Callable[[str], Tell | None]:
    """Make what tells the progress how far a stage is."""
    n_bytes = sum(Path(name).stat().st_size for name in names)
    if progress is None:
        return lambda _: None
    return lambda stage: lambda done: progress.update(done, n_bytes, stage)


def _check(
    captures: Sequence[Capture],
    facts: Sequence[Mapping[str, Any]],
    points: Sequence[Point],
    *,
    strict: bool,
) -> None:
    """Refuse captures that nothing can be measured with."""
    if strict:
        refuse_damage(captures, facts)
    if len(points) > 1:
        return
    empty = [c.name for c, of in zip(captures, facts, strict=True) if not of["interfaces"]]
    known = [point.name for point in points]
    if empty and len(captures) > 1:
        raise EvidenceError.no_frames(empty, known)
    raise InputError.too_few_points(known or empty)


def _reference(findings: Findings, name: str | None) -> int:
    if name is None:
        return findings.along[0]
    point = point_index(findings.points, "--reference", name)
    main = findings.components[0]
    if point not in main:
        path = [findings.name(one) for one in main]
        raise InputError.apart_from_path("--reference", name, path)
    return point


def _accuracy_ns(points: Sequence[Point], options: Options) -> dict[int, int]:
    return {
        point_index(points, "--clock-accuracy", name): off_ns
        for name, off_ns in options.clock_accuracy
    }


def _n_by_status(matched: Mapping[str, Any]) -> dict[str, int]:
    """Frames of all points, by status."""
    columns = zip(*matched["counts"], strict=True)
    return dict(zip(matched["statuses"], map(sum, columns), strict=True))
