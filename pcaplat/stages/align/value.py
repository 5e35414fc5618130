"""The value that is taken in each clock's interval: a convention, and it is said which."""

from collections.abc import Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.clocks import Step
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.stages.align.baseline import fit_drift

ASIDE_SHARE = 0.25
"""A value may be so far beside the middle of the interval, as a share of its half-width."""


def values_in(
    findings: Findings,
    domains: Sequence[int],
    base_ns: Sequence[int],
    upper: Floats,
    knots_ns: Ints,
    steps: Mapping[int, Sequence[Step]],
) -> tuple[Floats, dict[int, int], frozenset[Pair]]:
    """Take a value for each clock, neighbour by neighbour along the path.

    Returns:
        Offset of each domain against its component's first, by [knot, domain], ns: the middle of
        the straight lines in the interval to a neighbour (of the interval itself where a clock
        wanders too much for a line), or 0 where that lies inside throughout, for then the raw
        difference is the value that contradicts nothing. For each domain that can be related, the
        point at the root of its component. The neighbours where 0 was taken.
    """
    value = np.zeros((len(upper), upper.shape[1]))
    related: dict[int, int] = {}
    is_raw: set[Pair] = set()
    for component in findings.components:
        related.setdefault(domains[component[0]], component[0])
        for at, point in enumerate(component):
            new = domains[point]
            if new in related:
                continue
            before = _nearest(component[:at], domains, related, _bounded_with(upper, new))
            if before is None:
                related[new] = point
                continue
            placed = domains[before]
            lo_ns, hi_ns = -upper[:, new, placed], upper[:, placed, new]
            both = [*steps.get(placed, ()), *steps.get(new, ())]
            is_equal = base_ns[new] == base_ns[placed] and not both
            fits = is_equal and np.all((lo_ns <= 0) & (hi_ns >= 0))
            step_ns = np.zeros(len(value)) if fits else middle(knots_ns, lo_ns, hi_ns, both)
            is_raw |= {(before, point)} if fits else set()
            value[:, new] = value[:, placed] + step_ns
            related[new] = related[placed]
    return value, related, frozenset(is_raw)


def middle(knots_ns: Ints, lo_ns: Floats, hi_ns: Floats, steps: Sequence[Step]) -> Floats:
    """The middle, stretch by stretch between steps."""
    stretch = np.searchsorted(np.sort([step.t_ns for step in steps]), knots_ns, side="right")
    value = np.empty(len(knots_ns))
    for one in np.unique(stretch):
        here = stretch == one
        value[here] = _middle_line(knots_ns[here], lo_ns[here], hi_ns[here])
    return value


def _middle_line(knots_ns: Ints, lo_ns: Floats, hi_ns: Floats) -> Floats:
    """The middle line of those that stay inside throughout, else one of few bends beside it.

    The ends of the interval dip towards each packet that bounds them, and rise between two. What
    follows them is off in one direction where packets went there, and in the other where they came
    back: in the sum of both it does not cancel. A line leaves nothing of that.
    """
    x = (knots_ns - knots_ns[0]).astype(np.float64)
    drift = fit_drift(x, hi_ns, x, lo_ns)[0]
    most, least = np.min(hi_ns - drift * x), np.max(lo_ns - drift * x)
    if least <= most:
        return np.asarray((least + most) / 2 + drift * x)
    # bounds that contradict each other cross
    middle_ns, aside_ns = (lo_ns + hi_ns) / 2, ASIDE_SHARE * np.abs(hi_ns - lo_ns) / 2
    return _taut(x, middle_ns - aside_ns, middle_ns + aside_ns)


def _taut(x: Floats, lo: Floats, hi: Floats) -> Floats:
    """The shortest line from the first middle to the last between two others: a string pulled taut.

    It bends only where it touches one of them.
    """
    lo, hi = lo.copy(), hi.copy()
    for end in (0, -1):
        lo[end] = hi[end] = (lo[end] + hi[end]) / 2
    places, values = [0], [float(lo[0])]
    while places[-1] < len(x) - 1:
        at, value = places[-1], values[-1]
        run = x[at + 1 :] - x[at]
        least, most = (lo[at + 1 :] - value) / run, (hi[at + 1 :] - value) / run
        steepest, flattest = np.maximum.accumulate(least), np.minimum.accumulate(most)
        blocked = np.flatnonzero(steepest > flattest)
        if not len(blocked):
            break
        # the end that was met first is where the string bends
        until = int(blocked[0])
        is_high = least[until] >= steepest[until]
        bend = int(np.argmin(most[:until]) if is_high else np.argmax(least[:until]))
        places.append(at + 1 + bend)
        values.append(float((hi if is_high else lo)[at + 1 + bend]))
    return np.asarray(np.interp(x, [*x[places], x[-1]], [*values, float(lo[-1])]))


def _bounded_with(upper: Floats, new: int) -> Sequence[bool]:
    """Per domain: whether its clock and the new one bound each other, both ways."""
    bounds = upper[:, :, new] + upper[:, new, :]
    found: list[bool] = np.all(np.isfinite(bounds), axis=0).tolist()
    return found


def _nearest(
    before: Sequence[int], domains: Sequence[int], related: dict[int, int], bounded: Sequence[bool]
) -> int | None:
    """The last point before, on the path, whose clock is placed and bounded with the new one."""
    for point in reversed(before):
        if domains[point] in related and bounded[domains[point]]:
            return point
    return None
