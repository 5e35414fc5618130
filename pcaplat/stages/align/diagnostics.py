"""What may mislead about the clocks."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from pcaplat.model.clocks import Step
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.contradictions import Contradictions
from pcaplat.stages.align.support import LoneBound
from pcaplat.units import format_ns

SECOND_NS = 1_000_000_000
HOUR_NS = 3600 * SECOND_NS
DAY_NS = 24 * HOUR_NS

TAI_AHEAD_NS = (36 * SECOND_NS, 37 * SECOND_NS)
"""TAI − UTC: 37 s since 2017, 36 s before (IERS Bulletin C)."""

NEAR_TAI_NS = 100_000_000
NEAR_HOUR_NS = 2 * SECOND_NS


def check_clocks(
    findings: Findings,
    domains: Sequence[int],
    contradicted: Contradictions,
    is_raw: frozenset[Pair],
    steps: Mapping[int, Sequence[Step]],
) -> list[Diagnostic]:
    """Say which clocks are far apart, were set, contradict each other, or pass for equal."""
    return [
        *_apart(findings, domains),
        *_stepped(findings, domains, steps),
        *_contradicted(findings, domains, contradicted),
        *_raw(findings, is_raw),
    ]


def check_lone(
    findings: Findings, domains: Sequence[int], lone: Sequence[LoneBound], files: Sequence[str]
) -> list[Diagnostic]:
    """Say which packets were not believed, the farthest of each pair of clocks by its frames."""
    found = list[Diagnostic]()
    for clocks in dict.fromkeys(one.clocks for one in lone):
        of_pair = [one for one in lone if one.clocks == clocks]
        worst = max(of_pair, key=lambda one: one.gap_ns)
        up, down = (
            next(findings.name(p) for p in findings.along if domains[p] == clock)
            for clock in clocks
        )
        others = f", and {len(of_pair) - 1} more packets" if len(of_pair) > 1 else ""
        text = (
            f"a single packet from {up} to {down}{_frames(worst.bound, files)} is "
            f"{format_ns(worst.gap_ns)} quicker than any other{others}: it was left out of the "
            "interval of these clocks"
        )
        consequence = f"the interval is wider by up to {format_ns(worst.gap_ns)}"
        remedy = "look at these frames: one of their timestamps may be wrong"
        found.append(Diagnostic("single-packet-bound", down, text, consequence, remedy))
    return found


def _frames(bound: OffsetBounds, files: Sequence[str]) -> str:
    """Files and frames of the first bound's packet, where they are known."""
    places = np.reshape(bound.places[0], (2, 2)).tolist()
    names = [f"{Path(files[file]).name} frame {frame}" for file, frame in places if frame]
    return f" ({', '.join(names)})" if names else ""


def _apart(findings: Findings, domains: Sequence[int]) -> Iterator[Diagnostic]:
    """Offsets that have a name: against the clock in the middle, of one component."""
    for component in findings.components:
        offset_ns = {}
        for point in component:
            raw_ns = findings.points[point].first_t_ns
            offset_ns[point] = raw_ns - findings.aligned(point, raw_ns)
        middle = sorted(component, key=lambda point: offset_ns[point])[(len(component) - 1) // 2]
        by_domain: dict[int, list[int]] = {}
        for point in component:
            by_domain.setdefault(domains[point], []).append(point)
        for points in by_domain.values():
            apart_ns = offset_ns[points[0]] - offset_ns[middle]
            reason = _name_of(apart_ns)
            if reason:
                names = ", ".join(findings.name(point) for point in points)
                text = (
                    f"the clock of {names} is {format_ns(abs(apart_ns))} "
                    f"{'ahead of' if apart_ns > 0 else 'behind'} that of {findings.name(middle)}: "
                    f"{reason}"
                )
                consequence = "latencies allow for it, but compare no times by eye"
                yield Diagnostic("clock-offset", None, text, consequence)


def _name_of(offset_ns: int) -> str | None:
    """What an offset looks like, if it looks like anything."""
    size_ns = abs(offset_ns)
    if any(abs(size_ns - tai_ns) <= NEAR_TAI_NS for tai_ns in TAI_AHEAD_NS):
        return "TAI against UTC, as where one card is set by PTP and the other clock by NTP"
    n_hours = round(size_ns / HOUR_NS)
    if 0 < n_hours <= DAY_NS // HOUR_NS and abs(size_ns - n_hours * HOUR_NS) <= NEAR_HOUR_NS:
        return "whole hours, as if a time zone was treated as UTC"
    return "set apart, or captured at different times" if size_ns > DAY_NS else None


def _stepped(
    findings: Findings, domains: Sequence[int], steps: Mapping[int, Sequence[Step]]
) -> Iterator[Diagnostic]:
    start_ns, _ = findings.cover(findings.components[0])
    for clock, of in steps.items():
        points = [point for point in findings.along if domains[point] == clock]
        names = ", ".join(findings.name(point) for point in points)
        for step in of:
            text = (
                f"the clock of {names} was set by {format_ns(step.size_ns)}, "
                f"{format_ns(step.t_ns - start_ns)} after all points began (to "
                f"± {format_ns((step.after_ns - step.before_ns) / 2)})"
            )
            consequence = (
                "latencies follow it, but packets within that time may be off by the step: leave "
                "it out with --from or --to where they matter"
            )
            yield Diagnostic("clock-step", findings.name(points[0]), text, consequence)


def _contradicted(
    findings: Findings, domains: Sequence[int], contradicted: Contradictions
) -> Iterator[Diagnostic]:
    clocks = {clock for pair in contradicted for clock in pair}
    names = [findings.name(point) for point in findings.along if domains[point] in clocks]
    if names:
        text = (
            f"packets at {', '.join(names)} contradict each other: by any clocks, some would "
            f"arrive before they left, by up to {format_ns(max(contradicted.values()))}"
        )
        consequence = "no latency and no round trip is given between these points"
        alike = [
            " and ".join(
                findings.name(point) for point in findings.along if domains[point] == clock
            )
            for clock in sorted(clocks)
        ]
        shared = "; ".join(group for group in alike if " and " in group)
        one_clock = f" (here one clock: {shared})" if shared else ""
        remedy = f"check --same-clock{one_clock} and --path, or look for a clock step"
        yield Diagnostic("clock-contradiction", None, text, consequence, remedy)


def _raw(findings: Findings, is_raw: frozenset[Pair]) -> Iterator[Diagnostic]:
    if is_raw:
        ends = sorted(is_raw, key=lambda ends: findings.along.index(ends[0]))
        names = ", ".join(f"{findings.name(near)}–{findings.name(far)}" for near, far in ends)
        text = (
            f"equal clocks fit the packets between {names} but are not declared: tables and "
            "summary.json assume them, and the screen shows upper bounds where that matters"
        )
        remedy = "declare --same-clock if these points share a clock"
        yield Diagnostic("clocks-assumed-equal", None, text, "", remedy)
