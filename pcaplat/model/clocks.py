"""Clocks: how the points' clocks relate, as intervals over time.

Alignment makes these values; attribution and the results use them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from pcaplat.model.arrays import Bools, Floats, Ints
from pcaplat.model.centre import Centre, in_order
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.points import Pair
from pcaplat.records import dataclass

MOST_DRIFT_PPM = 10_000
"""No clock drifts so fast: where packets leave more open, they say nothing of the drift."""

Drift = tuple[float, float]
"""How fast an offset grows, and how far that may be off, ppm."""


class RelationKind(StrEnum):
    """How two clocks relate, and what is known of it; a further way to relate them is a word here.

    The words stand in results, as the clocks' `quality`.
    """

    SAME_CLOCK = "same-clock"
    BOUNDED = "bounded"
    ONE_WAY = "one-way"
    NONE = "none"

    @property
    def is_shared(self) -> bool:
        """Whether both points stamp by one clock, so that nothing is between them."""
        return self is RelationKind.SAME_CLOCK

    @property
    def is_known(self) -> bool:
        """Whether the offset is known: packets of one way tell the drift alone."""
        return self not in {RelationKind.ONE_WAY, RelationKind.NONE}


@dataclass(frozen=True)
class Step:
    """A clock was set by `size_ns`, between packets that only the one and the other explain."""

    before_ns: int
    after_ns: int
    size_ns: int

    @property
    def t_ns(self) -> int:
        """When, as far as can be told."""
        return self.before_ns + (self.after_ns - self.before_ns + 1) // 2


@dataclass(frozen=True)
class Relation:
    """A far clock against a near one: an interval over time, and the value that was taken in it.

    `value_ns`, `lo_ns` and `hi_ns` are beside `base_ns`, for floats cannot tell the nanoseconds of
    clocks that are years apart. `n` packets stand for each time `t_ns` on the path's first clock,
    by [direction, time]; where none went between the two, those of all. Steps are in all three;
    `without_steps` has them as if no clock had been set, for step-free differences.
    """

    kind: RelationKind
    base_ns: int
    t_ns: Ints
    value_ns: Floats
    lo_ns: Floats
    hi_ns: Floats
    drift_ppm: float | None
    drift_half_width_ppm: float | None
    n: Floats
    steps: Sequence[Step] = ()
    without_steps: tuple[Floats, Floats, Floats] | None = None
    is_contradicted: bool = False
    """Packets in both directions, but no clocks that fit them."""
    n_support: int | None = None
    """Packets that support the end of the interval that fewer support, in the middle."""
    early_ns: float = 0.0
    """By how much a packet arrived before it left, were the clocks equal."""

    @property
    def apart_ns(self) -> float:
        """How far apart the clocks are at least at some time; 0 where they may be equal."""
        if not self.is_known:
            return self.early_ns
        lo, hi = self.lo_ns + self.base_ns, self.hi_ns + self.base_ns
        return float(max(self.early_ns, lo.max(initial=0.0), -hi.min(initial=0.0)))

    @property
    def is_known(self) -> bool:
        """Whether the offset is known, not only its drift."""
        return self.kind.is_known

    @property
    def middle(self) -> int:
        """Which of the times stands for the middle of those that packets stand for.

        That is before a step if one is there.
        """
        known = np.flatnonzero(self.n.any(axis=0))
        return int(known[0]) + middle_of(self.t_ns[known[0] : known[-1] + 1])

    @property
    def offset_ns(self) -> Ints:
        """The whole offset, in integers."""
        return self.base_ns + np.rint(self.value_ns).astype(np.int64)

    @property
    def step_free(self) -> tuple[Floats, Floats, Floats]:
        """Value, least and most as if no clock had been set."""
        return self.without_steps or (self.value_ns, self.lo_ns, self.hi_ns)

    @property
    def step_free_ns(self) -> Ints:
        """The whole offset as if no clock had been set: what step-free differences are taken by."""
        return self.base_ns + np.rint(self.step_free[0]).astype(np.int64)

    @property
    def half_width_ns(self) -> float | None:
        """How far the truth may be from the value, over the packets that were matched."""
        if self.kind.is_shared:
            return 0.0
        if not self.is_known:
            return None
        width = np.maximum(self.hi_ns - self.value_ns, self.value_ns - self.lo_ns)
        # a mean of one direction is off by no more than the clocks were at its packets
        return max(float(np.average(width, weights=each)) for each in self.n)


@dataclass(frozen=True)
class Clocks:
    """All clocks of a run: relations between points, and each point's offset over time.

    `domain` gives each point's clock, `base_ns` each clock's coarse offset, `covers_ns` when its
    points captured first and last; `upper_ns` and `value_ns` are beside the coarse offset and
    beside the clocks' steps. `n_between` packets went from a clock to another at each knot.
    `related` gives for each clock that is
    related to others the point at the root of its group. Packets between clocks that are
    `contradicted` fit no offset, and what others say of these is not taken for it. `early_ns` has
    the clocks that packets show to be unequal, and by how much at least. `n_support` says
    how many packets support each bound in the middle, by [of, against]. `fastest_ns` gives each
    clock's offset against the first, at the first and the last knot, by which no packet arrives
    before it left.
    """

    knots_ns: Ints
    domain: Sequence[int]
    base_ns: Sequence[int]
    covers_ns: Sequence[Pair]
    upper_ns: Floats
    value_ns: Floats
    n_between: Mapping[Pair, Floats]
    one_way_ppm: Mapping[Pair, Drift | None]
    fastest_ns: Mapping[int, Floats]
    related: Mapping[int, int]
    is_raw: frozenset[Pair]
    contradicted: frozenset[Pair]
    early_ns: Mapping[Pair, float]
    n_support: Ints
    steps: Mapping[int, Sequence[Step]]
    warnings: list[Diagnostic]

    @property
    def n(self) -> Floats:
        """How many packets each knot stands for."""
        return sum(self.n_between.values(), start=np.full(len(self.knots_ns), 1e-9))

    def at_knots(self, knots_ns: Ints, steps: Mapping[int, Sequence[Step]]) -> "Clocks":
        """The same at other times, with steps in other places: between knots it is linear."""
        x = (knots_ns - self.knots_ns[0]).astype(np.float64)
        known_x = (self.knots_ns - self.knots_ns[0]).astype(np.float64)

        def at(column: Floats) -> Floats:
            is_known = np.all(np.isfinite(column))
            return np.asarray(np.interp(x, known_x, column) if is_known else column[place])

        def counted(n: Floats) -> Floats:
            return np.asarray(np.where(np.isin(x, known_x), n[place], n.min()))

        place = np.clip(np.searchsorted(known_x, x), 0, len(known_x) - 1)
        return replace(
            self,
            knots_ns=knots_ns,
            upper_ns=np.apply_along_axis(at, 0, self.upper_ns),
            value_ns=np.apply_along_axis(at, 0, self.value_ns),
            n_between={ends: counted(n) for ends, n in self.n_between.items()},
            steps=steps,
        )

    def relation(self, near: int, far: int) -> Relation:
        """Relate the far point's clock to the near point's."""
        a, b = self.domain[near], self.domain[far]
        if (a, b) not in self._relations:
            self._relations[a, b] = self._relation(a, b)
        return self._relations[a, b]

    @cached_property
    def _relations(self) -> dict[Pair, Relation]:
        """The relations that were asked for: with many steps each takes long."""
        return {}

    def _relation(self, a: int, b: int) -> Relation:
        zero = np.zeros(len(self.knots_ns))
        if a == b:
            kind = RelationKind.SAME_CLOCK
            return Relation(kind, 0, self.knots_ns, zero, zero, zero, 0.0, 0.0, self.n[None])
        if (a, b) in self.contradicted:
            return replace(self._one_way(a, b), is_contradicted=True)
        if self.related.get(a) != self.related.get(b) or a not in self.related:
            return self._one_way(a, b)
        hi, lo = self.upper_ns[:, a, b], -self.upper_ns[:, b, a]
        value = np.clip(self.value_ns[:, b] - self.value_ns[:, a], lo, hi)
        is_shared = self._is_shared(a, b)
        ends = np.flatnonzero(is_shared)[[0, -1]]
        drift, width = _drift(self.knots_ns[ends], value[ends], lo[ends], hi[ends])
        ways = [self.n_between[ends] for ends in ((a, b), (b, a)) if ends in self.n_between]
        n = np.where(is_shared, ways or [self.n], 0.0)
        steps = self._steps(a, b)
        least, set_ns, most = set_by(steps, self.knots_ns)
        # a pair may have been put on either side of a step that is not sure
        free = (value, lo - (most - least), hi + (most - least))
        base_ns = self.base_ns[b] - self.base_ns[a]
        found = (value + set_ns, lo + least, hi + most, drift, width, n, steps, free)
        relation = Relation(RelationKind.BOUNDED, base_ns, self.knots_ns, *found)
        n_support = int(min(self.n_support[a, b], self.n_support[b, a]))
        return replace(relation, n_support=n_support, early_ns=self.early_ns.get((a, b), 0.0))

    def _is_shared(self, a: int, b: int) -> Bools:
        """At which knots points of both clocks captured; at all if they never did together."""
        start_ns, end_ns = (
            pick(self.covers_ns[a][side], self.covers_ns[b][side])
            for side, pick in enumerate((max, min))
        )
        is_in = (self.knots_ns >= start_ns) & (self.knots_ns <= end_ns)
        return is_in if is_in.any() else np.ones(len(self.knots_ns), dtype=bool)

    def _steps(self, a: int, b: int) -> list[Step]:
        """Steps of the second clock against the first: a step of the first shows negated."""
        mirrored = [replace(step, size_ns=-step.size_ns) for step in self.steps.get(a, ())]
        return sorted([*mirrored, *self.steps.get(b, ())], key=lambda step: step.t_ns)

    def root(self, point: int) -> int:
        """Give the point whose clock the times of a point's component are given in."""
        return self.related.get(self.domain[point], point)

    def _one_way(self, a: int, b: int) -> Relation:
        empty = np.full(len(self.knots_ns), np.nan)
        kind = RelationKind.ONE_WAY if (a, b) in self.one_way_ppm else RelationKind.NONE
        drift, width = self.one_way_ppm.get((a, b)) or (None, None)
        early_ns = self.early_ns.get((a, b), 0.0)
        known = (self.knots_ns, empty, empty, empty, drift, width, self.n[None])
        return Relation(kind, 0, *known, early_ns=early_ns)


