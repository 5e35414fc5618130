"""Lint: what in captures will mislead, before anything is measured.

The first reading, the survey and the alignment of `merge`, on the survey's sample: the same checks
by the same code, at the cost of one reading. docs/lint.md says what each finding means.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from pcaplat.diagnostics.catalogue import BY_CODE, SEVERITIES, diagnose
from pcaplat.diagnostics.files import check_common_time, refuse_damage
from pcaplat.errors import EvidenceError
from pcaplat.model.captures import parse_captures, point_index
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.points import load_profile
from pcaplat.run.folder import Spill
from pcaplat.run.job import Job, Options, Progress
from pcaplat.run.scan import Looked, look
from pcaplat.stages.align import align
from pcaplat.stages.survey import check_doubles, sampled_least, survey
from pcaplat.tables.columns import Row

SCHEMA = "pcaplat.lint/1"


def lint(
    captures: Sequence[str | PathLike[str]],
    *,
    path: Sequence[str] | None = None,
    same_clock: Sequence[Sequence[str] | str] = (),
    clock_accuracy: Sequence[tuple[str, int]] = (),
    stamped_at: Sequence[tuple[str, str]] = (),
    link_rate: Sequence[tuple[str, int]] = (),
    bpf: str | None = None,
    bpf_outer: str | None = None,
    vxlan_ports: Sequence[int] = (),
    decode: Sequence[str] = (),
    profile: str | None = None,
    strict: bool = False,
    engine: str = "local",
    progress: Progress | None = None,
) -> Row:
    """Say what in captures will mislead, before measuring.

    Args:
        captures: PATH, POINT=PATH, or "-" for standard input; one alone is checked by itself.
        path: The points in forward order; found from the captures by default.
        same_clock: Groups of points that share a clock, or ["all"].
        clock_accuracy: (point, ns) that a clock may be off at most; tested against the packets.
        stamped_at: (point, "first-bit", "last-bit" or "host") that its stamps stand for.
        link_rate: (point, bit/s); stamps of the last bit are taken back to the first by it.
        bpf: Only packets whose innermost packet passes, in libpcap's filter language.
        bpf_outer: Only frames that pass as captured.
        vxlan_ports: UDP ports that carry VXLAN, besides 4789 and 8472.
        decode: What is decoded as what, as in `udp.port=8472:vxlan`; goes before what is built in.
        profile: A capture-point profile that names the points, or the path of a file.
        strict: Damage in a capture is an error.
        engine: Where the reading runs.
        progress: Told how far the reading is.

    Returns:
        The document `pcaplat.lint/1`, as `pcaplat lint --format json` prints it: findings, the
        gravest first, each with code, severity, file, point, evidence, consequence and remedy.

    Raises:
        InputError: What was given cannot be used.
        OSError: A file cannot be opened.

    Assumes:
        What `merge` assumes; clocks are judged by the survey's sample, some thousand packets a
        point.

    Example:
        >>> found = lint(sorted(Path("samples/vxlan").glob("*.pcap")))["findings"]
        >>> [(one["severity"], one["code"]) for one in found]
        [('note', 'raw-difference')]
    """
    options = Options(
        path=path,
        same_clock=same_clock,
        clock_accuracy=clock_accuracy,
        stamped_at=stamped_at,
        link_rate=link_rate,
        reference=None,
        bpf=bpf,
        bpf_outer=bpf_outer,
        start=None,
        end=None,
        sample=1,
        window_ns=None,
        vxlan_ports=vxlan_ports,
        decode=decode,
        slowest=0,
        keep_rows=False,
        keep_crossings=False,
        strict=strict,
        engine=engine,
    )
    with Spill() as spill:
        job = Job(parse_captures(captures, Path(spill.name)), options, spill, progress)
        looked = look(job if profile is None else job.placed(load_profile(profile)))
        if strict:
            refuse_damage(looked.job.captures, looked.facts)
        warnings = [*looked.warnings, *_of_path(looked), *looked.notes]
    return {"schema": SCHEMA, "findings": findings_of(looked, warnings)}


def _of_path(looked: Looked) -> list[Diagnostic]:
    """Say what is doubtful about path and clocks; of a point alone, whether it saw all twice."""
    options, points, domains = looked.job.options, looked.points, looked.domains
    if len(points) < 2:  # noqa: PLR2004 - one point is no path
        seen = ((looked.sample.seen_at(point), point.name) for point in points)
        return [diagnostic for one in seen for diagnostic in check_doubles(*one)]
    try:
        found = survey(looked.sample, points, options.path, domains, looked.split_points)
    except EvidenceError as problem:
        why = diagnose("nothing-in-common", None, str(problem), remedy="")
        return [why, *check_common_time(points)]
    accuracy_ns = {
        point_index(points, "--clock-accuracy", name): off_ns
        for name, off_ns in options.clock_accuracy
    }
    least = looked.trusted(sampled_least(looked.sample, found, domains))
    return [*found.warnings, *align(found, domains, least, accuracy_ns).warnings]


def findings_of(looked: Looked, warnings: Sequence[Diagnostic]) -> list[Row]:
    """Give each warning as a row of the document, the gravest first.

    Args:
        looked: The captures.
        warnings: What may mislead, in the order of the pipeline.
    """
    files = _files(looked)
    rows = [_row(diagnostic, files) for diagnostic in dict.fromkeys(warnings)]
    return sorted(rows, key=lambda row: SEVERITIES.index(row["severity"]))


def _row(diagnostic: Diagnostic, files: Mapping[str, str]) -> Row:
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


def _files(looked: Looked) -> dict[str, str]:
    """The file of every point that has only one."""
    of_point = {
        point.name: {looked.job.captures[file].name for file, _ in point.sources}
        for point in looked.points
    }
    return {point: files.pop() for point, files in of_point.items() if len(files) == 1}
