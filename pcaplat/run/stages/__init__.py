"""The stages of a merge, one after the other: a job in, a result out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pcaplat.diagnostics.dialogues import without_branches
from pcaplat.diagnostics.directions import check_directions
from pcaplat.diagnostics.files import check_change, check_common_time, refuse_damage
from pcaplat.diagnostics.identities import short_classes
from pcaplat.diagnostics.triangles import check_triangles
from pcaplat.errors import EvidenceError, InputError
from pcaplat.model.clocks import Clocks
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import FileState, point_index
from pcaplat.model.files.sequences import sequences
from pcaplat.model.files.time_range import asked_range
from pcaplat.model.latencies.exchanges import Trips
from pcaplat.model.latencies.segments import Segment
from pcaplat.model.matched import Matched
from pcaplat.model.path import Findings
from pcaplat.run.document import document_of
from pcaplat.run.job import Job
from pcaplat.run.measurement import Course, MeasuredPath, n_by_status
from pcaplat.run.result import Result, Run
from pcaplat.run.scan import Scan
from pcaplat.run.stages.step_free import without_steps
from pcaplat.stages.attribute import attribute, attribute_trips, with_early
from pcaplat.stages.match import plan_matching
from pcaplat.stages.summarize import blocks_of


def run_stages(job: Job, before: Sequence[FileState | None]) -> Result:
    """Measure what a job asks for.

    Args:
        job: Its captures are read once already, or they are now.
        before: States of its files before that.
    """
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
        range_ns=course.range_ns,
    )
    plan = replace(
        plan,
        is_short=short_classes(scan.sampled.prefixes),
        sequences=sequences(scan.sampled.facts, scan.point_of),
        lost_after_ns=scan.job.lost_after_ns,
    )
    return scan.job.match(scan.sampled, plan)


def _diagnostics_of(
    course: Course, matched: Matched, before: Sequence[FileState | None]
) -> list[Diagnostic]:
    """Say what is doubtful about the captures, now that they are read twice."""
    scan, job = course.scan, course.scan.job
    names = [point.name for point in scan.points]
    return [
        *without_branches(scan.warnings, names, course.findings.edges),
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
