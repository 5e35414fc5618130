"""Whether a path contradicts itself: packets in a tunnel, in none, and in the same tunnel again.

A point that seems to be between two of one tunnel without being in it is not there. Stamps by two
clocks, one for what is sent and one for what is received, move a point along the path.
"""

from collections.abc import Sequence

import numpy as np

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.arrays import Bools, Ints
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.path import Findings
from pcaplat.model.sampled import SampleColumns
from pcaplat.records import dataclass
from pcaplat.units import format_count, format_frac

ENOUGH = 5
"""As many packets each way are in the same tunnel before and behind a point by no chance."""

MOST_FRAC = 0.5
"""Where most packets at a point are in one, it is a place of its own."""

TUNNEL = ("tunnel", "outer_src_mac", "outer_dst_mac")
"""What stays as it is where nobody unpacks a packet; behind a router only the first does."""

COLUMNS = ("depth", "is_toward", *TUNNEL)


Seen = dict[str, Ints]
"""Columns of the packets that a point saw once, ascending by key."""


@dataclass(frozen=True)
class Interruption:
    """A point between two others whose packets are in one tunnel there, and in none at it.

    `is_sure` where the frames around the tunnel have the same addresses on both sides.
    """

    point: int
    before: int
    behind: int
    n: int
    n_seen: int
    tunnel: int
    is_sure: bool


def find_interruptions(
    packets: SampleColumns, point_of_row: Ints, findings: Findings
) -> list[Interruption]:
    """Find the points at which a tunnel seems to be left and entered again.

    Args:
        packets: Those of the survey's sample.
        point_of_row: The point that saw each; -1: none.
        findings: The path.
    """
    found = []
    for along in findings.components:
        # a session of a mirror is no tunnel that packets travel in
        travels = [findings.points[point].mirror_gaps is None for point in along]
        ends = zip(along, travels, strict=True)
        seen = [_seen_at(packets, (point_of_row == point) & is_end) for point, is_end in ends]
        for at in range(1, len(along) - 1):
            one = _interruption(along, seen, at)
            found += [one] if one else []
    return found


def _seen_at(packets: SampleColumns, mask: Bools) -> Seen:
    """Columns of the packets that a point saw once, ascending by key."""
    keys, first, n = np.unique(packets["key"][mask], return_index=True, return_counts=True)
    rows = np.flatnonzero(mask)[first[n == 1]]
    columns = {name: packets[name][rows] for name in COLUMNS}
    return {"key": keys[n == 1], **columns}


def _interruption(along: Sequence[int], seen: Sequence[Seen], at: int) -> Interruption | None:
    here = seen[at]
    bare = here["key"][here["depth"] == 0]
    if len(bare) <= MOST_FRAC * len(here["key"]):
        return None
    for before in reversed(range(at)):
        for behind in range(at + 1, len(along)):
            one, other = _in_one_tunnel(seen[before], seen[behind], bare)
            if _is_both_ways(one) and _is_both_ways(other):
                is_sure = all(np.array_equal(one[name], other[name]) for name in TUNNEL)
                points, n = (along[at], along[before], along[behind]), len(one["key"])
                number = int(np.median(one["tunnel"]))
                return Interruption(*points, n, len(here["key"]), number, is_sure)
    return None


def _in_one_tunnel(one: Seen, other: Seen, bare: Ints) -> tuple[Seen, Seen]:
    """Packets that are in one tunnel at two points, of those that are in none at another."""
    keys, a, b = np.intersect1d(one["key"], other["key"], return_indices=True)
    is_same = np.isin(keys, bare) & (one["depth"][a] > 0) & (other["depth"][b] > 0)
    is_same &= (one["tunnel"][a] == other["tunnel"][b]) & (one["tunnel"][a] >= 0)
    pairs = ((one, a[is_same]), (other, b[is_same]))
    first, second = ({name: of[name][at] for name in of} for of, at in pairs)
    return first, second


def _is_both_ways(seen: Seen) -> bool:
    """Whether frames of the two directions have other receivers: all of a mirror go to one."""
    is_toward = seen["is_toward"] != 0
    if min(is_toward.sum(), (~is_toward).sum()) < ENOUGH:
        return False
    to, back = seen["outer_dst_mac"][is_toward], seen["outer_dst_mac"][~is_toward]
    return not np.isin(to, back).any()


def check_interruptions(findings: Findings, found: Sequence[Interruption]) -> list[Diagnostic]:
    """Say which points cannot be where they seem to be.

    Args:
        findings: The path.
        found: Those of `find_interruptions`.
    """
    diagnostics = []
    for one in found:
        point, before, behind = map(findings.name, (one.point, one.before, one.behind))
        text = (
            f"{format_count(one.n)} sampled packets ({format_frac(one.n / one.n_seen)}) are in "
            f"tunnel {one.tunnel} at {before} and at {behind}, and in none at {point} between them"
        )
        sure = diagnose("tunnel-interrupted", point, text)
        diagnostics.append(sure if one.is_sure else diagnose("tunnel-left", point, text))
    return diagnostics
