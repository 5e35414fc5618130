"""Which clocks were set, and when, of what the pairs of clocks show."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pcaplat.clocks import Step
from pcaplat.path import Ends, Findings, Ints
from pcaplat.stages.align.bounds import Bounds
from pcaplat.stages.align.jumps import Jump, find_jumps


def steps_of_clocks(
    bounds: Mapping[Ends, Bounds], findings: Findings, domains: Sequence[int]
) -> dict[int, list[Step]]:
    """Find which clocks were set, and when.

    A step shows between every pair of clocks that the set one is in. Of two clocks alone it cannot
    be told which was set, and the one farther along the path is taken: their relation is the same.
    """
    order = {domains[point]: place for place, point in enumerate(findings.along)}
    seen = _all_jumps(bounds, findings, domains)
    found: dict[int, list[Step]] = {}
    while seen:
        clock, event = _most_seen(seen, order)
        same = [(ends, one) for ends, one in seen if clock in ends and one.is_near(event)]
        ends, best = min(same, key=lambda of: of[1].step.after_ns - of[1].step.before_ns)
        size_ns = best.step.size_ns if ends[1] == clock else -best.step.size_ns
        found.setdefault(clock, []).append(replace(best.step, size_ns=size_ns))
        seen = [one for one in seen if one not in same]
    return {clock: sorted(of, key=lambda step: step.t_ns) for clock, of in found.items()}


def _all_jumps(
    bounds: Mapping[Ends, Bounds], findings: Findings, domains: Sequence[int]
) -> list[tuple[Ends, Jump]]:
    cut_ns = dict.fromkeys(domains, 0.0)
    for point, domain in enumerate(domains):
        cut_ns[domain] = max(cut_ns[domain], findings.points[point].cut_ns)
    return [
        ((a, b), jump)
        for (a, b), forward in bounds.items()
        if a < b and (b, a) in bounds
        for jump in find_jumps(forward, bounds[b, a], cut_ns[a] + cut_ns[b])
    ]


def _most_seen(seen: Sequence[tuple[Ends, Jump]], order: Mapping[int, int]) -> tuple[int, Jump]:
    """The clock and the event that most pairs of clocks show."""

    def support(of: tuple[int, Jump]) -> tuple[int, int]:
        clock, event = of
        pairs = {ends for ends, one in seen if clock in ends and one.is_near(event)}
        return len(pairs), order.get(clock, 0)

    return max(((clock, one) for ends, one in seen for clock in ends), key=support)


def with_steps(knots_ns: Ints, steps: Mapping[int, Sequence[Step]]) -> Ints:
    """Add knots on either side of each step, and of the time in which it may have been."""
    all_steps = [step for of in steps.values() for step in of]
    sides = [t for step in all_steps for t in (step.before_ns, step.t_ns - 1, step.after_ns - 1)]
    around = np.array([t + more for t in sides for more in (0, 1)], dtype=np.int64)
    return np.unique(np.concatenate([knots_ns, around]))
