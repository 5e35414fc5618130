"""Clocks that were declared to be one, and are not: packets arrive before they left."""

from collections.abc import Sequence

from pcaplat.model.latencies.segments import Segment
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair

SEVERAL = 2
"""A single packet is not evidence enough: one timestamp may be wrong."""


def refuted_clocks(
    findings: Findings, domains: Sequence[int], segments: Sequence[Segment]
) -> dict[Pair, float]:
    """Find the segments whose one-way latencies a false declaration of one clock decides.

    Args:
        findings: What the survey found.
        domains: Clock of each point, as declared.
        segments: What was measured.

    Returns:
        By ends, how far apart their clocks are at least, ns. The whole path rests on the same
        declaration as the segments between its ends.
    """
    found: dict[Pair, float] = {}
    for one in segments:
        early_ns = _early_ns(findings, one)
        if early_ns > found.get((one.near, one.far), 0.0):
            found[one.near, one.far] = early_ns
    worst_ns: dict[int, float] = {}
    for (near, _), early_ns in found.items():
        worst_ns[domains[near]] = max(worst_ns.get(domains[near], 0.0), early_ns)
    for one in segments:
        ends, clock = (one.near, one.far), domains[one.near]
        if one.relation.kind.is_shared and ends not in findings.edges and clock in worst_ns:
            found[ends] = worst_ns[clock]
    return found


def _early_ns(findings: Findings, one: Segment) -> float:
    """By how much packets arrive before they left by one clock; 0 where fewer than several do."""
    if not one.relation.kind.is_shared or one.distribution is None:
        return 0.0
    up, down = (one.far, one.near) if one.is_reverse else (one.near, one.far)
    n_early = one.distribution.n_below(-findings.early_ns(up, down))
    return -float(one.distribution.min_ns) if n_early >= SEVERAL else 0.0
