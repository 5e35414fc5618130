"""A merge: captures in, the stages in order, a result out."""

import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import cast

from pcaplat.diagnostics.directions import check_directions
from pcaplat.diagnostics.files import (
    check_change,
    check_common_time,
    refuse_damage,
    states_of,
)
from pcaplat.diagnostics.identities import short_classes
from pcaplat.diagnostics.triangles import check_triangles
from pcaplat.errors import EvidenceError, InputError
from pcaplat.model.clocks import Clocks
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import point_index
from pcaplat.model.files.sequences import sequences
from pcaplat.model.files.time_range import asked_range
from pcaplat.model.latencies.exchanges import Trips
from pcaplat.model.latencies.segments import Segment
from pcaplat.model.matched import Matched
from pcaplat.model.path import Findings
from pcaplat.run.document import document_of
from pcaplat.run.folder import RunFolder
from pcaplat.run.job import Job
from pcaplat.run.measurement import Course, MeasuredPath, n_by_status
from pcaplat.run.options import MergeOptions, taking
from pcaplat.run.result import Result, Run
from pcaplat.run.scan import Scan
from pcaplat.run.step_free import without_steps
from pcaplat.stages.attribute import attribute, attribute_trips, with_early
from pcaplat.stages.match import plan_matching
from pcaplat.stages.summarize import blocks_of

__all__ = ["Result", "merge"]


@taking(MergeOptions)
def merge(options: MergeOptions) -> Result:
    """Match the packets of several captures of one path, and time every segment.

    Args:
        captures: PATH, POINT=PATH, or "-" for standard input.
        options: One by one in pcaplat.run.options.

    Returns:
        The result; its tables are those of pcaplat.tables.

    Raises:
        InputError: An argument cannot be used.
        EvidenceError: Nothing can be measured with these captures.
        OSError: A file cannot be opened.

    Assumes:
        Every packet keeps its innermost bytes along the path, and its addresses and ports but for
        translations that can be learned; see docs/method/match.md for what may change.

    Example:
        >>> from pathlib import Path
        >>> result = merge(sorted(Path("samples/vxlan").glob("*.pcap")), same_clock=["all"])
        >>> result.document["path"]
        ['host1-vm', 'host1-up', 'sw-a', 'sw-b', 'host2-up', 'host2-vm']
    """
    result = measure(options).completed()
    for warning in result.warnings:
        # of whoever called `merge` with its options as arguments
        warnings.warn(warning, stacklevel=3)
    return result


@taking(MergeOptions)
def merge_to_write(options: MergeOptions) -> Result:
    """Match as `merge` does, for a result that is written into a folder at once.

    The frames are read for its tables in any case, and the traffic is counted then.
    """
    return measure(options)


def measure(options: MergeOptions) -> Result:
    """Merge, leave the warnings in the document, and the traffic to `Result.completed`."""
    folder = RunFolder()
    try:
        job = Job.of(options, folder)
        with closing(job.engine):
            result = _merge(job)
        if job.breakdowns:
            result.document["breakdowns"] = result.breakdowns(job.breakdowns)
    except BaseException:
        folder.cleanup()
        raise
    return result


def _merge(job: Job) -> Result:
    before = states_of(job.captures)
    scan = _checked(Scan.of(job))
    course = _course_of(scan)
    matched = _match(course)
    diagnostics = _diagnostics_of(course, matched, before)
    clocks = _align(course, matched)
    segments = _attribute(course, matched, clocks)
    trips = _attribute_trips(course, matched, clocks)
    blocks = blocks_of(course.findings, segments)
    job.announce("intervals")
    measurement = MeasuredPath(course, matched, clocks, segments, trips, blocks, diagnostics)
    return Result(document_of(measurement), Run.of(measurement))


def _checked(scan: Scan) -> Scan:
    """Refuse captures that nothing can be measured with."""
    captures, facts = scan.job.captures, scan.facts
    if scan.job.options.strict:
        refuse_damage(captures, facts)
    if len(scan.points) > 1:
        return scan
    empty = [c.name for c, of in zip(captures, facts, strict=True) if not of.interfaces]
    known = [point.name for point in scan.points]
    if empty and len(captures) > 1:
        raise EvidenceError.no_frames(empty, known)
    raise InputError.too_few_points(known or empty)


def _course_of(scan: Scan) -> Course:
    """Find the path and the time on it that is asked for."""
    options = scan.job.options
    try:
        scan, findings = scan.surveyed()
    except EvidenceError as problem:
        apart = [warning.evidence for warning in check_common_time(scan.points)]
        raise problem.because([*apart, *(warning.text for warning in scan.warnings)]) from None
    reference = _reference(findings, options.reference)
    start, end = cast("tuple[str | None, str | None]", (options.start, options.end))
    range_ns = asked_range(findings, reference, start, end)
    return Course(scan, findings, reference, range_ns)


def _reference(findings: Findings, name: str | None) -> int:
    if name is None:
        return findings.along[0]
    point = point_index(findings.points, "--reference", name)
    main = findings.components[0]
    if point not in main:
        path = [findings.name(one) for one in main]
        raise InputError.apart_from_path("--reference", name, path)
    return point


def _match(course: Course) -> Matched:
    """Read all captures again, and match every frame."""
    scan = course.scan
    plan = plan_matching(
        course.findings,
        scan.domains,
        scan.point_of,
        scan.divisions,
        lost_after_ns=scan.job.lost_after_ns,
        range_ns=course.range_ns,
    )
    plan = replace(
        plan,
        is_short=short_classes(scan.sampled.prefixes),
        sequences=sequences(scan.sampled.facts, scan.point_of),
    )
    return scan.job.match(scan.sampled, plan)


def _diagnostics_of(
    course: Course, matched: Matched, before: Sequence[tuple[int, int] | None]
) -> list[Diagnostic]:
    """Say what is doubtful about the captures, now that they are read twice."""
    scan, job = course.scan, course.scan.job
    return [
        *scan.warnings,
        *check_change(job.captures[: len(before)], before, is_strict=job.options.strict),
        *check_triangles(course.findings, matched.decoys, job.names),
        *check_directions(matched.n_without_direction, sum(n_by_status(matched).values())),
    ]


def _align(course: Course, matched: Matched) -> Clocks:
    """Bound all clocks, and take their steps out of the pairs."""
    clocks = course.scan.align(course.findings, matched.min_delays, course.scan.job.names)
    return without_steps(clocks, course.findings, course.links, matched)


def _attribute(course: Course, matched: Matched, clocks: Clocks) -> list[Segment]:
    """Take the clocks' share out of the latencies."""
    scan, links = course.scan, course.links
    found = attribute(course.findings, clocks, links, matched.links, course.times)
    if scan.job.lost_after_ns is None:
        found = [one.waited_for() for one in found]
    segments = [
        one.split() if {one.near, one.far} & scan.split_points else one
        for one in with_early(found, matched.early, scan.job.names)
    ]
    if not any(segment.n for segment in segments):
        names = [one.name for one in scan.points]
        raise EvidenceError.nothing_matched(names, n_by_status(matched))
    return segments


def _attribute_trips(course: Course, matched: Matched, clocks: Clocks) -> Trips:
    """Take the clocks' drift out of the round trips of requests."""
    links, times = course.links, course.times
    trips = attribute_trips(course.findings, clocks, links, matched.trips, times)
    return trips.without(course.scan.split_points)
