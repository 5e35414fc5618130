"""Align: bound each clock against the others, from packets in both directions.

    least latencies → clocks

A packet cannot arrive before it left: every forward pair bounds the offset of the far clock from
above, every reverse pair from below (Paxson 1998; reference: docs/method/align.md). Between pairs
the clocks drift, so a bound loosens with time. The interval is what the captures say; a value in it
is a convention.
"""

from collections.abc import Mapping, Sequence

from pcaplat.model.clocks import Clocks, Step
from pcaplat.model.matched import MinDelays
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.stages.align.accuracy import Declared, add_accuracy
from pcaplat.stages.align.bounds import OffsetBounds, all_bounds, early_if_equal
from pcaplat.stages.align.chains import Chains
from pcaplat.stages.align.contradictions import Contradictions, close_consistent
from pcaplat.stages.align.diagnostics import check_clocks, check_lone
from pcaplat.stages.align.interval import bound_all, intervals_of
from pcaplat.stages.align.knots import even_knots, with_bends
from pcaplat.stages.align.one_way import fastest_offsets, one_way_drifts
from pcaplat.stages.align.steps import cuts_of_clocks, steps_of_clocks, with_steps
from pcaplat.stages.align.support import LoneBound, apart_from_others, supports, without_lone
from pcaplat.stages.align.value import Allowed, values_in

__all__ = ["OffsetBounds", "align"]

EXACT_NS = 1_000_000_000_000
"""Floats have all digits of offsets up to this."""


def align(
    findings: Findings,
    domains: Sequence[int],
    min_delays: Sequence[MinDelays],
    accuracy_ns: Mapping[int, int] | None = None,
    files: Sequence[str] = (),
) -> Clocks:
    """Bound all clocks.

    Args:
        findings: What the survey found.
        domains: Clock domain of each point; points of one domain share a clock.
        min_delays: Per pair of points and direction the least raw differences over time; where
            packets are to be named, with their frames.
        accuracy_ns: How far a point's clock may be off, as declared; tested against the packets.
        files: Names of the files, by their index.

    Returns:
        The clocks.

    Assumes:
        Drift of a clock is bounded over the time between two matched packets; stamps are cut, not
        rounded, to their resolution; no two wrong stamps agree.
    """
    base_ns = _base(findings, domains)
    all_of = all_bounds(findings, domains, base_ns, min_delays)
    (bounds, lone), steps, doubtful = _believed(all_of, findings, domains)
    knots_ns = with_steps(even_knots(findings), steps)
    intervals = intervals_of(bounds, knots_ns, steps, doubtful)
    direct = bound_all(intervals, knots_ns := with_bends(knots_ns, intervals), max(domains) + 1)
    upper, contradicted = close_consistent(direct)
    declared = Declared(findings, domains, base_ns, accuracy_ns or {}, files)
    upper, refuted = add_accuracy(declared, upper, bounds)
    allowed = Allowed(base_ns, upper, bounds, knots_ns, steps)
    value, related, is_raw = values_in(findings, domains, allowed)
    believed = _not_contradicted(bounds, contradicted)
    upper, value, chained = Chains(believed, knots_ns, steps).joined(upper, value)
    related |= {new: related[known] for new, known in chained.items()}
    checked = check_clocks(findings, domains, contradicted, is_raw, steps)
    return Clocks(
        knots_ns=knots_ns,
        domain=domains,
        base_ns=base_ns,
        covers_ns=_covers(findings, domains),
        upper_ns=upper,
        value_ns=value,
        n_between={ends: one.packets_at(knots_ns) for ends, one in bounds.items()},
        one_way_ppm=one_way_drifts(bounds),
        fastest_ns=fastest_offsets(bounds, findings, domains, related, (knots_ns, value)),
        related=related,
        is_raw=is_raw,
        contradicted=frozenset(contradicted),
        early_ns=early_if_equal(bounds, base_ns),
        n_support=supports(bounds, knots_ns, direct, steps, doubtful),
        steps=steps,
        warnings=[*refuted, *check_lone(findings, domains, lone, files), *checked],
    )


def _believed(
    all_of: Mapping[Pair, OffsetBounds], findings: Findings, domains: Sequence[int]
) -> tuple[
    tuple[dict[Pair, OffsetBounds], list[LoneBound]],
    dict[int, list[Step]],
    dict[Pair, list[Step]],
]:
    """Give bounds that do not rest on one packet, and those left out; steps, and doubtful ones."""
    apart = apart_from_others(all_of, cuts_of_clocks(findings, domains))
    several = {ends: one.at(~apart[ends]) for ends, one in all_of.items()}
    steps, doubtful = steps_of_clocks(several, findings, domains)
    return without_lone(all_of, apart, steps, doubtful), steps, doubtful


def _not_contradicted(
    bounds: Mapping[Pair, OffsetBounds], contradicted: Contradictions
) -> Mapping[Pair, OffsetBounds]:
    """Over clocks of which nobody knows which is wrong no chain leads."""
    return {} if contradicted else bounds


def _covers(findings: Findings, domains: Sequence[int]) -> list[Pair]:
    """When the first point of each clock began to capture, and when the last one ended."""
    covers: list[list[Pair]] = [[] for _ in range(max(domains) + 1)]
    for point in findings.along:
        covers[domains[point]].append(findings.point_cover(point))
    return [
        (min((start for start, _ in of), default=0), max((end for _, end in of), default=0))
        for of in covers
    ]


def _base(findings: Findings, domains: Sequence[int]) -> list[int]:
    """Coarse offset of each clock, where it is so large that floats would round it, ns."""
    base_ns = [0] * (max(domains) + 1)
    for point in reversed(findings.along):
        raw_ns = findings.points[point].first_t_ns
        offset_ns = raw_ns - findings.aligned(point, raw_ns)
        base_ns[domains[point]] = offset_ns if abs(offset_ns) > EXACT_NS else 0
    return base_ns
