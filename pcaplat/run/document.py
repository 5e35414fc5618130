"""The document of a merge, summary.json, put together from what was measured."""

from typing import Any

from pcaplat.diagnostics.files import capture_rows, unseen_clock_rows
from pcaplat.diagnostics.identities import counted
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.files.files_to_points import FoundPoints
from pcaplat.model.matches.false_matches import false_matches
from pcaplat.run.measurement import MeasuredPath, n_by_status
from pcaplat.stages.summarize import (
    add_intervals,
    add_round_trips,
    check_ambiguous,
    check_points,
    check_slow_changes,
    check_sum,
    error_budget,
    point_rows,
    sum_check,
    summarize,
    tiers,
    transaction_check,
    translation_rows,
    warning_rows,
)

MergeDocument = dict[str, Any]
NOT_AWAITED = {"outside-common-time", "flow-not-elsewhere", "point-alone", "no-time"}
"""Reasons of frames without a match that are no packets on their way to a later point."""


def document_of(measured: MeasuredPath) -> MergeDocument:
    """Put together what a merge says: segments and clocks, captures, warnings, and checks."""
    document = _of_path(measured)
    _add_captures(document, measured)
    found = counted(measured.diagnostics, measured.matched.n_by_reason)
    found += check_points(document["points"])
    if all(row["code"] != "identical-packets" for row in document["warnings"]):
        found += check_ambiguous(document["points"])
    document["warnings"] = warning_rows(found) + document["warnings"]
    _add_figures(document, measured)
    if _all_arrived(document):
        rows = document["warnings"]
        document["warnings"] = [row for row in rows if row["code"] != "short-capture"]
    return document


def _all_arrived(document: MergeDocument) -> bool:
    """Tell whether every point has all packets that another has: nothing is left to wait for."""
    points = document["points"]
    reasons = {row["reason"] for point in points for row in point["reasons"]}
    return reasons <= NOT_AWAITED and len({row["n_matched"] for row in points}) == 1


def _of_path(measured: MeasuredPath) -> MergeDocument:
    matched, course = measured.matched, measured.course
    return summarize(
        course.findings,
        measured.clocks,
        measured.segments,
        n_by_status(matched),
        course.reference,
        false_matches(matched.decoys, matched.late),
    )


def _add_captures(document: MergeDocument, measured: MeasuredPath) -> None:
    """Add the points, what is translated between them, and the files that they were seen in."""
    matched, findings, scan = measured.matched, measured.course.findings, measured.course.scan
    document["matching"]["n_without_direction"] = matched.n_without_direction
    document["matching"]["tiers"] = tiers(matched)
    files = FoundPoints(scan.points, scan.point_of, scan.divisions, scan.names, matched.parts)
    document |= {
        "points": point_rows(findings, matched),
        "translations": translation_rows(findings, scan.job.translations, scan.job.places),
        "captures": capture_rows(scan.job.captures, scan.facts, files, scan.job.stampings),
    }
    document["clocks"] += unseen_clock_rows(document["captures"], document["clocks"])
    document["declared_clocks"] = scan.declared_clocks
    document["declared_path"] = [*(scan.job.path or ())]


def _add_figures(document: MergeDocument, measured: MeasuredPath) -> None:
    """Add what is resampled, and what is checked against other figures."""
    findings = measured.course.findings
    is_resampled = measured.course.scan.job.options.intervals
    # one run for both, for it keeps what was resampled
    run = MeasuredRun("", document, measured.blocks)
    add_intervals(run, is_wanted=is_resampled)
    add_round_trips(document, findings, measured.trips, is_resampled=is_resampled)
    document |= {
        "error_budget": error_budget(run) if is_resampled else [],
        "sum_check": sum_check(document),
        "transaction_check": transaction_check(document),
    }
    warnings = check_slow_changes(run) if is_resampled else []
    document["warnings"] += warning_rows([*warnings, *check_sum(document["sum_check"])])
