"""Lint: what in captures will mislead, before anything is measured.

The first reading, the survey and the alignment of `merge`, on the survey's sample: the same checks
by the same code, at the cost of one reading. docs/capture/lint.md says what each finding means.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing

from pcaplat.diagnostics.catalogue import BY_CODE, SEVERITIES, diagnose
from pcaplat.diagnostics.dialogues import without_branches
from pcaplat.diagnostics.files import check_common_time, refuse_damage
from pcaplat.errors import EvidenceError
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.path import Findings
from pcaplat.run.folder import RunFolder
from pcaplat.run.job import Job
from pcaplat.run.options import LintOptions, MergeOptions, taking
from pcaplat.run.scan import Scan
from pcaplat.stages.survey import check_doubles, sampled_min_delays, sampled_negatives
from pcaplat.tables.documents import Finding, LintDocument
from pcaplat.units import format_ns

SCHEMA = "pcaplat.lint/1"


@taking(LintOptions)
def lint(options: LintOptions) -> LintDocument:
    """Find problems in captures that affect the figures, before measuring.

    Args:
        captures: PATH, POINT=PATH, or "-" for standard input; one alone is checked by itself.
        options: One by one in pcaplat.run.options.

    Returns:
        The document `pcaplat.lint/1`, as `pcaplat lint --format json` prints it
        (pcaplat.tables.documents): findings, the gravest first, each with code, severity, file,
        point, evidence, consequence and remedy.

    Raises:
        InputError: An argument cannot be used.
        OSError: A file cannot be opened.

    Assumes:
        The same as `merge`. Clocks are checked with a sample of some thousand packets per point.

    Example:
        >>> from pathlib import Path
        >>> found = lint(sorted(Path("samples/vxlan").glob("*.pcap")))["findings"]
        >>> [(one["severity"], one["code"]) for one in found]
        [('note', 'clocks-assumed-equal')]
    """
    whole = MergeOptions(**vars(options), keep_rows=False, keep_crossings=False)
    with RunFolder() as folder:
        job = Job.of(whole, folder)
        with closing(job.engine):
            scan = Scan.of(job)
        if options.strict:
            refuse_damage(scan.job.captures, scan.facts)
        warnings = [*_with_path(scan), *scan.notes]
    return LintDocument(schema=SCHEMA, findings=findings_of(scan, warnings))


def _with_path(scan: Scan) -> list[Diagnostic]:
    """Say what is doubtful about files, path and clocks.

    Of a point alone also whether it saw all twice.
    """
    points, of_files = scan.points, scan.warnings
    if len(points) < 2:  # noqa: PLR2004 - one point is no path
        seen = ((scan.sample.seen_at(point), point.name) for point in points)
        return [*of_files, *(found for one in seen for found in check_doubles(*one))]
    try:
        scan, found = scan.surveyed()
    except EvidenceError as problem:
        why = diagnose("nothing-in-common", None, str(problem), remedy="")
        return [*of_files, why, *check_common_time(points)]
    min_delays = sampled_min_delays(scan.sample, found, scan.domains)
    clocks = scan.align(found, min_delays)
    of_files = without_branches(of_files, [point.name for point in points], found.edges)
    return [*of_files, *found.warnings, *clocks.warnings, *_negative(scan, found)]


def _negative(scan: Scan, found: Findings) -> list[Diagnostic]:
    """Report points with one declared clock at which packets arrive before they left."""
    early = [
        f"{found.name(up)} → {found.name(down)} by up to {format_ns(-float(early_ns.min()))}"
        for (up, down), early_ns in sampled_negatives(scan.sample, found, scan.domains)
    ]
    text = f"packets arrive before they left, though both points share a clock: {', '.join(early)}"
    return [diagnose("negative-latency", None, text)] if early else []


def findings_of(scan: Scan, warnings: Sequence[Diagnostic]) -> list[Finding]:
    """Give each warning as a row of the document, the gravest first.

    Args:
        scan: The captures.
        warnings: What may mislead, in the order of the pipeline.
    """
    files = _files(scan)
    rows = [_row(diagnostic, files) for diagnostic in dict.fromkeys(warnings)]
    return sorted(rows, key=lambda row: SEVERITIES.index(row["severity"]))


def _row(diagnostic: Diagnostic, files: Mapping[str, str]) -> Finding:
    of = BY_CODE[diagnostic.code]
    return {
        "code": diagnostic.code,
        "severity": of.severity,
        "file": diagnostic.file or files.get(diagnostic.point or ""),
        "point": diagnostic.point,
        "evidence": diagnostic.evidence,
        "consequence": diagnostic.consequence or of.consequence,
        "remedy": diagnostic.remedy or of.remedy,
    }


def _files(scan: Scan) -> dict[str, str]:
    """The file of every point that has only one."""
    of_point = {
        point.name: {scan.job.captures[file].name for file, _ in point.sources}
        for point in scan.points
    }
    return {point: files.pop() for point, files in of_point.items() if len(files) == 1}
