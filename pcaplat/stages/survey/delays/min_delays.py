"""What the sample alone says of the clocks, in the form that alignment takes."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from pcaplat.model.arrays import Floats
from pcaplat.model.matched import MinDelays
from pcaplat.model.path import N_BINS, Findings
from pcaplat.model.points import Pair
from pcaplat.stages.survey.delays.relations import Shared, between, relate
from pcaplat.stages.survey.observations import Sample, unique_observations
from pcaplat.stages.survey.path_order.routes import Routes


def sampled_min_delays(
    sample: Sample, findings: Findings, domains: Sequence[int]
) -> list[MinDelays]:
    """Give the least raw differences of the sampled packets between clocks, as matching does.

    Of neighbours, and of the path's ends, for what is between other points waited in more queues;
    of each bin of time the least, for one packet says more than those that waited longer.

    Args:
        sample: The same packets of every point.
        findings: What the survey found in them.
        domains: Clock domain of each point.

    Returns:
        By pair of points and direction, as matching gives them of every packet; without frames.
    """
    return [
        _min_delays(findings, side, (up, down), both)
        for side, (up, down), both in _crossings(sample, findings)
        if domains[up] != domains[down]
    ]


def sampled_negatives(
    sample: Sample, findings: Findings, domains: Sequence[int]
) -> list[tuple[Pair, Floats]]:
    """Return, per pair of points with one clock, the sampled delays that are below 0, in ns.

    Args:
        sample: The same packets of every point.
        findings: What the survey found in them.
        domains: Clock domain of each point.
    """
    found = [
        ((up, down), both.d_ns[both.d_ns < -findings.early_ns(up, down)])
        for _, (up, down), both in _crossings(sample, findings)
        if domains[up] == domains[down]
    ]
    return [(pair, early_ns.astype(np.float64)) for pair, early_ns in found if len(early_ns)]


def _crossings(sample: Sample, findings: Findings) -> Iterator[tuple[int, Pair, Shared]]:
    """Give the sampled packets that went from one point to another, by side and direction."""
    relations, _ = relate(unique_observations([sample.seen_at(point) for point in findings.points]))
    whole = (findings.components[0][0], findings.components[0][-1])
    orders = [findings.along, *findings.routes]
    routes = Routes(findings.toward_is_forward, orders, findings.route_of)
    for near, far in dict.fromkeys([*findings.edges, whole]):
        both_ways = ((near, far), (far, near))
        goes = [routes.going(between(relations, *ends), ends) for ends in both_ways]
        for side, (ends, sides) in product((0, 1), zip(both_ways, goes, strict=True)):
            both = sides[side].at(sides[side].is_directed)
            if len(both):
                yield side, ends, both


def _min_delays(findings: Findings, side: int, up_down: Pair, packets: Shared) -> MinDelays:
    """Keep the least of each bin."""
    up, down = up_down
    centres, (start_ns, length_ns) = findings.centres[side], findings.bins
    aligned_ns = packets.t_ns - centres[up].at(packets.t_ns)
    # the first bin has what came less than a bin before it too, as it has in the core
    is_in = aligned_ns > start_ns - length_ns
    packets, aligned_ns = packets.at(is_in), aligned_ns[is_in]
    arrived_ns = packets.t_ns + packets.d_ns
    residual_ns = arrived_ns - centres[down].at(arrived_ns) - aligned_ns
    of_bin = np.clip((aligned_ns - start_ns) // length_ns, 0, N_BINS - 1)
    order = np.lexsort((aligned_ns, packets.d_ns, residual_ns, of_bin))
    _, first, n = np.unique(of_bin[order], return_index=True, return_counts=True)
    at = order[first]
    return MinDelays(up, down, aligned_ns[at], packets.t_ns[at], packets.d_ns[at], n)
