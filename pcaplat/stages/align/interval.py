"""The interval in which a clock's offset lies, over time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pcaplat.model.arrays import Bools, Floats, Ints
from pcaplat.model.clocks import Step
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.align.baseline import ClockBaseline, fit_baseline
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.windows import Both, windows_of


def bound_all(
    bounds: Mapping[Pair, OffsetBounds],
    knots_ns: Ints,
    n_domains: int,
    steps: Mapping[int, Sequence[Step]],
    doubtful: Mapping[Pair, Sequence[Step]],
) -> Floats:
    """Upper bounds of every clock against every other at every knot, by [knot, of, against], ns.

    Infinite where no packets bound one. Bounds on either side of a clock's step are separate, and
    what it was set by is taken out; so they are where a path may hide one (`doubtful`).
    """
    upper = np.full((len(knots_ns), n_domains, n_domains), np.inf)
    upper[:, range(n_domains), range(n_domains)] = 0.0
    for (a, b), forward in bounds.items():
        if a < b and (b, a) in bounds:
            both = steps_between((a, b), steps, doubtful)
            lo, hi = bound_pair(forward, bounds[b, a], knots_ns, both)
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


def bound_pair(
    forward: OffsetBounds, reverse: OffsetBounds, knots_ns: Ints, steps: Sequence[Step] = ()
) -> tuple[Floats, Floats]:
    """Least and most that the second clock of `forward` is ahead of its first, at every knot, ns.

    Less what steps have set it by. While a step may have been or not, both sides of it hold.
    """
    lo, hi = np.full(len(knots_ns), np.inf), np.full(len(knots_ns), -np.inf)
    for one in stretches(forward, reverse, steps):
        here = _between(knots_ns, one.may_start_ns, one.may_end_ns)
        least, most = (edge - one.set_ns for edge in _bound_stretch(one, knots_ns[here]))
        lo[here], hi[here] = np.minimum(lo[here], least), np.maximum(hi[here], most)
    return lo, hi


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


def _bound_stretch(stretch: Stretch, knots_ns: Ints) -> tuple[Floats, Floats]:
    """Bound a stretch without steps; they loosen with the distance in time from a baseline."""
    forward, reverse = stretch.forward, stretch.reverse
    if not (len(forward.t_ns) and len(reverse.t_ns) and len(knots_ns)):
        nothing = np.full(len(knots_ns), np.inf)
        return -nothing, nothing
    fit = fit_stretch(stretch, knots_ns)
    baseline, knots = fit.baseline, _floats(knots_ns - fit.t0_ns)
    while True:
        hi, lo = _cone(baseline, knots, fit.x, fit.f), -_cone(baseline, knots, fit.y, -fit.r)
        looser = baseline.looser(knots[hi < lo]) if np.any(hi < lo) else None
        if looser is None:
            level = baseline.at(knots) + fit.base_ns
            return lo + level, hi + level
        baseline = looser


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
    t0_ns: int
    base_ns: int

    def lowest(self, times: Floats, x: Floats, f: Floats) -> Floats:
        """Lowest of the bounds `f` at `x`, loosened until each of the times."""
        return _cone(self.baseline, times, x, f)


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
    return StretchFit(baseline, x, f - baseline.at(x), y, r - baseline.at(y), t0_ns, base_ns)


def _floats(values: Ints) -> Floats:
    return values.astype(np.float64)


def _cone(baseline: ClockBaseline, knots: Floats, x: Floats, f: Floats) -> Floats:
    """Lowest of all bounds at each knot, each loosened by its distance in time: O(n log n)."""
    by = np.argsort(x, kind="stable")
    x, f = x[by], f[by]
    reach, reached = baseline.reach(x), baseline.reach(knots)
    before = np.minimum.accumulate(f - reach)
    after = np.minimum.accumulate((f + reach)[::-1])[::-1]
    at = np.searchsorted(x, knots, side="right")
    from_before = np.where(at > 0, before[np.maximum(at - 1, 0)] + reached, np.inf)
    later = np.minimum(at, len(x) - 1)
    from_after = np.where(at < len(x), after[later] - reached, np.inf)
    return np.asarray(np.minimum(from_before, from_after))
