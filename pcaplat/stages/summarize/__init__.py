"""Summarize: segments become the summary: counts, loss, quantiles, round trips, warnings.

    segments → summary

Quantiles are those of log-linear histograms (docs/method/summarize.md); minimum, maximum and mean
are exact. The two-way contribution of a segment is the sum of its mean latencies there and back,
in which every clock cancels (RFC 2681 §2.7.1).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pcaplat.diagnostics.catalogue import BY_CODE
from pcaplat.model.blocks import Blocks, Key
from pcaplat.model.clocks import Clocks
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.latencies.segments import Segment
from pcaplat.model.matches.false_matches import FalseMatches
from pcaplat.model.path import Findings
from pcaplat.stages.summarize.budget import check_sum, error_budget, sum_check
from pcaplat.stages.summarize.diagnostics import (
    check_ambiguous,
    check_points,
    check_segments,
)
from pcaplat.stages.summarize.exchanges import add_round_trips, transaction_check
from pcaplat.stages.summarize.intervals import add_intervals, check_slow_changes
from pcaplat.stages.summarize.refuted import refuted_clocks
from pcaplat.stages.summarize.rows import (
    clock_band_rows,
    clock_rows,
    direction_of,
    matching_row,
    path_evidence,
    point_rows,
    round_trip_rows,
    segment_rows,
    tiers,
)
from pcaplat.stages.summarize.translations import translation_rows

__all__ = [
    "add_intervals",
    "add_round_trips",
    "blocks_of",
    "check_ambiguous",
    "check_points",
    "check_slow_changes",
    "check_sum",
    "clock_band_rows",
    "error_budget",
    "point_rows",
    "sum_check",
    "summarize",
    "tiers",
    "transaction_check",
    "translation_rows",
    "warning_rows",
]

SCHEMA = "pcaplat.summary/1"


def summarize(
    findings: Findings,
    clocks: Clocks,
    segments: Sequence[Segment],
    n_by_status: Mapping[str, int],
    reference: int,
    false: FalseMatches | None = None,
) -> dict[str, Any]:
    """Sum up a run, as summary.json has it.

    Args:
        findings: What the survey found.
        clocks: How the clocks relate.
        segments: What was measured.
        n_by_status: Frames of all points by status.
        reference: The point whose clock times are given in.
        false: How many pairs are expected to be false, if that was measured.

    Returns:
        The document but for its `captures`; the warnings are those of the survey, of the clocks,
        and of the segments.
    """
    warnings = [*findings.warnings, *clocks.warnings, *check_segments(findings, segments)]
    return {
        "schema": SCHEMA,
        "path": [findings.name(point) for point in findings.along],
        "path_inferred": findings.is_inferred,
        "path_evidence": path_evidence(findings),
        "edges": [
            {"near": findings.name(near), "far": findings.name(far)} for near, far in findings.edges
        ],
        "clocks": clock_rows(findings, clocks, reference),
        "segments": segment_rows(
            findings, segments, refuted_clocks(findings, clocks.domain, segments)
        ),
        "round_trips": round_trip_rows(findings, segments),
        "matching": matching_row(n_by_status, false),
        "warnings": warning_rows(warnings),
    }


def blocks_of(findings: Findings, segments: Sequence[Segment]) -> dict[Key, Blocks]:
    """Latencies of whole packets block by block of time, by segment and direction."""
    return {
        (findings.name(one.near), findings.name(one.far), direction_of(one)): one.blocks
        for one in segments
        if one.blocks is not None
    }


def warning_rows(warnings: Sequence[Diagnostic]) -> list[dict[str, str | None]]:
    """Each warning once, in the order given: in one text, and in its parts."""
    return [
        {
            "code": one.code,
            "point": one.point,
            "text": one.text,
            "severity": BY_CODE[one.code].severity,
            "evidence": one.evidence,
            "consequence": one.consequence,
            "remedy": one.remedy,
        }
        for one in dict.fromkeys(warnings)
    ]