def middle_of(knots_ns: Ints) -> int:
    """Which of the times is in their middle, or the last before it."""
    middle_ns = knots_ns[0] + (knots_ns[-1] - knots_ns[0]) // 2
    return int(np.searchsorted(knots_ns, middle_ns, side="right")) - 1


def set_by(steps: Sequence[Step], t_ns: Ints) -> tuple[Floats, Floats, Floats]:
    """Give how far steps have set a clock at each time: at least, as far as is known, at most, ns.

    While a step may have been or not, both may be.
    """
    least, likely, most = (np.zeros(len(t_ns)) for _ in range(3))
    for step in steps:
        is_set = t_ns >= step.t_ns
        is_open = (t_ns > step.before_ns) & (t_ns < step.after_ns)
        likely += np.where(is_set, step.size_ns, 0)
        least += np.where(is_open, min(step.size_ns, 0), np.where(is_set, step.size_ns, 0))
        most += np.where(is_open, max(step.size_ns, 0), np.where(is_set, step.size_ns, 0))
    return least, likely, most


def _drift(knots_ns: Ints, value: Floats, lo: Floats, hi: Floats) -> tuple[float, float]:
    """Mean drift, steps left out, ppm, and its half-width from the interval's ends."""
    span_ns = float(max(int(knots_ns[-1] - knots_ns[0]), 1))
    drift = (value[-1] - value[0]) / span_ns
    most, least = (hi[-1] - lo[0]) / span_ns, (lo[-1] - hi[0]) / span_ns
    return float(drift * 1e6), float(max(most - drift, drift - least) * 1e6)


def offset_centre(clocks: Clocks, point: int, reference: int) -> Centre | None:
    """Give a point's offset against the reference over its own raw time."""
    relation = clocks.relation(reference, point)
    if not relation.is_known:
        return None
    # the knots are times of the component's first clock, whatever the reference is
    raw_ns = relation.t_ns + clocks.relation(clocks.root(point), point).offset_ns
    return Centre(in_order(raw_ns), relation.offset_ns, (relation.drift_ppm or 0.0) * 1e-6)


def fastest_centre(clocks: Clocks, point: int, reference: int) -> Centre | None:
    """Give an offset by which no packet arrives before it left, where packets tell no other."""
    a, b = clocks.domain[reference], clocks.domain[point]
    if not {a, b} <= clocks.fastest_ns.keys():
        return None
    offset_ns = np.rint(clocks.fastest_ns[b] - clocks.fastest_ns[a]).astype(np.int64)
    offset_ns += clocks.base_ns[b] - clocks.base_ns[a]
    raw_ns = in_order(clocks.knots_ns[[0, -1]] + offset_ns)
    run_ns = max(int(raw_ns[1] - raw_ns[0]), 1)
    return Centre(raw_ns, offset_ns, float(offset_ns[1] - offset_ns[0]) / run_ns)
