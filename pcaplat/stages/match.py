"""Match: frames that carry the same packet are joined.

    findings → plan → matches

Frames match when their identities are equal (bytes that no element on the path may change) and
they lie where a packet of their direction would: unique ones within the window, repeated ones
within the survey's bands. What is ambiguous is called ambiguous. The work is native and streams
(rust/src/matching); this stage says what to do. See docs/method/match.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pcaplat.model.band import LEAST_ALONE_NS, Band
from pcaplat.model.blocks import BlockTimes
from pcaplat.model.files.time_range import TimeRange
from pcaplat.model.path import Findings
from pcaplat.model.plan import MirrorGaps, Plan
from pcaplat.model.points import Pair, Point, PointTree

WIDTHS = 20
"""A unique packet may be this many band widths from where it is expected."""

MOST_WINDOW_NS = 1 << 61
"""Centuries: sums of windows are still numbers of 64 bits."""

LEAST_WINDOW_NS = 2_000_000
"""The same of packets that are looked at together."""

ENOUGH_FRAMES = 1 << 16
"""At a point: of more, not all requests are paired with their responses."""

MOST_TAIL_NS = 1_000_000_000
"""Where packets are late by more than this, they are retransmissions as likely."""

INT64_MAX = 2**63 - 1
UINT64_MAX = 2**64 - 1

Value = TypeVar("Value")


def plan_matching(
    findings: Findings,
    domains: Sequence[int],
    point_of: Sequence[Sequence[int | None]],
    divisions: Sequence[PointTree | None] = (),
    range_ns: TimeRange = (None, None),
) -> Plan:
    """Say how to match, as the core takes it.

    Args:
        findings: What the survey found.
        domains: Clock domain of each point.
        point_of: Per file and part of it, the point.
        divisions: How each file is divided.
        range_ns: Start and end of the reference time that is asked for.

    Returns:
        The plan, but for `is_short`, `sequences` and `lost_after_ns`, which the caller knows.
    """
    wide_ns, (links, whole) = wide_window_ns(findings), measured_links(findings)
    return Plan(
        point_of=[list(of_file) for of_file in point_of],
        trees=list(divisions),
        position=findings.places,
        component=_component_of(findings),
        domain=list(domains),
        centres=findings.centres,
        bands=_matrices(findings, wide_ns),
        copies=list(findings.copies),
        toward_is_forward=_by_hash(findings.toward_is_forward.items()),
        route_of=_by_hash(findings.route_of.items()),
        routes=[findings.places_in(route) for route in findings.routes],
        steps_of_route=dict(findings.steps_of_route),
        branches=_by_hash(findings.branches.items()),
        recurring=_by_hash(findings.recurring.items()),
        mirror_gaps=[_mirror_gaps(point) for point in findings.points],
        is_one_way=findings.is_one_way,
        fragmented=_by_hash(findings.fragmented),
        links=links,
        torn=[_is_torn(findings, ends) for ends in links],
        whole=whole,
        usual_ns=usual_window_ns(_all_bands(findings)),
        wide_ns=wide_ns,
        beyond_frac=_beyond_frac(findings, wide_ns),
        horizon_ns=wide_ns + _slack_ns(findings),
        cover=_covers(findings),
        point_covers=[findings.cover([point]) for point in range(len(findings.points))],
        range=_whole_range(range_ns),
        blocks=BlockTimes.of(findings, range_ns),
        paired_one_in=_paired_one_in(findings),
        bins=findings.bins,
    )


def _covers(findings: Findings) -> list[Pair]:
    """Per component the time that all its points cover; of a point that is alone, none."""
    covers = [findings.cover(group) for group in findings.components]
    return covers + [(0, -1)] * len(findings.alone)


def _whole_range(range_ns: TimeRange) -> Pair:
    """Start and end, the least and the greatest time where none is given."""
    low, high = range_ns
    return -INT64_MAX if low is None else low, INT64_MAX if high is None else high


def _by_hash(signed: Iterable[tuple[int, Value]]) -> dict[int, Value]:
    """By hashes as the core has them: unsigned."""
    return {key & UINT64_MAX: value for key, value in signed}


def _mirror_gaps(point: Point) -> MirrorGaps:
    """When a mirror lost frames, raw time, each gap by itself, and how many in all."""
    gaps: list[Pair] = []
    for before_ns, after_ns, _ in point.mirror_gaps or ():
        if gaps and before_ns <= gaps[-1][1]:
            gaps[-1] = (gaps[-1][0], max(gaps[-1][1], after_ns))
        else:
            gaps.append((before_ns, after_ns))
    return gaps, point.n_unmirrored


def _paired_one_in(findings: Findings) -> int:
    """Pair the same one in so many requests, a power of two: some tell as much as all."""
    most = max(point.n_frames for point in findings.points)
    return 1 << max(0, (-(-most // ENOUGH_FRAMES) - 1).bit_length())


def _component_of(findings: Findings) -> list[int]:
    """Per point the number of its component; points that are alone have one each."""
    groups = [*findings.components, *([point] for point in findings.alone)]
    number = {point: i for i, group in enumerate(groups) for point in group}
    return [number[point] for point in range(len(findings.points))]


def _is_torn(findings: Findings, ends: tuple[int, int]) -> bool:
    """Whether TCP changes its packet boundaries on the way."""
    whole = (findings.components[0][0], findings.components[0][-1])
    return ends in findings.torn or (ends == whole and bool(findings.torn))


def usual_window_ns(bands: Iterable[Band]) -> int:
    """How long after or before its usual time a unique packet is still taken for the same one."""
    return min(LEAST_ALONE_NS + _jitter_ns(bands), MOST_WINDOW_NS)


def wide_window_ns(findings: Findings) -> int:
    """How far apart equal packets are looked at together: as far as what is slow, or more."""
    tail_ns = max((tail.within_ns for tail in findings.tails), default=0)
    tail_ns = min(2 * tail_ns, MOST_TAIL_NS)
    jitter_ns = _jitter_ns(_all_bands(findings))
    return max(min(LEAST_WINDOW_NS + jitter_ns, MOST_WINDOW_NS), tail_ns)


def _beyond_frac(findings: Findings, wide_ns: int) -> float:
    """Share of packets that are later than the window is wide; 0 where none was seen."""
    return max((tail.frac_beyond(wide_ns) for tail in findings.tails), default=0.0)


def _all_bands(findings: Findings) -> Iterable[Band]:
    return (band for side in findings.bands for band in side.values())


def _jitter_ns(bands: Iterable[Band]) -> int:
    return WIDTHS * max((band.hi_ns - band.lo_ns for band in bands), default=0)


def measured_links(findings: Findings) -> tuple[list[tuple[int, int]], int | None]:
    """Segments (near, far), and the index of the whole path if it is more than one of them."""
    links = list(findings.edges)
    ends = (findings.components[0][0], findings.components[0][-1])
    return (links, None) if ends in links else ([*links, ends], len(links))


def _slack_ns(findings: Findings) -> int:
    """Files are unsorted a little, and centres of the two directions differ by the two-way time."""
    disorder_ns = max(point.disorder_ns for point in findings.points)
    apart_ns = [to.apart_ns(back) for to, back in zip(*findings.centres, strict=True)]
    slack_ns = 2 * max(apart_ns, default=0) + min(disorder_ns, 10_000_000_000) + LEAST_WINDOW_NS
    return min(slack_ns, MOST_WINDOW_NS)


def _matrices(findings: Findings, wide_ns: int) -> tuple[list[Band], list[Band]]:
    forward, reverse = (_matrix(bands, len(findings.points), wide_ns) for bands in findings.bands)
    return forward, reverse


def _matrix(bands: Mapping[Pair, Band], n: int, wide_ns: int) -> list[Band]:
    """Bands by upstream and downstream point; where nothing was seen, what the widest allows."""
    edge_ns = max((max(-b.lo_ns, b.hi_ns) for b in bands.values()), default=min(wide_ns, 10_000))
    unseen = Band(-edge_ns, edge_ns, [])
    return [bands.get((up, down), unseen) for up in range(n) for down in range(n)]
