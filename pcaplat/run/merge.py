"""A study: captures in, the stages in order, a result out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from pcaplat.breakdowns import parse_all
from pcaplat.diagnostics.files import (
    capture_rows,
    check_change,
    check_common_time,
    refuse_damage,
    states_of,
    unseen_clock_rows,
)
from pcaplat.diagnostics.identities import short_classes
from pcaplat.diagnostics.triangles import check_triangles
from pcaplat.errors import EvidenceError, InputError
from pcaplat.model.blocks import Blocks, BlockTimes, Key
from pcaplat.model.captures import parse_captures, point_index
from pcaplat.model.exchanges import Trips
from pcaplat.model.false_matches import false_matches
from pcaplat.model.files_to_points import FoundPoints
from pcaplat.model.path import Findings
from pcaplat.model.points import Point
from pcaplat.model.time_range import asked_range
from pcaplat.points import load_profile
from pcaplat.run.checked import check_texts
from pcaplat.run.folder import Spill
from pcaplat.run.job import Job, Options, Progress
from pcaplat.run.result import Result, Run
from pcaplat.run.scan import Looked, look
from pcaplat.run.step_free import without_steps
from pcaplat.stages.align import align
from pcaplat.stages.attribute import attribute, attribute_trips, with_early
from pcaplat.stages.match import measured_links, plan_matching
from pcaplat.stages.summarize import (
    add_intervals,
    add_round_trips,
    blocks_of,
    error_budget,
    point_rows,
    sum_check,
    summarize,
    transaction_check,
    translation_rows,
    warning_rows,
)
from pcaplat.stages.survey import survey

__all__ = ["Result", "merge"]


def merge(
    captures: Sequence[str | PathLike[str]],
    *,
    path: Sequence[str] | None = None,
    same_clock: Sequence[Sequence[str] | str] = (),
    clock_accuracy: Sequence[tuple[str, int]] = (),
    stamped_at: Sequence[tuple[str, str]] = (),
    link_rate: Sequence[tuple[str, int]] = (),
    reference: str | None = None,
    bpf: str | None = None,
    bpf_outer: str | None = None,
    start: str | None = None,
    end: str | None = None,
    sample: int = 1,
    window_ns: int | None = None,
    vxlan_ports: Sequence[int] = (),
    decode: Sequence[str] = (),
    profile: str | None = None,
    slowest: int = 0,
    keep_rows: bool = True,
    keep_crossings: bool = True,
    traffic: bool = False,
    by: Sequence[str] = (),
    intervals: bool = True,
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
        stamped_at: (point, "first-bit", "last-bit" or "host") that its stamps stand for.
        link_rate: (point, bit/s); stamps of the last bit are taken back to the first by it.
        reference: The point whose clock times are given in; the path's first by default.
        bpf: Only packets whose innermost packet passes, in libpcap's filter language.
        bpf_outer: Only frames that pass as captured.
        start: Only from this time on the reference clock on ("+1.5s", a date, seconds since 1970).
        end: Only up to this time.
        sample: The same one in so many packets at every point.
        window_ns: How far a packet may be from its usual time between neighbouring points; found
            by default.
        vxlan_ports: UDP ports that carry VXLAN, besides 4789 and 8472.
        decode: What is decoded as what, as in `udp.port=8472:vxlan`; goes before what is built in.
        profile: A capture-point profile that names the points, or the path of a file.
        slowest: How many of the slowest packets of each segment to list.
        traffic: Count rates, transactions and overhead too (`traffic_rows`), into the summary.
        by: Break figures down by flow, size, dscp, tunnel, first, window=1s, into the summary.
        intervals: Resample blocks of time for the 95 % intervals of every figure.
        keep_rows: Keep what `matches`, `packets` and merged captures need.
        keep_crossings: Likewise what `Result.by` needs, though `by` is not given now.
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
        Every packet keeps its innermost bytes along the path, and its addresses and ports but for
        translations that can be learned; see docs/stages/match.md for what may change.

    Example:
        >>> result = merge(sorted(Path("samples/vxlan").glob("*.pcap")), same_clock=["all"])
        >>> result.document["path"]
        ['host1-vm', 'host1-up', 'sw-a', 'sw-b', 'host2-up', 'host2-vm']
    """
    check_texts("--by", by)
    asked = parse_all(by)
    options = Options(
        path=path,
        same_clock=same_clock,
        clock_accuracy=clock_accuracy,
        stamped_at=stamped_at,
        link_rate=link_rate,
        reference=reference,
        bpf=bpf,
        bpf_outer=bpf_outer,
        start=start,
        end=end,
        sample=sample,
        window_ns=window_ns,
        vxlan_ports=vxlan_ports,
        decode=decode,
        slowest=slowest,
        keep_rows=keep_rows or bool(slowest) or traffic or bool(asked),
        keep_crossings=bool(asked) or (keep_rows and keep_crossings),
        intervals=intervals,
        strict=strict,
        engine=engine,
    )
    spill = Spill()
    try:
        job = Job(parse_captures(captures, Path(spill.name)), options, spill, progress)
        result = _merge(job if profile is None else job.placed(load_profile(profile)))
        if asked:
            result.document["breakdowns"] = result.breakdowns(asked)
        return result.with_traffic() if traffic else result
    except BaseException:
        spill.cleanup()
        raise


