"""Attribute: raw differences and clocks become latency per segment and direction.

    matches + clocks → segments

Between points that share a clock the latency is the difference itself. Between clocks it is the
difference less the value of the clocks' relation, and the interval of that relation is its error.
Where the clocks cannot be related there is no latency, only its variation (RFC 5481).
See docs/stages/attribute.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pcaplat import _native
from pcaplat.clocks import Clocks, Relation
from pcaplat.path import Centre, Ends, Findings
from pcaplat.segments import Distribution, Segment


def attribute(
    findings: Findings,
    clocks: Clocks,
    links: Sequence[Ends],
    measured: Sequence[Sequence[Mapping[str, Any]]],
) -> list[Segment]:
    """Take the clocks' share out of what was measured.

    Args:
        findings: What the survey found.
        clocks: How the clocks relate.
        links: The segments (near, far).
        measured: For each of them, forward and reverse, the core's counts: `n`, `histogram`,
            `spills` and so on.

    Returns:
        One segment per link and direction that any packet or loss was seen in.
    """
    found = []
    for (near, far), both in zip(links, measured, strict=True):
        relation = clocks.relation(near, far)
        for is_reverse, counts in zip((False, True), both, strict=True):
            if counts["n"] or counts["n_lost"]:
                distribution = _distribution(
                    findings, relation, (near, far), counts, is_reverse=is_reverse
                )
                found.append(
                    Segment(
                        near,
                        far,
                        is_reverse,
                        counts["n"],
                        counts["n_lost"],
                        counts["n_duplicated"],
                        counts["n_reordered"],
                        relation,
                        distribution,
                    )
                )
    return found


def _distribution(
    findings: Findings,
    relation: Relation,
    ends: Ends,
    counts: Mapping[str, Any],
    *,
    is_reverse: bool,
) -> Distribution | None:
    if not counts["n"]:
        return None
    histogram = counts["histogram"]
    if relation.kind != "same-clock":
        clock = clock_between(findings, relation, *ends)
        histogram = _native.attribute(counts["spills"], is_reverse, clock.native())
    return Distribution(**histogram)


def clock_between(findings: Findings, relation: Relation, near: int, far: int) -> Centre:
    """Offset of the far clock against the near one, over the near point's raw time.

    Where it is not known, the survey's centre stands in: constant but for drift, so that only
    variation is left in what it is subtracted from.
    """
    if relation.is_known:
        raw_ns = findings.centres[0][near].raw(relation.t_ns)
        return Centre(raw_ns, relation.offset_ns, (relation.drift_ppm or 0.0) * 1e-6)
    return usual_difference(findings, relation, near, far)


def usual_difference(findings: Findings, relation: Relation, near: int, far: int) -> Centre:
    """A straight line through the middle of the survey's difference, with the bounded drift."""
    start_ns = findings.points[near].first_t_ns
    t_ns = np.array([start_ns])
    step = findings.centres[0][far].at(t_ns) - findings.centres[0][near].at(t_ns)
    return Centre(t_ns, step, (relation.drift_ppm or 0.0) * 1e-6)
