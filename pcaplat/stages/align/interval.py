"""The interval in which a clock's offset lies, over time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pcaplat.model.arrays import Bools, Floats, Ints, distinct, quantile
from pcaplat.model.clocks import Step
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.align.baseline import ClockBaseline, fit_baseline
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.windows import Both, windows_of

QUIET_FRAC = 0.8
"""Bounds are at least this share of the least time there and back apart, or a clock moved."""

SHORT_FRAC = 0.1
"""A path that is short for less of the time is not told from a clock that moved."""

MOST_ROUNDS = 32
"""Loosening one bound brings to light the next."""


def intervals_of(
    bounds: Mapping[Pair, OffsetBounds],
    knots_ns: Ints,
    steps: Mapping[int, Sequence[Step]],
    doubtful: Mapping[Pair, Sequence[Step]],
) -> dict[Pair, "PairInterval"]:
    """Fit the interval of every two clocks that packets in both directions bound.

    Bounds on either side of a clock's step are separate, and what it was set by is taken out; so
    they are where a path may hide one (`doubtful`). `knots_ns` are the times it must reach to.
    """
    return {
        (a, b): PairInterval.of(
            forward, bounds[b, a], knots_ns, steps_between((a, b), steps, doubtful)
        )
        for (a, b), forward in bounds.items()
        if a < b and (b, a) in bounds
    }


def bound_all(intervals: Mapping[Pair, "PairInterval"], knots_ns: Ints, n_domains: int) -> Floats:
    """Upper bounds of every clock against every other at every knot, by [knot, of, against], ns.

    Infinite where no packets bound one.
    """
    upper = np.full((len(knots_ns), n_domains, n_domains), np.inf)
    upper[:, range(n_domains), range(n_domains)] = 0.0
    for (a, b), interval in intervals.items():
        lo, hi = interval.at(knots_ns)
        upper[:, a, b], upper[:, b, a] = hi, -lo
    return upper


def steps_between(
    clocks: Pair,
    steps: Mapping[int, Sequence[Step]],
    doubtful: Mapping[Pair, Sequence[Step]],
) -> list[Step]:
    """Steps of the second clock against the first, and those that their path may hide."""
    first, second = clocks
    mirrored = [replace(step, size_ns=-step.size_ns) for step in steps.get(first, ())]
    return [*mirrored, *steps.get(second, ()), *doubtful.get(clocks, ())]


def _parting(
    forward: OffsetBounds, reverse: OffsetBounds, steps: Sequence[Step]
) -> tuple[int, list[Step]]:
    """What was set before any bound, and steps in order of time that part bounds from others.

    Between two of them there are bounds of both directions; else they are told as one.
    """
    before_ns, parting = 0, list[Step]()
    for step in sorted(steps, key=lambda one: one.before_ns):
        last = parting[-1] if parting else None
        start_ns = last.after_ns if last else None
        if all(len(one.within(start_ns, step.before_ns).t_ns) for one in (forward, reverse)):
            parting.append(step)
        elif last:
            after_ns, size_ns = max(last.after_ns, step.after_ns), last.size_ns + step.size_ns
            parting[-1] = Step(last.before_ns, after_ns, size_ns)
        else:
            before_ns += step.size_ns
    while parting and not all(
        len(one.within(parting[-1].after_ns, None).t_ns) for one in (forward, reverse)
    ):
        parting.pop()
    return before_ns, parting


def close(upper: Floats) -> Floats:
    """Close the constraints on differences at every knot (Floyd and Warshall)."""
    closed = upper.copy()
    for k in range(upper.shape[1]):
        closed = np.minimum(closed, closed[:, :, k, None] + closed[:, None, k, :])
    return closed


@dataclass(frozen=True)
class Stretch:
    """Bounds between two steps, the times that it may reach to, and what the clock was set by."""

    forward: OffsetBounds
    reverse: OffsetBounds
    may_start_ns: int | None
    may_end_ns: int | None
    set_ns: int


def stretches(
    forward: OffsetBounds, reverse: OffsetBounds, steps: Sequence[Step]
) -> Iterator[Stretch]:
    """Part the bounds of two clocks by their steps."""
    set_ns, parting = _parting(forward, reverse, steps)
    starts = [None, *parting]
    ends = [*parting, None]
    for start, end in zip(starts, ends, strict=True):
        set_ns += start.size_ns if start else 0
        span = start.after_ns if start else None, end.before_ns if end else None
        both = forward.within(*span), reverse.within(*span)
        may_span = start.before_ns if start else None, end.after_ns if end else None
        yield Stretch(*both, *may_span, set_ns)


def _between(t_ns: Ints, first: int | None, last: int | None) -> Bools:
    """Which times lie between two, both excluded; None is no limit."""
    is_inside = np.ones(len(t_ns), dtype=bool)
    is_inside &= True if first is None else t_ns > first
    is_inside &= True if last is None else t_ns < last
    return is_inside


@dataclass(frozen=True)
class StretchFit:
    """Bounds beside their baseline: `f` at times `x` from above and `r` at `y` from below.

    Times are since `t0_ns`, and bounds beside `base_ns`.
    """

    baseline: ClockBaseline
    x: Floats
    f: Floats
    y: Floats
    r: Floats
    n: Ints
    m: Ints
    t0_ns: int
    base_ns: int

    def lowest(self, times: Floats, x: Floats, f: Floats) -> Floats:
        """Lowest of the bounds `f` at `x`, loosened until each of the times."""
        return _cone(self.baseline, times, x, f)

    def ends(self, times: Floats) -> tuple[Floats, Floats]:
        """The interval at each of the times, beside the baseline."""
        return -self.lowest(times, self.y, -self.r), self.lowest(times, self.x, self.f)

    def at(self, knots_ns: Ints) -> tuple[Floats, Floats]:
        """Least and most that the second clock is ahead of the first."""
        times = _floats(knots_ns - self.t0_ns)
        level = self.baseline.at(times) + self.base_ns
        lo, hi = self.ends(times)
        return lo + level, hi + level

    def loosened(self) -> "StretchFit":
        """Loosen the bounds where they are closer than the least time there and back.

        No path is quicker there than it ever is: the clock moved beside the baseline instead.
        """
        fit, least_ns = self, self._least_width()
        for _ in range(MOST_ROUNDS):
            moved = fit.moved(least_ns)
            looser = fit.baseline.moving(*moved) if len(moved[0]) else None
            if looser is None:
                break
            fit = replace(fit, baseline=looser)
        return fit.uncrossed()

    def uncrossed(self) -> "StretchFit":
        """Loosen the bounds, where they still cross, as far as a clock may drift."""
        times = distinct(np.concatenate((self.x, self.y)))
        lo, hi = self.ends(times)
        looser = self.baseline.looser(times[hi < lo]) if np.any(hi < lo) else None
        return replace(self, baseline=looser).uncrossed() if looser else self

    def _least_width(self) -> float:
        windows = windows_of(Both(self.x, self.f, self.y, self.r, self.n, self.m))
        return QUIET_FRAC * quantile(windows.quiet, SHORT_FRAC) if windows else 0.0

    def moved(self, least_ns: float) -> tuple[Floats, Floats, Floats]:
        """Spans of time, from a bound to the one it is too close to, and by how much it is."""
        times = distinct(np.concatenate((self.x, self.y)))
        above, below = (
            _tightest(self.baseline, times, self.x, self.f),
            _tightest(self.baseline, times, self.y, -self.r),
        )
        ends = np.stack([self.x[above], self.y[below]])
        reach = self.baseline.reach
        width = self.f[above] - self.r[below] + np.abs(np.subtract(*(reach(one) for one in ends)))
        first, last = ends.min(axis=0), ends.max(axis=0)
        is_close = (width < least_ns) & (last > first)
        spans, at = np.unique(np.stack([first, last])[:, is_close], axis=1, return_index=True)
        return spans[0], spans[1], (least_ns - width)[is_close][at]


@dataclass(frozen=True)
class PairInterval:
    """The interval of two clocks over time, from the fits of the stretches between their steps."""

    fits: Sequence[tuple[Stretch, StretchFit | None]]

    @classmethod
    def of(
        cls,
        forward: OffsetBounds,
        reverse: OffsetBounds,
        knots_ns: Ints,
        steps: Sequence[Step] = (),
    ) -> "PairInterval":
        """Fit each stretch, as far as its knots reach; None where nothing bounds it."""
        return cls([(one, _fit(one, knots_ns)) for one in stretches(forward, reverse, steps)])

    def at(self, knots_ns: Ints) -> tuple[Floats, Floats]:
        """Least and most that the second clock is ahead of the first, at every knot, ns.

        Less what steps have set it by. While a step may have been or not, both sides of it hold.
        """
        lo, hi = np.full(len(knots_ns), np.inf), np.full(len(knots_ns), -np.inf)
        for one, fit in self.fits:
            here = _between(knots_ns, one.may_start_ns, one.may_end_ns)
            nothing = np.full(int(here.sum()), np.inf)
            ends = fit.at(knots_ns[here]) if fit else (-nothing, nothing)
            least, most = (end - one.set_ns for end in ends)
            lo[here], hi[here] = np.minimum(lo[here], least), np.maximum(hi[here], most)
        return lo, hi

    @property
    def bends_ns(self) -> Ints:
        """Times at which the baseline bends."""
        return np.concatenate(
            [
                np.rint(fit.baseline.times).astype(np.int64) + fit.t0_ns
                for _, fit in self.fits
                if fit
            ]
            or [np.zeros(0, np.int64)]
        )


def _fit(stretch: Stretch, knots_ns: Ints) -> StretchFit | None:
    here = knots_ns[_between(knots_ns, stretch.may_start_ns, stretch.may_end_ns)]
    if not (len(stretch.forward.t_ns) and len(stretch.reverse.t_ns) and len(here)):
        return None
    return fit_stretch(stretch, here).loosened()


def fit_stretch(stretch: Stretch, knots_ns: Ints) -> StretchFit:
    """Fit a baseline between the bounds of a stretch, and as far as its knots reach."""
    forward, reverse = stretch.forward, stretch.reverse
    base_ns, t0_ns = int(forward.most_ns[0]), int(knots_ns[0])
    x, f = _floats(forward.t_ns - t0_ns), _floats(forward.most_ns - base_ns)
    y, r = _floats(reverse.t_ns - t0_ns), _floats(-reverse.most_ns - base_ns)
    end = max(x.max(), y.max(), float(knots_ns[-1] - t0_ns))
    start = min(x.min(), y.min(), 0.0)
    windows = windows_of(Both(x, f, y, r, forward.n, reverse.n))
    baseline = fit_baseline(x, f, y, r, (start, max(end, start + 1)), windows)
    baseline = baseline.loosened(windows) if windows else baseline
    beside = x, f - baseline.at(x), y, r - baseline.at(y)
    return StretchFit(baseline, *beside, forward.n, reverse.n, t0_ns, base_ns)


def _floats(values: Ints) -> Floats:
    return values.astype(np.float64)


def _cone(baseline: ClockBaseline, knots: Floats, x: Floats, f: Floats) -> Floats:
    """Lowest of all bounds at each knot, each loosened by its distance in time."""
    at = _tightest(baseline, knots, x, f)
    return np.asarray(f[at] + np.abs(baseline.reach(x[at]) - baseline.reach(knots)))


def _tightest(baseline: ClockBaseline, knots: Floats, x: Floats, f: Floats) -> Ints:
    """Which of the bounds is the lowest at each knot, loosened by its distance: O(n log n)."""
    by = np.argsort(x, kind="stable")
    x, f = x[by], f[by]
    reach, reached = baseline.reach(x), baseline.reach(knots)
    before, after = _least_so_far(f - reach), len(x) - 1 - _least_so_far((f + reach)[::-1])[::-1]
    at = np.searchsorted(x, knots, side="right")
    from_before, from_after = before[np.maximum(at - 1, 0)], after[np.minimum(at, len(x) - 1)]
    rises = np.where(at > 0, f[from_before] - reach[from_before] + reached, np.inf)
    falls = np.where(at < len(x), f[from_after] + reach[from_after] - reached, np.inf)
    return np.asarray(by[np.where(rises <= falls, from_before, from_after)])


def _least_so_far(values: Floats) -> Ints:
    """Where the least of all values up to each is."""
    is_least = values == np.minimum.accumulate(values)
    return np.asarray(np.maximum.accumulate(np.where(is_least, np.arange(len(values)), 0)))