def _merge(job: Job) -> Result:
    before, looked = states_of(job.captures), _checked(look(job))
    job, points, point_of = looked.job, looked.points, looked.point_of
    facts, divisions, names = looked.facts, looked.divisions, looked.names
    settings, domains, warnings = job.settings(looked.sampled), looked.domains, looked.warnings
    try:
        findings = survey(looked.sample, points, job.options.path, domains, looked.split_points)
    except EvidenceError as problem:
        apart = [warning.evidence for warning in check_common_time(points)]
        raise problem.because([*apart, *(warning.text for warning in warnings)]) from None
    reference = _reference(findings, job.options.reference)
    range_ns = asked_range(findings, reference, job.options.start, job.options.end)
    matched = job.match(
        settings,
        replace(
            plan_matching(
                findings,
                domains,
                point_of,
                divisions,
                window_ns=job.options.window_ns,
                range_ns=range_ns,
            ),
            is_short=short_classes(looked.sampled["prefixes"]),
        ),
    )
    changed = check_change(job.captures, before, is_strict=job.options.strict)
    warnings = [*warnings, *changed, *check_triangles(findings, matched["decoys"], job.names)]
    least = looked.trusted(matched["least"])
    links, times = measured_links(findings)[0], BlockTimes.of(findings, range_ns)
    clocks = align(findings, domains, least, _accuracy_ns(points, job.options), job.names)
    clocks = without_steps(clocks, findings, links, matched)
    segments = [
        one.split() if {one.near, one.far} & looked.split_points else one
        for one in with_early(
            attribute(findings, clocks, links, matched["links"], times), matched, job.names
        )
    ]
    if not any(segment.n for segment in segments):
        raise EvidenceError.nothing_matched([one.name for one in points], _n_by_status(matched))
    files = FoundPoints(points, point_of, divisions, names, dict(matched["parts"]))
    document = summarize(
        findings,
        clocks,
        segments,
        _n_by_status(matched),
        reference,
        false_matches(matched["decoys"]),
    )
    document |= {
        "points": point_rows(findings, matched),
        "translations": translation_rows(findings, job.translations),
        "captures": capture_rows(job.captures, facts, files, job.stampings),
    }
    document["clocks"] += unseen_clock_rows(document["captures"], document["clocks"])
    document["warnings"] = warning_rows(warnings) + document["warnings"]
    blocks = blocks_of(findings, segments)
    trips = attribute_trips(findings, clocks, links, matched["trips"], times).without(
        looked.split_points
    )
    _add_figures(document, blocks, findings, trips, is_resampled=job.options.intervals)
    run = Run(
        captures=job.captures,
        settings=settings,
        findings=findings,
        clocks=clocks,
        reference=reference,
        point_of=point_of,
        divisions=divisions,
        names=names,
        rows=matched["rows"],
        crossings=(matched["crossed"], matched["lost"]),
        spill=job.spill,
        n_slowest=job.options.slowest,
        links=links,
        times=times,
        blocks=blocks,
        is_resampled=job.options.intervals,
    )
    return Result(document, run)


def _add_figures(
    document: dict[str, Any],
    blocks: Mapping[Key, Blocks],
    findings: Findings,
    trips: Trips,
    *,
    is_resampled: bool,
) -> None:
    """Add what is resampled, and what is checked against other figures."""
    add_intervals(document, blocks, is_wanted=is_resampled)
    add_round_trips(document, findings, trips, is_resampled=is_resampled)
    document |= {
        "error_budget": error_budget(document, blocks) if is_resampled else [],
        "sum_check": sum_check(document),
        "transaction_check": transaction_check(document),
    }


def _checked(looked: Looked) -> Looked:
    """Refuse captures that nothing can be measured with."""
    captures, facts = looked.job.captures, looked.facts
    if looked.job.options.strict:
        refuse_damage(captures, facts)
    if len(looked.points) > 1:
        return looked
    empty = [c.name for c, of in zip(captures, facts, strict=True) if not of["interfaces"]]
    known = [point.name for point in looked.points]
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
    columns = zip(*matched["counts"], matched["elsewhere"], strict=True)
    return dict(zip(matched["statuses"], map(sum, columns), strict=True))
