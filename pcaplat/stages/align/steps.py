"""Which clocks were set, and when, of what the pairs of clocks show."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from pcaplat.model.arrays import Ints, distinct
from pcaplat.model.clocks import Step
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.jumps import Jump, find_jumps, find_unclear, hidden_ns, noise_ns

SAME_NS = 2_000.0
"""Sizes of one step, as several pairs of clocks show it, differ by less."""

SAME_SHARE = 0.02
"""Sizes of one step, as several pairs of clocks show it, may also differ by this share of the
largest."""

Seen = tuple[Pair, Jump]
"""A step as one pair of clocks shows it."""


def steps_of_clocks(
    bounds: Mapping[Pair, OffsetBounds], findings: Findings, domains: Sequence[int]
) -> tuple[dict[int, list[Step]], dict[Pair, list[Step]]]:
    """Find which clocks were set, and when; and between which a path may hide that one was.

    A step shows between every pair of clocks that the set one is in. At one time, as few clocks
    were set as explain all pairs. Of two clocks alone it cannot be told which was set, and the one
    farther along the path is taken: their relation is the same.
    """
    order = list(dict.fromkeys(domains[point] for point in findings.along))
    pairs = [ends for ends in bounds if ends[0] < ends[1] and ends[::-1] in bounds]
    of_clock: dict[int, list[Step]] = {}
    doubtful: dict[Pair, list[Step]] = {}
    seen = _all_jumps(bounds, findings, domains)
    for event in _events(seen):
        at = event[0][1].step.t_ns
        showing = {ends for ends, _ in event}
        hidden = {
            (a, b): noise_ns(bounds[a, b], bounds[b, a], at)
            if (a, b) in showing
            else hidden_ns(bounds[a, b], bounds[b, a], at, _times(seen, (a, b)))
            for a, b in pairs
        }
        sizes_ns, unsure = _fewest_set(event, hidden, order)
        for clock, size_ns in sizes_ns.items():
            of_clock.setdefault(clock, []).append(_best_placed(event, clock, size_ns))
        least_ns = min(abs(jump.step.size_ns) for _, jump in event)
        for ends in hidden.keys() - showing:
            if hidden[ends] > least_ns or unsure & {*ends}:
                doubtful.setdefault(ends, []).append(_maybe(event))
    for a, b in pairs:
        shown = [(jump.start, jump.end) for ends, jump in seen if ends == (a, b)]
        for one in find_unclear(bounds[a, b], bounds[b, a]):
            if all(end < one.before_ns or one.after_ns < start for start, end in shown):
                doubtful.setdefault((a, b), []).append(one)
    in_order = {clock: sorted(of, key=lambda step: step.t_ns) for clock, of in of_clock.items()}
    return in_order, doubtful


def _maybe(event: Sequence[Seen]) -> Step:
    """A step of a size that need not be known: bounds on either side of it are separate."""
    steps = [jump.step for _, jump in event]
    return Step(min(one.before_ns for one in steps), max(one.after_ns for one in steps), 0)


def _events(seen: Sequence[Seen]) -> list[list[Seen]]:
    """What was seen at one time, one time after the other."""
    events: list[list[Seen]] = []
    until = 0
    for one in sorted(seen, key=lambda of: of[1].step.before_ns):
        if not events or one[1].step.before_ns > until:
            events.append([])
        events[-1].append(one)
        until = max(until, one[1].step.after_ns)
    return events


def _times(seen: Sequence[Seen], pair: Pair) -> list[int]:
    """When one pair of clocks shows steps."""
    return [jump.step.t_ns for ends, jump in seen if ends == pair]


def _fewest_set(
    event: Sequence[Seen], hidden: Mapping[Pair, float], order: Sequence[int]
) -> tuple[dict[int, int], set[int]]:
    """By how much each clock was set, ns: pairs show differences only, so most clocks were not.

    A pair that shows nothing says that neither was set, or that its path hides it: pairs are
    believed in order of what may be `hidden` at that time, and no farther than they are needed.
    What only the sum around a loop says, and no pair, may be how far one of its pairs is off:
    these clocks, the second value, were not set as far as is known.
    """
    shown: dict[Pair, float] = {}
    for ends, jump in event:
        shown[ends] = shown.get(ends, 0.0) + jump.step.size_ns
    ahead = _joined(dict.fromkeys(order, 0.0), shown, hidden)
    largest = max(map(abs, ahead.values()))
    same = min(SAME_NS, largest / 2)
    usual = max(ahead.values(), key=lambda size: sum(abs(x - size) <= same for x in ahead.values()))
    sizes_ns = {clock: round(size - usual) for clock, size in ahead.items()}
    seen = {clock for ends in shown for clock in ends}
    set_ns = {clock: size for clock, size in sizes_ns.items() if abs(size) > same and clock in seen}
    unset = sizes_ns.keys() - set_ns.keys()
    noise = max(hidden[ends] for ends in shown)
    unsure = {
        clock
        for clock, size in set_ns.items()
        if abs(size) <= noise and not _alone(clock, shown, hidden, unset)
    }
    sure = set_ns.keys() - unsure
    return {one: _alone(one, shown, hidden, unset | unsure) or set_ns[one] for one in sure}, unsure


def _alone(
    clock: int, shown: Mapping[Pair, float], hidden: Mapping[Pair, float], unset: AbstractSet[int]
) -> int:
    """By how much a clock was set, as the best of its pairs with those that were not shows it."""
    pairs = [ends for ends in shown if clock in ends and unset & {*ends}]
    best = min(pairs, key=lambda ends: hidden[ends], default=None)
    return round(shown[best] if best[1] == clock else -shown[best]) if best else 0


def _joined(
    ahead: dict[int, float], shown: Mapping[Pair, float], hidden: Mapping[Pair, float]
) -> dict[int, float]:
    """Join clocks pair by pair, those that show something first (Kruskal's spanning tree)."""
    group = {clock: {clock} for clock in ahead}
    for a, b in sorted(hidden, key=lambda ends: (ends not in shown, hidden[ends])):
        if group[a] is not group[b]:
            more = ahead[a] + shown.get((a, b), 0.0) - ahead[b]
            ahead |= {clock: ahead[clock] + more for clock in group[b]}
            group |= dict.fromkeys(group[a] | group[b], group[a] | group[b])
    return ahead


def _best_placed(event: Sequence[Seen], clock: int, size_ns: int) -> Step:
    """A clock's step where the pair that shows it, and no other, places it best."""
    mine = [
        replace(jump.step, size_ns=jump.step.size_ns if ends[1] == clock else -jump.step.size_ns)
        for ends, jump in event
        if clock in ends
    ]
    alone = [
        step
        for step in mine
        if abs(step.size_ns - size_ns) <= max(SAME_NS, SAME_SHARE * abs(size_ns))
    ]
    best = min(alone or mine, key=lambda step: step.after_ns - step.before_ns)
    return best if alone else replace(best, size_ns=size_ns)


def _all_jumps(
    bounds: Mapping[Pair, OffsetBounds], findings: Findings, domains: Sequence[int]
) -> list[Seen]:
    cut_ns = cuts_of_clocks(findings, domains)
    return [
        ((a, b), jump)
        for (a, b), forward in bounds.items()
        if a < b and (b, a) in bounds
        for jump in find_jumps(forward, bounds[b, a], cut_ns[a] + cut_ns[b])
    ]


def cuts_of_clocks(findings: Findings, domains: Sequence[int]) -> dict[int, float]:
    """How coarse the timestamps of each clock are, ns."""
    cut_ns = dict.fromkeys(domains, 0.0)
    for point, domain in zip(findings.points, domains, strict=True):
        cut_ns[domain] = max(cut_ns[domain], point.cut_ns)
    return cut_ns


def with_steps(knots_ns: Ints, steps: Mapping[int, Sequence[Step]]) -> Ints:
    """Add knots on either side of each step, and of the time in which it may have been."""
    all_steps = [step for of in steps.values() for step in of]
    sides = [t for step in all_steps for t in (step.before_ns, step.t_ns - 1, step.after_ns - 1)]
    around = np.array([t + more for t in sides for more in (0, 1)], dtype=np.int64)
    return distinct(np.concatenate([knots_ns, around]))
