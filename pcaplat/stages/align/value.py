"""The value that is taken in each clock's interval: a convention, and it is said which."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from pcaplat.model.arrays import Floats, Ints, distinct
from pcaplat.model.clocks import Step, set_by
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.align.baseline import fit_drift
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.contradictions import ROUNDING_NS
from pcaplat.stages.align.interval import steps_between

ASIDE_SHARE = 0.25
"""A value may be so far beside the middle of the interval, as a share of its half-width."""


@dataclass(frozen=True)
class Allowed:
    """What offsets between clocks contradict nothing.

    `upper` are the closed bounds of every clock against every other, by [knot, of, against], beside
    their coarse offsets and their `steps`; `bounds` the packets themselves, between whose times a
    bound at the knots is looser.
    """

    base_ns: Sequence[int]
    upper: Floats
    bounds: Mapping[Pair, OffsetBounds]
    knots_ns: Ints
    steps: Mapping[int, Sequence[Step]]

    @cached_property
    def width_ns(self) -> Floats:
        """How much is left open between every two clocks; infinite where anything is."""
        return np.asarray((self.upper + self.upper.transpose(0, 2, 1)).mean(axis=0))

    def closest(self, placed: Sequence[int], left: Sequence[int]) -> Pair | None:
        """The clock that is placed and the one that is left which are related most closely."""
        pairs = [(a, b) for b in left for a in reversed(placed) if np.isfinite(self.width_ns[a, b])]
        return min(pairs, key=lambda pair: self.width_ns[pair], default=None)

    def may_be_equal(self, a: int, b: int) -> bool:
        """Whether nothing but packets could contradict equal clocks."""
        return self.base_ns[a] == self.base_ns[b] and not self._steps(a, b)

    def are_equal(self, value: Floats, a: int, b: int) -> bool:
        """Whether two clocks that are known to be two were given one value."""
        is_known = a != b and np.isfinite(self.width_ns[a, b]) and self.may_be_equal(a, b)
        return bool(is_known and np.array_equal(value[:, a], value[:, b]))

    def value(self, new: int, near: int, value: Floats, placed: Sequence[int]) -> Floats:
        """That of the clock nearby if equal clocks contradict nothing, else the middle.

        The middle of the interval between both, or, where that contradicts others that are
        placed, of what all of them leave.
        """
        known = [one for one in placed if np.isfinite(self.width_ns[one, new])]
        lo = (value[:, known] - self.upper[:, new, known]).max(axis=1)
        hi = (value[:, known] + self.upper[:, known, new]).min(axis=1)
        equal, steps = value[:, near], self._steps(near, new)
        is_inside = self.may_be_equal(near, new) and np.all((lo <= equal) & (equal <= hi))
        if is_inside and not any(self._is_early(new, one, equal - value[:, one]) for one in known):
            return equal
        own = equal + middle(
            self.knots_ns, -self.upper[:, new, near], self.upper[:, near, new], steps
        )
        is_allowed = np.all((lo - ROUNDING_NS <= own) & (own <= hi + ROUNDING_NS))
        # pairs of the others may be contradicted; of these nobody knows which is wrong
        is_open = np.all(lo <= hi + ROUNDING_NS)
        return own if is_allowed or not is_open else middle(self.knots_ns, lo, hi, steps)

    def _steps(self, a: int, b: int) -> list[Step]:
        return [*self.steps.get(a, ()), *self.steps.get(b, ())]

    def _is_early(self, new: int, other: int, ahead_ns: Floats) -> bool:
        """Whether a packet between two clocks would have arrived before it left, at an offset."""
        times = (self.knots_ns - self.knots_ns[0]).astype(np.float64)
        for ends, sign in (((other, new), 1), ((new, other), -1)):
            if (one := self.bounds.get(ends)) is not None:
                set_ns, _, _ = set_by(steps_between(ends, self.steps, {}), one.t_ns)
                then_ns = sign * np.interp(one.t_ns - self.knots_ns[0], times, ahead_ns)
                if np.any(then_ns + set_ns > one.most_ns):
                    return True
        return False


def values_in(
    findings: Findings, domains: Sequence[int], allowed: Allowed
) -> tuple[Floats, dict[int, int], frozenset[Pair]]:
    """Take a value for each clock, those that are related most closely first.

    On a path these are neighbours; where an accuracy was declared, the clocks that it is of.

    Returns:
        Offset of each domain against its component's first, by [knot, domain], ns. For each domain
        that can be related, the point at the root of its component. The neighbours that are taken
        for equal.
    """
    value = np.zeros(allowed.upper.shape[:2])
    related: dict[int, int] = {}
    for component in findings.components:
        first = {domains[point]: point for point in reversed(component)}
        related.setdefault(domains[component[0]], component[0])
        left = [one for one in dict.fromkeys(domains[p] for p in component) if one not in related]
        while left:
            near, new = allowed.closest([*related], left) or (None, left[0])
            if near is not None:
                value[:, new] = allowed.value(new, near, value, [*related])
            related[new] = first[new] if near is None else related[near]
            left.remove(new)
    return value, related, _equal(findings, domains, value, allowed)


def _equal(
    findings: Findings, domains: Sequence[int], value: Floats, allowed: Allowed
) -> frozenset[Pair]:
    """Neighbours that are taken for equal; the ends of a path, where not all neighbours relate."""
    pairs = [*findings.edges]
    if any(np.isinf(allowed.width_ns[domains[near], domains[far]]) for near, far in pairs):
        pairs += [(path[0], path[-1]) for path in findings.components]
    return frozenset(
        (near, far) for near, far in pairs if allowed.are_equal(value, domains[near], domains[far])
    )


def middle(knots_ns: Ints, lo_ns: Floats, hi_ns: Floats, steps: Sequence[Step]) -> Floats:
    """The middle, stretch by stretch between steps."""
    stretch = np.searchsorted(np.sort([step.t_ns for step in steps]), knots_ns, side="right")
    value = np.empty(len(knots_ns))
    for one in distinct(stretch):
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
