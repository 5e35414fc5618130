"""What may mislead about the segments' latencies."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.latencies.segments import Segment
from pcaplat.model.path import Findings
from pcaplat.units import format_count, format_frac, format_in, format_ns, unit_for

SELDOM_NS = 1_000_000
"""Hosts hold single packets for less than this now and then: no warning says so."""

MOVED_SHARE = 0.1
"""Where packets that cannot be told apart may move a mean by more than this, a warning says so."""

ENOUGH_PACKETS = 10
"""Of fewer nobody expects a loss ratio."""

BOUND_OF_NONE = 3
"""So many losses are possible where none was seen (the rule of three)."""

COARSE_SHARE = 0.1
"""Stamps coarser than this share of a median blur it."""


AMBIGUOUS_FRAC = 0.2
"""With more of them, those that are matched are no fair sample."""

SOME_FRAC = 0.01
"""A point that captured nothing of flows with a smaller share of its packets may have missed them
by chance."""


PAUSED_FRAC = 0.001
"""Losses of shorter times are possible on both sides of a point all the same."""


def check_points(points: Sequence[Mapping[str, Any]]) -> list[Diagnostic]:
    """Say which points captured nothing of flows that may pass them, or of a time.

    Args:
        points: Rows of `points` of the document.
    """
    found = []
    for row in points:
        n_maybe = row["n_maybe_missed"] or 0
        n_known = row["n_matched"] + (row["n_missed"] or 0)
        if n_maybe >= max(ENOUGH_PACKETS, SOME_FRAC * n_known):
            text = (
                f"captured nothing of flows that had {format_count(n_maybe)} packets before it and "
                f"after it, beside {format_count(n_known)} that passed it"
            )
            found.append(diagnose("flows-not-captured", row["point"], text))
        n_paused = row["n_paused"] or 0
        if n_paused >= max(ENOUGH_PACKETS, PAUSED_FRAC * n_known):
            text = (
                f"captured few packets or none at times: {format_count(n_paused)} are missing that "
                "other points captured before it and after it"
            )
            found.append(diagnose("capture-paused", row["point"], text))
    return found


def check_ambiguous(points: Sequence[Mapping[str, Any]]) -> list[Diagnostic]:
    """Say at which points many frames are in no figure, because they are identical.

    Args:
        points: Rows of `points` of the document.
    """
    found = [
        f"{row['point']} {format_frac(row['n_ambiguous'] / row['n_frames'])}"
        for row in points
        if row["n_ambiguous"] > AMBIGUOUS_FRAC * row["n_frames"]
    ]
    if not found:
        return []
    text = f"frames that have no match because others are identical: {', '.join(found)}"
    return [diagnose("identical-packets", None, text)]


def check_segments(findings: Findings, segments: Sequence[Segment]) -> list[Diagnostic]:
    """Say which latencies cannot be, and which the stamps are too coarse for."""
    return [
        *_negative(findings, segments),
        *_fragmented(findings, segments),
        *_unwaited(findings, segments),
        *_late(findings, segments),
        *_too_late(findings, segments),
        *_undecided(findings, segments),
        *_maybe_lost(findings, segments),
        *_divided(findings, segments),
        *_coarse(findings, segments),
    ]


def _negative(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """Points that share a clock cannot see a packet arrive before it left."""
    early = []
    for segment in segments:
        if segment.relation.kind.is_shared and segment.distribution is not None:
            up, down = (
                (segment.far, segment.near) if segment.is_reverse else (segment.near, segment.far)
            )
            n = segment.distribution.n_below(-findings.early_ns(up, down))
            early_ns = -segment.distribution.min_ns
            if n:
                early.append(
                    f"{findings.name(up)} → {findings.name(down)} {format_count(n)} "
                    f"({format_frac(n / segment.n)}, by up to {format_ns(early_ns)}{segment.early})"
                )
    if early:
        text = (
            f"packets arrive before they left, though both points share a clock: {', '.join(early)}"
        )
        yield diagnose("negative-latency", None, text)


def _fragmented(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """Datagrams that are cut or joined stand in other classes than their lost fragments do."""
    n_cut: dict[tuple[int, int, bool], int] = {}
    for one in segments:
        if one.kind != "packet":
            key = (one.near, one.far, one.is_reverse)
            n_cut[key] = max(one.n, n_cut.get(key, 0))
    found = [
        f"{_segment(findings, one)} {format_count(n_cut[key])} beside {format_count(one.n)} whole "
        f"packets, {format_count(one.n_lost)} lost"
        for one in _neighbours(findings, segments)
        if one.kind == "packet" and one.n_lost and (one.near, one.far) not in findings.torn
        if n_cut.get(key := (one.near, one.far, one.is_reverse))
    ]
    if found:
        text = f"datagrams that were fragmented or reassembled: {', '.join(found)}"
        yield diagnose("fragmented-on-the-way", None, text)


def _unwaited(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """Where no packet was waited for, none can be called lost."""
    short = [
        f"{_segment(findings, one)} {format_ns(one.loss_threshold_ns)}"
        for one in _neighbours(findings, segments)
        if one.kind == "packet" and not one.n_judged and one.n >= ENOUGH_PACKETS
    ]
    if short:
        text = f"no packet was captured so long before the end of a capture: {', '.join(short)}"
        yield diagnose("short-capture", None, text)


def _late(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """Packets that are far slower than others decide maximum and mean."""
    neighbours = _neighbours(findings, segments)
    late = [one for one in neighbours if one.n_late and one.loss_threshold_ns > SELDOM_NS]
    if late:
        late = sorted(late, key=lambda one: -(one.n_late or 0))
        unit = unit_for(map(_slowest_ns, late))
        found = [
            f"{_segment(findings, one)} {format_count(one.n_late)} of {format_count(one.n)}"
            f"{_slowest(one, unit)}"
            for one in late
        ]
        n_late = sum(one.n_late or 0 for one in late)
        packets = "1 packet" if n_late == 1 else f"{format_count(n_late)} packets"
        text = f"{packets} took much longer than typical: {', '.join(found)}"
        yield diagnose("late-packets", None, text)


def _slowest_ns(one: Segment) -> float | None:
    """How much longer than usual the slowest took, which no clock changes."""
    found = one.distribution
    return None if found is None else found.max_ns - found.quantile_ns(0.5)


def _slowest(one: Segment, unit: str) -> str:
    above_ns = _slowest_ns(one)
    if above_ns is None:
        return ""
    return f" (slowest {format_in(above_ns, unit)} {unit} above the median)"


def _too_late(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """What came later than was asked to be waited for it is lost by definition."""
    found = [
        f"{_segment(findings, one)} {format_count(one.n_too_late)}"
        for one in _neighbours(findings, segments)
        if one.n_too_late
    ]
    if found:
        wait = format_ns(max(one.loss_threshold_ns for one in segments))
        text = f"packets that arrived later than {wait}: {', '.join(found)}"
        yield diagnose("arrived-after-wait", None, text)


def _undecided(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """Identical packets are often the slow ones, and in no mean."""
    found = []
    for one in _neighbours(findings, segments):
        measured, (less_ns, more_ns) = one.distribution, one.undecided.mean_ns
        if one.undecided.n > one.n == 0:
            found.append(
                f"{_segment(findings, one)} {format_count(one.undecided.n)} beside 0 with a latency"
            )
        if measured is None or not one.is_absolute or not one.undecided.n:
            continue
        mean_ns, clock_ns = measured.mean_ns, one.clock_half_width_ns or 0.0
        if max(less_ns, more_ns) > max(MOVED_SHARE * abs(mean_ns), clock_ns):
            found.append(
                f"{_segment(findings, one)} {format_count(one.undecided.n)} beside "
                f"{format_count(one.n)} with a latency (mean {format_ns(mean_ns)}, with them "
                f"{format_ns(mean_ns - less_ns)} to {format_ns(mean_ns + more_ns)})"
            )
    if found:
        text = f"identical packets without a latency: {', '.join(found)}"
        yield diagnose("identical-packets", None, text)


def _maybe_lost(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """An interval of a loss ratio says how wide it is, not that hidden losses are why."""
    found = [
        f"{_segment(findings, one)} up to {format_count(one.undecided.n_maybe_lost)} beside "
        f"{format_count(one.n_lost)} of {format_count(one.n + one.n_lost)} packets"
        for one in _neighbours(findings, segments)
        if one.undecided.n_maybe_lost > max(one.n_lost, BOUND_OF_NONE)
        and one.n_lost_divided <= BOUND_OF_NONE
    ]
    if found:
        text = f"packets may be lost that do not count as lost: {', '.join(found)}"
        yield diagnose("losses-hidden", None, text)


def _divided(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """Branches that share losses look alike, whichever of them loses packets."""
    found = [
        f"{_segment(findings, one)} {format_count(one.n_lost_divided)} of "
        f"{format_count(one.n_lost)} lost"
        for one in segments
        if one.kind == "packet" and one.n_lost_divided > BOUND_OF_NONE
    ]
    if found:
        text = f"lost packets that were divided between branches: {', '.join(found)}"
        yield diagnose("branch-unknown", None, text)


def _neighbours(findings: Findings, segments: Sequence[Segment]) -> Iterator[Segment]:
    """All segments but the whole path."""
    edges = {frozenset(ends) for ends in findings.edges}
    return (one for one in segments if frozenset((one.near, one.far)) in edges)


def _segment(findings: Findings, one: Segment) -> str:
    arrow = "←" if one.is_reverse else "→"
    return f"{findings.name(one.near)} {arrow} {findings.name(one.far)}"


def _coarse(findings: Findings, segments: Sequence[Segment]) -> Iterator[Diagnostic]:
    """Quantiles of what is hardly longer than a stamp's last digit are those of the digit."""
    blurred: dict[float, dict[str, float]] = {}
    for one in segments:
        if one.distribution is None or not one.is_absolute:
            continue
        median_ns = abs(one.distribution.quantile_ns(0.5))
        for point in (one.near, one.far):
            resolution_ns = findings.points[point].resolution_ns
            if resolution_ns > max(1.0, COARSE_SHARE * median_ns):
                names = blurred.setdefault(resolution_ns, {})
                name = findings.name(point)
                names[name] = min(median_ns, names.get(name, median_ns))
    for resolution_ns, names in blurred.items():
        text = (
            f"timestamps at {', '.join(names)} have a low resolution, {format_ns(resolution_ns)}, "
            f"for a median latency of {format_ns(min(names.values()))}; rely on means, not on "
            "quantiles, or capture nanoseconds (tcpdump --time-stamp-precision=nano)"
        )
        yield Diagnostic("low-resolution", None, text)
