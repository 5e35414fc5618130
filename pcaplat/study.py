"""A study: captures in, the stages in order, a result out."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pcaplat import _native
from pcaplat.captures import (
    Capture,
    capture_rows,
    find_points,
    parse_captures,
    warn_of_files,
)
from pcaplat.engines import Engine, engine
from pcaplat.errors import EvidenceError, InputError
from pcaplat.path import Findings, Point, Warn
from pcaplat.result import Result, Run, Spill
from pcaplat.stages.align import align
from pcaplat.stages.attribute import attribute
from pcaplat.stages.match import measured_links, plan_matching
from pcaplat.stages.summarize import (
    clock_rows,
    matching_row,
    round_trip_rows,
    segment_rows,
)
from pcaplat.stages.survey import Sights, survey
from pcaplat.units import parse_instant

__all__ = ["Result", "merge"]

SAMPLE_PACKETS = 16_384
"""Packets a point that the survey selects: bands to 1 in 200 need a few thousand."""

SCHEMA = "pcaplat.summary/1"


class Progress(Protocol):
    """Told how far the reading is."""

    def update(self, done_bytes: int, total_bytes: int, stage: str) -> None:
        """Say how many of how many bytes a stage has read."""


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
        window_ns: How far a packet may be from its usual time; found by default.
        vxlan_ports: UDP ports that carry VXLAN, besides 4789 and 8472.
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
    directory = Spill()
    given = parse_captures(captures, Path(directory.name))
    here = _engine(engine)
    names = [one.path for one in given]
    n_bytes = sum(Path(name).stat().st_size for name in names)
    ports = [(port, "vxlan") for port in vxlan_ports]
    filters: dict[str, Any] = {
        "filter": bpf,
        "filter_outer": bpf_outer,
        "udp_ports": ports,
        "one_in": sample,
    }

    def tell(stage: str) -> Callable[[int], None] | None:
        if progress is None:
            return None
        update = progress.update
        return lambda done: update(done, n_bytes, stage)

    seen = here.sample(names, _native.Settings(**filters), SAMPLE_PACKETS, tell("surveying"))
    points, point_of = find_points(given, seen["facts"])
    warnings = _warn_early(given, seen["facts"], strict=strict)
    if len(points) < 2:  # noqa: PLR2004 - a path has two ends
        raise InputError.too_few_points([point.name for point in points] or [c.name for c in given])
    packets, source = _sights(seen["packets"])
    findings = survey(packets, source, _columns(seen["flows"]), points, path)
    domains = _domains(points, same_clock)
    range_ns = (_instant(findings, start), _instant(findings, end))
    plan = plan_matching(findings, domains, point_of, window_ns=window_ns, range_ns=range_ns)
    settings = _native.Settings(**filters, prefixes=seen["prefixes"])
    keep_rows = keep_rows or slowest > 0
    matched = here.match(
        names, settings, plan, directory.name, keep_rows=keep_rows, tell=tell("matching")
    )
    accuracy = {_point_index(points, "--clock-accuracy", name): ns for name, ns in clock_accuracy}
    clocks = align(findings, domains, matched["least"], accuracy)
    links, _ = measured_links(findings)
    segments = attribute(findings, clocks, links, matched["links"])
    if not any(segment.n for segment in segments):
        raise EvidenceError.nothing_matched([point.name for point in points])
    at = _point_index(points, "--reference", reference) if reference else findings.along[0]
    run = Run(given, settings, findings, clocks, at, point_of, matched["rows"], directory, slowest)
    warnings += findings.warnings + clocks.warnings
    document = {
        "schema": SCHEMA,
        "captures": capture_rows(given, seen["facts"], points, point_of),
        "path": [findings.name(point) for point in findings.along],
        "path_inferred": findings.is_inferred,
        "edges": [
            {"near": findings.name(near), "far": findings.name(far)} for near, far in findings.edges
        ],
        "clocks": clock_rows(findings, clocks, at),
        "segments": segment_rows(findings, segments),
        "round_trips": round_trip_rows(findings, segments),
        "matching": matching_row(matched["counts"], matched["statuses"]),
        "warnings": [{"code": w.code, "point": w.point, "text": w.text} for w in warnings],
    }
    return Result(document, run)


def _engine(name: str) -> Engine:
    return engine(name)


def _warn_early(
    captures: Sequence[Capture], facts: Sequence[Mapping[str, Any]], *, strict: bool
) -> list[Warn]:
    if strict:
        for capture, of_file in zip(captures, facts, strict=True):
            for at_byte, text in of_file["damage"]:
                raise InputError.damaged(f"{capture.name}: byte {at_byte}", text)
    return warn_of_files(captures, facts)


def _columns(table: Mapping[str, bytes]) -> dict[str, Any]:
    return {name: np.frombuffer(column, dtype="<i8") for name, column in table.items()}


def _sights(table: Mapping[str, bytes]) -> tuple[Sights, Any]:
    columns = _columns(table)
    source = np.stack((columns.pop("file"), columns.pop("interface")), axis=1)
    columns["is_toward"] = columns["is_toward"] != 0
    columns["is_directed"] = columns["is_directed"] != 0
    return Sights(**columns), source


def _domains(points: Sequence[Point], same_clock: Sequence[Sequence[str] | str]) -> list[int]:
    """Clock domain of each point: those of one file share a clock, and those that are said to."""
    domain = list(range(len(points)))

    def join(members: list[int]) -> None:
        least = min(domain[i] for i in members)
        joined = {domain[i] for i in members}
        for i, one in enumerate(domain):
            domain[i] = least if one in joined else one

    files: dict[int, list[int]] = {}
    for i, point in enumerate(points):
        for file, _ in point.sources:
            files.setdefault(file, []).append(i)
    for members in files.values():
        join(members)
    for group in same_clock:
        names = [group] if isinstance(group, str) else list(group)
        everyone = names == ["all"]
        join(
            [
                i if everyone else _point_index(points, "--same-clock", name)
                for i, name in (enumerate(p.name for p in points) if everyone else enumerate(names))
            ]
        )
    dense = {one: i for i, one in enumerate(sorted(set(domain)))}
    return [dense[one] for one in domain]


def _point_index(points: Sequence[Point], option: str, name: str) -> int:
    names = [point.name for point in points]
    if name not in names:
        raise InputError.unknown_point(option, name, names)
    return names.index(name)


def _instant(findings: Findings, text: str | None) -> int | None:
    """Read an instant on the reference clock; a relative one counts from the common start."""
    if text is None:
        return None
    first_ns = min(
        findings.aligned(point, findings.points[point].first_t_ns)
        for point in findings.components[0]
    )
    return parse_instant(text).since(first_ns)
